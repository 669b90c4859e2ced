// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011). WGSL has no 64-bit product, so products are made of 16-bit
// halves. Only integers are used, so every adapter makes the same words.

// Returns the upper half of a * b.
fn upper_half(a: u32, b: u32) -> u32 {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    let cross = a1 * b0 + ((a0 * b0) >> 16u);
    let other = a0 * b1 + (cross & 0xffffu);
    return a1 * b1 + (cross >> 16u) + (other >> 16u);
}

fn philox_round(x: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    return vec4<u32>(
        upper_half(x.z, 0xcd9e8d57u) ^ x.y ^ key.x,
        x.z * 0xcd9e8d57u,
        upper_half(x.x, 0xd2511f53u) ^ x.w ^ key.y,
        x.x * 0xd2511f53u,
    );
}

// Returns the block of four random words for a counter. The lowest word of the counter comes first.
fn philox(counter: vec4<u32>, start: vec2<u32>) -> vec4<u32> {
    var x = counter;
    var key = start;
    for (var round = 0u; round < 10u; round += 1u) {
        x = philox_round(x, key);
        key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    return x;
}
