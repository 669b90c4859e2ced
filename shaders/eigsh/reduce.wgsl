// Adds the sums that the slots of each range hold, in the order of the slots. A slot has `size` vec4s.
// Output first + k is the sum of the slots begin..end, where ranges[first + k] starts with (begin, end). The first
// slot in `sums` is slot `base`.
//
// Loop iterations: 16 slots per output, for each output of an invocation.

override WIDTH: u32 = 64;

struct Params { first: u32, outputs: u32, size: u32, base: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> ranges: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> totals: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let all = params.outputs * params.size;
    for (var k = id.x; k < all; k += groups.x * WIDTH) {
        let output = params.first + k / params.size;
        let element = k % params.size;
        let range = ranges[output];
        var sum = vec4<f32>(0.0);
        for (var slot = range.x; slot < range.y; slot += 1u) { sum += sums[(slot - params.base) * params.size + element]; }
        totals[output * params.size + element] = sum;
    }
}
