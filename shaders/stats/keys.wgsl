// Maps numbers to integers that have the same order. NaN becomes the greatest integer, and -0 the same integer as 0.

const KEY_OF_NAN: u32 = 0xffffffffu;

fn key_of(number: f32) -> u32 {
    let bits = bitcast<u32>(number);
    let magnitude = bits & 0x7fffffffu;
    if magnitude > INFINITE { return KEY_OF_NAN; }
    if magnitude == 0u { return 0x80000000u; }
    return select(bits | 0x80000000u, ~bits, bits > 0x7fffffffu);
}

fn bits_of(key: u32) -> u32 { return select(~key, key & 0x7fffffffu, key > 0x7fffffffu); }
