//! Gradients of a few eigenpairs of a large sparse matrix.
//!
//! With k of n pairs, V (n x k) and l, the gradient is `(Y V' + V Y') / 2` with `Y = V G + Z`. G (k x k) is that of all
//! pairs, restricted to the computed ones. Column j of Z is what of the eigenvector turns towards all others: the
//! solution of `(A - l_j I) z = -(I - V V') vbar_j` that is orthogonal to V. At an end of the spectrum, `A - l_j I` is
//! definite there, so conjugate gradients solve the systems of all columns together, with products of the matrix and a
//! block.

use super::{Degeneracy, GradientCertificate, Seen};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::eigen::Which;
use crate::ops::sparse::Operator;
use crate::ops::sparse::cpu::{Combination, Rows, WIDTHS};
use crate::parallel;
use nalgebra::{DMatrix, DMatrixView};

/// The gradient of a loss of k eigenpairs of a sparse matrix, as its factors.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EigshGradient {
    /// Y and V, each `(n, k)`. The gradient with respect to the matrix is `(Y V' + V Y') / 2`.
    pub factors: [DMatrix<f64>; 2],
    /// The certificate. A loss has no gradient, also, if its pairs are only a part of a tie group.
    pub certificate: GradientCertificate,
    /// The largest residual of the linear systems, relative to the cotangent of the eigenvector.
    pub residual: f64,
    /// The number of products of the matrix with each vector.
    pub products: usize,
}

impl EigshGradient {
    /// Returns an element of the gradient with respect to the matrix. Of edge weights of a graph, it is the part of a
    /// chain: the weight of the edge (u, v) changes four elements of the combinatorial Laplacian, so its gradient is
    /// `at(u, u) + at(v, v) - 2 at(u, v)`.
    ///
    /// # Panics
    /// If an index is not below n, like indexing a slice.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        let [y, v] = &self.factors;
        y.row(row).dot(&v.row(column)).midpoint(v.row(row).dot(&y.row(column)))
    }
}

/// The residual of a linear system, relative to its right-hand side, at which it counts as solved.
const RESIDUAL: f64 = 1e-12;
/// The number of rows that a thread processes together, and whose sums are added in this order.
const CHUNK: usize = 4096;

/// Computes the gradient of a loss of the smallest or largest eigenvalues and their eigenvectors with respect to a
/// sparse symmetric matrix, given all pairs that were computed, and their cotangents, of which `None` stands for 0: the
/// vector-Jacobian product of [`eigsh`](crate::ops::eigsh()), on the CPU. Values that differ by no more than their
/// residuals are tied, also.
///
/// # Shapes
/// There are k eigenvalues, ascending. The eigenvectors are `(n, k)`, column-major, and each cotangent has the shape of
/// its array.
///
/// # Examples
/// ```
/// use fiedler::ops::gradient::{Degeneracy, eigsh_vjp};
/// use fiedler::ops::sparse::Operator;
/// use fiedler::ops::{EigshOptions, Which, eigsh};
/// use fiedler::Context;
///
/// // The gradient of the smallest eigenvalue of diag(1, 2, 3) is the projector on its eigenvector.
/// let ctx = Context::cpu();
/// let a = Operator::from_csr(vec![0, 1, 2, 3], vec![0, 1, 2], vec![1.0, 2.0, 3.0])?;
/// let found = eigsh(&ctx, &a, 1, Which::Smallest, &EigshOptions::default())?;
/// let pairs = [&found.values[..], found.vectors.as_slice()];
/// let gradient = eigsh_vjp(&ctx, &a, Which::Smallest, pairs, [Some(&[1.0]), None], Degeneracy::Exact)?;
/// assert!((gradient.at(0, 0) - 1.0).abs() < 1e-9 && gradient.at(1, 1).abs() < 1e-9);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match; [`Domain`](crate::ErrorKind::Domain) for a tolerance
/// that is negative or not finite, and for [`Degeneracy::Lorentzian`], of which only the whole decomposition knows the
/// quotients; [`Cancelled`](crate::ErrorKind::Cancelled).
pub fn eigsh_vjp(
    ctx: &Context,
    a: &Operator<'_, f64>,
    which: Which,
    [values, vectors]: [&[f64]; 2],
    [values_bar, vectors_bar]: [Option<&[f64]>; 2],
    degeneracy: Degeneracy,
) -> Result<EigshGradient> {
    const NAME: &str = "eigsh_vjp";
    let (n, k) = (a.rows(), values.len());
    if a.problems() != 1 || k > n {
        let expected = format!("one matrix, and at most {n} pairs");
        return Err(Error::shape(NAME, expected, format!("{} matrices, k = {k}", a.problems())));
    }
    let lengths = [
        (vectors.len(), n * k, "elements of eigenvectors"),
        (values_bar.map_or(k, <[f64]>::len), k, "cotangents of the eigenvalues"),
        (vectors_bar.map_or(n * k, <[f64]>::len), n * k, "cotangents of the eigenvectors"),
    ];
    for (found, expected, what) in lengths {
        if found != expected {
            return Err(Error::shape(NAME, format!("{expected} {what}"), found.to_string()));
        }
    }
    degeneracy.check(NAME)?;
    let tolerance = match degeneracy {
        Degeneracy::Exact => 0.0,
        Degeneracy::Group(tolerance) => tolerance,
        Degeneracy::Lorentzian(_) => {
            let what = "expected Exact or Group, found Lorentzian, for which all eigenvalues have to be known";
            return Err(Error::domain(NAME, what));
        }
    };
    ctx.on_host(|| {
        let norm = a.bounds(0).norm;
        let residual = a.residuals(values, vectors).into_iter().fold(0.0, f64::max);
        let tied = (norm * tolerance.max(16.0 * f64::EPSILON)).max(2.0 * residual);
        let matrix = |elements| DMatrixView::from_slice(elements, n, k);
        let (vectors, vectors_bar) = (matrix(vectors), vectors_bar.map(matrix));
        let Within { g, seen } = within((values, vectors), (values_bar, vectors_bar), tied);
        let mut seen = Seen { norm, ..seen };
        let mut y = vectors * g;
        let (mut worst, mut products) = (0.0, 0);
        if let Some(bar) = vectors_bar.filter(|_| k < n && k > 0) {
            let sign = if which == Which::Smallest { 1.0 } else { -1.0 };
            let widest = WIDTHS[WIDTHS.len() - 1];
            for first in (0..k).step_by(widest) {
                let columns = first..k.min(first + widest);
                let mut systems = Systems::new(a, (values, vectors), bar, columns.clone(), sign, tied);
                while systems.step(ctx)? {}
                products = products.max(systems.products);
                for (j, column) in columns.enumerate() {
                    let share = systems.residual(j);
                    // What the systems leave is what turns within a tie group that is cut.
                    if share > RESIDUAL.sqrt() {
                        seen.undefined = seen.undefined.max(share.min(1.0) * systems.bar[j]);
                    }
                    seen.largest = seen.largest.max(systems.bar[j]);
                    seen.steep = seen.steep.max(systems.flattest[j].recip());
                    worst = f64::max(worst, share);
                    let z = systems.x.iter().skip(j).step_by(systems.width);
                    y.column_mut(column).iter_mut().zip(z).for_each(|(y, z)| *y -= sign * z);
                }
            }
        }
        let factors = [y, vectors.into_owned()];
        Ok(EigshGradient { factors, certificate: seen.judged::<f64>(), residual: worst, products })
    })
}

/// G of the computed pairs, and what the certificate is computed from.
struct Within {
    g: DMatrix<f64>,
    seen: Seen,
}

/// Returns G, in which quotients of values that differ by at most `tied` from their neighbors are 0.
fn within(
    (values, vectors): (&[f64], DMatrixView<'_, f64>),
    (values_bar, vectors_bar): (Option<&[f64]>, Option<DMatrixView<'_, f64>>),
    tied: f64,
) -> Within {
    let k = values.len();
    let mut g = DMatrix::zeros(k, k);
    let mut seen = Seen::default();
    let mut groups = vec![0; k];
    let bar = |j: usize| values_bar.map_or(0.0, |bar| bar[j]);
    for j in 0..k {
        seen.poison += 0.0 * values[j] + 0.0 * bar(j);
        seen.cotangent = seen.cotangent.max(bar(j).abs());
        g[(j, j)] = bar(j);
        if j > 0 && values[j] - values[j - 1] <= tied {
            groups[j] = groups[j - 1];
            seen.difference = seen.difference.max((bar(j) - bar(j - 1)).abs());
        } else {
            groups[j] = j;
        }
    }
    let Some(vectors_bar) = vectors_bar else {
        return Within { g, seen };
    };
    let p = vectors.tr_mul(&vectors_bar);
    for j in 0..k {
        for i in 0..k {
            let turned = p[(i, j)].midpoint(-p[(j, i)]);
            seen.poison += 0.0 * p[(i, j)];
            seen.largest = seen.largest.max(p[(i, j)].abs());
            if groups[i] == groups[j] {
                seen.undefined = seen.undefined.max(turned.abs());
            } else {
                let gap = values[j] - values[i];
                seen.steep = seen.steep.max(gap.abs().recip());
                g[(i, j)] += turned / gap;
            }
        }
    }
    Within { g, seen }
}

/// The systems of some columns, and the state of conjugate gradients. Blocks are row-major, and columns beyond the
/// computed ones are 0.
struct Systems<'a> {
    rows: Rows<'a, f64>,
    /// The eigenvectors, row-major.
    v: Vec<f64>,
    k: usize,
    width: usize,
    /// 1 at the lower end of the spectrum, and -1 at the upper one.
    sign: f64,
    shifts: Vec<f64>,
    tied: f64,
    x: Vec<f64>,
    r: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    /// The squares of the norms of the residuals.
    squares: Vec<f64>,
    /// The norms of the cotangents.
    bar: Vec<f64>,
    /// The smallest `p'(A - l I) p / p'p` so far, which estimates the distance to the next eigenvalue from above.
    flattest: Vec<f64>,
    done: Vec<bool>,
    products: usize,
}

impl<'a> Systems<'a> {
    fn new(
        a: &'a Operator<'a, f64>,
        (values, vectors): (&[f64], DMatrixView<'_, f64>),
        bar: DMatrixView<'_, f64>,
        columns: std::ops::Range<usize>,
        sign: f64,
        tied: f64,
    ) -> Self {
        let (n, k) = vectors.shape();
        let width = WIDTHS.into_iter().find(|width| *width >= columns.len()).unwrap_or(columns.len());
        let mut r = vec![0.0; n * width];
        for (j, column) in columns.clone().enumerate() {
            r.iter_mut().skip(j).step_by(width).zip(bar.column(column).iter()).for_each(|(r, bar)| *r = *bar);
        }
        let squares = sums(width, [&r, &r]);
        let mut systems = Self {
            rows: Rows::new(a),
            v: vectors.transpose().as_slice().to_vec(),
            k,
            width,
            sign,
            shifts: (0..width).map(|j| columns.clone().nth(j).map_or(0.0, |column| values[column])).collect(),
            tied,
            x: vec![0.0; n * width],
            p: Vec::new(),
            q: vec![0.0; n * width],
            bar: squares.iter().map(|square| square.sqrt()).collect(),
            flattest: vec![f64::INFINITY; width],
            done: vec![false; width],
            products: 0,
            squares,
            r,
        };
        project(&systems.v, k, width, &mut systems.r);
        systems.p.clone_from(&systems.r);
        systems.squares = sums(width, [&systems.r, &systems.r]);
        systems
    }

    /// Returns the residual of a system relative to the cotangent of its eigenvector.
    fn residual(&self, j: usize) -> f64 {
        if self.bar[j] == 0.0 { 0.0 } else { self.squares[j].sqrt() / self.bar[j] }
    }

    /// Iterates once. Returns whether a system is not solved.
    ///
    /// # Errors
    /// [`Cancelled`](crate::ErrorKind::Cancelled).
    fn step(&mut self, ctx: &Context) -> Result<bool> {
        ctx.cancel().check()?;
        let width = self.width;
        for j in 0..width {
            let residual = self.residual(j);
            self.done[j] |= residual <= RESIDUAL || residual.is_nan();
        }
        if self.done.iter().all(|done| *done) || self.products >= MOST_PRODUCTS {
            return Ok(false);
        }
        self.rows.combine(width, &self.p, &mut self.q, Combination::PRODUCT);
        self.products += 1;
        let (sign, shifts) = (self.sign, &self.shifts);
        each_row(width, &mut self.q, &self.p, |q, p| {
            for j in 0..width {
                q[j] = sign * (q[j] - shifts[j] * p[j]);
            }
        });
        project(&self.v, self.k, width, &mut self.q);
        let curvatures = sums(width, [&self.p, &self.q]);
        let lengths = sums(width, [&self.p, &self.p]);
        let mut alpha = vec![0.0; width];
        for j in 0..width {
            if self.done[j] {
                continue;
            }
            let flat = curvatures[j] / lengths[j];
            self.flattest[j] = self.flattest[j].min(flat.max(self.tied));
            // In this direction, the matrix has the same eigenvalue.
            if flat <= self.tied {
                self.done[j] = true;
            } else {
                alpha[j] = self.squares[j] / curvatures[j];
            }
        }
        each_row(width, &mut self.x, &self.p, |x, p| {
            for j in 0..width {
                x[j] += alpha[j] * p[j];
            }
        });
        each_row(width, &mut self.r, &self.q, |r, q| {
            for j in 0..width {
                r[j] -= alpha[j] * q[j];
            }
        });
        let before = std::mem::replace(&mut self.squares, sums(width, [&self.r, &self.r]));
        let beta: Vec<f64> = (0..width).map(|j| if self.done[j] { 0.0 } else { self.squares[j] / before[j] }).collect();
        each_row(width, &mut self.p, &self.r, |p, r| {
            for j in 0..width {
                p[j] = r[j] + beta[j] * p[j];
            }
        });
        Ok(true)
    }
}

/// The number of iterations after which a system is given up.
const MOST_PRODUCTS: usize = 30_000;

/// Calls `work` for each row of two blocks of `width` columns, of which the first is written.
fn each_row(width: usize, to: &mut [f64], from: &[f64], work: impl Fn(&mut [f64], &[f64]) + Sync) {
    let chunks = to.chunks_mut(CHUNK * width).zip(from.chunks(CHUNK * width));
    parallel::for_each(chunks, |_, (to, from)| {
        to.chunks_exact_mut(width).zip(from.chunks_exact(width)).for_each(|(to, from)| work(to, from));
    });
}

/// Returns the inner product of each column of one block with that of another.
fn sums(width: usize, [a, b]: [&[f64]; 2]) -> Vec<f64> {
    let chunks = a.chunks(CHUNK * width).zip(b.chunks(CHUNK * width));
    let parts = parallel::map(chunks, |_, (a, b)| {
        let mut sums = vec![0.0; width];
        for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
            for j in 0..width {
                sums[j] += a[j] * b[j];
            }
        }
        sums
    });
    total(width, parts)
}

fn total(len: usize, parts: Vec<Vec<f64>>) -> Vec<f64> {
    let mut total = vec![0.0; len];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    }
    total
}

/// Subtracts from a block of `width` columns what it has in the span of k orthonormal vectors, which are row-major.
fn project(v: &[f64], k: usize, width: usize, block: &mut [f64]) {
    let chunks = v.chunks(CHUNK * k).zip(block.chunks(CHUNK * width));
    let parts = parallel::map(chunks, |_, (v, block)| {
        let mut inner = vec![0.0; k * width];
        for (v, row) in v.chunks_exact(k).zip(block.chunks_exact(width)) {
            for (v, inner) in v.iter().zip(inner.chunks_exact_mut(width)) {
                inner.iter_mut().zip(row).for_each(|(inner, x)| *inner += *v * *x);
            }
        }
        inner
    });
    let inner = total(k * width, parts);
    let chunks = v.chunks(CHUNK * k).zip(block.chunks_mut(CHUNK * width));
    parallel::for_each(chunks, |_, (v, block)| {
        for (v, row) in v.chunks_exact(k).zip(block.chunks_exact_mut(width)) {
            for (v, inner) in v.iter().zip(inner.chunks_exact(width)) {
                row.iter_mut().zip(inner).for_each(|(x, inner)| *x -= *v * *inner);
            }
        }
    });
}
