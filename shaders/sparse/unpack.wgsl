// Copies a slab into a row-major block of `width` columns, starting at column `first`.
//
// Loop iterations: the number of vec4s that an invocation copies.

override WIDTH: u32 = 64;

struct Params { rows: u32, width: u32, lanes: u32, first: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> slab: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> block: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var k = id.x; k < params.rows * params.lanes; k += groups.x * WIDTH) {
        let column = params.first + 4u * (k % params.lanes);
        let place = k / params.lanes * params.width + column;
        let vector = slab[k];
        block[place] = vector.x;
        if column + 1u < params.width { block[place + 1u] = vector.y; }
        if column + 2u < params.width { block[place + 2u] = vector.z; }
        if column + 3u < params.width { block[place + 3u] = vector.w; }
    }
}
