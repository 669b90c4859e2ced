// For every column a number near it and the power of two that scales its distances from there to about 1: the mean of what is finite among
// its first 64 rows from `begin` on, and their largest distance. Columns of matrix m: shifts first, then scales, then 1 / scale.
//
// Loop iterations: 3 * 64 for each column of an invocation.

override WIDTH: u32 = 64;

const SAMPLE: u32 = 64u;

struct Params { cols: u32, matrices: u32, len: u32, begin: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> shifts: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let end = min(params.begin + SAMPLE, params.end);
    for (var s = id.x; s < params.cols * params.matrices; s += groups.x * WIDTH) {
        let base = s * params.len;
        var first = 0.0;
        var count = 0.0;
        var sum = 0.0;
        for (var row = params.begin; row < end; row += 1u) {
            let number = x[base + row];
            if magnitude_bits(number) < INFINITE {
                if count == 0.0 { first = number; }
                // A share of each, so that the largest numbers do not overflow.
                sum += (number - first) * (1.0 / f32(SAMPLE));
                count += 1.0;
            }
        }
        var shift = first;
        if count > 0.0 { shift = first + sum * (f32(SAMPLE) / count); }
        shift = select(first, shift, magnitude_bits(shift) < INFINITE);
        var largest = 0u;
        for (var row = params.begin; row < end; row += 1u) {
            let away = magnitude_bits(x[base + row] - shift);
            if away < INFINITE { largest = max(largest, away); }
        }
        let exponent = select(clamp(i32(largest >> 23u) - 127, -126, 126), 0, largest == 0u);
        let to = s / params.cols * params.cols * 3u + s % params.cols;
        shifts[to] = shift;
        shifts[to + params.cols] = power_of_two(-exponent);
        shifts[to + 2u * params.cols] = power_of_two(exponent);
    }
}
