// Powers of two beyond those of one factor. Needs shared/real.wgsl.

// The number of these bits times 2^by, rounded once. By bits: a compiler may join two factors to one that is infinite, and
// drivers take subnormal numbers for 0.
fn scaled(bits: u32, by: i32) -> f32 {
    let sign = bits & 0x80000000u;
    let size = bits & 0x7fffffffu;
    if size == 0u || size >= INFINITE { return bitcast<f32>(bits); }
    var number = size;
    var power = by;
    if size < 0x800000u {
        // So many units of 2^-149.
        number = bitcast<u32>(f32(size));
        power = by - 149;
    }
    let exponent = i32(number >> 23u) + power;
    if exponent >= 255 { return bitcast<f32>(sign | INFINITE); }
    let fraction = number & 0x7fffffu;
    if exponent > 0 { return bitcast<f32>(sign | (u32(exponent) << 23u) | fraction); }
    // Where the adapter has such numbers: from [2^-100, 2^-99) down in one step.
    return bitcast<f32>(sign | (27u << 23u) | fraction) * power_of_two(max(exponent - 27, -126));
}
