// Order 8 of the eigendecomposition in the registers of 4 lanes, see eigen/small.wgsl and eigen/lane.wgsl.
//
// Written by tools/unroll: `cargo run --example unroll` writes it anew.

const LANES: u32 = 4u;

// Returns the largest x of the lanes of a matrix.
fn most(x: u32) -> u32 {
    var largest = x;
    largest = max(largest, subgroupShuffleXor(largest, 1u));
    largest = max(largest, subgroupShuffleXor(largest, 2u));
    return largest;
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3<u32>, @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) size_of_subgroup: u32, @builtin(subgroup_invocation_id) lane: u32,
) {
    let place = lane % LANES;
    let base = lane - place;
    let index = group.x * 32u + (subgroup * size_of_subgroup + lane) / LANES;
    let here = index < params.count;
    var m = Matrix(0u, 0u, 0u, 0u);
    if here { m = matrix_of(table[params.first + index]); }
    let pairs = max((m.order + 1u) / 2u, 1u);
    // A lane without a pair has columns beyond the order.
    var columns = select(vec2<u32>(8u), columns_at(place, pairs, 0u), place < pairs);
    var x0 = quad(m, columns.x, 0u);
    var x1 = quad(m, columns.x, 1u);
    var y0 = quad(m, columns.y, 0u);
    var y1 = quad(m, columns.y, 1u);
    let bits = most(max(max(peak(x0), peak(x1)), max(peak(y0), peak(y1))));
    let finite = bits < INFINITE;
    let e = matrix_exponent(bits);
    x0 = quad_scaled_down(x0, e);
    x1 = quad_scaled_down(x1, e);
    y0 = quad_scaled_down(y0, e);
    y1 = quad_scaled_down(y1, e);
    let disc_x = disc(size(x0) + size(x1), dot(x0, unit(columns.x, 0u)) + dot(x1, unit(columns.x, 1u)));
    let disc_y = disc(size(y0) + size(y1), dot(y0, unit(columns.y, 0u)) + dot(y1, unit(columns.y, 1u)));
    let norm = most_of(max(disc_x.x, disc_y.x));
    let shift = select(most_of(max(disc_x.y, disc_y.y)) + 0.05 * norm, 1.0, bits == 0u);
    x0 += shift * unit(columns.x, 0u);
    x1 += shift * unit(columns.x, 1u);
    y0 += shift * unit(columns.y, 0u);
    y1 += shift * unit(columns.y, 1u);

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
        var a = dot(x0, x0) + dot(x1, x1);
        var b = dot(y0, y0) + dot(y1, y1);
        var turned = false;
        for (var k = 0u; k < rounds; k += 1u) {
            let plays = goes_on && k < pairs && place < pairs;
            let swaps = plays && place == 0u;
            let after = select(lane, base + select(place + 1u, 0u, place + 1u == pairs), plays);
            let before = select(lane, base + select(place - 1u, pairs - 1u, place == 0u), plays);
            {
                let z = dot(x0, y0) + dot(x1, y1);
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
                let in0 = subgroupShuffle(y0, after);
                y0 = in0;
                let in1 = subgroupShuffle(y1, after);
                y1 = in1;
                let in_square = subgroupShuffle(b, after);
                b = in_square;
            }
            {
                let z = dot(x0, y0) + dot(x1, y1);
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
                let in0 = subgroupShuffle(x0, before);
                x0 = select(in0, y0, swaps);
                y0 = select(y0, in0, swaps);
                let in1 = subgroupShuffle(x1, before);
                x1 = select(in1, y1, swaps);
                y1 = select(y1, in1, swaps);
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
    columns = select(vec2<u32>(8u), now, place < pairs);
    let real_x = columns.x < m.order;
    let square_x = select(1.0, dot(x0, x0) + dot(x1, x1), real_x);
    let inverse_x = reciprocal_sqrt(square_x);
    x0 *= inverse_x;
    x1 *= inverse_x;
    let g_x = clamp(square_x * inverse_x - shift, -norm, norm);
    var sums_x = vec2<f32>();
    let real_y = columns.y < m.order;
    let square_y = select(1.0, dot(y0, y0) + dot(y1, y1), real_y);
    let inverse_y = reciprocal_sqrt(square_y);
    y0 *= inverse_y;
    y1 *= inverse_y;
    let g_y = clamp(square_y * inverse_y - shift, -norm, norm);
    var sums_y = vec2<f32>();
    // The residual A v - g v, four rows at a time.
    for (var q = 0u; 4u * q < m.order; q += 1u) {
        var x = vec4<f32>();
        var y = vec4<f32>();
        if q == 0u { x = x0; y = y0; }
        if q == 1u { x = x1; y = y1; }
        {
            let row0 = quad_scaled_down(quad(m, 4u * q + 0u, 0u), e);
            let row1 = quad_scaled_down(quad(m, 4u * q + 0u, 1u), e);
            sums_x += remainder(dot(row0, x0) + dot(row1, x1), g_x, x[0]);
            sums_y += remainder(dot(row0, y0) + dot(row1, y1), g_y, y[0]);
        }
        {
            let row0 = quad_scaled_down(quad(m, 4u * q + 1u, 0u), e);
            let row1 = quad_scaled_down(quad(m, 4u * q + 1u, 1u), e);
            sums_x += remainder(dot(row0, x0) + dot(row1, x1), g_x, x[1]);
            sums_y += remainder(dot(row0, y0) + dot(row1, y1), g_y, y[1]);
        }
        {
            let row0 = quad_scaled_down(quad(m, 4u * q + 2u, 0u), e);
            let row1 = quad_scaled_down(quad(m, 4u * q + 2u, 1u), e);
            sums_x += remainder(dot(row0, x0) + dot(row1, x1), g_x, x[2]);
            sums_y += remainder(dot(row0, y0) + dot(row1, y1), g_y, y[2]);
        }
        {
            let row0 = quad_scaled_down(quad(m, 4u * q + 3u, 0u), e);
            let row1 = quad_scaled_down(quad(m, 4u * q + 3u, 1u), e);
            sums_x += remainder(dot(row0, x0) + dot(row1, x1), g_x, x[3]);
            sums_y += remainder(dot(row0, y0) + dot(row1, y1), g_y, y[3]);
        }
    }
    var residual = 0u;
    var departure = magnitude_bits(steepest);
    let pair_x = pair_of(g_x, sums_x, e);
    if real_x {
        residual = max(residual, pair_x.residual);
        departure = max(departure, magnitude_bits(dot(x0, x0) + dot(x1, x1) - 1.0));
    }
    let key_x = select(KEY_OF_NAN, pair_x.key, real_x);
    var rank_x = 0u;
    let pair_y = pair_of(g_y, sums_y, e);
    if real_y {
        residual = max(residual, pair_y.residual);
        departure = max(departure, magnitude_bits(dot(y0, y0) + dot(y1, y1) - 1.0));
    }
    let key_y = select(KEY_OF_NAN, pair_y.key, real_y);
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
        values[m.rows + rank] = select(nothing, pair_x.given, finite);
        if params.vectors != 0u {
            put(m, rank, 0u, select(vec4<f32>(), x0, finite));
            put(m, rank, 1u, select(vec4<f32>(), x1, finite));
        }
    }
    if real_y {
        let rank = select(columns.y, rank_y, finite);
        values[m.rows + rank] = select(nothing, pair_y.given, finite);
        if params.vectors != 0u {
            put(m, rank, 0u, select(vec4<f32>(), y0, finite));
            put(m, rank, 1u, select(vec4<f32>(), y1, finite));
        }
    }
}
