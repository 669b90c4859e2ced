// Blocked one-sided Jacobi, second of three kernels: makes one sweep of two-sided Jacobi on the inner products G of a
// pair of blocks, and collects the rotations in Q. One workgroup per pair of blocks, with G and Q in workgroup memory.
// A round of the tournament has BLOCK disjoint pairs of columns. In each round, each invocation rotates one 2 x 2 block
// of G from both sides, and two rows of one pair of columns of Q.
//
// grams: on input, the inner products in params.chunks chunks; on output, Q in the first chunk, row by row.
// marks: the marks of the pair of blocks (jacobi/blocked.wgsl). The third kernel skips a pair whose columns are
// orthogonal.
// Loop iterations of an invocation: 16 + 4 chunks + 3 PAIR.

@group(0) @binding(0) var<uniform> params: Round;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> grams: array<f32>;
@group(0) @binding(4) var<storage, read_write> marks: array<u32>;

// PITCH is odd so that the elements of a row, and also those of a column, are spread over all banks.
const PITCH: u32 = PAIR + 1u;
const WIDTH: u32 = BLOCK * BLOCK;

var<workgroup> gram: array<f32, PAIR * PITCH>;
var<workgroup> basis: array<f32, PAIR * PITCH>;
var<workgroup> turns: array<vec2<f32>, BLOCK>;
var<workgroup> found: atomic<u32>;
var<workgroup> shared_found: u32;

// Returns the two columns of a pair in a round of PAIR players.
fn columns_of(round: u32, pair: u32) -> vec2<u32> { return blocks_of(PAIR, round, pair); }

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let pair = group.x % params.pairs;
    let m = matrix_of(table[params.first + group.x / params.pairs]);
    let players = players_of(m.order);
    let word = state[m.place].x;
    if (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) != 0u || params.round + 1u >= players || pair >= players / 2u { return; }
    // The rounding error of an inner product of n terms is about sqrt(n) eps. Two columns are rotated if the cosine of
    // their angle is above a quarter of this error. Neither limit is below 4 eps.
    let rounding = 1.1920929e-7 * max(4.0, sqrt(f32(m.order)));
    let tolerance = 1.1920929e-7 * max(4.0, 0.25 * sqrt(f32(m.order)));

    if lane == 0u { atomicStore(&found, 0u); }
    let base = group.x * params.chunks * PAIR * PAIR;
    for (var slot = lane; slot < PAIR * PAIR; slot += WIDTH) {
        var sum = 0.0;
        for (var chunk = 0u; chunk < params.chunks; chunk += 1u) { sum += grams[base + chunk * PAIR * PAIR + slot]; }
        gram[slot / PAIR * PITCH + slot % PAIR] = sum;
        basis[slot / PAIR * PITCH + slot % PAIR] = select(0.0, 1.0, slot / PAIR == slot % PAIR);
    }
    workgroupBarrier();
    for (var slot = lane; slot < PAIR * PAIR; slot += WIDTH) {
        let i = slot / PAIR;
        let j = slot % PAIR;
        if i < j {
            let angle = cosine(gram[i * PITCH + i], gram[j * PITCH + j], gram[i * PITCH + j]);
            if angle > rounding { atomicOr(&found, MARK_ABOVE_ROUNDING); }
            if angle > tolerance { atomicOr(&found, MARK_ACTIVE); }
        }
    }
    workgroupBarrier();
    if lane == 0u {
        shared_found = atomicLoad(&found);
        var before = 0u;
        if params.round > 0u { before = marks[group.x] & MARK_ABOVE_ROUNDING; }
        marks[group.x] = before | shared_found;
    }
    if (workgroupUniformLoad(&shared_found) & MARK_ACTIVE) == 0u { return; }

    let p = lane / BLOCK;
    let q = lane % BLOCK;
    for (var round = 0u; round + 1u < PAIR; round += 1u) {
        if lane < BLOCK {
            let ij = columns_of(round, lane);
            turns[lane] = rotation(
                gram[ij.x * PITCH + ij.x], gram[ij.y * PITCH + ij.y], gram[ij.x * PITCH + ij.y], tolerance
            );
        }
        workgroupBarrier();
        let row = columns_of(round, p) * PITCH;
        let column = columns_of(round, q);
        let left = turns[p];
        let right = turns[q];
        let a = gram[row.x + column.x];
        let b = gram[row.x + column.y];
        let c = gram[row.y + column.x];
        let d = gram[row.y + column.y];
        let upper = vec2<f32>(right.x * a - right.y * b, right.y * a + right.x * b);
        let lower = vec2<f32>(right.x * c - right.y * d, right.y * c + right.x * d);
        var first = left.x * upper - left.y * lower;
        var second = left.y * upper + left.x * lower;
        // The rotation makes these elements 0 up to rounding.
        if p == q && left.y != 0.0 {
            first.y = 0.0;
            second.x = 0.0;
        }
        gram[row.x + column.x] = first.x;
        gram[row.x + column.y] = first.y;
        gram[row.y + column.x] = second.x;
        gram[row.y + column.y] = second.y;
        for (var k = p; k < PAIR; k += BLOCK) {
            let x = basis[k * PITCH + column.x];
            let y = basis[k * PITCH + column.y];
            basis[k * PITCH + column.x] = right.x * x - right.y * y;
            basis[k * PITCH + column.y] = right.y * x + right.x * y;
        }
        workgroupBarrier();
    }
    for (var slot = lane; slot < PAIR * PAIR; slot += WIDTH) {
        grams[base + slot] = basis[slot / PAIR * PITCH + slot % PAIR];
    }
}
