// Splits f32 into the sum of two f16: x 2^s = high + low, where s scales the largest magnitude of a line to [2^14,
// 2^15). A word holds two f16. The terms of a line are contiguous and fill whole words; if their number is odd, the
// last half of a word is 0. Needs matmul/lines.wgsl and shared/half.wgsl.
//
// Iterations of an invocation: chunks / 32 + 5 + chunk / 64, where a line has `chunks` chunks of `chunk` terms.

@group(0) @binding(2) var<storage, read> largest: array<u32>;
@group(0) @binding(3) var<storage, read_write> high: array<u32>;
@group(0) @binding(4) var<storage, read_write> low: array<u32>;
// The exponent s of each line, an i32.
@group(0) @binding(5) var<storage, read_write> exponents: array<u32>;

// Returns the exponent s for the bits of a line's largest magnitude. The exponent is 0 if the line has only zeros or
// has an element that is not finite.
fn exponent_for(bits: u32) -> i32 {
    if bits == 0u || bits >= INFINITE { return 0; }
    if bits >= 0x800000u { return 141 - i32(bits >> 23u); }
    // A subnormal value is `bits` times 2^-149.
    return 290 - i32(bitcast<u32>(f32(bits)) >> 23u);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let unit = params.first + group.x;
    let own = place_of(index);
    let line = unit / params.chunks * LINES + own.x;
    let chunk = unit % params.chunks;
    var most = 0u;
    if line < params.all {
        for (var c = own.y; c < params.chunks; c += LANES) { most = max(most, largest[line * params.chunks + c]); }
    }
    let exponent = exponent_for(largest_of(own, most));
    if line >= params.all { return; }
    if chunk == 0u && own.y == 0u { exponents[line] = bitcast<u32>(exponent); }
    let words = (params.terms + 1u) / 2u;
    let end = min((chunk + 1u) * params.chunk / 2u, words);
    for (var word = chunk * params.chunk / 2u + own.y; word < end; word += LANES) {
        let x = times_power_of_two(bits_at(line, 2u * word), exponent);
        var y = 0.0;
        if 2u * word + 1u < params.terms { y = times_power_of_two(bits_at(line, 2u * word + 1u), exponent); }
        let first = narrow(x);
        let second = narrow(y);
        high[line * words + word] = first | (second << 16u);
        low[line * words + word] = narrow(x - widen(first)) | (narrow(y - widen(second)) << 16u);
    }
}
