// Blocked one-sided Jacobi, first of three kernels: computes the inner products of the columns of every pair of blocks
// of a round (Bischof 1987; Arbenz and Slapnicar 1995; Becka, Oksa and Vajtersic 2002; the order of the steps is the
// same as in MAGMA's zgesvj_batched). Each workgroup handles CHUNK rows of one pair, and the next kernel adds the
// chunks in their order.
//
// grams: PAIR x PAIR numbers for each chunk of each pair of each matrix, starting with the matrix params.first.
// Loop iterations of an invocation: 2 + CHUNK / TILE (1 + 8 + QUADS).

@group(0) @binding(0) var<uniform> params: Round;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> grams: array<f32>;

var<workgroup> tile: array<vec4<f32>, PAIR * STRIDE>;

fn element(base: u32, row: u32, end: u32) -> f32 {
    if row < end { return w[base + row]; }
    return 0.0;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let chunk = group.x % params.chunks;
    let pair = group.x / params.chunks % params.pairs;
    let matrix = group.x / params.chunks / params.pairs;
    let m = matrix_of(table[params.first + matrix]);
    let players = players_of(m.order);
    let word = state[m.place].x;
    if (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) != 0u || params.round + 1u >= players || pair >= players / 2u { return; }
    let blocks = blocks_of(players, params.round, pair);
    let end = min((chunk + 1u) * CHUNK, m.order);

    // Each invocation computes the inner products of four columns with four columns.
    let x = lane / 8u;
    let y = lane % 8u;
    var sums: mat4x4<f32>;
    for (var top = chunk * CHUNK; top < end; top += TILE) {
        for (var slot = lane; slot < PAIR * QUADS; slot += 64u) {
            let column = column_of(blocks, slot / QUADS);
            let row = top + slot % QUADS * 4u;
            var four = vec4<f32>();
            if column < m.order {
                let base = m.elements + column * m.order;
                four = vec4<f32>(
                    element(base, row, end), element(base, row + 1u, end), element(base, row + 2u, end), element(base, row + 3u, end)
                );
            }
            tile[slot / QUADS * STRIDE + slot % QUADS] = four;
        }
        workgroupBarrier();
        var part: mat4x4<f32>;
        for (var q = 0u; q < QUADS; q += 1u) {
            let a = tile[y * STRIDE + q];
            let b = tile[(y + 8u) * STRIDE + q];
            let c = tile[(y + 16u) * STRIDE + q];
            let d = tile[(y + 24u) * STRIDE + q];
            let e = tile[x * STRIDE + q];
            let f = tile[(x + 8u) * STRIDE + q];
            let g = tile[(x + 16u) * STRIDE + q];
            let h = tile[(x + 24u) * STRIDE + q];
            part[0] += vec4<f32>(dot(a, e), dot(b, e), dot(c, e), dot(d, e));
            part[1] += vec4<f32>(dot(a, f), dot(b, f), dot(c, f), dot(d, f));
            part[2] += vec4<f32>(dot(a, g), dot(b, g), dot(c, g), dot(d, g));
            part[3] += vec4<f32>(dot(a, h), dot(b, h), dot(c, h), dot(d, h));
        }
        sums += part;
        workgroupBarrier();
    }
    let base = group.x * PAIR * PAIR;
    for (var j = 0u; j < 4u; j += 1u) {
        for (var i = 0u; i < 4u; i += 1u) { grams[base + (x + 8u * j) * PAIR + y + 8u * i] = sums[j][i]; }
    }
}
