// Moves each marked entry to its final position. It is the first of all entries that share both their row and their
// column. If the entries are also sorted by weight, it has the largest weight of them.
//
// Loop iterations: the number of entries of an invocation.

override WEIGHTED: bool = false;
override WIDTH: u32 = 64;

struct Params { count: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<u32>;
@group(0) @binding(3) var<storage, read> places: array<u32>;
@group(0) @binding(4) var<storage, read_write> to_columns: array<u32>;
@group(0) @binding(5) var<storage, read_write> to_weights: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var k = id.x; k < params.count; k += groups.x * WIDTH) {
        let place = places[k];
        if places[k + 1u] > place {
            to_columns[place] = columns[k];
            // The weight is stored as its complement; see expand.wgsl.
            if WEIGHTED { to_weights[place] = bitcast<f32>(~weights[k]); }
        }
    }
}
