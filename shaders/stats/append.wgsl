// Copies `count` rows of every series, from row `begin` on, to the tail. The tail has room for `room` elements of each
// series, and the first `held` elements of this room are already in use. Consecutive invocations copy consecutive rows
// of a series.
//
// Loop iterations: the number of elements of an invocation.

override WIDTH: u32 = 64;

struct Params { series: u32, len: u32, inner: u32, begin: u32, count: u32, room: u32, held: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> tail: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var k = id.x; k < params.series * params.count; k += groups.x * WIDTH) {
        let row = k % params.count;
        let s = k / params.count;
        let base = s / params.inner * params.len * params.inner + s % params.inner;
        tail[s * params.room + params.held + row] = x[base + (params.begin + row) * params.inner];
    }
}
