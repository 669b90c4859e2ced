// For every series, computes a value near its elements: the mean of the finite elements among the first 64 elements
// from row `begin` on, or 0 if none of these elements is finite.
//
// Loop iterations: 64 for each series of an invocation.

override WIDTH: u32 = 64;

const SAMPLE: u32 = 64u;

struct Params { series: u32, len: u32, inner: u32, begin: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> shifts: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let end = min(params.begin + SAMPLE, params.end);
    for (var s = id.x; s < params.series; s += groups.x * WIDTH) {
        let base = s / params.inner * params.len * params.inner + s % params.inner;
        var first = 0.0;
        var count = 0.0;
        var sum = 0.0;
        for (var row = params.begin; row < end; row += 1u) {
            let number = x[base + row * params.inner];
            if magnitude_bits(number) < INFINITE {
                if count == 0.0 { first = number; }
                // Each difference is divided by the size of the sample before it is added, so that the sum of large
                // numbers does not overflow.
                sum += (number - first) * (1.0 / f32(SAMPLE));
                count += 1.0;
            }
        }
        var shift = first;
        if count > 0.0 { shift = first + sum * (f32(SAMPLE) / count); }
        shifts[s] = select(first, shift, magnitude_bits(shift) < INFINITE);
    }
}
