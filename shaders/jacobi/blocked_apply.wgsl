// Blocked one-sided Jacobi, third of three kernels: computes [Wi Wj] <- [Wi Wj] Q for every pair of blocks that has
// columns to rotate. Each workgroup computes TILE rows of one pair, and each invocation four rows of four columns.
//
// Loop iterations of an invocation: 20 + 2 + PAIR + 20.

@group(0) @binding(0) var<uniform> params: Round;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> grams: array<f32>;
@group(0) @binding(4) var<storage, read> marks: array<u32>;
@group(0) @binding(5) var<storage, read_write> w: array<f32>;

const WIDTH: u32 = QUADS * PAIR / 4u;

var<workgroup> tile: array<vec4<f32>, PAIR * STRIDE>;
var<workgroup> basis: array<vec4<f32>, PAIR * PAIR / 4u>;

fn element(base: u32, row: u32, end: u32) -> f32 {
    if row < end { return w[base + row]; }
    return 0.0;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let place = group.x / params.tiles;
    let pair = place % params.pairs;
    let m = matrix_of(table[params.first + place / params.pairs]);
    let players = players_of(m.order);
    let word = state[m.place].x;
    let top = group.x % params.tiles * TILE;
    if (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) != 0u || params.round + 1u >= players || pair >= players / 2u || top >= m.order {
        return;
    }
    if (marks[place] & MARK_ACTIVE) == 0u { return; }
    let blocks = blocks_of(players, params.round, pair);

    for (var slot = lane; slot < PAIR * QUADS; slot += WIDTH) {
        let column = column_of(blocks, slot / QUADS);
        let row = top + slot % QUADS * 4u;
        var four = vec4<f32>();
        if column < m.order {
            let base = m.elements + column * m.order;
            four = vec4<f32>(
                element(base, row, m.order), element(base, row + 1u, m.order), element(base, row + 2u, m.order),
                element(base, row + 3u, m.order)
            );
        }
        tile[slot / QUADS * STRIDE + slot % QUADS] = four;
    }
    let source = place * params.chunks * PAIR * PAIR;
    for (var slot = lane; slot < PAIR * PAIR / 4u; slot += WIDTH) {
        let at = source + 4u * slot;
        basis[slot] = vec4<f32>(grams[at], grams[at + 1u], grams[at + 2u], grams[at + 3u]);
    }
    // The product takes the place of the columns, which other invocations have read.
    storageBarrier();
    workgroupBarrier();

    let quad = lane % QUADS;
    let four = lane / QUADS;
    var out: mat4x4<f32>;
    for (var k = 0u; k < PAIR; k += 1u) {
        let x = tile[k * STRIDE + quad];
        let turn = basis[k * (PAIR / 4u) + four];
        out[0] += x * turn.x;
        out[1] += x * turn.y;
        out[2] += x * turn.z;
        out[3] += x * turn.w;
    }
    let row = top + 4u * quad;
    for (var j = 0u; j < 4u; j += 1u) {
        let column = column_of(blocks, 4u * four + j);
        if column < m.order {
            let base = m.elements + column * m.order + row;
            let x = out[j];
            for (var i = 0u; i < 4u; i += 1u) {
                if row + i < m.order { w[base + i] = x[i]; }
            }
        }
    }
}
