// Conversions of f16 values that are stored as bits, two to a word. The built-ins unpack2x16float and pack2x16float are
// not used, because their results are unspecified for infinities, NaN and values beyond 65504.

// Returns the value of the lower 16 bits. Subnormals of f16 are normal numbers of f32.
fn widen(half: u32) -> f32 {
    let size = half & 0x7fffu;
    let small = bitcast<u32>(f32(size) * 5.9604644775390625e-8); // 2^-24
    let finite = select((size << 13u) + (112u << 23u), small, size < 0x400u);
    let bits = select(finite, 0x7f800000u | ((size & 0x3ffu) << 13u), size >= 0x7c00u);
    return bitcast<f32>(((half & 0x8000u) << 16u) | bits);
}

// Rounds to the nearest f16, ties to even. Magnitudes of at least 65520 become infinity, and NaN stays NaN.
fn narrow(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    let normal = (size + 0xfffu + ((size >> 13u) & 1u) - (112u << 23u)) >> 13u;
    // Below 2^-14, the spacing of f16 is 2^-24 regardless of the exponent.
    let shift = clamp(126u - min(size >> 23u, 112u), 14u, 25u);
    let whole = (size & 0x7fffffu) | 0x800000u;
    let down = whole >> shift;
    let rest = whole & ((1u << shift) - 1u);
    let middle = 1u << (shift - 1u);
    let up = rest > middle || (rest == middle && (down & 1u) == 1u);
    let small = down + select(0u, 1u, up);
    var half = select(normal, small, size < 0x38800000u);
    half = select(half, 0x7c00u, size >= 0x477ff000u);
    half = select(half, 0x7e00u, size > 0x7f800000u);
    return ((bits >> 16u) & 0x8000u) | half;
}
