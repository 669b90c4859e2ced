// The numbers of a run in mixed precision: the factors of products have 16 bits, two to a word, and the others have 32.
// Places of factors count vectors of two words, other places count vectors of four words.

// Whether 16 bits are those of IEEE binary16. Otherwise, they are those of bfloat16.
override F16: bool = true;

@group(0) @binding(7) var<storage, read_write> scratch: array<vec2<u32>>;
var<workgroup> own: array<vec2<u32>, 2 * QUADS>;

// Whether a number of the present step, or a parameter, was too large for 16 bits.
var<private> too_large: bool;
var<private> has_large_parameter: bool;

// Rounds to the nearest bfloat16, ties to even; NaN stays NaN.
fn bfloat_bits(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let near = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    return select(near, (bits >> 16u) | 0x40u, magnitude_bits(x) > INFINITE);
}

fn narrowed(x: vec4<f32>) -> vec2<u32> {
    var halves: vec4<u32>;
    if F16 {
        halves = vec4<u32>(narrow(x.x), narrow(x.y), narrow(x.z), narrow(x.w));
    } else {
        halves = vec4<u32>(bfloat_bits(x.x), bfloat_bits(x.y), bfloat_bits(x.z), bfloat_bits(x.w));
    }
    return halves.xz | (halves.yw << vec2<u32>(16u));
}

fn is_infinite(pairs: vec2<u32>) -> bool {
    let low = (pairs & vec2<u32>(0x7c00u)) == vec2<u32>(0x7c00u);
    let high = (pairs & vec2<u32>(0x7c000000u)) == vec2<u32>(0x7c000000u);
    return F16 && any(low | high);
}

fn widened(pairs: vec2<u32>) -> vec4<f32> {
    var found: vec4<f32>;
    if F16 {
        let halves = vec4<u32>(pairs.x & 0xffffu, pairs.x >> 16u, pairs.y & 0xffffu, pairs.y >> 16u);
        let size = halves & vec4<u32>(0x7fffu);
        // Subnormals of f16 are normal numbers of f32.
        let small = bitcast<vec4<u32>>(vec4<f32>(size) * 5.9604644775390625e-8);
        let normal = (size << vec4<u32>(13u)) + vec4<u32>(112u << 23u);
        let finite = select(normal, small, size < vec4<u32>(0x400u));
        let bits = finite | select(vec4<u32>(0u), vec4<u32>(INFINITE), size >= vec4<u32>(0x7c00u));
        found = bitcast<vec4<f32>>(bits | ((halves & vec4<u32>(0x8000u)) << vec4<u32>(16u)));
    } else {
        let high = vec2<u32>(0xffff0000u);
        found = bitcast<vec4<f32>>(vec4<u32>(pairs << vec2<u32>(16u), pairs & high).xzyw);
    }
    return found;
}

// Returns what a row keeps of a vector.
fn rounded(x: vec4<f32>) -> vec4<f32> { return widened(narrowed(x)); }

// Returns a vector of the rows of the batch.
fn row(at: u32) -> vec4<f32> {
    var found: vec2<u32>;
    if ROWS == OWN { found = own[at]; } else { found = scratch[2u * scratch_at + at]; }
    return widened(found);
}

fn set_row(at: u32, value: vec4<f32>) {
    let pairs = narrowed(value);
    too_large = too_large || is_infinite(pairs);
    if ROWS == OWN { own[at] = pairs; } else { scratch[2u * scratch_at + at] = pairs; }
}

// Returns one number of the rows of the batch.
fn number(at: u32, i: u32) -> f32 { return row(at + i / 4u)[i % 4u]; }

// Sets one number of the rows of the batch. One invocation sets all numbers of a vector.
fn set_number(at: u32, i: u32, value: f32) {
    var four = row(at + i / 4u);
    four[i % 4u] = value;
    set_row(at + i / 4u, four);
}

// Vectors that have 32 bits, and one of their words.
fn exact(at: u32) -> vec4<f32> {
    var found: vec4<u32>;
    if ROWS == OWN {
        found = vec4<u32>(own[2u * at], own[2u * at + 1u]);
    } else {
        let pair = 2u * (scratch_at + at);
        found = vec4<u32>(scratch[pair], scratch[pair + 1u]);
    }
    return bitcast<vec4<f32>>(found);
}

fn set_exact(at: u32, value: vec4<f32>) {
    let words = bitcast<vec4<u32>>(value);
    if ROWS == OWN {
        own[2u * at] = words.xy;
        own[2u * at + 1u] = words.zw;
    } else {
        set_stored(at, words);
    }
}

fn exact_word(at: u32, i: u32) -> u32 { return bitcast<vec4<u32>>(exact(at + i / 4u))[i % 4u]; }

// Vectors of four words in storage.
fn set_stored(at: u32, value: vec4<u32>) {
    let to = 2u * (scratch_at + at);
    scratch[to] = value.xy;
    scratch[to + 1u] = value.zw;
}

fn stored_word(at: u32, i: u32) -> u32 { return scratch[2u * (scratch_at + at) + i / 2u][i % 2u]; }

// Returns a vector of the factors of products: the parameters with 16 bits, which are a copy.
fn weight(at: u32) -> vec4<f32> {
    var found: vec2<u32>;
    if OWN_WEIGHTS { found = own[at]; } else { found = scratch[2u * scratch_at + at]; }
    return widened(found);
}

fn set_weight(at: u32, value: vec4<f32>) {
    let pairs = narrowed(value);
    has_large_parameter = has_large_parameter || is_infinite(pairs);
    if OWN_WEIGHTS { own[at] = pairs; } else { scratch[2u * scratch_at + at] = pairs; }
}

// Returns a vector of the parameters as the optimizer changes them.
fn parameter(at: u32) -> vec4<f32> { return weights[weights_at + at]; }

fn set_parameter(at: u32, value: vec4<f32>, is_factor: bool) {
    weights[weights_at + at] = value;
    if is_factor { set_weight(at, value); }
}

// A storage barrier has to follow.
fn load_parameters() {
    for (var block = 0u; block < params.blocks; block += 1u) {
        if block_word(block, KIND) == MATRIX {
            // Products read four rows at a time.
            let rows = (block_word(block, BLOCK_ROWS) + 3u) / 4u * 4u;
            let end = block_word(block, PLACE) + rows * block_word(block, BLOCK_PITCH);
            for (var i = block_word(block, PLACE) + lane; i < end; i += WIDTH) { set_weight(i, parameter(i)); }
        }
    }
}

fn store_parameters() {}

// Waits until all invocations have read the parameters of a step.
fn parameters_read() {
    if ROWS == OWN { storageBarrier(); }
}
