// Makes sweeps of one-sided Jacobi: rotates pairs of columns of W until all are orthogonal (Hestenes 1958; Demmel and
// Veselic 1992). If W = A + s I at the start, then W = V diag(lambda + s) at the end, up to rounding. The direction of
// each column is then an eigenvector, and no separate V is stored.
//
// One workgroup per matrix, n <= CAPACITY, W in workgroup memory. A round of the round-robin tournament has n / 2
// disjoint pairs of columns with LANES invocations each, and each invocation handles every LANES-th group of four rows.
// A dispatch makes at most params.sweeps sweeps, and then writes W and the state back to memory, so that the next
// dispatch can continue.
//
// Loop iterations of an invocation in a sweep: n (1 + 2 ceil(n / 4 / LANES) + LANES), see ops/jacobi/gpu.rs.

override CAPACITY: u32 = 32;
override LANES: u32 = 4;
override PAIRS: u32 = 16;
// The distance from one column to the next, in groups of four rows. It is odd so that columns start in different banks.
override STRIDE: u32 = 9;

struct Params { first: u32, sweeps: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> state: array<vec4<u32>>;

var<workgroup> columns: array<vec4<f32>, CAPACITY * STRIDE>;
var<workgroup> partial: array<vec4<f32>, PAIRS * LANES>;
var<workgroup> shared_order: u32;
var<workgroup> shared_word: u32;
var<workgroup> rotations: atomic<u32>;
var<workgroup> shared_rotations: u32;

@compute @workgroup_size(PAIRS * LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = matrix_of(table[params.first + group.x]);
    if lane == 0u {
        shared_order = min(m.order, CAPACITY);
        shared_word = state[m.place].x;
    }
    let n = workgroupUniformLoad(&shared_order);
    var word = workgroupUniformLoad(&shared_word);
    let quads = (n + 3u) / 4u;

    for (var slot = lane; slot < n * quads; slot += PAIRS * LANES) {
        let column = slot / quads;
        let q = slot % quads;
        let row = q * 4u;
        var x = vec4<f32>();
        for (var i = 0u; i < 4u; i += 1u) {
            if row + i < n { x[i] = w[m.elements + row + i + column * n]; }
        }
        columns[column * STRIDE + q] = x;
    }
    workgroupBarrier();

    let pair = lane / LANES;
    let part = lane % LANES;
    // An odd order is completed by a ghost, and the partner of the ghost is not rotated.
    let players = n + n % 2u;
    // Two columns count as orthogonal if their inner product is at most its own rounding error.
    let tolerance = 1.1920929e-7 * max(4.0, sqrt(f32(n)));
    for (var sweep = 0u; sweep < params.sweeps && n > 1u && (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) == 0u; sweep += 1u) {
        if lane == 0u { atomicStore(&rotations, 0u); }
        for (var round = 0u; round + 1u < players; round += 1u) {
            // The last player keeps its position, and the other players rotate.
            var one = players - 1u;
            var two = round;
            if pair > 0u {
                one = (round + pair) % (players - 1u);
                two = (round + players - 1u - pair) % (players - 1u);
            }
            let i = min(one, two) * STRIDE;
            let j = max(one, two) * STRIDE;
            let plays = pair < players / 2u && max(one, two) < n;

            var sums = vec4<f32>();
            if plays {
                for (var q = part; q < quads; q += LANES) {
                    let x = columns[i + q];
                    let y = columns[j + q];
                    sums += vec4<f32>(dot(x, x), dot(y, y), dot(x, y), 0.0);
                }
            }
            partial[lane] = sums;
            workgroupBarrier();
            if plays {
                var gram = vec4<f32>();
                for (var t = 0u; t < LANES; t += 1u) { gram += partial[pair * LANES + t]; }
                let turn = rotation(gram.x, gram.y, gram.z, tolerance);
                if turn.y != 0.0 {
                    for (var q = part; q < quads; q += LANES) {
                        let x = columns[i + q];
                        let y = columns[j + q];
                        columns[i + q] = turn.x * x - turn.y * y;
                        columns[j + q] = turn.y * x + turn.x * y;
                    }
                    if part == 0u { atomicAdd(&rotations, 1u); }
                }
            }
            workgroupBarrier();
        }
        if lane == 0u { shared_rotations = atomicLoad(&rotations); }
        word += SWEEP;
        if workgroupUniformLoad(&shared_rotations) == 0u { word |= FLAG_ORTHOGONAL; }
    }
    if n <= 1u { word |= FLAG_ORTHOGONAL; }

    for (var slot = lane; slot < n * quads; slot += PAIRS * LANES) {
        let column = slot / quads;
        let q = slot % quads;
        let row = q * 4u;
        let x = columns[column * STRIDE + q];
        for (var i = 0u; i < 4u; i += 1u) {
            if row + i < n { w[m.elements + row + i + column * n] = x[i]; }
        }
    }
    if lane == 0u { state[m.place].x = word; }
}
