// The distance of a number from its column's shift in units of 2^exponent, which is that of the largest distance of its node:
// none overflows on the way, because from 2^100 on both are taken times 2^-16 first. Needs shared/real.wgsl.

// The exponent of columns all of whose numbers are the shift; of all others it is -126 at least.
const NONE: i32 = -127;

fn distance(number: f32, shift: f32, exponent: i32) -> f32 {
    let far = exponent >= 100;
    let down = power_of_two(-16);
    return select(number - shift, number * down - shift * down, far) * power_of_two(select(0, 16, far) - max(exponent, -126));
}
