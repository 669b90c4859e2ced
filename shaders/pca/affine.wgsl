// Computes (X - before) W + after for every matrix X of a batch, where X is (rows, inner) and W is (inner, cols). A
// workgroup computes a tile of 16 x 16 elements, and each invocation computes one element.
//
// Loop iterations: ceil(inner / 16) 17.

const TILE: u32 = 16u;
// The distance between adjacent rows of a tile in workgroup memory: one more than TILE, so that the elements of a
// column are in different banks.
const STRIDE: u32 = 17u;

struct Params { first: u32, rows: u32, inner: u32, cols: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> before: array<f32>;
@group(0) @binding(3) var<storage, read> w: array<f32>;
@group(0) @binding(4) var<storage, read> after: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;

var<workgroup> left: array<f32, 272>;
var<workgroup> right: array<f32, 272>;

@compute @workgroup_size(TILE, TILE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) place: vec3<u32>) {
    let down = (params.rows + TILE - 1u) / TILE;
    let across = (params.cols + TILE - 1u) / TILE;
    let unit = params.first + group.x;
    let matrix = unit / (down * across);
    let row = unit % down * TILE + place.x;
    let column = unit / down % across * TILE + place.y;
    var sum = 0.0;
    for (var k = 0u; k < params.inner; k += TILE) {
        workgroupBarrier();
        var a = 0.0;
        var b = 0.0;
        if row < params.rows && k + place.y < params.inner {
            a = x[(matrix * params.inner + k + place.y) * params.rows + row] - before[k + place.y];
        }
        if column < params.cols && k + place.x < params.inner { b = w[column * params.inner + k + place.x]; }
        left[place.y * STRIDE + place.x] = a;
        right[place.y * STRIDE + place.x] = b;
        workgroupBarrier();
        var some = 0.0;
        for (var t = 0u; t < TILE; t += 1u) { some += left[t * STRIDE + place.x] * right[place.y * STRIDE + t]; }
        sum += some;
    }
    if row < params.rows && column < params.cols {
        out[(matrix * params.cols + column) * params.rows + row] = sum + after[column];
    }
}
