// The loss of a batch, and its derivatives by the outputs of the network (src/ops/mlp/cpu/loss.rs).

const CROSS_ENTROPY: u32 = 0;
const BINARY: u32 = 1;
const BOUNDED: u32 = 2;
const MEAN_SQUARES: u32 = 3;
const TANGENT: u32 = 4;
const SAVAGE: u32 = 5;
const WEIGHTED_BINARY: u32 = 6;

// The losses of an invocation's samples in the present epoch, and the number of samples whose label was predicted. The
// losses of 64 batches are added up before they are added to the sum, so that little is lost.
var<private> recent: f32;
var<private> total: f32;
var<private> right: u32;
// In mixed precision, the samples of the epoch's steps that are not counted, because their loss was not finite.
var<private> lost: u32;
const TOGETHER: u32 = 64;

// Not 0 if the run makes no further step.
var<workgroup> halted: u32;
// What is wrong with the present step. Several invocations may find it at once.
var<workgroup> trouble: atomic<u32>;
const NO_LOSS: u32 = 1; // a loss is not finite

// Returns value `i` of a sample's targets; labels count as 0 or 1.
fn value_of(sample: u32, i: u32) -> f32 {
    let found = targets[sample * max(params.each, 1u) + i];
    return select(bitcast<f32>(found), select(1.0, 0.0, found == 0u), params.each == 0u);
}

fn label_of(sample: u32) -> u32 { return targets[sample]; }

fn weight_of(label: u32) -> f32 {
    var found = 1.0;
    if params.class_weights != NONE { found = bitcast<f32>(plan[params.class_weights + label]); }
    return found;
}

fn one_logistic(x: f32) -> f32 {
    let t = exp(-abs(x));
    return select(1.0, t, x < 0.0) / (1.0 + t);
}

fn set_derivative(z: u32, i: u32, derivative: f32, terms: f32) {
    set_number(z, i, derivative / terms * loss_scale);
}

// Replaces the outputs of a sample by the derivatives of its share in the mean of `terms` losses. Returns the loss.
fn of_sample(z: u32, sample: u32, terms: f32) -> f32 {
    let outputs = layer(params.layers - 1u, OUTPUTS);
    var loss = 0.0;
    if params.loss == CROSS_ENTROPY || (params.loss == BOUNDED && outputs > 1u) {
        let label = label_of(sample);
        var largest = number(z, 0u);
        for (var i = 1u; i < outputs; i += 1u) { largest = max(largest, number(z, i)); }
        var sum = 0.0;
        for (var i = 0u; i < outputs; i += 1u) { sum += exp(number(z, i) - largest); }
        if params.loss == CROSS_ENTROPY {
            // At least one term of the sum is 1.
            let log_sum = select(log(sum), log_one_plus(min(sum - 1.0, 1.0)), sum < 2.0);
            var shares = 0.0;
            for (var i = 0u; i < outputs; i += 1u) {
                let share = weight_of(i) * (params.of_each + select(0.0, params.of_label, i == label));
                if share > 0.0 { loss += share * (log_sum - (number(z, i) - largest)); }
                shares += share;
            }
            for (var i = 0u; i < outputs; i += 1u) {
                let share = weight_of(i) * (params.of_each + select(0.0, params.of_label, i == label));
                set_derivative(z, i, exp(number(z, i) - largest) * (shares / sum) - share, terms);
            }
        } else {
            let p = exp(number(z, label) - largest) / sum;
            let inside = params.of_label * p + params.of_each;
            let factor = params.of_label * p / inside;
            for (var i = 0u; i < outputs; i += 1u) {
                let q = exp(number(z, i) - largest) / sum;
                set_derivative(z, i, select(factor * q, -factor * (1.0 - q), i == label), terms);
            }
            loss = -log(inside);
        }
    } else {
        if params.loss == BINARY || params.loss == MEAN_SQUARES {
            for (var i = 0u; i < outputs; i += 1u) {
                let t = value_of(sample, i);
                let mine = number(z, i);
                if params.loss == BINARY {
                    loss += softplus(mine) - t * mine;
                    set_derivative(z, i, one_logistic(mine) - t, terms);
                } else {
                    loss += (mine - t) * (mine - t);
                    set_derivative(z, i, 2.0 * (mine - t), terms);
                }
            }
        } else {
            let mine = number(z, 0u);
            var derivative = 0.0;
            if params.loss == WEIGHTED_BINARY {
                let a = value_of(sample, 0u);
                let b = value_of(sample, 1u);
                loss = a * softplus(-mine) + b * softplus(mine);
                derivative = b * one_logistic(mine) - a * one_logistic(-mine);
            } else {
                let side = select(1.0, -1.0, label_of(sample) == 0u);
                let v = side * mine;
                if params.loss == BOUNDED {
                    let p = one_logistic(v);
                    let inside = params.of_label * p + params.of_each;
                    derivative = -side * params.of_label * p * one_logistic(-v) / inside;
                    loss = -log(inside);
                }
                if params.loss == TANGENT {
                    let off = 2.0 * atan(v) - 1.0;
                    derivative = side * 4.0 * off / (v * v + 1.0);
                    loss = off * off;
                }
                if params.loss == SAVAGE {
                    let s = one_logistic(-2.0 * v);
                    derivative = -4.0 * side * s * s * one_logistic(2.0 * v);
                    loss = s * s;
                }
            }
            set_derivative(z, 0u, derivative, terms);
        }
    }
    return loss;
}

// Returns whether the outputs of a sample predict its label.
fn is_right(z: u32, sample: u32) -> bool {
    let outputs = layer(params.layers - 1u, OUTPUTS);
    let label = label_of(sample);
    var found = (number(z, 0u) > 0.0) == (label == 1u);
    if outputs > 1u {
        let mine = number(z, label);
        found = true;
        for (var i = 0u; i < outputs; i += 1u) {
            let other = number(z, i);
            found = found && (i == label || other < mine || (i > label && other == mine));
        }
    }
    return found;
}

// Replaces the outputs of a batch by the derivatives of its loss, and adds the losses up. Halts the run if a loss is
// not finite.
fn losses(batch: u32, count: u32) {
    let last = params.layers - 1u;
    var terms = f32(count);
    if params.loss == BINARY || params.loss == MEAN_SQUARES { terms *= f32(layer(last, OUTPUTS)); }
    if params.class_weights != NONE {
        terms = 0.0;
        for (var b = 0u; b < count; b += 1u) { terms += weight_of(label_of(sample_of(b))); }
    }
    for (var b = lane; b < count; b += WIDTH) {
        let z = layer(last, DERIVATIVES) + b * layer(last, OUT_PITCH);
        let sample = sample_of(b);
        if params.each == 0u { right += select(0u, 1u, is_right(z, sample)); }
        let loss = of_sample(z, sample, terms);
        if magnitude_bits(loss) >= INFINITE { atomicOr(&trouble, NO_LOSS); }
        recent += loss * f32(count) / terms;
    }
    if batch % TOGETHER == TOGETHER - 1u {
        total += recent;
        recent = 0.0;
    }
    rows_written();
    // In f16, scaler.wgsl decides.
    if !F16 {
        if ROWS == STORED { workgroupBarrier(); }
        if lane == 0u && atomicLoad(&trouble) != 0u { halted = 1u; }
    }
}
