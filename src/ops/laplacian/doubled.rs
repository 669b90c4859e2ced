//! Eigenvectors of the symmetric Laplacian in numbers of two f64, where f64 does not suffice for `D^-1/2 v`.
//!
//! The vectors that a solver found in f64 are the basis in which the Laplacian is nearly diagonal. What is beside the
//! diagonal, divided by the distances of the eigenvalues, is the turn that makes it diagonal to the square of that
//! (Ogita and Aishima, Iterative refinement for symmetric eigenvalue decomposition, Japan J. Indust. Appl. Math. 35,
//! 2018): only products of two columns are computed in these numbers, and the turn itself, which is small, in f64.
//! Pairs whose eigenvalues are closer than f64 can tell are turned by Jacobi's method. What combines vectors afterwards
//! has to do so in these numbers, too: entries that cancel may be those that D^-1/2 amplifies. The arithmetic of
//! double-double numbers is that of Hida, Li and Bailey (2001), with Dekker's product (1971).

use crate::graph::GraphRef;
use crate::lanes::{SimdScalar, Task, Vector};
use crate::ops::columns::product;
use faer::{Mat, Par};
use std::ops::{Add, Div, Mul, Neg, Range, Sub};

/// A number that is the sum of two f64, the second of which is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Doubled {
    high: f64,
    low: f64,
}

/// What separates the upper half of the digits of a f64 from the lower one: 2^27 + 1.
const SPLIT: f64 = 134_217_729.0;

impl Doubled {
    const ONE: Self = Self { high: 1.0, low: 0.0 };

    /// Returns the sum of two numbers of which the first is larger or 0.
    fn quick(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: b - (high - a) }
    }

    fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let share = high - a;
        Self { high, low: (a - (high - share)) + (b - share) }
    }

    fn product(a: f64, b: f64) -> Self {
        let halves = |x: f64| {
            let all = SPLIT * x;
            let high = all - (all - x);
            (high, x - high)
        };
        let (high, (a, more_a), (b, more_b)) = (a * b, halves(a), halves(b));
        Self { high, low: ((a * b - high) + a * more_b + more_a * b) + more_a * more_b }
    }

    fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::default();
        }
        let root = self.high.sqrt();
        let rest = self - Self::product(root, root);
        Self::quick(root, rest.high / (2.0 * root))
    }
}

impl From<f64> for Doubled {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Neg for Doubled {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Add for Doubled {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (sum, more) = (Self::sum(self.high, other.high), Self::sum(self.low, other.low));
        let sum = Self::quick(sum.high, sum.low + more.high);
        Self::quick(sum.high, sum.low + more.low)
    }
}

impl Sub for Doubled {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Doubled {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::quick(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Doubled {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * first.into();
        let second = rest.high / other.high;
        let rest = rest - other * second.into();
        Self::quick(first, second) + (rest.high / other.high).into()
    }
}

/// The most rounds. One makes the largest element beside the diagonal about the square of what it was.
const ROUNDS: usize = 4;
/// The most sweeps over the pairs with close eigenvalues.
const SWEEPS: usize = 6;
/// The largest element beside the diagonal that is left as it is. The largest eigenvalue is at most 2.
const LEFT: f64 = 1e-32;
/// The distance of eigenvalues below which a pair is turned by Jacobi's method. The turns of others are below 1e-7, and
/// their rounding to f64 is corrected in the next round.
const CLOSE: f64 = 1e-8;
/// The distance up to which eigenvalues are equal: some rounding errors of these numbers.
const EQUAL: f64 = 1e-30;

/// Eigenvectors of the symmetric Laplacian, with their eigenvalues.
pub(crate) struct Refined {
    values: Vec<Doubled>,
    vectors: Vec<Vec<Doubled>>,
}

impl Refined {
    /// Refines vectors, the columns of `vectors`, which are orthonormal to about eps. `groups` has the tie group of
    /// each in f64. Within a group, the vectors are in ascending order of their eigenvalues.
    pub(crate) fn new(graph: GraphRef<'_>, groups: &[u32], vectors: &[f64]) -> Self {
        let n = graph.nodes().max(1);
        let mut v: Vec<Vec<Doubled>> =
            vectors.chunks_exact(n).map(|column| column.iter().map(|&x| x.into()).collect()).collect();
        orthonormalize(&mut v);
        let mut matrix = Vec::new();
        for _ in 0..ROUNDS {
            matrix = inner(&v, &times(graph, &v));
            turn_close(&mut matrix, &mut v);
            let left = turn_apart(&matrix, &mut v);
            orthonormalize(&mut v);
            if left <= LEFT {
                break;
            }
        }
        let mut order: Vec<usize> = (0..v.len()).collect();
        let value = |i: usize| (matrix[i][i].high, matrix[i][i].low);
        for members in order.chunk_by_mut(|&a, &b| groups[a] == groups[b]) {
            members.sort_by(|&a, &b| value(a).0.total_cmp(&value(b).0).then(value(a).1.total_cmp(&value(b).1)));
        }
        Self {
            values: order.iter().map(|&i| matrix[i][i]).collect(),
            vectors: order.iter().map(|&i| std::mem::take(&mut v[i])).collect(),
        }
    }

    /// Returns the ranges of equal eigenvalues among those in `range`.
    pub(crate) fn equal(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut start = range.start;
        let apart = |a: &Doubled, b: &Doubled| (*b - *a).high.abs() <= EQUAL;
        let lengths = self.values[range].chunk_by(apart).map(<[_]>::len);
        lengths
            .map(|length| {
                start += length;
                start - length..start
            })
            .collect()
    }

    /// Returns vectors in f64, one after the other.
    pub(crate) fn rounded(&self, range: Range<usize>) -> Vec<f64> {
        self.vectors[range].iter().flatten().map(|x| x.high).collect()
    }

    /// Replaces vectors by others that span the same space, which are `near` in f64.
    pub(crate) fn turn(&mut self, range: Range<usize>, near: &[f64]) {
        let own = &self.vectors[range.clone()];
        let n = own.first().map_or(1, |v| v.len().max(1));
        let near = near.chunks_exact(n).map(|to| to.iter().map(|&x| x.into()).collect::<Vec<Doubled>>());
        let mut turns: Vec<Vec<Doubled>> = near.map(|to| own.iter().map(|v| dot(v, &to)).collect()).collect();
        orthonormalize(&mut turns);
        let combined = |by: &Vec<Doubled>| {
            let entry = |i: usize| by.iter().zip(own).fold(Doubled::default(), |sum, (&by, v)| sum + by * v[i]);
            (0..n).map(entry).collect()
        };
        let turned: Vec<Vec<Doubled>> = turns.iter().map(combined).collect();
        self.vectors[range].clone_from_slice(&turned);
    }
}

fn dot(a: &[Doubled], b: &[Doubled]) -> Doubled {
    a.iter().zip(b).fold(Doubled::default(), |sum, (&a, &b)| sum + a * b)
}

/// Replaces V by `V (3 I - V'V) / 2`, which squares its departure from orthonormality (Björck and Bowie 1971).
fn orthonormalize(v: &mut [Vec<Doubled>]) {
    let overlaps = inner(v, v);
    let one = |i: usize, j: usize| if i == j { Doubled::ONE } else { Doubled::default() };
    add_combinations(v, |i, j| 0.5 * (one(i, j) - overlaps[i][j]).high);
}

/// Adds `V C` to V, where C has the small elements that `by` returns for a row and a column. A relative error of eps is
/// small, too.
fn add_combinations(v: &mut [Vec<Doubled>], by: impl Fn(usize, usize) -> f64) {
    let n = v.first().map_or(0, Vec::len);
    let high = Mat::from_fn(n, v.len(), |i, j| v[j][i].high);
    let more = product(high.as_ref(), Mat::from_fn(v.len(), v.len(), by).as_ref(), Par::Seq);
    for (j, column) in v.iter_mut().enumerate() {
        column.iter_mut().zip(more.col_as_slice(j)).for_each(|(x, &more)| *x = *x + more.into());
    }
}

/// Returns the inner products of the columns of `a` and those of `b`, which form a symmetric matrix.
fn inner(a: &[Vec<Doubled>], b: &[Vec<Doubled>]) -> Vec<Vec<Doubled>> {
    let lower = f64::in_lanes(Inner { a, b });
    let count = a.len();
    let at = |i: usize, j: usize| lower[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
    (0..count).map(|i| (0..count).map(|j| at(i, j)).collect()).collect()
}

/// The inner products of column i of `a` and column j of `b` for j <= i, in this order.
struct Inner<'a> {
    a: &'a [Vec<Doubled>],
    b: &'a [Vec<Doubled>],
}

impl Task<f64> for Inner<'_> {
    type Output = Vec<Doubled>;

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) -> Vec<Doubled> {
        let Self { a, b } = self;
        let zero = V::splat(token, 0.0);
        let split = V::splat(token, SPLIT);
        let vectors = |column: &Vec<Doubled>| -> Vec<[V; 2]> {
            let pair = |some: &[Doubled]| {
                let mut pair = [zero; 2];
                for (lane, x) in some.iter().enumerate() {
                    pair[0].as_mut_slice()[lane] = x.high;
                    pair[1].as_mut_slice()[lane] = x.low;
                }
                pair
            };
            column.chunks(V::LANES).map(pair).collect()
        };
        let [a, b]: [Vec<Vec<[V; 2]>>; 2] = [a, b].map(|columns| columns.iter().map(vectors).collect());
        let mut found = Vec::with_capacity(a.len() * (a.len() + 1) / 2);
        for (i, a) in a.iter().enumerate() {
            for b in &b[..=i] {
                // The sum of the products, and that of all rounding errors and of the products with the lower parts.
                let (mut sum, mut rest) = (zero, zero);
                for (&[a, low_a], &[b, low_b]) in a.iter().zip(b) {
                    let high = a * b;
                    let (all_a, all_b) = (split * a, split * b);
                    let (a_1, b_1) = (all_a - (all_a - a), all_b - (all_b - b));
                    let (a_2, b_2) = (a - a_1, b - b_1);
                    let error = ((a_1 * b_1 - high) + a_1 * b_2 + a_2 * b_1) + a_2 * b_2;
                    let next = sum + high;
                    let share = next - sum;
                    let lost = (sum - (next - share)) + (high - share);
                    rest += lost + (error + (a * low_b + low_a * b));
                    sum = next;
                }
                let (mut high, mut low) = (0.0, 0.0);
                for (&sum, &rest) in sum.as_slice().iter().zip(rest.as_slice()) {
                    let next = Doubled::sum(high, sum);
                    (high, low) = (next.high, low + (next.low + rest));
                }
                found.push(Doubled::sum(high, low));
            }
        }
        found
    }
}

/// Returns the products of the symmetric Laplacian with the columns.
fn times(graph: GraphRef<'_>, v: &[Vec<Doubled>]) -> Vec<Vec<Doubled>> {
    let inverse = |&degree: &f64| if degree > 0.0 { Doubled::ONE / Doubled::from(degree).sqrt() } else { 0.0.into() };
    let inverses: Vec<Doubled> = graph.degrees().iter().map(inverse).collect();
    let one = |v: &Vec<Doubled>| {
        let x: Vec<Doubled> = v.iter().zip(&inverses).map(|(&x, &inverse)| x * inverse).collect();
        let along = |i: usize| {
            graph.row(i).fold(Doubled::default(), |sum, (other, weight)| {
                let difference = if weight < 0.0 { x[i] + x[other] } else { x[i] - x[other] };
                sum + difference * weight.abs().into()
            })
        };
        (0..x.len()).map(|i| along(i) * inverses[i]).collect()
    };
    v.iter().map(one).collect()
}

/// Turns pairs of columns with close eigenvalues until `matrix`, the symmetric matrix in the basis `v`, has nothing
/// beside the diagonal for them (Jacobi 1846). A pair is turned by the smaller of the possible angles, so each vector
/// stays in its place.
fn turn_close(matrix: &mut [Vec<Doubled>], v: &mut [Vec<Doubled>]) {
    for _ in 0..SWEEPS {
        let mut done = true;
        for q in 1..v.len() {
            for p in 0..q {
                let (beside, apart) = (matrix[p][q], matrix[q][q] - matrix[p][p]);
                let equal = beside.high.abs().max(apart.high.abs()) <= EQUAL / 2.0;
                if equal || beside.high.abs() <= LEFT || apart.high.abs() >= CLOSE {
                    continue;
                }
                done = false;
                let (cosine, sine) = angle(apart, beside);
                let turned = |a: Doubled, b: Doubled| (cosine * a - sine * b, sine * a + cosine * b);
                for columns in [&mut *matrix, &mut *v] {
                    let (before, from_q) = columns.split_at_mut(q);
                    let pairs = before[p].iter_mut().zip(&mut from_q[0]);
                    pairs.for_each(|(a, b)| (*a, *b) = turned(*a, *b));
                }
                for row in matrix.iter_mut() {
                    (row[p], row[q]) = turned(row[p], row[q]);
                }
            }
        }
        if done {
            break;
        }
    }
}

/// Turns all other pairs at once, to second order, and returns a bound on what is then left beside the diagonal.
fn turn_apart(matrix: &[Vec<Doubled>], v: &mut [Vec<Doubled>]) -> f64 {
    let count = v.len();
    let (mut most, mut largest) = (0.0_f64, 0.0_f64);
    let mut turns = Mat::<f64>::zeros(count, count);
    for l in 0..count {
        for k in (0..count).filter(|&k| k != l) {
            let (beside, by) = (matrix[k][l].high, (matrix[l][l] - matrix[k][k]).high);
            if by.abs() >= CLOSE {
                turns[(k, l)] = beside / by;
                (most, largest) = (most.max(beside.abs()), largest.max((beside / by).abs()));
            }
        }
    }
    let square = product(turns.as_ref(), turns.as_ref(), Par::Seq);
    add_combinations(v, |k, l| turns[(k, l)] + square[(k, l)] / 2.0);
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let terms = count as f64;
    terms * most * largest
}

/// Returns the cosine and the sine of the angle that makes `beside` 0, where `apart` is the difference of the diagonal
/// elements.
fn angle(apart: Doubled, beside: Doubled) -> (Doubled, Doubled) {
    let ratio = apart / (beside + beside);
    let size = if ratio.high < 0.0 { -ratio } else { ratio };
    let tangent = Doubled::ONE / (size + (Doubled::ONE + ratio * ratio).sqrt());
    let tangent = if ratio.high < 0.0 { -tangent } else { tangent };
    let cosine = Doubled::ONE / (Doubled::ONE + tangent * tangent).sqrt();
    (cosine, tangent * cosine)
}

#[cfg(test)]
mod tests {
    use super::{Doubled, dot, inner};

    /// Sums, products, quotients and roots have an error of a few 2^-104.
    #[test]
    fn twice_the_digits() {
        let [third, seventh] = [3.0, 7.0].map(|x| Doubled::ONE / x.into());
        let near = |got: Doubled, want: f64| assert!((got - want.into()).high.abs() < 1e-31, "{got:?} for {want}");
        near(third * 3.0.into(), 1.0);
        near((third + seventh) * 21.0.into(), 10.0);
        near((third - seventh) * 21.0.into(), 4.0);
        near(Doubled::from(2.0).sqrt() * Doubled::from(2.0).sqrt(), 2.0);
        assert!(third.low != 0.0 && third.low.abs() < 1e-16);
    }

    /// Products in lanes have an error of a few 2^-104, as those element by element, and so for columns of any length.
    #[test]
    fn inner_products_in_lanes() {
        for n in [1, 7, 8, 37] {
            let third = Doubled::ONE / 3.0.into();
            let entry = |i: usize, j: usize| Doubled::from(((i * 31 + j * 17) % 23) as f64 - 11.0) * third;
            let columns: Vec<Vec<Doubled>> = (0..5).map(|j| (0..n).map(|i| entry(i, j)).collect()).collect();
            let found = inner(&columns, &columns);
            for (i, row) in found.iter().enumerate() {
                for (j, x) in row.iter().enumerate() {
                    let away = (*x - dot(&columns[i], &columns[j])).high.abs();
                    assert!(away < 1e-29, "{n} elements, {i} and {j}: {away:e}");
                }
            }
        }
    }
}
