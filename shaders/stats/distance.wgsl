// Needs shared/real.wgsl. Returns the distance of an element from the shift of its column, in units of 2^`exponent`.
// `exponent` is the exponent of the largest distance in the column of a leaf (see means.wgsl). If it is 100 or more,
// the element and the shift are first multiplied by 2^-16, so that no intermediate result overflows.

// The exponent of a column whose elements all equal the shift. The exponent of any other column is at least -126.
const NONE: i32 = -127;

fn distance(number: f32, shift: f32, exponent: i32) -> f32 {
    let far = exponent >= 100;
    let down = power_of_two(-16);
    return select(number - shift, number * down - shift * down, far) * power_of_two(select(0, 16, far) - max(exponent, -126));
}
