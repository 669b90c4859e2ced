// Scaling by powers of two that may be too large or too small to be one f32. Needs shared/real.wgsl.

// Returns the f32 with the given bits times 2^by, rounded once. The function works on bits for two reasons: a compiler
// may combine two finite factors into one infinite factor, and drivers flush subnormal values to 0.
fn scaled(bits: u32, by: i32) -> f32 {
    let sign = bits & 0x80000000u;
    let size = bits & 0x7fffffffu;
    if size == 0u || size >= INFINITE { return bitcast<f32>(bits); }
    var number = size;
    var power = by;
    if size < 0x800000u {
        // A subnormal value is `size` times 2^-149.
        number = bitcast<u32>(f32(size));
        power = by - 149;
    }
    let exponent = i32(number >> 23u) + power;
    if exponent >= 255 { return bitcast<f32>(sign | INFINITE); }
    let fraction = number & 0x7fffffu;
    if exponent > 0 { return bitcast<f32>(sign | (u32(exponent) << 23u) | fraction); }
    // The result is below the normal numbers. A number in [2^-100, 2^-99) is scaled down in one step, which rounds once
    // on adapters that support subnormal numbers.
    return bitcast<f32>(sign | (27u << 23u) | fraction) * power_of_two(max(exponent - 27, -126));
}
