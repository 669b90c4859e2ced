// The optimizer's change of a vector of parameters (src/ops/mlp/cpu/update.rs), and of the running statistics.
// A kernel that uses this file declares `moments`, and may write `weights`.

const SGD: u32 = 0;
const MOMENTUM: u32 = 1;
const NESTEROV: u32 = 2;
const ADAM: u32 = 3;
const SGLD: u32 = 4;
const PSGLD: u32 = 5;
const PRIOR: u32 = 6;

// The share of a batch's statistics in the running statistics.
const SHARE: f32 = 0.1;

// Adds the derivative of the L1 term, which is 0 at 0.
fn penalized(gradient: vec4<f32>, old: vec4<f32>, l1: f32) -> vec4<f32> {
    let zero = vec4<f32>(0.0);
    return gradient + select(zero, vec4<f32>(l1), old > zero) - select(zero, vec4<f32>(l1), old < zero);
}

fn rate(at: u32) -> f32 { return bitcast<f32>(plan[at]); }

// Returns what a vector of parameters becomes, given its place, its gradient and its noise. `a` and `b` are the numbers
// of the step.
fn moved(
    record: u32, kind: u32, a: vec4<f32>, b: vec4<f32>, at: u32, old: vec4<f32>, g: vec4<f32>, xi: vec4<f32>,
) -> vec4<f32> {
    let first = plan[record + RUN] * params.moments * params.quads + at;
    var next = old;
    switch kind {
        case SGD: { next = old - a.x * (g + a.y * old); }
        case MOMENTUM, NESTEROV: {
            let decayed = g + a.y * old;
            let mean = a.z * moments[first] + a.w * decayed;
            moments[first] = mean;
            next = old - a.x * select(mean, decayed + a.z * mean, kind == NESTEROV);
        }
        case ADAM: {
            let decayed = g + b.z * old;
            let before = moments[first];
            let mean = before + a.y * (decayed - before);
            moments[first] = mean;
            let square = a.z * moments[first + params.quads] + a.w * decayed * decayed;
            moments[first + params.quads] = square;
            next = old * b.w - a.x * (mean / (b.x * sqrt(square) + b.y));
        }
        case SGLD: { next = old * a.y - a.x * g + a.z * xi; }
        case PSGLD: {
            var mean = moments[first];
            if b.z != 0.0 {
                mean = a.w * mean + b.x * g * g;
                moments[first] = mean;
            }
            let factor = 1.0 / (b.y + sqrt(mean));
            let drift = a.x * g + a.y * old;
            next = old - factor * drift + a.z * sqrt(factor) * xi;
        }
        default: { next = a.x * xi; }
    }
    return next;
}

// Updates a vector of the running statistics of a batch normalization.
fn follow(l: u32, column: u32, count: u32) {
    let sums = layer(l, SUMS) + column;
    let columns = layer(l, OUTPUT_QUADS);
    let to = weights_at + layer(l, RUNNING) + column;
    let unbiased = exact(sums + 3u * columns) * (f32(count) / max(f32(count) - 1.0, 1.0));
    weights[to] = (1.0 - SHARE) * weights[to] + SHARE * exact(sums + 2u * columns);
    weights[to + columns] = (1.0 - SHARE) * weights[to + columns] + SHARE * unbiased;
}
