// The code of jacobi/register_N that needs no unrolling: one-sided Jacobi in registers, in the order of
// shared/ring.wgsl.
//
// The code is only for square matrices that are safely positive definite, because the squared norms of the columns are
// updated during a sweep and not computed again for each pair of columns.

struct Params { first: u32, sweeps: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> state: array<vec4<u32>>;

// Returns rows 4 q to 4 q + 3 of a column, with zeros beyond the order.
fn quad(m: Matrix, column: u32, q: u32) -> vec4<f32> {
    let row = 4u * q;
    var x = vec4<f32>();
    if column < m.order {
        let at = m.elements + column * m.order + row;
        if row < m.order { x.x = w[at]; }
        if row + 1u < m.order { x.y = w[at + 1u]; }
        if row + 2u < m.order { x.z = w[at + 2u]; }
        if row + 3u < m.order { x.w = w[at + 3u]; }
    }
    return x;
}

fn put(m: Matrix, column: u32, q: u32, x: vec4<f32>) {
    let row = 4u * q;
    if column < m.order {
        let at = m.elements + column * m.order + row;
        if row < m.order { w[at] = x.x; }
        if row + 1u < m.order { w[at + 1u] = x.y; }
        if row + 2u < m.order { w[at + 2u] = x.z; }
        if row + 3u < m.order { w[at + 3u] = x.w; }
    }
}
