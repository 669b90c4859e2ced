// Adds to every element the sum of all blocks before its own, which completes the scan of scan.wgsl. Loop iterations:
// the number of elements of an invocation.

override WIDTH: u32 = 64;

struct Params { count: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> totals: array<u32>;
@group(0) @binding(2) var<storage, read_write> values: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var place = id.x; place < params.count; place += groups.x * WIDTH) { values[place] += totals[place / BLOCK]; }
}
