//! Factors a Laplacian so that its smallest eigenvalues can be computed accurately relative to themselves.
//!
//! The elimination of a node keeps a Laplacian: it replaces the star of the node by a mesh, `w_ij += w_ip w_pj / d_p`.
//! Only sums, products and quotients of positive numbers occur if the degrees are computed as sums of the weights, so
//! every element of the factor G in `L = G G'` is accurate to a few units of its last place (Grassmann, Taksar and
//! Heyman 1985; O'Cinneide 1993; Ye, Computing singular values of diagonally dominant matrices to high relative
//! accuracy, Math. Comp. 77, 2008). If the node with the largest degree is always eliminated first, G is a
//! well-conditioned matrix times a diagonal one, and one-sided Jacobi finds its singular values relative to themselves
//! (Demmel et al., Computing the singular value decomposition with high relative accuracy, Linear Algebra Appl. 299,
//! 1999). Every column of G is orthogonal to the null space of L.
//!
//! In a signed graph, positive and negative weights cancel in the mesh. What they lose goes to the diagonal: beside the
//! weights, each node has the part of its diagonal entry that exceeds the magnitudes of its weights, and the
//! elimination computes these parts, too, as sums of positive numbers. The factor is then as accurate in the sense that
//! matters here, column by column (Ye 2008). In a balanced component, nothing cancels, and its parts stay 0.

use super::Normalization;
use crate::graph::{GraphRef, IsolatedDiagonal};
use crate::lanes::{SimdScalar, Task, Vector};
use crate::ops::orthogonalize::orthogonalize;

/// The eigenpairs of a Laplacian without its null space.
#[derive(Debug)]
pub(crate) struct Eigenpairs {
    /// The eigenvalues that are not 0, in ascending order.
    pub(crate) values: Vec<f64>,
    /// The eigenvectors of unit length as the columns of a column-major matrix.
    pub(crate) vectors: Vec<f64>,
    pub(crate) converged: bool,
}

/// Computes all eigenpairs of the Laplacian of an undirected graph except those of the null space. Each eigenvalue is
/// accurate relative to itself, and each vector to the relative distance of its eigenvalue from the others. For
/// [`Normalization::RandomWalk`], the pairs are those of the symmetric Laplacian.
pub(crate) fn eigenpairs(graph: GraphRef<'_>, normalization: Normalization) -> Eigenpairs {
    let n = graph.nodes();
    let Factor { columns, exponent } = factor(graph, normalization);
    let found = orthogonalize(&columns, n, columns.len() / n.max(1), false);
    let (mut values, mut vectors) = (Vec::with_capacity(found.lengths.len()), Vec::with_capacity(columns.len()));
    let scale = power_of_two(exponent);
    for (column, length) in found.columns.chunks_exact(n.max(1)).zip(found.lengths).rev() {
        values.push(length * length * scale);
        vectors.extend(column.iter().map(|x| x / length));
    }
    Eigenpairs { values, vectors, converged: found.converged }
}

/// The factor G, for which the Laplacian is `G G'` times a power of two.
struct Factor {
    /// The columns of G. They are not 0.
    columns: Vec<f64>,
    /// The exponent of the power of two.
    exponent: i32,
}

/// The exponent of the largest weight after scaling. The products of weights over 280 decades are then normal numbers.
const LARGEST: i32 = 466;

fn factor(graph: GraphRef<'_>, normalization: Normalization) -> Factor {
    let n = graph.nodes();
    let normalized = normalization != Normalization::Combinatorial;
    let edges =
        || (0..n).flat_map(|i| graph.row(i).filter(move |&(j, _)| j != i).map(move |(j, weight)| (i, j, weight)));
    let largest = edges().fold(0.0, |most: f64, (_, _, weight)| most.max(weight.abs()));
    let up = if largest > 0.0 { LARGEST - exponent_of(largest) } else { 0 };
    // Half of the power at a time, because the whole may not be a number.
    let halves = [up / 2, up - up / 2].map(power_of_two);
    let degrees: Vec<f64> = graph.degrees().iter().map(|degree| degree * halves[0] * halves[1]).collect();
    let scale: Option<Vec<f64>> = normalized.then(|| degrees.iter().map(|d| 1.0 / d.sqrt()).collect());
    let mut columns = f64::in_lanes(Eliminate {
        n,
        edges: &mut edges().map(|(i, j, weight)| (i, j, weight * halves[0] * halves[1])),
        excess: (0..n).map(|i| -2.0 * graph.weight(i, i).min(0.0) * halves[0] * halves[1]).collect(),
        signed: graph.has_negative_weights(),
        scale: scale.as_deref(),
    });
    if normalized && graph.conventions().isolated == IsolatedDiagonal::One {
        for node in (0..n).filter(|&node| degrees[node] == 0.0) {
            columns.extend((0..n).map(|i| f64::from(u8::from(i == node))));
        }
    }
    Factor { columns, exponent: if normalized { 0 } else { -up } }
}

/// Returns the exponent of the largest power of two that is at most `x`.
fn exponent_of(x: f64) -> i32 {
    if x < f64::MIN_POSITIVE { exponent_of(x * 2.0_f64.powi(54)) - 54 } else { (x.to_bits() >> 52) as i32 - 1023 }
}

/// Returns a power of two.
fn power_of_two(exponent: i32) -> f64 {
    2.0_f64.powi(exponent)
}

/// The elimination of all nodes.
struct Eliminate<'a> {
    n: usize,
    /// The edges between different nodes, in both directions.
    edges: &'a mut dyn Iterator<Item = (usize, usize, f64)>,
    /// By how much each diagonal entry exceeds the magnitudes of the weights of the node. It is that of a negative
    /// self-loop.
    excess: Vec<f64>,
    /// Whether weights may be negative.
    signed: bool,
    /// The diagonal of D^-1/2, if the Laplacian is normalized.
    scale: Option<&'a [f64]>,
}

impl Task<f64> for Eliminate<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) -> Vec<f64> {
        let Self { n, edges, mut excess, signed, scale } = self;
        let zero = V::splat(token, 0.0);
        let ld = n.div_ceil(V::LANES);
        // The weights between the nodes that are left, row by row. A node that was eliminated changes places with the
        // last that is left.
        let mut weights = vec![zero; n * ld];
        let mut degrees = vec![0.0; n];
        for (i, j, weight) in edges {
            weights[i * ld + j / V::LANES].as_mut_slice()[j % V::LANES] = weight;
        }
        for ((degree, row), excess) in degrees.iter_mut().zip(weights.chunks_exact(ld.max(1))).zip(&excess) {
            *degree = row.iter().fold(zero, |sum, x| sum + x.abs()).sum() + excess;
        }
        let mut nodes: Vec<usize> = (0..n).collect();
        let mut columns = Vec::with_capacity(n * n);
        for left in (1..=n).rev() {
            let last = left - 1;
            let square = |i: usize| scale.map_or(1.0, |scale| scale[nodes[i]] * scale[nodes[i]]);
            let size = |i: usize| if degrees[i] > 0.0 { degrees[i] * square(i) } else { 0.0 };
            let pivot = (1..left).fold(0, |at, i| if size(i) > size(at) { i } else { at });
            if size(pivot) <= 0.0 {
                break;
            }
            if pivot != last {
                degrees.swap(pivot, last);
                excess.swap(pivot, last);
                nodes.swap(pivot, last);
                for i in 0..left {
                    let row = &mut weights[i * ld..(i + 1) * ld];
                    let x = row[pivot / V::LANES].as_slice()[pivot % V::LANES];
                    let y = row[last / V::LANES].as_slice()[last % V::LANES];
                    row[pivot / V::LANES].as_mut_slice()[pivot % V::LANES] = y;
                    row[last / V::LANES].as_mut_slice()[last % V::LANES] = x;
                }
                let (head, tail) = weights.split_at_mut(last * ld);
                head[pivot * ld..(pivot + 1) * ld].swap_with_slice(&mut tail[..ld]);
            }
            let (head, tail) = weights.split_at_mut(last * ld);
            let used = left.div_ceil(V::LANES);
            let (star, degree) = (&mut tail[..used], degrees[last]);
            let first = columns.len();
            columns.resize(first + n, 0.0);
            let (root, own) = (degree.sqrt(), |i: usize| scale.map_or(1.0, |scale| scale[nodes[i]]));
            for i in 0..last {
                let weight = star[i / V::LANES].as_slice()[i % V::LANES];
                if weight != 0.0 {
                    columns[first + nodes[i]] = -(weight / root) * own(i);
                }
            }
            columns[first + nodes[last]] = root * own(last);
            for i in 0..last {
                let weight = star[i / V::LANES].as_slice()[i % V::LANES];
                if weight == 0.0 {
                    continue;
                }
                let row = &mut head[i * ld..i * ld + used];
                let share = V::splat(token, weight / degree);
                if signed {
                    let lost = row.iter().zip(star.iter()).fold(zero, |sum, (x, star)| {
                        let more = share * *star;
                        let along = V::select(more.lt(zero), -*x, *x);
                        sum + V::select(along.lt(zero), x.abs().min(more.abs()), zero)
                    });
                    excess[i] += weight.abs() / degree * excess[last] + 2.0 * lost.sum();
                }
                for (x, star) in row.iter_mut().zip(star.iter()) {
                    *x = share.mul_add(*star, *x);
                }
                for at in [i, last] {
                    row[at / V::LANES].as_mut_slice()[at % V::LANES] = 0.0;
                }
                degrees[i] = row.iter().fold(zero, |sum, x| sum + x.abs()).sum() + excess[i];
            }
        }
        columns
    }
}
