// What happens to a vector of a layer's outputs between two products. A kernel that uses this file declares TRAINING,
// the constant or the override that says whether it trains.

// What normalizations add to the variance.
const EPSILON: f32 = 1e-5;

// The purpose of random numbers, as in src/ops/mlp/noise.rs.
const DROPOUT: u32 = 3;

// Returns the factors of dropout for a vector of a layer's outputs: 0 or 65536 / (65536 - threshold).
fn kept(record: u32, l: u32, sample: u32, column: u32, threshold: u32, step: vec2<u32>) -> vec4<f32> {
    let element = sample * layer(l, STRIDE) + 4u * column;
    let block = element / 128u * 16u + element % 64u / 4u;
    let key = vec2<u32>(plan[record + KEY_LOW], plan[record + KEY_HIGH]);
    let words = philox(vec4<u32>(block, step.x, step.y, (DROPOUT << 8u) | l), key);
    let bits = (words >> vec4<u32>(select(0u, 16u, element % 128u >= 64u))) & vec4<u32>(0xffffu);
    return select(vec4<f32>(65536.0 / f32(65536u - threshold)), vec4<f32>(0.0), bits < vec4<u32>(threshold));
}

// Returns what a layer passes on for a vector of inputs of its activation.
fn passed_on(record: u32, l: u32, sample: u32, column: u32, x: vec4<f32>, step: vec2<u32>) -> vec4<f32> {
    let kind = layer(l, ACTIVATION);
    var y = activated(kind, bitcast<f32>(layer(l, SLOPE)), x);
    // The padding has to stay zero.
    if kind == SIGMOID { y = padded(y, column, layer(l, OUTPUTS)); }
    if TRAINING {
        let threshold = plan[record + THRESHOLDS + l];
        if threshold > 0u { y *= kept(record, l, sample, column, threshold, step); }
    }
    return y;
}

// Stores what the next layer is given for a vector of a layer's results, after its normalization. The results of the
// last layer are stored in place of its derivatives. In training, those of a layer without normalization are too,
// because its activation's slope depends on them.
fn hand_on(record: u32, l: u32, sample: u32, column: u32, result: vec4<f32>, step: vec2<u32>) {
    let last = l + 1u == params.layers;
    let at = sample * layer(l, OUT_PITCH) + column;
    let norm = layer(l, NORM);
    var x = result;
    if norm == NO_NORM {
        x = rounded(x);
    } else {
        x = parameter(layer(l, GAIN) + column) * x + parameter(layer(l, SHIFT) + column);
    }
    if last || (norm == NO_NORM && TRAINING) { set_row(layer(l, DERIVATIVES) + at, x); }
    if !last { set_row(layer(l, OUT_ROWS) + at, passed_on(record, l, sample, column, x, step)); }
}

// Stores the derivatives by the inputs of a layer's activation, given those by what the next layer was given.
fn hand_back(record: u32, l: u32, sample: u32, column: u32, given: vec4<f32>, step: vec2<u32>) {
    let at = sample * layer(l, OUT_PITCH) + column;
    let threshold = plan[record + THRESHOLDS + l];
    var d = given;
    if threshold > 0u { d *= kept(record, l, sample, column, threshold, step); }
    var inner: vec4<f32>;
    if layer(l, NORM) != NO_NORM {
        inner = parameter(layer(l, GAIN) + column) * exact(layer(l, HATS) + at) + parameter(layer(l, SHIFT) + column);
    } else {
        inner = row(layer(l, DERIVATIVES) + at);
    }
    d *= slope_of(layer(l, ACTIVATION), bitcast<f32>(layer(l, SLOPE)), inner);
    set_row(layer(l, DERIVATIVES) + at, d);
}

// Returns the vector of a row of `len` numbers, with zeros as padding.
fn padded(x: vec4<f32>, column: u32, len: u32) -> vec4<f32> {
    return select(vec4<f32>(0.0), x, 4u * column + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(len));
}
