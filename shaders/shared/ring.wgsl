// One-sided Jacobi with the columns of W in registers. The columns are arranged in a ring of places, with a pair of
// columns at each place. In eigen/lane_N, a place is a lane of a subgroup; in jacobi/register_N, it is four invocations
// of a workgroup.
//
// The modulus ordering (Luk and Park, On parallel Jacobi orderings, SIAM J. Sci. Stat. Comput. 10, 1989): of m = 2 p
// players, i and j meet in round k if i + j = k mod m, and m rounds make one cycle. In an even round, k = 2 s, this
// rule pairs players s and s + p each with itself, so they meet each other instead. Place 0 then has the columns s and
// s + p, and every other place d has the columns x = s - d and y = s + d. In an odd round (k = 2 s + 1), place d has
// the columns x = s - d and y = s + 1 + d.
//
// So after each round, one column of each pair stays at its place, and the other moves to a neighboring place (a ring
// as in Zhou and Brent, J. Parallel Distrib. Comput. 42, 1997). After an even round, each place gets its column y from
// the next place. After an odd round, each place gets its column x from the previous place, and place 0 exchanges its
// two columns. After p even and p odd rounds, all pairs of columns have met, and s has grown by p.

// Returns the columns at a place before an even round in which s is 0 or p. A column whose index is not below the order
// of the matrix is a ghost: it consists of zeros and is never rotated.
fn columns_at(place: u32, pairs: u32, s: u32) -> vec2<u32> {
    let m = 2u * pairs;
    let x = (s + m - place) % m;
    return vec2<u32>(x, (s + select(place, pairs, place == 0u)) % m);
}
