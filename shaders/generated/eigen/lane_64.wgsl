// Order 64 of the eigendecomposition in the registers of 32 lanes, see eigen/small.wgsl and eigen/lane.wgsl.
//
// Written by tools/unroll: `cargo run --example unroll` writes it anew.

const LANES: u32 = 32u;

// Returns the largest x of the lanes of a matrix.
fn most(x: u32) -> u32 {
    var largest = x;
    largest = max(largest, subgroupShuffleXor(largest, 1u));
    largest = max(largest, subgroupShuffleXor(largest, 2u));
    largest = max(largest, subgroupShuffleXor(largest, 4u));
    largest = max(largest, subgroupShuffleXor(largest, 8u));
    largest = max(largest, subgroupShuffleXor(largest, 16u));
    return largest;
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) size_of_subgroup: u32, @builtin(subgroup_invocation_id) lane: u32,
) {
    let place = lane % LANES;
    let base = lane - place;
    let index = group.x * 4u + (subgroup * size_of_subgroup + lane) / LANES;
    let here = index < params.count;
    var m = Matrix(0u, 0u, 0u, 0u);
    if here { m = matrix_of(table[params.first + index]); }
    let pairs = max((m.order + 1u) / 2u, 1u);
    // A lane without a pair has columns beyond the order.
    var columns = select(vec2<u32>(64u), columns_at(place, pairs, 0u), place < pairs);
    var x0 = quad(m, columns.x, 0u);
    var x1 = quad(m, columns.x, 1u);
    var x2 = quad(m, columns.x, 2u);
    var x3 = quad(m, columns.x, 3u);
    var x4 = quad(m, columns.x, 4u);
    var x5 = quad(m, columns.x, 5u);
    var x6 = quad(m, columns.x, 6u);
    var x7 = quad(m, columns.x, 7u);
    var x8 = quad(m, columns.x, 8u);
    var x9 = quad(m, columns.x, 9u);
    var x10 = quad(m, columns.x, 10u);
    var x11 = quad(m, columns.x, 11u);
    var x12 = quad(m, columns.x, 12u);
    var x13 = quad(m, columns.x, 13u);
    var x14 = quad(m, columns.x, 14u);
    var x15 = quad(m, columns.x, 15u);
    var y0 = quad(m, columns.y, 0u);
    var y1 = quad(m, columns.y, 1u);
    var y2 = quad(m, columns.y, 2u);
    var y3 = quad(m, columns.y, 3u);
    var y4 = quad(m, columns.y, 4u);
    var y5 = quad(m, columns.y, 5u);
    var y6 = quad(m, columns.y, 6u);
    var y7 = quad(m, columns.y, 7u);
    var y8 = quad(m, columns.y, 8u);
    var y9 = quad(m, columns.y, 9u);
    var y10 = quad(m, columns.y, 10u);
    var y11 = quad(m, columns.y, 11u);
    var y12 = quad(m, columns.y, 12u);
    var y13 = quad(m, columns.y, 13u);
    var y14 = quad(m, columns.y, 14u);
    var y15 = quad(m, columns.y, 15u);
    let bits = most(max(max(peak(x0), max(peak(x1), max(peak(x2), max(peak(x3), max(peak(x4), max(peak(x5), max(peak(x6), max(peak(x7), max(peak(x8), max(peak(x9), max(peak(x10), max(peak(x11), max(peak(x12), max(peak(x13), max(peak(x14), peak(x15)))))))))))))))), max(peak(y0), max(peak(y1), max(peak(y2), max(peak(y3), max(peak(y4), max(peak(y5), max(peak(y6), max(peak(y7), max(peak(y8), max(peak(y9), max(peak(y10), max(peak(y11), max(peak(y12), max(peak(y13), max(peak(y14), peak(y15))))))))))))))))));
    let finite = bits < INFINITE;
    let scale = scale_of(bits);
    x0 *= scale;
    x1 *= scale;
    x2 *= scale;
    x3 *= scale;
    x4 *= scale;
    x5 *= scale;
    x6 *= scale;
    x7 *= scale;
    x8 *= scale;
    x9 *= scale;
    x10 *= scale;
    x11 *= scale;
    x12 *= scale;
    x13 *= scale;
    x14 *= scale;
    x15 *= scale;
    y0 *= scale;
    y1 *= scale;
    y2 *= scale;
    y3 *= scale;
    y4 *= scale;
    y5 *= scale;
    y6 *= scale;
    y7 *= scale;
    y8 *= scale;
    y9 *= scale;
    y10 *= scale;
    y11 *= scale;
    y12 *= scale;
    y13 *= scale;
    y14 *= scale;
    y15 *= scale;
    let disc_x = disc(size(x0) + size(x1) + size(x2) + size(x3) + size(x4) + size(x5) + size(x6) + size(x7) + size(x8) + size(x9) + size(x10) + size(x11) + size(x12) + size(x13) + size(x14) + size(x15), dot(x0, unit(columns.x, 0u)) + dot(x1, unit(columns.x, 1u)) + dot(x2, unit(columns.x, 2u)) + dot(x3, unit(columns.x, 3u)) + dot(x4, unit(columns.x, 4u)) + dot(x5, unit(columns.x, 5u)) + dot(x6, unit(columns.x, 6u)) + dot(x7, unit(columns.x, 7u)) + dot(x8, unit(columns.x, 8u)) + dot(x9, unit(columns.x, 9u)) + dot(x10, unit(columns.x, 10u)) + dot(x11, unit(columns.x, 11u)) + dot(x12, unit(columns.x, 12u)) + dot(x13, unit(columns.x, 13u)) + dot(x14, unit(columns.x, 14u)) + dot(x15, unit(columns.x, 15u)));
    let disc_y = disc(size(y0) + size(y1) + size(y2) + size(y3) + size(y4) + size(y5) + size(y6) + size(y7) + size(y8) + size(y9) + size(y10) + size(y11) + size(y12) + size(y13) + size(y14) + size(y15), dot(y0, unit(columns.y, 0u)) + dot(y1, unit(columns.y, 1u)) + dot(y2, unit(columns.y, 2u)) + dot(y3, unit(columns.y, 3u)) + dot(y4, unit(columns.y, 4u)) + dot(y5, unit(columns.y, 5u)) + dot(y6, unit(columns.y, 6u)) + dot(y7, unit(columns.y, 7u)) + dot(y8, unit(columns.y, 8u)) + dot(y9, unit(columns.y, 9u)) + dot(y10, unit(columns.y, 10u)) + dot(y11, unit(columns.y, 11u)) + dot(y12, unit(columns.y, 12u)) + dot(y13, unit(columns.y, 13u)) + dot(y14, unit(columns.y, 14u)) + dot(y15, unit(columns.y, 15u)));
    let norm = most_of(max(disc_x.x, disc_y.x));
    let shift = select(most_of(max(disc_x.y, disc_y.y)) + 0.05 * norm, 1.0, bits == 0u);
    x0 += shift * unit(columns.x, 0u);
    x1 += shift * unit(columns.x, 1u);
    x2 += shift * unit(columns.x, 2u);
    x3 += shift * unit(columns.x, 3u);
    x4 += shift * unit(columns.x, 4u);
    x5 += shift * unit(columns.x, 5u);
    x6 += shift * unit(columns.x, 6u);
    x7 += shift * unit(columns.x, 7u);
    x8 += shift * unit(columns.x, 8u);
    x9 += shift * unit(columns.x, 9u);
    x10 += shift * unit(columns.x, 10u);
    x11 += shift * unit(columns.x, 11u);
    x12 += shift * unit(columns.x, 12u);
    x13 += shift * unit(columns.x, 13u);
    x14 += shift * unit(columns.x, 14u);
    x15 += shift * unit(columns.x, 15u);
    y0 += shift * unit(columns.y, 0u);
    y1 += shift * unit(columns.y, 1u);
    y2 += shift * unit(columns.y, 2u);
    y3 += shift * unit(columns.y, 3u);
    y4 += shift * unit(columns.y, 4u);
    y5 += shift * unit(columns.y, 5u);
    y6 += shift * unit(columns.y, 6u);
    y7 += shift * unit(columns.y, 7u);
    y8 += shift * unit(columns.y, 8u);
    y9 += shift * unit(columns.y, 9u);
    y10 += shift * unit(columns.y, 10u);
    y11 += shift * unit(columns.y, 11u);
    y12 += shift * unit(columns.y, 12u);
    y13 += shift * unit(columns.y, 13u);
    y14 += shift * unit(columns.y, 14u);
    y15 += shift * unit(columns.y, 15u);

    // Two columns count as orthogonal if their inner product is at most its rounding error.
    let tolerance = 1.1920929e-7 * max(4.0, sqrt(f32(m.order)));
    let rounds = subgroupMax(pairs);
    var made = 0u;
    var goes_on = finite && m.order > 1u;
    // The largest cosine of a sweep. In the last sweep, which rotates nothing, this is max |v_i'v_j|.
    var steepest = 0.0;
    for (var sweep = 0u; sweep < params.sweeps; sweep += 1u) {
        if !subgroupAny(goes_on) { break; }
        steepest = select(steepest, 0.0, goes_on);
        var a = dot(x0, x0) + dot(x1, x1) + dot(x2, x2) + dot(x3, x3) + dot(x4, x4) + dot(x5, x5) + dot(x6, x6) + dot(x7, x7) + dot(x8, x8) + dot(x9, x9) + dot(x10, x10) + dot(x11, x11) + dot(x12, x12) + dot(x13, x13) + dot(x14, x14) + dot(x15, x15);
        var b = dot(y0, y0) + dot(y1, y1) + dot(y2, y2) + dot(y3, y3) + dot(y4, y4) + dot(y5, y5) + dot(y6, y6) + dot(y7, y7) + dot(y8, y8) + dot(y9, y9) + dot(y10, y10) + dot(y11, y11) + dot(y12, y12) + dot(y13, y13) + dot(y14, y14) + dot(y15, y15);
        var turned = false;
        for (var k = 0u; k < rounds; k += 1u) {
            let plays = goes_on && k < pairs && place < pairs;
            let swaps = plays && place == 0u;
            let after = select(lane, base + select(place + 1u, 0u, place + 1u == pairs), plays);
            let before = select(lane, base + select(place - 1u, pairs - 1u, place == 0u), plays);
            {
                let z = dot(x0, y0) + dot(x1, y1) + dot(x2, y2) + dot(x3, y3) + dot(x4, y4) + dot(x5, y5) + dot(x6, y6) + dot(x7, y7) + dot(x8, y8) + dot(x9, y9) + dot(x10, y10) + dot(x11, y11) + dot(x12, y12) + dot(x13, y13) + dot(x14, y14) + dot(x15, y15);
                let r = select(vec2<f32>(1.0, 0.0), rotation(a, b, z, tolerance), plays);
                turned = turned | (r.y != 0.0);
                steepest = max(steepest, select(0.0, cosine(a, b, z), plays));
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
                let t8 = x8 * r.x - y8 * r.y;
                y8 = x8 * r.y + y8 * r.x;
                x8 = t8;
                let t9 = x9 * r.x - y9 * r.y;
                y9 = x9 * r.y + y9 * r.x;
                x9 = t9;
                let t10 = x10 * r.x - y10 * r.y;
                y10 = x10 * r.y + y10 * r.x;
                x10 = t10;
                let t11 = x11 * r.x - y11 * r.y;
                y11 = x11 * r.y + y11 * r.x;
                x11 = t11;
                let t12 = x12 * r.x - y12 * r.y;
                y12 = x12 * r.y + y12 * r.x;
                x12 = t12;
                let t13 = x13 * r.x - y13 * r.y;
                y13 = x13 * r.y + y13 * r.x;
                x13 = t13;
                let t14 = x14 * r.x - y14 * r.y;
                y14 = x14 * r.y + y14 * r.x;
                x14 = t14;
                let t15 = x15 * r.x - y15 * r.y;
                y15 = x15 * r.y + y15 * r.x;
                x15 = t15;
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
                let in8 = subgroupShuffle(y8, after);
                y8 = in8;
                let in9 = subgroupShuffle(y9, after);
                y9 = in9;
                let in10 = subgroupShuffle(y10, after);
                y10 = in10;
                let in11 = subgroupShuffle(y11, after);
                y11 = in11;
                let in12 = subgroupShuffle(y12, after);
                y12 = in12;
                let in13 = subgroupShuffle(y13, after);
                y13 = in13;
                let in14 = subgroupShuffle(y14, after);
                y14 = in14;
                let in15 = subgroupShuffle(y15, after);
                y15 = in15;
                let in_square = subgroupShuffle(b, after);
                b = in_square;
            }
            {
                let z = dot(x0, y0) + dot(x1, y1) + dot(x2, y2) + dot(x3, y3) + dot(x4, y4) + dot(x5, y5) + dot(x6, y6) + dot(x7, y7) + dot(x8, y8) + dot(x9, y9) + dot(x10, y10) + dot(x11, y11) + dot(x12, y12) + dot(x13, y13) + dot(x14, y14) + dot(x15, y15);
                let r = select(vec2<f32>(1.0, 0.0), rotation(a, b, z, tolerance), plays);
                turned = turned | (r.y != 0.0);
                steepest = max(steepest, select(0.0, cosine(a, b, z), plays));
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
                let t8 = x8 * r.x - y8 * r.y;
                y8 = x8 * r.y + y8 * r.x;
                x8 = t8;
                let t9 = x9 * r.x - y9 * r.y;
                y9 = x9 * r.y + y9 * r.x;
                x9 = t9;
                let t10 = x10 * r.x - y10 * r.y;
                y10 = x10 * r.y + y10 * r.x;
                x10 = t10;
                let t11 = x11 * r.x - y11 * r.y;
                y11 = x11 * r.y + y11 * r.x;
                x11 = t11;
                let t12 = x12 * r.x - y12 * r.y;
                y12 = x12 * r.y + y12 * r.x;
                x12 = t12;
                let t13 = x13 * r.x - y13 * r.y;
                y13 = x13 * r.y + y13 * r.x;
                x13 = t13;
                let t14 = x14 * r.x - y14 * r.y;
                y14 = x14 * r.y + y14 * r.x;
                x14 = t14;
                let t15 = x15 * r.x - y15 * r.y;
                y15 = x15 * r.y + y15 * r.x;
                x15 = t15;
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
                let in8 = subgroupShuffle(x8, before);
                x8 = select(in8, y8, swaps);
                y8 = select(y8, in8, swaps);
                let in9 = subgroupShuffle(x9, before);
                x9 = select(in9, y9, swaps);
                y9 = select(y9, in9, swaps);
                let in10 = subgroupShuffle(x10, before);
                x10 = select(in10, y10, swaps);
                y10 = select(y10, in10, swaps);
                let in11 = subgroupShuffle(x11, before);
                x11 = select(in11, y11, swaps);
                y11 = select(y11, in11, swaps);
                let in12 = subgroupShuffle(x12, before);
                x12 = select(in12, y12, swaps);
                y12 = select(y12, in12, swaps);
                let in13 = subgroupShuffle(x13, before);
                x13 = select(in13, y13, swaps);
                y13 = select(y13, in13, swaps);
                let in14 = subgroupShuffle(x14, before);
                x14 = select(in14, y14, swaps);
                y14 = select(y14, in14, swaps);
                let in15 = subgroupShuffle(x15, before);
                x15 = select(in15, y15, swaps);
                y15 = select(y15, in15, swaps);
                let in_square = subgroupShuffle(a, before);
                a = select(in_square, b, swaps);
                b = select(b, in_square, swaps);
            }
        }
        made += select(0u, 1u, goes_on);
        goes_on = goes_on & (most(select(0u, 1u, turned)) == 1u);
    }

    // v = w / |w|, and a first approximation g of each eigenvalue.
    let now = columns_at(place, pairs, select(0u, pairs, made % 2u == 1u));
    columns = select(vec2<u32>(64u), now, place < pairs);
    let real_x = columns.x < m.order;
    let square_x = select(1.0, dot(x0, x0) + dot(x1, x1) + dot(x2, x2) + dot(x3, x3) + dot(x4, x4) + dot(x5, x5) + dot(x6, x6) + dot(x7, x7) + dot(x8, x8) + dot(x9, x9) + dot(x10, x10) + dot(x11, x11) + dot(x12, x12) + dot(x13, x13) + dot(x14, x14) + dot(x15, x15), real_x);
    let inverse_x = reciprocal_sqrt(square_x);
    x0 *= inverse_x;
    x1 *= inverse_x;
    x2 *= inverse_x;
    x3 *= inverse_x;
    x4 *= inverse_x;
    x5 *= inverse_x;
    x6 *= inverse_x;
    x7 *= inverse_x;
    x8 *= inverse_x;
    x9 *= inverse_x;
    x10 *= inverse_x;
    x11 *= inverse_x;
    x12 *= inverse_x;
    x13 *= inverse_x;
    x14 *= inverse_x;
    x15 *= inverse_x;
    let g_x = square_x * inverse_x - shift;
    var sums_x = vec2<f32>();
    let real_y = columns.y < m.order;
    let square_y = select(1.0, dot(y0, y0) + dot(y1, y1) + dot(y2, y2) + dot(y3, y3) + dot(y4, y4) + dot(y5, y5) + dot(y6, y6) + dot(y7, y7) + dot(y8, y8) + dot(y9, y9) + dot(y10, y10) + dot(y11, y11) + dot(y12, y12) + dot(y13, y13) + dot(y14, y14) + dot(y15, y15), real_y);
    let inverse_y = reciprocal_sqrt(square_y);
    y0 *= inverse_y;
    y1 *= inverse_y;
    y2 *= inverse_y;
    y3 *= inverse_y;
    y4 *= inverse_y;
    y5 *= inverse_y;
    y6 *= inverse_y;
    y7 *= inverse_y;
    y8 *= inverse_y;
    y9 *= inverse_y;
    y10 *= inverse_y;
    y11 *= inverse_y;
    y12 *= inverse_y;
    y13 *= inverse_y;
    y14 *= inverse_y;
    y15 *= inverse_y;
    let g_y = square_y * inverse_y - shift;
    var sums_y = vec2<f32>();
    // The residual A v - g v, four rows at a time.
    for (var q = 0u; 4u * q < m.order; q += 1u) {
        var x = vec4<f32>();
        var y = vec4<f32>();
        if q == 0u { x = x0; y = y0; }
        if q == 1u { x = x1; y = y1; }
        if q == 2u { x = x2; y = y2; }
        if q == 3u { x = x3; y = y3; }
        if q == 4u { x = x4; y = y4; }
        if q == 5u { x = x5; y = y5; }
        if q == 6u { x = x6; y = y6; }
        if q == 7u { x = x7; y = y7; }
        if q == 8u { x = x8; y = y8; }
        if q == 9u { x = x9; y = y9; }
        if q == 10u { x = x10; y = y10; }
        if q == 11u { x = x11; y = y11; }
        if q == 12u { x = x12; y = y12; }
        if q == 13u { x = x13; y = y13; }
        if q == 14u { x = x14; y = y14; }
        if q == 15u { x = x15; y = y15; }
        {
            let row0 = quad(m, 4u * q + 0u, 0u) * scale;
            let row1 = quad(m, 4u * q + 0u, 1u) * scale;
            let row2 = quad(m, 4u * q + 0u, 2u) * scale;
            let row3 = quad(m, 4u * q + 0u, 3u) * scale;
            let row4 = quad(m, 4u * q + 0u, 4u) * scale;
            let row5 = quad(m, 4u * q + 0u, 5u) * scale;
            let row6 = quad(m, 4u * q + 0u, 6u) * scale;
            let row7 = quad(m, 4u * q + 0u, 7u) * scale;
            let row8 = quad(m, 4u * q + 0u, 8u) * scale;
            let row9 = quad(m, 4u * q + 0u, 9u) * scale;
            let row10 = quad(m, 4u * q + 0u, 10u) * scale;
            let row11 = quad(m, 4u * q + 0u, 11u) * scale;
            let row12 = quad(m, 4u * q + 0u, 12u) * scale;
            let row13 = quad(m, 4u * q + 0u, 13u) * scale;
            let row14 = quad(m, 4u * q + 0u, 14u) * scale;
            let row15 = quad(m, 4u * q + 0u, 15u) * scale;
            sums_x += remainder(dot(row0, x0) + dot(row1, x1) + dot(row2, x2) + dot(row3, x3) + dot(row4, x4) + dot(row5, x5) + dot(row6, x6) + dot(row7, x7) + dot(row8, x8) + dot(row9, x9) + dot(row10, x10) + dot(row11, x11) + dot(row12, x12) + dot(row13, x13) + dot(row14, x14) + dot(row15, x15), g_x, x[0]);
            sums_y += remainder(dot(row0, y0) + dot(row1, y1) + dot(row2, y2) + dot(row3, y3) + dot(row4, y4) + dot(row5, y5) + dot(row6, y6) + dot(row7, y7) + dot(row8, y8) + dot(row9, y9) + dot(row10, y10) + dot(row11, y11) + dot(row12, y12) + dot(row13, y13) + dot(row14, y14) + dot(row15, y15), g_y, y[0]);
        }
        {
            let row0 = quad(m, 4u * q + 1u, 0u) * scale;
            let row1 = quad(m, 4u * q + 1u, 1u) * scale;
            let row2 = quad(m, 4u * q + 1u, 2u) * scale;
            let row3 = quad(m, 4u * q + 1u, 3u) * scale;
            let row4 = quad(m, 4u * q + 1u, 4u) * scale;
            let row5 = quad(m, 4u * q + 1u, 5u) * scale;
            let row6 = quad(m, 4u * q + 1u, 6u) * scale;
            let row7 = quad(m, 4u * q + 1u, 7u) * scale;
            let row8 = quad(m, 4u * q + 1u, 8u) * scale;
            let row9 = quad(m, 4u * q + 1u, 9u) * scale;
            let row10 = quad(m, 4u * q + 1u, 10u) * scale;
            let row11 = quad(m, 4u * q + 1u, 11u) * scale;
            let row12 = quad(m, 4u * q + 1u, 12u) * scale;
            let row13 = quad(m, 4u * q + 1u, 13u) * scale;
            let row14 = quad(m, 4u * q + 1u, 14u) * scale;
            let row15 = quad(m, 4u * q + 1u, 15u) * scale;
            sums_x += remainder(dot(row0, x0) + dot(row1, x1) + dot(row2, x2) + dot(row3, x3) + dot(row4, x4) + dot(row5, x5) + dot(row6, x6) + dot(row7, x7) + dot(row8, x8) + dot(row9, x9) + dot(row10, x10) + dot(row11, x11) + dot(row12, x12) + dot(row13, x13) + dot(row14, x14) + dot(row15, x15), g_x, x[1]);
            sums_y += remainder(dot(row0, y0) + dot(row1, y1) + dot(row2, y2) + dot(row3, y3) + dot(row4, y4) + dot(row5, y5) + dot(row6, y6) + dot(row7, y7) + dot(row8, y8) + dot(row9, y9) + dot(row10, y10) + dot(row11, y11) + dot(row12, y12) + dot(row13, y13) + dot(row14, y14) + dot(row15, y15), g_y, y[1]);
        }
        {
            let row0 = quad(m, 4u * q + 2u, 0u) * scale;
            let row1 = quad(m, 4u * q + 2u, 1u) * scale;
            let row2 = quad(m, 4u * q + 2u, 2u) * scale;
            let row3 = quad(m, 4u * q + 2u, 3u) * scale;
            let row4 = quad(m, 4u * q + 2u, 4u) * scale;
            let row5 = quad(m, 4u * q + 2u, 5u) * scale;
            let row6 = quad(m, 4u * q + 2u, 6u) * scale;
            let row7 = quad(m, 4u * q + 2u, 7u) * scale;
            let row8 = quad(m, 4u * q + 2u, 8u) * scale;
            let row9 = quad(m, 4u * q + 2u, 9u) * scale;
            let row10 = quad(m, 4u * q + 2u, 10u) * scale;
            let row11 = quad(m, 4u * q + 2u, 11u) * scale;
            let row12 = quad(m, 4u * q + 2u, 12u) * scale;
            let row13 = quad(m, 4u * q + 2u, 13u) * scale;
            let row14 = quad(m, 4u * q + 2u, 14u) * scale;
            let row15 = quad(m, 4u * q + 2u, 15u) * scale;
            sums_x += remainder(dot(row0, x0) + dot(row1, x1) + dot(row2, x2) + dot(row3, x3) + dot(row4, x4) + dot(row5, x5) + dot(row6, x6) + dot(row7, x7) + dot(row8, x8) + dot(row9, x9) + dot(row10, x10) + dot(row11, x11) + dot(row12, x12) + dot(row13, x13) + dot(row14, x14) + dot(row15, x15), g_x, x[2]);
            sums_y += remainder(dot(row0, y0) + dot(row1, y1) + dot(row2, y2) + dot(row3, y3) + dot(row4, y4) + dot(row5, y5) + dot(row6, y6) + dot(row7, y7) + dot(row8, y8) + dot(row9, y9) + dot(row10, y10) + dot(row11, y11) + dot(row12, y12) + dot(row13, y13) + dot(row14, y14) + dot(row15, y15), g_y, y[2]);
        }
        {
            let row0 = quad(m, 4u * q + 3u, 0u) * scale;
            let row1 = quad(m, 4u * q + 3u, 1u) * scale;
            let row2 = quad(m, 4u * q + 3u, 2u) * scale;
            let row3 = quad(m, 4u * q + 3u, 3u) * scale;
            let row4 = quad(m, 4u * q + 3u, 4u) * scale;
            let row5 = quad(m, 4u * q + 3u, 5u) * scale;
            let row6 = quad(m, 4u * q + 3u, 6u) * scale;
            let row7 = quad(m, 4u * q + 3u, 7u) * scale;
            let row8 = quad(m, 4u * q + 3u, 8u) * scale;
            let row9 = quad(m, 4u * q + 3u, 9u) * scale;
            let row10 = quad(m, 4u * q + 3u, 10u) * scale;
            let row11 = quad(m, 4u * q + 3u, 11u) * scale;
            let row12 = quad(m, 4u * q + 3u, 12u) * scale;
            let row13 = quad(m, 4u * q + 3u, 13u) * scale;
            let row14 = quad(m, 4u * q + 3u, 14u) * scale;
            let row15 = quad(m, 4u * q + 3u, 15u) * scale;
            sums_x += remainder(dot(row0, x0) + dot(row1, x1) + dot(row2, x2) + dot(row3, x3) + dot(row4, x4) + dot(row5, x5) + dot(row6, x6) + dot(row7, x7) + dot(row8, x8) + dot(row9, x9) + dot(row10, x10) + dot(row11, x11) + dot(row12, x12) + dot(row13, x13) + dot(row14, x14) + dot(row15, x15), g_x, x[3]);
            sums_y += remainder(dot(row0, y0) + dot(row1, y1) + dot(row2, y2) + dot(row3, y3) + dot(row4, y4) + dot(row5, y5) + dot(row6, y6) + dot(row7, y7) + dot(row8, y8) + dot(row9, y9) + dot(row10, y10) + dot(row11, y11) + dot(row12, y12) + dot(row13, y13) + dot(row14, y14) + dot(row15, y15), g_y, y[3]);
        }
    }
    let unscale = power_of_two(127 - i32(bitcast<u32>(scale) >> 23u));
    var residual = 0u;
    var departure = magnitude_bits(steepest);
    let pair_x = pair_of(g_x, sums_x, unscale);
    if real_x {
        residual = max(residual, pair_x.residual);
        departure = max(departure, magnitude_bits(dot(x0, x0) + dot(x1, x1) + dot(x2, x2) + dot(x3, x3) + dot(x4, x4) + dot(x5, x5) + dot(x6, x6) + dot(x7, x7) + dot(x8, x8) + dot(x9, x9) + dot(x10, x10) + dot(x11, x11) + dot(x12, x12) + dot(x13, x13) + dot(x14, x14) + dot(x15, x15) - 1.0));
    }
    let key_x = select(bitcast<f32>(INFINITE - 1u), pair_x.value, real_x);
    var rank_x = 0u;
    let pair_y = pair_of(g_y, sums_y, unscale);
    if real_y {
        residual = max(residual, pair_y.residual);
        departure = max(departure, magnitude_bits(dot(y0, y0) + dot(y1, y1) + dot(y2, y2) + dot(y3, y3) + dot(y4, y4) + dot(y5, y5) + dot(y6, y6) + dot(y7, y7) + dot(y8, y8) + dot(y9, y9) + dot(y10, y10) + dot(y11, y11) + dot(y12, y12) + dot(y13, y13) + dot(y14, y14) + dot(y15, y15) - 1.0));
    }
    let key_y = select(bitcast<f32>(INFINITE - 1u), pair_y.value, real_y);
    var rank_y = 0u;
    residual = most(residual);
    departure = most(departure);
    // Equal eigenvalues keep their order.
    for (var other = 0u; other < LANES; other += 1u) {
        let x = subgroupShuffle(key_x, base + other);
        let y = subgroupShuffle(key_y, base + other);
        rank_x += select(0u, 1u, x < key_x || (x == key_x && other < place));
        rank_x += select(0u, 1u, y < key_x || (y == key_x && other < place));
        rank_y += select(0u, 1u, x < key_y || (x == key_y && other <= place));
        rank_y += select(0u, 1u, y < key_y || (y == key_y && other < place));
    }
    if here && place == 0u { certificate(m, finite, !goes_on, made, norm, residual, departure); }

    // If a matrix is not finite, its eigenvalues are NaN, made from bits at run time, and its eigenvectors are 0.
    let nothing = bitcast<f32>(0x7fc00000u | min(params.first, 1u));
    if real_x {
        let rank = select(columns.x, rank_x, finite);
        values[m.rows + rank] = select(nothing, pair_x.value * unscale, finite);
        if params.vectors != 0u {
            put(m, rank, 0u, select(vec4<f32>(), x0, finite));
            put(m, rank, 1u, select(vec4<f32>(), x1, finite));
            put(m, rank, 2u, select(vec4<f32>(), x2, finite));
            put(m, rank, 3u, select(vec4<f32>(), x3, finite));
            put(m, rank, 4u, select(vec4<f32>(), x4, finite));
            put(m, rank, 5u, select(vec4<f32>(), x5, finite));
            put(m, rank, 6u, select(vec4<f32>(), x6, finite));
            put(m, rank, 7u, select(vec4<f32>(), x7, finite));
            put(m, rank, 8u, select(vec4<f32>(), x8, finite));
            put(m, rank, 9u, select(vec4<f32>(), x9, finite));
            put(m, rank, 10u, select(vec4<f32>(), x10, finite));
            put(m, rank, 11u, select(vec4<f32>(), x11, finite));
            put(m, rank, 12u, select(vec4<f32>(), x12, finite));
            put(m, rank, 13u, select(vec4<f32>(), x13, finite));
            put(m, rank, 14u, select(vec4<f32>(), x14, finite));
            put(m, rank, 15u, select(vec4<f32>(), x15, finite));
        }
    }
    if real_y {
        let rank = select(columns.y, rank_y, finite);
        values[m.rows + rank] = select(nothing, pair_y.value * unscale, finite);
        if params.vectors != 0u {
            put(m, rank, 0u, select(vec4<f32>(), y0, finite));
            put(m, rank, 1u, select(vec4<f32>(), y1, finite));
            put(m, rank, 2u, select(vec4<f32>(), y2, finite));
            put(m, rank, 3u, select(vec4<f32>(), y3, finite));
            put(m, rank, 4u, select(vec4<f32>(), y4, finite));
            put(m, rank, 5u, select(vec4<f32>(), y5, finite));
            put(m, rank, 6u, select(vec4<f32>(), y6, finite));
            put(m, rank, 7u, select(vec4<f32>(), y7, finite));
            put(m, rank, 8u, select(vec4<f32>(), y8, finite));
            put(m, rank, 9u, select(vec4<f32>(), y9, finite));
            put(m, rank, 10u, select(vec4<f32>(), y10, finite));
            put(m, rank, 11u, select(vec4<f32>(), y11, finite));
            put(m, rank, 12u, select(vec4<f32>(), y12, finite));
            put(m, rank, 13u, select(vec4<f32>(), y13, finite));
            put(m, rank, 14u, select(vec4<f32>(), y14, finite));
            put(m, rank, 15u, select(vec4<f32>(), y15, finite));
        }
    }
}
