//! Eigenvectors of the symmetric Laplacian in numbers of two f64, where f64 does not suffice for `D^-1/2 v`.
//!
//! The vectors that a solver found in f64 are the basis in which the Laplacian is nearly diagonal, and Jacobi's method
//! makes it diagonal to 1e-32 in one or two sweeps, also where eigenvalues are closer than f64 can tell. What combines
//! vectors afterwards has to do so in these numbers, too: entries that cancel may be those that D^-1/2 amplifies. The
//! arithmetic of double-double numbers is that of Hida, Li and Bailey (2001), with Dekker's product (1971).

use crate::graph::GraphRef;
use std::ops::{Add, Div, Mul, Neg, Range, Sub};

/// A number that is the sum of two f64, the second of which is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Doubled {
    high: f64,
    low: f64,
}

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
            let all = 134_217_729.0 * x; // 2^27 + 1
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

/// The most sweeps. One makes the largest element about the square of what it was, but for equal eigenvalues.
const SWEEPS: usize = 6;
/// The largest element beside the diagonal that is left as it is. The largest eigenvalue is at most 2.
const LEFT: f64 = 1e-32;
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
        let images = times(graph, &v);
        let mut matrix: Vec<Vec<Doubled>> =
            v.iter().map(|v| images.iter().map(|image| dot(v, image)).collect()).collect();
        diagonalize(&mut matrix, &mut v);
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
    let half = Doubled::from(0.5);
    let overlaps: Vec<Vec<Doubled>> = v.iter().map(|a| v.iter().map(|b| dot(a, b)).collect()).collect();
    let old = v.to_vec();
    for (j, to) in v.iter_mut().enumerate() {
        for (k, column) in old.iter().enumerate() {
            let by = if k == j { Doubled::ONE - overlaps[j][j] } else { -overlaps[k][j] } * half;
            to.iter_mut().zip(column).for_each(|(to, &x)| *to = *to + by * x);
        }
    }
}

/// Returns the products of the symmetric Laplacian with the columns.
fn times(graph: GraphRef<'_>, v: &[Vec<Doubled>]) -> Vec<Vec<Doubled>> {
    let roots: Vec<Doubled> = graph.degrees().iter().map(|&degree| Doubled::from(degree).sqrt()).collect();
    let scaled = |x: Doubled, i: usize| if roots[i].high > 0.0 { x / roots[i] } else { Doubled::default() };
    let one = |v: &Vec<Doubled>| {
        let x: Vec<Doubled> = v.iter().enumerate().map(|(i, &x)| scaled(x, i)).collect();
        let along = |i: usize| {
            graph.row(i).fold(Doubled::default(), |sum, (other, weight)| sum + (x[i] - x[other]) * weight.into())
        };
        (0..x.len()).map(|i| scaled(along(i), i)).collect()
    };
    v.iter().map(one).collect()
}

/// Turns pairs of columns until `matrix`, the symmetric matrix in the basis `v`, is diagonal (Jacobi 1846). A pair is
/// turned by the smaller of the possible angles, so each vector stays in its place.
fn diagonalize(matrix: &mut [Vec<Doubled>], v: &mut [Vec<Doubled>]) {
    for _ in 0..SWEEPS {
        let mut done = true;
        for q in 1..v.len() {
            for p in 0..q {
                let beside = matrix[p][q];
                if beside.high.abs() <= LEFT {
                    continue;
                }
                done = false;
                let (cosine, sine) = angle(matrix[q][q] - matrix[p][p], beside);
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
    use super::Doubled;

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
}
