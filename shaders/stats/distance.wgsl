// Needs shared/real.wgsl. The distance of an element from its column's shift in units of 2^exponent, the exponent of
// the largest distance of its node. Nothing overflows on the way, because from 2^100 on both are multiplied by 2^-16
// first.

// The exponent of columns whose elements all equal the shift; that of all other columns is at least -126.
const NONE: i32 = -127;

fn distance(number: f32, shift: f32, exponent: i32) -> f32 {
    let far = exponent >= 100;
    let down = power_of_two(-16);
    return select(number - shift, number * down - shift * down, far) * power_of_two(select(0, 16, far) - max(exponent, -126));
}
