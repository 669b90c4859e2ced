// Sorts V's columns in the order of their eigenvalues, in place. Each workgroup holds a few whole rows in workgroup
// memory at a time. If the matrix is not finite, writes zeros.
// Loop iterations of an invocation: 2 SLOTS / WIDTH.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> ranks: array<u32>;
@group(0) @binding(4) var<storage, read_write> w: array<f32>;

const WIDTH: u32 = 256u;

var<workgroup> rows: array<f32, SLOTS>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = group.x / params.groups;
    let m = matrix_of(table[params.first + matrix]);
    let finite = (state[m.place].x & FLAG_NON_FINITE) == 0u;
    let own = SLOTS / params.capacity;
    let top = group.x % params.groups * own;
    if top >= m.order { return; }
    let count = min(own, m.order - top);
    for (var slot = lane; slot < count * m.order; slot += WIDTH) {
        rows[slot] = w[m.elements + top + slot % count + slot / count * m.order];
    }
    // The columns take the places of others, which other invocations have read.
    storageBarrier();
    workgroupBarrier();
    for (var slot = lane; slot < count * m.order; slot += WIDTH) {
        var to = slot / count;
        var x = 0.0;
        if finite {
            to = ranks[matrix * params.capacity + to];
            x = rows[slot];
        }
        w[m.elements + top + slot % count + to * m.order] = x;
    }
}
