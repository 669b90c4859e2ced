// One-sided Jacobi with the columns of W in registers, a pair of them at a place: what jacobi/lane_N (a place is a lane of a subgroup)
// and jacobi/register_N (a place is four invocations of a workgroup) have in common.
//
// The modulus ordering (Luk and Park, On parallel Jacobi orderings, SIAM J. Sci. Stat. Comput. 10, 1989): of m = 2 p players, in
// round k those with i + j = k mod m meet, and the two that would meet themselves, s and s + p, meet each other. Even rounds,
// k = 2 s: place 0 has s and s + p, place d has s - d and s + d. Odd rounds, k = 2 s + 1: place d has s - d and s + 1 + d. So of
// each pair one column stays and one goes to a neighbour (a ring as in Zhou and Brent, J. Parallel Distrib. Comput. 42, 1997): y comes
// from the place after, then x from the place before, and place 0 exchanges its two. After p such double rounds every pair has
// met, and s has grown by p.
//
// For square matrices that are safely positive definite: squared norms are kept through a sweep, not measured anew for each pair.

struct Params { first: u32, count: u32, sweeps: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> state: array<vec4<u32>>;

// The columns at a place before an even round, s being 0 or p. A column beyond the order is a ghost, all zeros: nobody turns with it.
fn columns_at(place: u32, pairs: u32, s: u32) -> vec2<u32> {
    let m = 2u * pairs;
    let x = (s + m - place) % m;
    return vec2<u32>(x, (s + select(place, pairs, place == 0u)) % m);
}

// Rows 4 q to 4 q + 3 of a column; zeros beyond the order.
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
