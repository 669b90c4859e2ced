// Arithmetic that is more accurate than WGSL requires, and tests on bits, which are needed because a compiler may
// assume that NaN does not occur.
//
// A function that is called in a loop must have no early return: SwiftShader hangs in such a loop (2026-11-21).

// Returns 1 / sqrt(x) for x > 0. The built-in may be 2 ulp off, and one Newton step corrects this.
fn reciprocal_sqrt(x: f32) -> f32 {
    let y = inverseSqrt(x);
    return y * (1.5 - 0.5 * x * y * y);
}

// Returns the bits of |x|. The bits have the same order as the magnitudes. 0x7f800000 is infinity, and larger bits are
// NaN.
fn magnitude_bits(x: f32) -> u32 { return bitcast<u32>(x) & 0x7fffffffu; }

const INFINITE: u32 = 0x7f800000u;

// Returns 2^e for -126 <= e <= 127.
fn power_of_two(e: i32) -> f32 { return bitcast<f32>(u32(e + 127) << 23u); }

// Returns the exponent e of a magnitude from 2^e to less than 2^(e + 1), given its bits, and 0 for zero.
fn exponent_of(size: u32) -> i32 {
    let normal = i32(size >> 23u) - 127;
    let subnormal = i32(firstLeadingBit(size | 1u)) - 149;
    return select(select(subnormal, normal, size >= 0x800000u), 0, size == 0u);
}

// Returns the exponent e of a matrix, whose elements are decomposed after a multiplication by 2^-e, given the bits of
// its largest magnitude. That magnitude is then in [1, 2), or in [2, 4) if 2^-e would be subnormal otherwise.
fn matrix_exponent(size: u32) -> i32 { return min(exponent_of(size), 126); }

// Below this exponent, elements that count are near the subnormal numbers, which a device may flush to 0.
const NEAR_SUBNORMAL: i32 = -64;

// Returns x times 2^-e for a matrix with the exponent e.
fn scaled_down(x: f32, e: i32) -> f32 {
    var y = x * power_of_two(-max(e, NEAR_SUBNORMAL));
    if e < NEAR_SUBNORMAL { y = raised(x, e); }
    return y;
}

// Returns x times 2^-e, where e is below NEAR_SUBNORMAL and |x| is below 2^(e + 1), by operations on bits.
fn raised(x: f32, e: i32) -> f32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let normal = size + (u32(-e) << 23u);
    let subnormal = bitcast<u32>(f32(size) * power_of_two(-149 - e));
    return bitcast<f32>(select(normal, subnormal, size < 0x800000u) | (bits & 0x80000000u));
}

// Returns the f32 with the given bits times 2^by, rounded once, to the nearest number, ties to even. The function works
// on bits for two reasons: a compiler may combine two finite factors into one infinite factor, and a device may flush
// subnormal numbers to 0.
fn times_power_of_two(bits: u32, by: i32) -> f32 {
    let size = bits & 0x7fffffffu;
    let subnormal = size < 0x800000u;
    // A subnormal number is `size` times 2^-149.
    let number = select(size, bitcast<u32>(f32(size)), subnormal);
    let exponent = i32(number >> 23u) + by - select(0, 149, subnormal);
    let fraction = number & 0x7fffffu;
    // A result below the normal numbers loses its last `lost` bits.
    let lost = u32(clamp(1 - exponent, 1, 25));
    let significand = fraction | 0x800000u;
    let rest = significand & ((1u << lost) - 1u);
    let half = 1u << (lost - 1u);
    let kept = significand >> lost;
    let up = rest > half || (rest == half && (kept & 1u) == 1u);
    var result = select(kept + select(0u, 1u, up), (u32(clamp(exponent, 1, 254)) << 23u) | fraction, exponent > 0);
    result = select(result, INFINITE, exponent >= 255);
    result = select(result, size, size == 0u || size >= INFINITE);
    return bitcast<f32>(result | (bits & 0x80000000u));
}
