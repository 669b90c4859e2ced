// Finds where each row begins among the sorted entries: at the first entry that belongs to this row or a later row.
//
// Loop iterations: 32 for each row of an invocation.

override WIDTH: u32 = 64;

struct Params { count: u32, nodes: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<storage, read_write> offsets: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = id.x; row <= params.nodes; row += groups.x * WIDTH) {
        var low = 0u;
        var high = params.count;
        while low < high {
            let middle = low + (high - low) / 2u;
            if rows[middle] < row { low = middle + 1u; } else { high = middle; }
        }
        offsets[row] = places[low];
    }
}
