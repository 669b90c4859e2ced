// Maps numbers to integers that have the same order. NaN becomes the greatest integer, and -0 the same integer as 0.
// Where a place is computed from several comparisons, they compare keys: each comparison of floats may flush subnormal
// numbers or not, and two numbers could get the same place.

const KEY_OF_NAN: u32 = 0xffffffffu;

fn key_of(number: f32) -> u32 {
    let bits = bitcast<u32>(number);
    let magnitude = bits & 0x7fffffffu;
    let key = select(bits | 0x80000000u, ~bits, bits > 0x7fffffffu);
    return select(select(key, 0x80000000u, magnitude == 0u), KEY_OF_NAN, magnitude > INFINITE);
}

fn bits_of(key: u32) -> u32 { return select(~key, key & 0x7fffffffu, key > 0x7fffffffu); }
