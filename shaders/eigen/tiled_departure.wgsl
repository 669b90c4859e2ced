// Computes, as bits, the largest magnitude in a tile of SIDE x SIDE elements of V'V - I. The lower triangle has T
// rows of tiles, which are folded into a rectangle: row r of the rectangle has first the tiles of row T - 1 - r of the
// triangle, and then the tiles of row r. Each invocation computes the products of four columns with four columns.
// Loop iterations of an invocation: n / DEPTH (1 + 4 + QUADS (1 + 4)) + 20.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> departures: array<u32>;

// The number of rows that workgroup memory holds at a time. It is the largest that fits in 16 KiB, WebGPU's minimum of
// workgroup memory, with an odd number of groups of four rows, so that columns start in different banks.
const DEPTH: u32 = 28u;
const QUADS: u32 = DEPTH / 4u;
const STRIDE: u32 = QUADS;

var<workgroup> tile: array<vec4<f32>, 2u * SIDE * STRIDE>;
var<workgroup> departure: atomic<u32>;

fn element(base: u32, row: u32, end: u32) -> f32 {
    if row < end { return w[base + row]; }
    return 0.0;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = matrix_of(table[params.first + group.x / params.groups]);
    let tiles = (m.order + SIDE - 1u) / SIDE;
    let fold = group.x % params.groups / (tiles + 1u);
    let along = group.x % params.groups % (tiles + 1u);
    if 2u * fold >= tiles || (state[m.place].x & FLAG_NON_FINITE) != 0u { return; }
    let upper = along < tiles - fold;
    let x = select(fold, tiles - 1u - fold, upper) * SIDE;
    let y = select(along - (tiles - fold), along, upper) * SIDE;
    if lane == 0u { atomicStore(&departure, 0u); }

    let i = lane / 16u;
    let j = lane % 16u;
    var products: mat4x4<f32>;
    for (var top = 0u; top < m.order; top += DEPTH) {
        for (var slot = lane; slot < 2u * SIDE * QUADS; slot += 256u) {
            let k = slot / QUADS;
            let column = select(y + k - SIDE, x + k, k < SIDE);
            let row = top + slot % QUADS * 4u;
            let end = select(0u, m.order, column < m.order);
            let base = m.elements + column * m.order;
            tile[k * STRIDE + slot % QUADS] = vec4<f32>(
                element(base, row, end), element(base, row + 1u, end), element(base, row + 2u, end), element(base, row + 3u, end)
            );
        }
        workgroupBarrier();
        var part: mat4x4<f32>;
        for (var q = 0u; q < QUADS; q += 1u) {
            let a = tile[(SIDE + j) * STRIDE + q];
            let b = tile[(SIDE + j + 16u) * STRIDE + q];
            let c = tile[(SIDE + j + 32u) * STRIDE + q];
            let d = tile[(SIDE + j + 48u) * STRIDE + q];
            for (var e = 0u; e < 4u; e += 1u) {
                let f = tile[(i + 16u * e) * STRIDE + q];
                part[e] += vec4<f32>(dot(a, f), dot(b, f), dot(c, f), dot(d, f));
            }
        }
        products += part;
        workgroupBarrier();
    }
    for (var e = 0u; e < 4u; e += 1u) {
        for (var f = 0u; f < 4u; f += 1u) {
            let one = x + i + 16u * e;
            let two = y + j + 16u * f;
            if one < m.order && two < m.order { atomicMax(&departure, magnitude_bits(products[e][f] - select(0.0, 1.0, one == two))); }
        }
    }
    workgroupBarrier();
    if lane == 0u { departures[group.x] = atomicLoad(&departure); }
}
