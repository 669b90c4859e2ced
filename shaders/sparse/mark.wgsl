// Marks each sorted entry that is within the matrix and is the first entry with its row and column: 1 for a marked
// entry, otherwise 0. An additional 0 follows the last entry.
//
// Loop iterations: the number of entries of an invocation.

override WIDTH: u32 = 64;

struct Params { count: u32, nodes: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> columns: array<u32>;
@group(0) @binding(3) var<storage, read_write> places: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var k = id.x; k <= params.count; k += groups.x * WIDTH) {
        var first = false;
        if k < params.count {
            first = rows[k] < params.nodes;
            if k > 0u && rows[k] == rows[k - 1u] && columns[k] == columns[k - 1u] { first = false; }
        }
        places[k] = u32(first);
    }
}
