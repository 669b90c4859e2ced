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

// Returns the factor that scales numbers to a largest magnitude in [1, 2), given the bits of their largest magnitude.
// Zeros are scaled by 1. The exponent of a subnormal number is taken as that of the smallest normal number.
fn scale_of(bits: u32) -> f32 { return select(power_of_two(-clamp(i32(bits >> 23u) - 127, -126, 126)), 1.0, bits == 0u); }
