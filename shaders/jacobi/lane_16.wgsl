// Sweeps of one-sided Jacobi to order 16 in the registers of 8 lanes of a subgroup, see jacobi/ring.wgsl. A subgroup holds one
// matrix or more; whoever is done turns no more, and waits for the others without a bit being changed.
// Loop iterations of an invocation and sweep: 9.
//
// Written by tests/unrolled.rs; `FIEDLER_WRITE=1 cargo test --test unrolled` writes it anew.

const LANES: u32 = 8u;

// Whether any of the lanes from `base` on voted so.
fn any_of(ballot: vec4<u32>, base: u32) -> bool {
    return ((ballot[base / 32u] >> (base % 32u)) & 0xffu) != 0u;
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32,
) {
    let place = lane % LANES;
    let index = group.x * 16u + (subgroup * size + lane) / LANES;
    let here = index < params.count;
    var m = Matrix(0u, 0u, 0u, 0u);
    var word = FLAG_ORTHOGONAL;
    if here {
        m = matrix_of(table[params.first + index]);
        m.order = min(m.order, 16u);
        word = state[m.place].x;
        if m.order <= 1u { word |= FLAG_ORTHOGONAL; }
    }
    let pairs = max((m.order + 1u) / 2u, 1u);
    let most = subgroupMax(pairs);
    let columns = columns_at(place, pairs, 0u);
    var x0 = quad(m, columns.x, 0u);
    var x1 = quad(m, columns.x, 1u);
    var x2 = quad(m, columns.x, 2u);
    var x3 = quad(m, columns.x, 3u);
    var y0 = quad(m, columns.y, 0u);
    var y1 = quad(m, columns.y, 1u);
    var y2 = quad(m, columns.y, 2u);
    var y3 = quad(m, columns.y, 3u);

    // Two columns count as orthogonal at the rounding of their inner product.
    let tolerance = 1.1920929e-7 * max(4.0, sqrt(f32(m.order)));
    var made = 0u;
    for (var sweep = 0u; sweep < params.sweeps; sweep += 1u) {
        let goes_on = (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) == 0u;
        if !subgroupAny(goes_on) { break; }
        var a = dot(x0, x0) + dot(x1, x1) + dot(x2, x2) + dot(x3, x3);
        var b = dot(y0, y0) + dot(y1, y1) + dot(y2, y2) + dot(y3, y3);
        var turned = false;
        for (var k = 0u; k < most; k += 1u) {
            let plays = goes_on && k < pairs && place < pairs;
            let swaps = plays && place == 0u;
            let base = lane - place;
            let after = select(lane, base + select(place + 1u, 0u, place + 1u == pairs), plays);
            let before = select(lane, base + select(place - 1u, pairs - 1u, place == 0u), plays);
            {
                let z = dot(x0, y0) + dot(x1, y1) + dot(x2, y2) + dot(x3, y3);
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
                let t2 = x2 * r.x - y2 * r.y;
                y2 = x2 * r.y + y2 * r.x;
                x2 = t2;
                let t3 = x3 * r.x - y3 * r.y;
                y3 = x3 * r.y + y3 * r.x;
                x3 = t3;
                let in0 = subgroupShuffle(y0, after);
                y0 = in0;
                let in1 = subgroupShuffle(y1, after);
                y1 = in1;
                let in2 = subgroupShuffle(y2, after);
                y2 = in2;
                let in3 = subgroupShuffle(y3, after);
                y3 = in3;
                let in_square = subgroupShuffle(b, after);
                b = in_square;
            }
            {
                let z = dot(x0, y0) + dot(x1, y1) + dot(x2, y2) + dot(x3, y3);
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
                let t2 = x2 * r.x - y2 * r.y;
                y2 = x2 * r.y + y2 * r.x;
                x2 = t2;
                let t3 = x3 * r.x - y3 * r.y;
                y3 = x3 * r.y + y3 * r.x;
                x3 = t3;
                let in0 = subgroupShuffle(x0, before);
                x0 = select(in0, y0, swaps);
                y0 = select(y0, in0, swaps);
                let in1 = subgroupShuffle(x1, before);
                x1 = select(in1, y1, swaps);
                y1 = select(y1, in1, swaps);
                let in2 = subgroupShuffle(x2, before);
                x2 = select(in2, y2, swaps);
                y2 = select(y2, in2, swaps);
                let in3 = subgroupShuffle(x3, before);
                x3 = select(in3, y3, swaps);
                y3 = select(y3, in3, swaps);
                let in_square = subgroupShuffle(a, before);
                a = select(in_square, b, swaps);
                b = select(b, in_square, swaps);
            }
        }
        let any = any_of(subgroupBallot(turned), lane - place);
        if goes_on {
            word += SWEEP;
            made += 1u;
            if !any { word |= FLAG_ORTHOGONAL; }
        }
    }

    if place < pairs && made > 0u {
        let now = columns_at(place, pairs, select(0u, pairs, made % 2u == 1u));
        put(m, now.x, 0u, x0);
        put(m, now.x, 1u, x1);
        put(m, now.x, 2u, x2);
        put(m, now.x, 3u, x3);
        put(m, now.y, 0u, y0);
        put(m, now.y, 1u, y1);
        put(m, now.y, 2u, y2);
        put(m, now.y, 3u, y3);
    }
    if here && place == 0u { state[m.place].x = word; }
}
