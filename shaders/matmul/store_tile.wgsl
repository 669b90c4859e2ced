// Stores results, four rows of a column at a time. Needs matmul/product.wgsl and a kernel with `out`.

// Stores the results row..row+4 of a column. This function stores f16 results only if m is even, so that each word has
// one writer. (It has no early return, see shared/real.wgsl.)
fn store_tile(sums: vec4<f32>, matrix: u32, part: u32, m: u32, n: u32, row: u32, column: u32) {
    if column >= n || row >= m {
        // Beyond the result.
    } else if params.raw != 0u {
        let at = (((params.skip + part) * params.batch + matrix) * n + column) * m + row;
        out[at] = bitcast<u32>(sums.x);
        if row + 1u < m { out[at + 1u] = bitcast<u32>(sums.y); }
        if row + 2u < m { out[at + 2u] = bitcast<u32>(sums.z); }
        if row + 3u < m { out[at + 3u] = bitcast<u32>(sums.w); }
    } else {
        let at = (matrix * n + column) * m + row;
        let x = finished(sums.x, matrix, row, column);
        var y = 0.0;
        var z = 0.0;
        var w = 0.0;
        if row + 1u < m { y = finished(sums.y, matrix, row + 1u, column); }
        if row + 2u < m { z = finished(sums.z, matrix, row + 2u, column); }
        if row + 3u < m { w = finished(sums.w, matrix, row + 3u, column); }
        if HALF {
            out[at >> 1u] = narrow(x) | (narrow(y) << 16u);
            if row + 2u < m { out[(at >> 1u) + 1u] = narrow(z) | (narrow(w) << 16u); }
        } else {
            out[at] = bitcast<u32>(x);
            if row + 1u < m { out[at + 1u] = bitcast<u32>(y); }
            if row + 2u < m { out[at + 2u] = bitcast<u32>(z); }
            if row + 3u < m { out[at + 3u] = bitcast<u32>(w); }
        }
    }
}
