// Each invocation computes a 16 x 16 tile of a product in registers. If the product has at most eight rows, a tile has
// 8 rows; if it has at most eight columns, a tile has 8 columns. The factors are read straight from memory, four terms
// at a time. This form is for adapters on a CPU: they have no fast workgroup memory, a barrier stores and loads every
// register, and a load of four values takes as long as a load of one. The time therefore depends on the number of loads
// per term. Here one load of four values serves 32 multiplications. m, n and k are multiples of four, and k is not 0.
//
// Iterations of an invocation: ceil(span / 4).

const DIRECT: u32 = 8;

// A_ALONG: whether the k elements of a row of op(A) are contiguous. B_ALONG: the same for a column of op(B).
override A_ALONG: bool = false;
override B_ALONG: bool = true;
// TALL: whether a product has more than eight rows. WIDE: whether it has more than eight columns.
override TALL: bool = true;
override WIDE: bool = true;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> c: array<u32>;
@group(0) @binding(4) var<storage, read> bias: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<f32>>;

// Returns the elements of op(A) for four rows and four terms. A column of the returned matrix belongs to one term.
fn fours_of_a(base: u32, row: u32, p: u32) -> mat4x4<f32> {
    if A_ALONG {
        let at = (base + row * params.k + p) / 4u;
        let step = params.k / 4u;
        return transpose(mat4x4<f32>(a[at], a[at + step], a[at + 2u * step], a[at + 3u * step]));
    }
    let at = (base + p * params.m + row) / 4u;
    let step = params.m / 4u;
    return mat4x4<f32>(a[at], a[at + step], a[at + 2u * step], a[at + 3u * step]);
}

// Returns the elements of op(B) for four terms and four columns. A column of the returned matrix is a column of op(B).
fn fours_of_b(base: u32, column: u32, p: u32) -> mat4x4<f32> {
    if B_ALONG {
        let at = (base + column * params.k + p) / 4u;
        let step = params.k / 4u;
        return mat4x4<f32>(b[at], b[at + step], b[at + 2u * step], b[at + 3u * step]);
    }
    let at = (base + p * params.n + column) / 4u;
    let step = params.n / 4u;
    return transpose(mat4x4<f32>(b[at], b[at + step], b[at + 2u * step], b[at + 3u * step]));
}

// Stores the results row..row+4 of a column.
fn keep(sums: vec4<f32>, matrix: u32, part: u32, row: u32, column: u32) {
    if params.raw != 0u {
        out[((((params.skip + part) * params.batch + matrix) * params.n + column) * params.m + row) / 4u] = sums;
        return;
    }
    out[((matrix * params.n + column) * params.m + row) / 4u] = vec4<f32>(
        finished(sums.x, matrix, row, column), finished(sums.y, matrix, row + 1u, column),
        finished(sums.z, matrix, row + 2u, column), finished(sums.w, matrix, row + 3u, column),
    );
}

fn keep_fours(sums: mat4x4<f32>, matrix: u32, part: u32, row: u32, column: u32) {
    if row >= params.m || column >= params.n { return; }
    keep(sums[0], matrix, part, row, column);
    keep(sums[1], matrix, part, row, column + 1u);
    keep(sums[2], matrix, part, row, column + 2u);
    keep(sums[3], matrix, part, row, column + 3u);
}

@compute @workgroup_size(DIRECT)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    // Invocations cover two rows of tiles at a time, first down the two tiles of a column and then across the columns.
    // The elements that a workgroup reads are then close together, and the next workgroups read the same rows. On
    // lavapipe, the product of two 2048 x 2048 matrices takes 640 ms in this sequence, and 1200 ms if all tiles of a
    // column come first (measured on 2026-11-22).
    let tall = select(8u, 16u, TALL);
    let wide = select(8u, 16u, WIDE);
    let down = (params.m + tall - 1u) / tall;
    let across = (params.n + wide - 1u) / wide;
    let pair = 2u - (down & 1u);
    let unit = (params.first + group.x) * 8u + lane;
    let rest = unit / (down * across);
    let part = rest % params.parts;
    let matrix = rest / params.parts;
    if matrix >= params.batch { return; }
    let within = unit % (down * across);
    let fours = vec4<u32>(0u, 4u, 8u, 12u);
    let row = (within / (pair * across) * pair + within % pair) * tall + fours;
    let column = within / pair % across * wide + fours;
    // If a group of four rows or columns lies beyond the end of the matrix, this invocation computes the last group of
    // the matrix in its place and does not store it.
    let i = min(row, vec4<u32>(params.m - 4u));
    let j = min(column, vec4<u32>(params.n - 4u));
    let base_a = matrix * params.a_stride;
    let base_b = matrix * params.b_stride;
    let end = min((part + 1u) * params.span, params.k);

    var c00 = mat4x4<f32>(); var c01 = mat4x4<f32>(); var c02 = mat4x4<f32>(); var c03 = mat4x4<f32>();
    var c10 = mat4x4<f32>(); var c11 = mat4x4<f32>(); var c12 = mat4x4<f32>(); var c13 = mat4x4<f32>();
    var c20 = mat4x4<f32>(); var c21 = mat4x4<f32>(); var c22 = mat4x4<f32>(); var c23 = mat4x4<f32>();
    var c30 = mat4x4<f32>(); var c31 = mat4x4<f32>(); var c32 = mat4x4<f32>(); var c33 = mat4x4<f32>();
    var p = part * params.span;
    // The loop tests at its end: with a test at the beginning, software adapters run the body once more than needed.
    loop {
        let b0 = fours_of_b(base_b, j.x, p);
        let b1 = fours_of_b(base_b, j.y, p);
        let a0 = fours_of_a(base_a, i.x, p);
        let a1 = fours_of_a(base_a, i.y, p);
        c00 += a0 * b0; c01 += a0 * b1;
        c10 += a1 * b0; c11 += a1 * b1;
        if TALL {
            let a2 = fours_of_a(base_a, i.z, p);
            let a3 = fours_of_a(base_a, i.w, p);
            c20 += a2 * b0; c21 += a2 * b1;
            c30 += a3 * b0; c31 += a3 * b1;
            if WIDE {
                let b2 = fours_of_b(base_b, j.z, p);
                let b3 = fours_of_b(base_b, j.w, p);
                c02 += a0 * b2; c03 += a0 * b3;
                c12 += a1 * b2; c13 += a1 * b3;
                c22 += a2 * b2; c23 += a2 * b3;
                c32 += a3 * b2; c33 += a3 * b3;
            }
        } else if WIDE {
            let b2 = fours_of_b(base_b, j.z, p);
            let b3 = fours_of_b(base_b, j.w, p);
            c02 += a0 * b2; c03 += a0 * b3;
            c12 += a1 * b2; c13 += a1 * b3;
        }
        continuing {
            p += 4u;
            break if p >= end;
        }
    }
    keep_fours(c00, matrix, part, row.x, column.x); keep_fours(c10, matrix, part, row.y, column.x);
    keep_fours(c01, matrix, part, row.x, column.y); keep_fours(c11, matrix, part, row.y, column.y);
    if TALL {
        keep_fours(c20, matrix, part, row.z, column.x); keep_fours(c30, matrix, part, row.w, column.x);
        keep_fours(c21, matrix, part, row.z, column.y); keep_fours(c31, matrix, part, row.w, column.y);
    }
    if WIDE {
        keep_fours(c02, matrix, part, row.x, column.z); keep_fours(c12, matrix, part, row.y, column.z);
        keep_fours(c03, matrix, part, row.x, column.w); keep_fours(c13, matrix, part, row.y, column.w);
        if TALL {
            keep_fours(c22, matrix, part, row.z, column.z); keep_fours(c32, matrix, part, row.w, column.z);
            keep_fours(c23, matrix, part, row.z, column.w); keep_fours(c33, matrix, part, row.w, column.w);
        }
    }
}
