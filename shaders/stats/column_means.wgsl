// Computes the means of columns from shifts, offsets and the exponents of the offsets. If an element of a column is not
// finite, the mean of this column is NaN.
//
// Loop iterations: the number of columns of an invocation.

override WIDTH: u32 = 64;

struct Params { cols: u32, matrices: u32, nan: u32, divisor: f32, exponent: i32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> means: array<f32>;
@group(0) @binding(2) var<storage, read> shifts: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var k = id.x; k < params.cols * params.matrices; k += groups.x * WIDTH) {
        let from_means = k / params.cols * params.cols * 3u + k % params.cols;
        var bits = params.nan;
        if means[from_means + params.cols] == 0.0 {
            let exponent = i32(means[from_means + 2u * params.cols]);
            // An offset may exceed f32 even if the mean does not.
            let lowered = select(0, 16, exponent >= 100);
            let offset = means[from_means] * power_of_two(max(exponent, -126) - lowered);
            bits = bitcast<u32>((shifts[k] * power_of_two(-lowered) + offset) * power_of_two(lowered));
        }
        out[k] = bitcast<f32>(bits);
    }
}
