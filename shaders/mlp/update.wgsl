// Penalties, clipping, and the optimizer's update of every parameter (src/ops/mlp/cpu/update.rs).

const SGD: u32 = 0;
const MOMENTUM: u32 = 1;
const NESTEROV: u32 = 2;
const ADAM: u32 = 3;
const SGLD: u32 = 4;
const PSGLD: u32 = 5;
const PRIOR: u32 = 6;

const NOISE: u32 = 4;

// The words of a block of parameters in `plan`.
const BLOCK_WORDS: u32 = 12;
const KIND: u32 = 0;
const PLACE: u32 = 1;
const BLOCK_ROWS: u32 = 2;
const BLOCK_COLS: u32 = 3;
const BLOCK_PITCH: u32 = 4;
const FIRST: u32 = 5;
const LEFT: u32 = 6;
const LEFT_PITCH: u32 = 7;
const RIGHT: u32 = 8;
const RIGHT_PITCH: u32 = 9;

// The kinds of blocks: the gradient of a matrix is the sum over the batch of products of two rows, that of a bias is
// the sum of the right row, and that of a gain or a shift has been summed up.
const MATRIX: u32 = 0;
const ROW: u32 = 1;
const SUMMED: u32 = 2;

// The share of a batch's statistics in the running statistics.
const SHARE: f32 = 0.1;

var<workgroup> squares: array<vec4<f32>, (WIDTH + 3) / 4>;

fn block_word(block: u32, field: u32) -> u32 { return plan[params.blocks_at + block * BLOCK_WORDS + field]; }

// Returns the gradient of a vector of parameters, with the derivative of the L1 term, which is 0 at 0.
fn gradient(block: u32, i: u32, column: u32, count: u32, old: vec4<f32>, l1: f32) -> vec4<f32> {
    let kind = block_word(block, KIND);
    let right = block_word(block, RIGHT) + column;
    let right_pitch = block_word(block, RIGHT_PITCH);
    var sum = vec4<f32>(0.0);
    if kind == MATRIX {
        let left = block_word(block, LEFT);
        let left_pitch = block_word(block, LEFT_PITCH);
        for (var b = 0u; b < count; b += 1u) {
            sum += number(left + b * left_pitch, i) * row(right + b * right_pitch);
        }
    } else {
        if kind == ROW {
            for (var b = 0u; b < count; b += 1u) { sum += row(right + b * right_pitch); }
        } else {
            sum = exact(right);
        }
    }
    let zero = vec4<f32>(0.0);
    return unscale * sum + select(zero, vec4<f32>(l1), old > zero) - select(zero, vec4<f32>(l1), old < zero);
}

// Returns the factor that shortens the gradient of all parameters to the length `clip`.
fn clipping(count: u32, l1: f32, clip: f32) -> f32 {
    var sum = 0.0;
    for (var block = 0u; block < params.blocks; block += 1u) {
        let columns = (block_word(block, BLOCK_COLS) + 3u) / 4u;
        let place = block_word(block, PLACE);
        for (var item = lane; item < block_word(block, BLOCK_ROWS) * columns; item += WIDTH) {
            let i = item / columns;
            let column = item % columns;
            let old = parameter(place + i * block_word(block, BLOCK_PITCH) + column);
            let g = gradient(block, i, column, count, old, l1);
            sum += dot(g, g);
        }
    }
    squares[lane / 4u][lane % 4u] = sum;
    workgroupBarrier();
    var sums = vec4<f32>(0.0);
    for (var i = 0u; i < WIDTH / 4u; i += 1u) { sums += squares[i]; }
    return min(1.0, clip / (sqrt((sums.x + sums.y) + (sums.z + sums.w)) + 1e-6));
}

// Makes the standard normals of a step, 4 of each kind at a time, in the order of src/ops/mlp/noise.rs.
fn make_noise(record: u32, step: vec2<u32>) {
    let key = vec2<u32>(plan[record + KEY_LOW], plan[record + KEY_HIGH]);
    for (var item = lane; item < params.noise; item += WIDTH) {
        let group = item / 8u;
        let block = 16u * group + item % 8u;
        let far = philox(vec4<u32>(block, step.x, step.y, NOISE << 8u), key);
        let toward = philox(vec4<u32>(block + 8u, step.x, step.y, NOISE << 8u), key);
        let r = radius(far);
        let q = quarter_turn(toward);
        let quadrant = toward >> vec4<u32>(30u);
        let odd = (quadrant & vec4<u32>(1u)) == vec4<u32>(1u);
        let to = params.noise_at + 16u * group + item % 8u;
        set_stored(to, bitcast<vec4<u32>>(r * with_sign(select(q.cosine, q.sine, odd), quadrant + 1u)));
        set_stored(to + 8u, bitcast<vec4<u32>>(r * with_sign(select(q.sine, q.cosine, odd), quadrant)));
    }
    storageBarrier();
}

fn with_sign(x: vec4<f32>, negative: vec4<u32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ ((negative & vec4<u32>(2u)) << vec4<u32>(30u)));
}

// Returns sqrt(-2 log u), where u is the middle of one of 2^24 equal parts of (0, 1).
fn radius(word: vec4<u32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(vec4<f32>(((word >> vec4<u32>(8u)) << vec4<u32>(1u)) | vec4<u32>(1u)));
    let shifted = bits + (0x3f800000u - 0x3f3504f3u);
    let e = vec4<f32>(vec4<i32>(shifted >> vec4<u32>(23u)) - (127 + 25));
    let f = bitcast<vec4<f32>>((shifted & vec4<u32>(0x007fffffu)) + 0x3f3504f3u) - 1.0;
    let s = f / (2.0 + f);
    let q = s * s;
    let tail = 2.0 / 3.0 + q * (2.0 / 5.0 + q * (2.0 / 7.0 + q * (2.0 / 9.0)));
    let log = 0.69314718 * e + (2.0 * s + s * q * tail);
    return sqrt(max(-2.0 * log, vec4<f32>(0.0)));
}

struct Turn { cosine: vec4<f32>, sine: vec4<f32> }

// Returns cosine and sine of an angle in [-pi/4, pi/4), which the lower 30 bits of a word decide.
fn quarter_turn(word: vec4<u32>) -> Turn {
    let steps = vec4<i32>((word >> vec4<u32>(6u)) & vec4<u32>(0x00ffffffu)) - 0x00800000;
    let x = vec4<f32>(steps) * (1.57079633 / 16777216.0);
    let q = x * x;
    let sine = x * (1.0 + q * (-1.0 / 6.0 + q * (1.0 / 120.0 + q * (-1.0 / 5040.0 + q / 362880.0))));
    let cosine = 1.0 + q * (-0.5 + q * (1.0 / 24.0 + q * (-1.0 / 720.0 + q / 40320.0)));
    return Turn(cosine, sine);
}

// Returns the noise of a vector of parameters; 0 for the padding.
fn noise_of(block: u32, i: u32, column: u32) -> vec4<f32> {
    let cols = block_word(block, BLOCK_COLS);
    let first = block_word(block, FIRST) + i * cols + 4u * column;
    var found = vec4<f32>(0.0);
    for (var c = 0u; c < 4u; c += 1u) {
        if 4u * column + c < cols {
            let element = first + c;
            found[c] = bitcast<f32>(stored_word(params.noise_at + element / 4u, element % 4u));
        }
    }
    return found;
}

// Changes all parameters by one step.
fn update(record: u32, t: u32, count: u32) {
    let kind = plan[record + UPDATE];
    let l1 = bitcast<f32>(plan[record + PENALTY]);
    let clip = bitcast<f32>(plan[record + CLIP]);
    let rates = plan[record + RATES] + 8u * t;
    var a = vec4<f32>(rate(rates), rate(rates + 1u), rate(rates + 2u), rate(rates + 3u));
    var b = vec4<f32>(rate(rates + 4u), rate(rates + 5u), rate(rates + 6u), rate(rates + 7u));
    if F16 {
        let corrected = correction(record, t);
        switch kind {
            case ADAM: {
                a.x *= corrected.x;
                b.x = corrected.y;
            }
            case MOMENTUM, NESTEROV: { a.w = corrected.x; }
            default: {}
        }
    }
    var shorten = 1.0;
    if plan[record + CLIPS] == 1u { shorten = clipping(count, l1, clip); }
    for (var block = 0u; block < params.blocks; block += 1u) {
        let columns = (block_word(block, BLOCK_COLS) + 3u) / 4u;
        let place = block_word(block, PLACE);
        for (var item = lane; item < block_word(block, BLOCK_ROWS) * columns; item += WIDTH) {
            let i = item / columns;
            let column = item % columns;
            let at = place + i * block_word(block, BLOCK_PITCH) + column;
            let old = parameter(at);
            let g = shorten * gradient(block, i, column, count, old, l1);
            let first = plan[record + RUN] * params.moments * params.quads + at;
            var next = old;
            var xi = vec4<f32>(0.0);
            if kind >= SGLD { xi = noise_of(block, i, column); }
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
            set_parameter(at, next, block_word(block, KIND) == MATRIX);
        }
    }
    for (var l = 0u; l < params.layers; l += 1u) {
        if layer(l, NORM) == BATCH_NORM {
            let columns = layer(l, OUTPUT_QUADS);
            for (var column = lane; column < columns; column += WIDTH) {
                let sums = layer(l, SUMS) + column;
                let to = weights_at + layer(l, RUNNING) + column;
                let unbiased = exact(sums + 3u * columns) * (f32(count) / max(f32(count) - 1.0, 1.0));
                weights[to] = (1.0 - SHARE) * weights[to] + SHARE * exact(sums + 2u * columns);
                weights[to + columns] = (1.0 - SHARE) * weights[to + columns] + SHARE * unbiased;
            }
        }
    }
    storageBarrier();
    workgroupBarrier();
}

fn rate(at: u32) -> f32 { return bitcast<f32>(plan[at]); }
