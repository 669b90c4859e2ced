// 64 rows and 8 columns of a product a workgroup, 8 x 8 of it an invocation, in registers; factors straight from memory, four terms
// at a time. For adapters that have no fast workgroup memory: those on a CPU, where a barrier stores and loads every register, and
// loads of four numbers cost what loads of one do. m, n and k are multiples of four.
//
// Iterations of an invocation: ceil(span / 4).

// Whether the k terms of a row of op(A), or of a column of op(B), lie side by side.
override A_ALONG: bool = false;
override B_ALONG: bool = true;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> c: array<u32>;
@group(0) @binding(4) var<storage, read> bias: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<u32>;

// Four rows of op(A) by four terms: columns are terms.
fn fours_of_a(base: u32, row: u32, p: u32) -> mat4x4<f32> {
    if row >= params.m { return mat4x4<f32>(); }
    if A_ALONG {
        let at = (base + row * params.k + p) / 4u;
        let step = params.k / 4u;
        return transpose(mat4x4<f32>(a[at], a[at + step], a[at + 2u * step], a[at + 3u * step]));
    }
    let at = (base + p * params.m + row) / 4u;
    let step = params.m / 4u;
    return mat4x4<f32>(a[at], a[at + step], a[at + 2u * step], a[at + 3u * step]);
}

// Four terms by four columns of op(B): columns are columns.
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

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = params.m;
    let n = params.n;
    let down = (m + 63u) / 64u;
    let across = (n + 7u) / 8u;
    let unit = params.first + group.x;
    let tile = unit % (down * across);
    let rest = unit / (down * across);
    let part = rest % params.parts;
    let matrix = rest / params.parts;
    // One after the other along the columns: those that follow each other share 64 rows of op(A), which are in the cache.
    let row = tile / across * 64u + 4u * lane;
    let column = tile % across * 8u;
    // Of the second four columns where there is none, the first again.
    let second = select(column, column + 4u, column + 4u < n);
    let base_a = matrix * params.a_stride;
    let base_b = matrix * params.b_stride;
    let begin = part * params.span;
    let end = min(begin + params.span, params.k);

    var c0 = mat4x4<f32>(); var c1 = mat4x4<f32>(); var c2 = mat4x4<f32>(); var c3 = mat4x4<f32>();
    for (var p = begin; p < end; p += 4u) {
        let a0 = fours_of_a(base_a, row, p);
        let a1 = fours_of_a(base_a, row + 32u, p);
        let b0 = fours_of_b(base_b, column, p);
        let b1 = fours_of_b(base_b, second, p);
        c0 += a0 * b0;
        c1 += a1 * b0;
        c2 += a0 * b1;
        c3 += a1 * b1;
    }
    put(c0[0], matrix, part, m, n, row, column); put(c1[0], matrix, part, m, n, row + 32u, column);
    put(c0[1], matrix, part, m, n, row, column + 1u); put(c1[1], matrix, part, m, n, row + 32u, column + 1u);
    put(c0[2], matrix, part, m, n, row, column + 2u); put(c1[2], matrix, part, m, n, row + 32u, column + 2u);
    put(c0[3], matrix, part, m, n, row, column + 3u); put(c1[3], matrix, part, m, n, row + 32u, column + 3u);
    if second > column {
        put(c2[0], matrix, part, m, n, row, second); put(c3[0], matrix, part, m, n, row + 32u, second);
        put(c2[1], matrix, part, m, n, row, second + 1u); put(c3[1], matrix, part, m, n, row + 32u, second + 1u);
        put(c2[2], matrix, part, m, n, row, second + 2u); put(c3[2], matrix, part, m, n, row + 32u, second + 2u);
        put(c2[3], matrix, part, m, n, row, second + 3u); put(c3[3], matrix, part, m, n, row + 32u, second + 3u);
    }
}
