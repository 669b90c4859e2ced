// Sums counts over `parts` parts of `size` counts each.
//
// Loop iterations: `parts` for each total of an invocation.

override WIDTH: u32 = 64;

struct Params { size: u32, parts: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var k = id.x; k < params.size; k += groups.x * WIDTH) {
        var sum = 0u;
        for (var part = 0u; part < params.parts; part += 1u) { sum += counts[part * params.size + k]; }
        totals[k] = sum;
    }
}
