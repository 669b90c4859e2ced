// Sweeps of one-sided Jacobi up to order 32 in the registers of a workgroup, see jacobi/register.wgsl. Each matrix has
// a workgroup, and each pair of columns has four invocations. Columns are exchanged through workgroup memory, 2 of 2 groups of
// rows at a time.
// Loop iterations of an invocation and sweep: 17.
//
// Written by tools/unroll: `cargo run --example unroll` writes it anew.

const PLACES: u32 = 16u;
const WIDTH: u32 = 64u;

var<workgroup> moving: array<vec4<f32>, WIDTH * 2u>;
var<workgroup> squares_moving: array<f32, PLACES>;
var<workgroup> partial: array<f32, WIDTH>;
var<workgroup> shared_order: u32;
var<workgroup> shared_word: u32;
var<workgroup> rotations: atomic<u32>;
var<workgroup> shared_rotations: u32;

// Returns the sum of x over the invocations of a pair of columns. A barrier must precede the next write to `partial`.
fn total(lane: u32, x: f32) -> f32 {
    partial[lane] = x;
    workgroupBarrier();
    let first = lane / 4u * 4u;
    return (partial[first] + partial[first + 1u]) + (partial[first + 2u] + partial[first + 3u]);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var m = matrix_of(table[params.first + group.x]);
    if lane == 0u {
        shared_order = min(m.order, 32u);
        shared_word = state[m.place].x;
    }
    m.order = workgroupUniformLoad(&shared_order);
    var word = workgroupUniformLoad(&shared_word);
    let pairs = max((m.order + 1u) / 2u, 1u);
    let place = lane / 4u;
    let part = lane % 4u;
    let columns = columns_at(place, pairs, 0u);
    var x0 = quad(m, columns.x, part + 0u);
    var x1 = quad(m, columns.x, part + 4u);
    var y0 = quad(m, columns.y, part + 0u);
    var y1 = quad(m, columns.y, part + 4u);
    // At the end, columns take the places of others, which are read here.
    storageBarrier();

    let plays = place < pairs;
    let swaps = place == 0u;
    let after = select(lane, select(place + 1u, 0u, place + 1u == pairs) * 4u + part, plays);
    let before = select(lane, select(place - 1u, pairs - 1u, place == 0u) * 4u + part, plays);
    // Two columns count as orthogonal if their inner product is at most its rounding error.
    let tolerance = 1.1920929e-7 * max(4.0, sqrt(f32(m.order)));
    var made = 0u;
    for (; made < params.sweeps && (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) == 0u; made += 1u) {
        if lane == 0u { atomicStore(&rotations, 0u); }
        var a = total(lane, dot(x0, x0) + dot(x1, x1));
        workgroupBarrier();
        var b = total(lane, dot(y0, y0) + dot(y1, y1));
        workgroupBarrier();
        var turned = false;
        for (var k = 0u; k < pairs; k += 1u) {
            {
                let z = total(lane, dot(x0, y0) + dot(x1, y1));
                let r = select(vec2<f32>(1.0, 0.0), rotation(a, b, z, tolerance), plays);
                turned = turned | (r.y != 0.0);
                let squares = turned_squares(a, b, z, r);
                a = squares.x;
                b = squares.y;
                let t0 = x0 * r.x - y0 * r.y;
                y0 = x0 * r.y + y0 * r.x;
                x0 = t0;
                let t1 = x1 * r.x - y1 * r.y;
                y1 = x1 * r.y + y1 * r.x;
                x1 = t1;
                if part == 0u { squares_moving[place] = b; }
                moving[lane + 0u * WIDTH] = y0;
                moving[lane + 1u * WIDTH] = y1;
                workgroupBarrier();
                let in0 = moving[after + 0u * WIDTH];
                y0 = in0;
                let in1 = moving[after + 1u * WIDTH];
                y1 = in1;
                let in_square = squares_moving[after / 4u];
                b = in_square;
            }
            {
                let z = total(lane, dot(x0, y0) + dot(x1, y1));
                let r = select(vec2<f32>(1.0, 0.0), rotation(a, b, z, tolerance), plays);
                turned = turned | (r.y != 0.0);
                let squares = turned_squares(a, b, z, r);
                a = squares.x;
                b = squares.y;
                let t0 = x0 * r.x - y0 * r.y;
                y0 = x0 * r.y + y0 * r.x;
                x0 = t0;
                let t1 = x1 * r.x - y1 * r.y;
                y1 = x1 * r.y + y1 * r.x;
                x1 = t1;
                if part == 0u { squares_moving[place] = a; }
                moving[lane + 0u * WIDTH] = x0;
                moving[lane + 1u * WIDTH] = x1;
                workgroupBarrier();
                let in0 = moving[before + 0u * WIDTH];
                x0 = select(in0, y0, swaps);
                y0 = select(y0, in0, swaps);
                let in1 = moving[before + 1u * WIDTH];
                x1 = select(in1, y1, swaps);
                y1 = select(y1, in1, swaps);
                let in_square = squares_moving[before / 4u];
                a = select(in_square, b, swaps);
                b = select(b, in_square, swaps);
            }
        }
        if turned { atomicMax(&rotations, 1u); }
        workgroupBarrier();
        if lane == 0u { shared_rotations = atomicLoad(&rotations); }
        word += SWEEP;
        if workgroupUniformLoad(&shared_rotations) == 0u { word |= FLAG_ORTHOGONAL; }
    }

    if plays && made > 0u {
        let now = columns_at(place, pairs, select(0u, pairs, made % 2u == 1u));
        put(m, now.x, part + 0u, x0);
        put(m, now.x, part + 4u, x1);
        put(m, now.y, part + 0u, y0);
        put(m, now.y, part + 4u, y1);
    }
    if lane == 0u { state[m.place].x = word; }
}
