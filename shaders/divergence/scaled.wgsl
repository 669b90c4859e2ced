// The shares of a histogram are computed without subnormal numbers, because a device may flush a subnormal number when
// it loads or multiplies one. Entries are read as bits, and scaled by a power of two so that the total of a histogram
// is between 2^`unit` and 2^(`unit` + 1), where `unit` is about 100. So entries down to 2^-225 times the total are
// normal.

const NAN: u32 = 0x7fc00000u;
const INFINITY: u32 = 0x7f800000u;

fn finite(bits: u32) -> bool { return (bits & 0x7fffffffu) < INFINITY; }

fn power_of_two(e: i32) -> f32 { return bitcast<f32>(u32(e + 127) << 23u); }

// Returns x 2^`shift`, where x is the magnitude of the number with the given bits. A subnormal number is normalized by
// its leading bit. A positive result below 2^-125 becomes 2^-125, and a result beyond f32 becomes the largest power of
// two in f32.
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
