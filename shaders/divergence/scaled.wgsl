// Shares of a histogram without subnormal numbers, which a device may flush when it loads or multiplies one. Entries
// are read as bits, and scaled by a power of two so that the total of a histogram is 1 to 2 times 2^`unit`, which is
// about 2^100. So entries down to 2^-225 of the total are normal.

const NAN: u32 = 0x7fc00000u;
const INFINITY: u32 = 0x7f800000u;

fn finite(bits: u32) -> bool { return (bits & 0x7fffffffu) < INFINITY; }

fn power_of_two(e: i32) -> f32 { return bitcast<f32>(u32(e + 127) << 23u); }

// Returns a number that is not negative times 2^shift, from its bits; a subnormal one is normalized by its leading bit.
// A result below 2^-125 becomes 2^-125 instead of 0, and one beyond f32 becomes its largest power of two.
fn scaled(bits: u32, shift: i32) -> f32 {
    let size = bits & 0x7fffffffu;
    if size == 0u { return 0.0; }
    var exponent = i32(size >> 23u);
    var mantissa = size & 0x7fffffu;
    if exponent == 0 {
        let leading = i32(firstLeadingBit(mantissa));
        mantissa = (mantissa << u32(23 - leading)) & 0x7fffffu;
        exponent = leading - 22;
    }
    exponent += shift;
    if exponent < 2 { return power_of_two(-125); }
    if exponent > 254 { return power_of_two(127); }
    return bitcast<f32>((u32(exponent) << 23u) | mantissa);
}
