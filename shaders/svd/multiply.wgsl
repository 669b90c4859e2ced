// Computes Y = B V, where B (long, short) is read from the given matrix and scaled. One workgroup per tile of Y, one
// invocation per element.
//
// Iterations: ceil(short / TILE) (1 + TILE).

override TILE: u32 = 16;

struct Params { first: u32, long: u32, short: u32, wide: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> v: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

// Each row has one element more than the tile, so that neighbors are in different banks.
var<workgroup> left: array<f32, TILE * (TILE + 1)>;
var<workgroup> right: array<f32, TILE * (TILE + 1)>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) place: vec3<u32>) {
    let given = Given(params.long, params.short, params.wide);
    let down = (params.long + TILE - 1u) / TILE;
    let across = (params.short + TILE - 1u) / TILE;
    let unit = params.first + group.x;
    let matrix = unit / (down * across);
    let row = unit % down * TILE + place.x;
    let column = unit / down % across * TILE + place.y;
    let finite = (state[matrix].x & FLAG_NON_FINITE) == 0u;
    let e = bitcast<i32>(state[matrix].y);
    var sum = 0.0;
    for (var k = 0u; k < params.short; k += TILE) {
        workgroupBarrier();
        var x = 0.0;
        var z = 0.0;
        if finite && row < params.long && k + place.y < params.short {
            x = scaled_down(a[given_at(given, matrix, row, k + place.y)], e);
        }
        if column < params.short && k + place.x < params.short {
            z = v[(matrix * params.short + column) * params.short + k + place.x];
        }
        left[place.y * (TILE + 1u) + place.x] = x;
        right[place.y * (TILE + 1u) + place.x] = z;
        workgroupBarrier();
        for (var t = 0u; t < TILE; t += 1u) {
            sum += left[t * (TILE + 1u) + place.x] * right[place.y * (TILE + 1u) + t];
        }
    }
    if row < params.long && column < params.short { y[(matrix * params.short + column) * params.long + row] = sum; }
}
