// Makes skew matrices of the triangles of a matrix P, each times a factor: X of the elements above the diagonal, and,
// of singular value decompositions, Y of those below it. X has the diagonal of P, which is also copied. With P = V'
// Adot V, the quotients of X by the differences of eigenvalues are how the eigenvectors turn. An invocation computes an
// element of each.

override SINGULAR: bool = false;

const WIDTH: u32 = 64u;

struct Params { first: u32, n: u32, len: u32, above: f32, below: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> p: array<f32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read_write> diagonal: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = params.first + id.x;
    if at >= params.len { return; }
    let n = params.n;
    let i = at % n;
    let column = at / n;
    let j = column % n;
    let here = p[at];
    if i == j {
        diagonal[column] = here;
        x[at] = here;
        if SINGULAR { y[at] = 0.0; }
        return;
    }
    let mirrored = p[(column - j + i) * n + j];
    let is_above = i < j;
    x[at] = params.above * select(-mirrored, here, is_above);
    if SINGULAR { y[at] = params.below * select(-here, mirrored, is_above); }
}
