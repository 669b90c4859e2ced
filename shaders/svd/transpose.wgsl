// Computes Q' for every Q, which has shape (long, left). One workgroup per tile; loops have one iteration.

override TILE: u32 = 16;

struct Params { first: u32, long: u32, left: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

var<workgroup> tile: array<f32, TILE * (TILE + 1)>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) place: vec3<u32>) {
    let down = (params.long + TILE - 1u) / TILE;
    let across = (params.left + TILE - 1u) / TILE;
    let unit = params.first + group.x;
    let base = unit / (down * across) * params.long * params.left;
    let row = unit % down * TILE;
    let column = unit / down % across * TILE;
    if row + place.x < params.long && column + place.y < params.left {
        tile[place.y * (TILE + 1u) + place.x] = q[base + (column + place.y) * params.long + row + place.x];
    }
    workgroupBarrier();
    if column + place.x < params.left && row + place.y < params.long {
        out[base + (row + place.y) * params.left + column + place.x] = tile[place.x * (TILE + 1u) + place.y];
    }
}
