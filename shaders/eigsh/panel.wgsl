// Copies rows of a slab into a panel, next to the columns of the other slabs. The slab has 4 * lanes columns, and
// the panel has 4 * total columns.
//
// Loop iterations: the number of vec4s that an invocation copies.

override WIDTH: u32 = 64;

struct Params { row: u32, rows: u32, lanes: u32, total: u32, offset: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> slab: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> panel: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var k = id.x; k < params.rows * params.lanes; k += groups.x * WIDTH) {
        let row = k / params.lanes;
        panel[row * params.total + params.offset + k % params.lanes] = slab[params.row * params.lanes + k];
    }
}
