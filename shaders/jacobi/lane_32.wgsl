// Sweeps of one-sided Jacobi to order 32 in the registers of 16 lanes of a subgroup, see jacobi/ring.wgsl. A subgroup holds one
// matrix or more; whoever is done turns no more, and waits for the others without a bit being changed.
// Loop iterations of an invocation and sweep: 17.
//
// Written by tests/unrolled.rs; `FIEDLER_WRITE=1 cargo test --test unrolled` writes it anew.

const LANES: u32 = 16u;

// Whether any of the lanes from `base` on voted so.
fn any_of(ballot: vec4<u32>, base: u32) -> bool {
    return ((ballot[base / 32u] >> (base % 32u)) & 0xffffu) != 0u;
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32,
) {
    let place = lane % LANES;
    let index = group.x * 8u + (subgroup * size + lane) / LANES;
    let here = index < params.count;
    var m = Matrix(0u, 0u, 0u, 0u);
    var word = FLAG_ORTHOGONAL;
    if here {
        m = matrix_of(table[params.first + index]);
        m.order = min(m.order, 32u);
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
    var x4 = quad(m, columns.x, 4u);
    var x5 = quad(m, columns.x, 5u);
    var x6 = quad(m, columns.x, 6u);
    var x7 = quad(m, columns.x, 7u);
    var y0 = quad(m, columns.y, 0u);
    var y1 = quad(m, columns.y, 1u);
    var y2 = quad(m, columns.y, 2u);
    var y3 = quad(m, columns.y, 3u);
    var y4 = quad(m, columns.y, 4u);
    var y5 = quad(m, columns.y, 5u);
    var y6 = quad(m, columns.y, 6u);
    var y7 = quad(m, columns.y, 7u);

    // Two columns count as orthogonal at the rounding of their inner product.
    let tolerance = 1.1920929e-7 * max(4.0, sqrt(f32(m.order)));
    var made = 0u;
    for (var sweep = 0u; sweep < params.sweeps; sweep += 1u) {
        let goes_on = (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) == 0u;
        if !subgroupAny(goes_on) { break; }
        var a = dot(x0, x0) + dot(x1, x1) + dot(x2, x2) + dot(x3, x3) + dot(x4, x4) + dot(x5, x5) + dot(x6, x6) + dot(x7, x7);
        var b = dot(y0, y0) + dot(y1, y1) + dot(y2, y2) + dot(y3, y3) + dot(y4, y4) + dot(y5, y5) + dot(y6, y6) + dot(y7, y7);
        var turned = false;
        for (var k = 0u; k < most; k += 1u) {
            let plays = goes_on && k < pairs && place < pairs;
            let swaps = plays && place == 0u;
            let base = lane - place;
            let after = select(lane, base + select(place + 1u, 0u, place + 1u == pairs), plays);
            let before = select(lane, base + select(place - 1u, pairs - 1u, place == 0u), plays);
            {
                let z = dot(x0, y0) + dot(x1, y1) + dot(x2, y2) + dot(x3, y3) + dot(x4, y4) + dot(x5, y5) + dot(x6, y6) + dot(x7, y7);
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
                let t4 = x4 * r.x - y4 * r.y;
                y4 = x4 * r.y + y4 * r.x;
                x4 = t4;
                let t5 = x5 * r.x - y5 * r.y;
                y5 = x5 * r.y + y5 * r.x;
                x5 = t5;
                let t6 = x6 * r.x - y6 * r.y;
                y6 = x6 * r.y + y6 * r.x;
                x6 = t6;
                let t7 = x7 * r.x - y7 * r.y;
                y7 = x7 * r.y + y7 * r.x;
                x7 = t7;
                let in0 = subgroupShuffle(y0, after);
                y0 = in0;
                let in1 = subgroupShuffle(y1, after);
                y1 = in1;
                let in2 = subgroupShuffle(y2, after);
                y2 = in2;
                let in3 = subgroupShuffle(y3, after);
                y3 = in3;
                let in4 = subgroupShuffle(y4, after);
                y4 = in4;
                let in5 = subgroupShuffle(y5, after);
                y5 = in5;
                let in6 = subgroupShuffle(y6, after);
                y6 = in6;
                let in7 = subgroupShuffle(y7, after);
                y7 = in7;
                let in_square = subgroupShuffle(b, after);
                b = in_square;
            }
            {
                let z = dot(x0, y0) + dot(x1, y1) + dot(x2, y2) + dot(x3, y3) + dot(x4, y4) + dot(x5, y5) + dot(x6, y6) + dot(x7, y7);
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
                let t4 = x4 * r.x - y4 * r.y;
                y4 = x4 * r.y + y4 * r.x;
                x4 = t4;
                let t5 = x5 * r.x - y5 * r.y;
                y5 = x5 * r.y + y5 * r.x;
                x5 = t5;
                let t6 = x6 * r.x - y6 * r.y;
                y6 = x6 * r.y + y6 * r.x;
                x6 = t6;
                let t7 = x7 * r.x - y7 * r.y;
                y7 = x7 * r.y + y7 * r.x;
                x7 = t7;
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
                let in4 = subgroupShuffle(x4, before);
                x4 = select(in4, y4, swaps);
                y4 = select(y4, in4, swaps);
                let in5 = subgroupShuffle(x5, before);
                x5 = select(in5, y5, swaps);
                y5 = select(y5, in5, swaps);
                let in6 = subgroupShuffle(x6, before);
                x6 = select(in6, y6, swaps);
                y6 = select(y6, in6, swaps);
                let in7 = subgroupShuffle(x7, before);
                x7 = select(in7, y7, swaps);
                y7 = select(y7, in7, swaps);
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
        put(m, now.x, 4u, x4);
        put(m, now.x, 5u, x5);
        put(m, now.x, 6u, x6);
        put(m, now.x, 7u, x7);
        put(m, now.y, 0u, y0);
        put(m, now.y, 1u, y1);
        put(m, now.y, 2u, y2);
        put(m, now.y, 3u, y3);
        put(m, now.y, 4u, y4);
        put(m, now.y, 5u, y5);
        put(m, now.y, 6u, y6);
        put(m, now.y, 7u, y7);
    }
    if here && place == 0u { state[m.place].x = word; }
}
