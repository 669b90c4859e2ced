// Computes max |Q'Q - I| for every tile of the upper triangle, where Q is (long, left). Tiles below the diagonal get 0.
// One workgroup per tile, one invocation per element.
//
// Iterations: ceil(long / TILE) (1 + TILE / 4) + TILE.

override TILE: u32 = 16;

struct Params { first: u32, long: u32, left: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read_write> departures: array<f32>;

var<workgroup> rows_of_one: array<vec4<f32>, TILE * (TILE / 4 + 1)>;
var<workgroup> rows_of_other: array<vec4<f32>, TILE * (TILE / 4 + 1)>;
var<workgroup> departure: atomic<u32>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) place: vec3<u32>) {
    let tiles = (params.left + TILE - 1u) / TILE;
    let unit = params.first + group.x;
    let matrix = unit / (tiles * tiles);
    let one = unit % tiles * TILE;
    let other = unit / tiles % tiles * TILE;
    let base = matrix * params.long * params.left;
    let stride = TILE / 4u + 1u;
    if place.x == 0u && place.y == 0u { atomicStore(&departure, 0u); }
    var sum = 0.0;
    // Q'Q is symmetric, so the tiles below the diagonal are skipped.
    let end = select(params.long, 0u, one > other);
    for (var k = 0u; k < end; k += TILE) {
        workgroupBarrier();
        let row = k + place.x;
        var x = 0.0;
        var y = 0.0;
        if row < params.long {
            if one + place.y < params.left { x = q[base + (one + place.y) * params.long + row]; }
            if other + place.y < params.left { y = q[base + (other + place.y) * params.long + row]; }
        }
        rows_of_one[place.y * stride + place.x / 4u][place.x % 4u] = x;
        rows_of_other[place.y * stride + place.x / 4u][place.x % 4u] = y;
        workgroupBarrier();
        for (var t = 0u; t < TILE / 4u; t += 1u) {
            sum += dot(rows_of_one[place.x * stride + t], rows_of_other[place.y * stride + t]);
        }
    }
    let column = one + place.x;
    let next = other + place.y;
    if one <= other && column < params.left && next < params.left {
        atomicMax(&departure, magnitude_bits(sum - select(0.0, 1.0, column == next)));
    }
    workgroupBarrier();
    if place.x == 0u && place.y == 0u { departures[unit] = bitcast<f32>(atomicLoad(&departure)); }
}
