// The two factors of a product, and its bindings. Needs matmul/product.wgsl.

// A_ALONG: whether the k elements of a row of op(A) are contiguous. B_ALONG: the same for a column of op(B).
override A_ALONG: bool = false;
override B_ALONG: bool = true;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<u32>;
@group(0) @binding(2) var<storage, read> b: array<u32>;
@group(0) @binding(3) var<storage, read> c: array<u32>;
@group(0) @binding(4) var<storage, read> bias: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<u32>;

fn a_at(at: u32) -> f32 { return number(a[word_of(at)], at); }
fn b_at(at: u32) -> f32 { return number(b[word_of(at)], at); }

// Returns the rows row..row+4 in column p of op(A), which is m x k. Elements beyond the matrix are 0.
fn four_of_a(base: u32, m: u32, k: u32, row: u32, p: u32) -> vec4<f32> {
    let step = select(1u, k, A_ALONG);
    let at = base + select(p * m + row, row * k + p, A_ALONG);
    if row + 4u <= m { return vec4<f32>(a_at(at), a_at(at + step), a_at(at + 2u * step), a_at(at + 3u * step)); }
    var x = vec4<f32>(0.0);
    if row < m { x.x = a_at(at); }
    if row + 1u < m { x.y = a_at(at + step); }
    if row + 2u < m { x.z = a_at(at + 2u * step); }
    return x;
}

// Returns the columns column..column+4 in row p of op(B), which is k x n. Elements beyond the matrix are 0.
fn four_of_b(base: u32, n: u32, k: u32, column: u32, p: u32) -> vec4<f32> {
    let step = select(1u, k, B_ALONG);
    let at = base + select(p * n + column, column * k + p, B_ALONG);
    if column + 4u <= n { return vec4<f32>(b_at(at), b_at(at + step), b_at(at + 2u * step), b_at(at + 3u * step)); }
    var x = vec4<f32>(0.0);
    if column < n { x.x = b_at(at); }
    if column + 1u < n { x.y = b_at(at + step); }
    if column + 2u < n { x.z = b_at(at + 2u * step); }
    return x;
}
