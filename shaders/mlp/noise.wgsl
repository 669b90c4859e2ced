// The noise of samplers (src/ops/mlp/noise.rs).

const NOISE: u32 = 4;

// Makes the standard normals of a step.
fn make_noise(record: u32, step: vec2<u32>) {
    for (var item = lane; item < params.noise; item += WIDTH) { make_normals(record, item, step); }
    storageBarrier();
}

// Makes eight standard normals, 4 of each kind, in the order of src/ops/mlp/noise.rs.
fn make_normals(record: u32, item: u32, step: vec2<u32>) {
    let key = vec2<u32>(plan[record + KEY_LOW], plan[record + KEY_HIGH]);
    let block = 16u * (item / 8u) + item % 8u;
    let far = philox(vec4<u32>(block, step.x, step.y, NOISE << 8u), key);
    let toward = philox(vec4<u32>(block + 8u, step.x, step.y, NOISE << 8u), key);
    let r = radius(far);
    let q = quarter_turn(toward);
    let quadrant = toward >> vec4<u32>(30u);
    let odd = (quadrant & vec4<u32>(1u)) == vec4<u32>(1u);
    let to = params.noise_at + block;
    set_stored(to, bitcast<vec4<u32>>(r * with_sign(select(q.cosine, q.sine, odd), quadrant + 1u)));
    set_stored(to + 8u, bitcast<vec4<u32>>(r * with_sign(select(q.sine, q.cosine, odd), quadrant)));
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
