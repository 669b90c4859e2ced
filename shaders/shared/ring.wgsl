// One-sided Jacobi with the columns of W in registers, a pair of them at a place: eigen/lane_N (a place is a lane of a subgroup) and
// jacobi/register_N (a place is four invocations of a workgroup).
//
// The modulus ordering (Luk and Park, On parallel Jacobi orderings, SIAM J. Sci. Stat. Comput. 10, 1989): of m = 2 p players, in
// round k those with i + j = k mod m meet, and the two that would meet themselves, s and s + p, meet each other. Even rounds,
// k = 2 s: place 0 has s and s + p, place d has s - d and s + d. Odd rounds, k = 2 s + 1: place d has s - d and s + 1 + d. So of
// each pair one column stays and one goes to a neighbour (a ring as in Zhou and Brent, J. Parallel Distrib. Comput. 42, 1997): y
// comes from the place after, then x from the place before, and place 0 exchanges its two. After p such double rounds every pair
// has met, and s has grown by p.

// The columns at a place before an even round, s being 0 or p. A column beyond the order is a ghost, all zeros: nobody turns with it.
fn columns_at(place: u32, pairs: u32, s: u32) -> vec2<u32> {
    let m = 2u * pairs;
    let x = (s + m - place) % m;
    return vec2<u32>(x, (s + select(place, pairs, place == 0u)) % m);
}
