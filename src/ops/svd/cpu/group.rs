//! Solves small matrices, one per SIMD lane, by Householder QR, one-sided Jacobi on the rows of R, and a second QR for
//! U (see [`super::super::svd`]). A lane does not depend on its neighbors, and stops rotating once its own columns are
//! orthogonal.

use super::super::{PROMISE, Problem};
use super::reflect::{Reflections, dot, missing};
use super::{Matrices, Scale, Working, not_finite};
use crate::lanes::{Task, Vector};
use crate::ops::certificate::{Certificate, Status};

/// The maximum smaller dimension of matrices that are solved in lanes (`SHORT`), and the maximum number of elements of
/// their left basis (`ELEMENTS`). If the smaller dimension is at most `THIN`, the basis may have up to `THIN_ELEMENTS`
/// elements, because thin matrices stay in the cache for longer. At these limits, a matrix that is solved in lanes
/// takes less time than a slightly larger matrix that faer solves (f32, AVX-512, two threads on a loaded machine,
/// `benches/results/2026-11-21-svd-cpu.md`): 64 x 64 takes half the time of 65 x 65, 256 x 64 takes two thirds of the
/// time of 257 x 64, and 2048 x 8 takes a fifth of the time of 2049 x 8.
const SHORT: usize = 64;
const ELEMENTS: usize = 1 << 14;
const THIN: usize = 16;
const THIN_ELEMENTS: usize = 1 << 16;

/// The minimum number of matrices that are solved as a group, because fewer would leave too many lanes empty. A group
/// of 16 lanes takes as long for one matrix as for 16: 4 ms at 64 x 64, 0.53 ms at 306 x 15 and 27 us at 8 x 8 in f32,
/// where a matrix that is solved separately takes 0.7 ms, 0.20 ms and 19 us (AVX-512, 2026-11-28).
pub(crate) const LANES_FOR: usize = 6;

/// The maximum number of sweeps. Convergence is quadratic at the end, so a matrix that needs more sweeps does not
/// converge. 4 to 10 sweeps were observed.
const MAX_SWEEPS: u32 = 30;

/// Returns whether the matrices of the given problem are solved in lanes. This choice depends only on the shape of the
/// batch, so that a result does not depend on the elements of other matrices.
pub(super) fn takes(problem: &Problem) -> bool {
    let (long, short) = (problem.long(), problem.short());
    let most = if short <= THIN { THIN_ELEMENTS } else { ELEMENTS };
    short > 0 && short <= SHORT && problem.batch >= LANES_FOR && long.saturating_mul(problem.left()) <= most
}

/// Solves the matrices of `a`, as many at a time as there are lanes.
pub(super) fn solve<F: Working>(a: &[F], out: Matrices<'_, F>) {
    F::in_lanes(Group { a, out });
}

struct Group<'a, F> {
    a: &'a [F],
    out: Matrices<'a, F>,
}

impl<F: Working> Task<F> for Group<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = F>>(self, token: V::Token) {
        let Matrices { problem, mut u, mut s, mut vh, mut certificates } = self.out;
        let [u_len, s_len, vh_len] = problem.shapes().map(|shape| shape.matrix_len());
        let size = problem.rows * problem.cols;
        let mut rest = self.a;
        let mut work = Work::<V>::new(token, problem);
        while !certificates.is_empty() {
            let count = certificates.len().min(V::LANES);
            let (a, rest_a) = rest.split_at(count * size);
            let (own_u, rest_u) = u.split_at_mut((count * u_len).min(u.len()));
            let (own_s, rest_s) = s.split_at_mut(count * s_len);
            let (own_vh, rest_vh) = vh.split_at_mut((count * vh_len).min(vh.len()));
            let (own_certificates, rest_certificates) = certificates.split_at_mut(count);
            let out = Matrices { problem, u: own_u, s: own_s, vh: own_vh, certificates: own_certificates };
            work.solve(a, out);
            (rest, u, s, vh, certificates) = (rest_a, rest_u, rest_s, rest_vh, rest_certificates);
        }
    }
}

/// The working memory of a group of matrices, one matrix per lane; all arrays are column-major.
struct Work<V: Vector> {
    token: V::Token,
    long: usize,
    short: usize,
    /// The scaled matrices B, `(long, short)`.
    b: Vec<V>,
    /// The QR factorization of B, and later that of B V, `(long, short)`.
    x: Vec<V>,
    /// The product B V, `(long, short)`.
    y: Vec<V>,
    /// The rows of R, `(short, short)`.
    w: Vec<V>,
    /// The right basis V, `(short, short)`.
    v: Vec<V>,
    /// The left basis P, `(long, left)`.
    p: Vec<V>,
    s: Vec<V>,
    reflections: Reflections<V>,
}

impl<F: Working, V: Vector<Scalar = F>> Work<V> {
    #[inline(always)]
    fn new(token: V::Token, problem: &Problem) -> Self {
        let (long, short, left) = (problem.long(), problem.short(), problem.left());
        let zeros = |len: usize| vec![V::splat(token, F::from_f64(0.0)); len];
        Self {
            token,
            long,
            short,
            b: zeros(long * short),
            x: zeros(long * short),
            y: zeros(long * short),
            w: zeros(short * short),
            v: zeros(short * short),
            p: zeros(long * left),
            s: zeros(short),
            reflections: Reflections::new(token, short),
        }
    }

    #[inline(always)]
    fn number(&self, x: f64) -> V {
        V::splat(self.token, F::from_f64(x))
    }

    #[inline(always)]
    fn solve(&mut self, a: &[F], out: Matrices<'_, F>) {
        let scales = self.load(out.problem, a);
        let (long, short) = (self.long, self.short);
        self.x.copy_from_slice(&self.b);
        self.reflections.factor(&mut self.x, long);
        for j in 0..short {
            for i in 0..short {
                self.w[i + j * short] = match i.cmp(&j) {
                    std::cmp::Ordering::Less => self.number(0.0),
                    std::cmp::Ordering::Equal => self.reflections.betas[i],
                    std::cmp::Ordering::Greater => self.x[j + i * long],
                };
            }
        }
        let (sweeps, still_rotating) = self.rotate();
        self.order();
        self.orthonormalize();
        self.multiply();
        self.x.copy_from_slice(&self.y);
        self.reflections.factor(&mut self.x, long);
        self.reflections.form(&self.x, &mut self.p, long);
        // Singular values that are equal up to rounding may be out of order. Each singular value is therefore replaced
        // by the smallest of itself and those before it.
        let mut least = self.reflections.betas[0].abs();
        for (s, beta) in self.s.iter_mut().zip(&self.reflections.betas) {
            let beta = beta.abs();
            least = V::select(beta.lt(least), beta, least);
            *s = least;
        }
        let (residual, orthogonality) = self.certify();
        self.store(out, &scales, |lane| Certificate {
            status: if still_rotating.as_slice()[lane].to_f64() == 0.0 {
                Status::Converged
            } else {
                Status::NotConverged
            },
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
            sweeps: sweeps.as_slice()[lane].to_f64() as u32,
            residual: residual.as_slice()[lane].to_f64(),
            orthogonality: orthogonality.as_slice()[lane].to_f64(),
        });
    }

    /// Loads B, each matrix into its lane. Lanes without a matrix, and lanes whose matrix is not finite, are 0.
    #[inline(always)]
    fn load(&mut self, problem: &Problem, a: &[F]) -> Vec<Scale> {
        let (long, short) = (self.long, self.short);
        let mut scales = Vec::with_capacity(V::LANES);
        let (down, across) = if problem.wide() { (short, 1) } else { (1, long) };
        let zero = self.number(0.0);
        self.b.fill(zero);
        for (lane, a) in a.chunks_exact(long * short).enumerate() {
            let scale = Scale::of(a.iter().copied());
            if scale.finite {
                let by = 1.0 / scale.by;
                for j in 0..short {
                    for i in 0..long {
                        self.b[i + j * long].as_mut_slice()[lane] = F::from_f64(a[i * down + j * across].to_f64() * by);
                    }
                }
            }
            scales.push(scale);
        }
        scales
    }

    /// Makes sweeps over all pairs of columns of W until no lane rotates any pair (Hestenes 1958). Returns the number
    /// of sweeps of each lane, and a vector with 1 in the lanes that still rotated a pair in the last sweep.
    #[inline(always)]
    fn rotate(&mut self) -> (V, V) {
        let n = self.short;
        let (zero, one, half) = (self.number(0.0), self.number(1.0), self.number(0.5));
        // Two columns count as orthogonal if their inner product is at most its own rounding error.
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let tolerance = self.number(F::EPSILON * (n as f64).sqrt().max(4.0));
        let missing = self.number(missing::<F>());
        let mut squares = vec![zero; n];
        let (mut sweeps, mut still_rotating) = (zero, one);
        for _ in 0..MAX_SWEEPS {
            sweeps += still_rotating;
            let mut rotated = zero;
            // Within a sweep, rotations update the squared lengths. The squared lengths are computed anew before each
            // sweep, so they have no error from updates in a sweep without a rotation.
            for (square, column) in squares.iter_mut().zip(self.w.chunks_exact(n)) {
                *square = dot(column, column, zero);
            }
            for i in 0..n {
                let (head, tail) = self.w.split_at_mut((i + 1) * n);
                let x = &mut head[i * n..];
                for (j, y) in (i + 1..n).zip(tail.chunks_exact_mut(n)) {
                    let (xx, yy, xy) = (squares[i], squares[j], dot(x, y, zero));
                    let turn = (tolerance * (xx * yy).sqrt()).lt(xy.abs());
                    let turn = xx.and(turn, xx.and(missing.lt(xx), missing.lt(yy)));
                    if !xx.any(turn) {
                        continue;
                    }
                    let zeta = (yy - xx) / (xy + xy);
                    let size = zeta.abs() + zeta.mul_add(zeta, one).sqrt();
                    let t = V::select(zeta.lt(zero), -one, one) / size;
                    let t = V::select(turn, t, zero);
                    let c = one / t.mul_add(t, one).sqrt();
                    // One Newton step removes the departure from orthogonality that the rounding of c causes.
                    let excess = c.mul_add(c * t.mul_add(t, one), -one);
                    let c = (half * excess).neg_mul_add(c, c);
                    let s = c * t;
                    squares[i] = t.neg_mul_add(xy, xx);
                    squares[j] = t.mul_add(xy, yy);
                    rotated = V::select(turn, one, rotated);
                    for (x, y) in x.iter_mut().zip(y) {
                        let (own, other) = (*x, *y);
                        *x = s.neg_mul_add(other, c * own);
                        *y = s.mul_add(own, c * other);
                    }
                }
            }
            still_rotating = rotated;
            if !rotated.any(zero.lt(rotated)) {
                break;
            }
        }
        (sweeps, still_rotating)
    }

    /// Writes V: the columns of W in descending order of their lengths, each scaled to length 1. Columns that count as
    /// missing (see [`missing`]) are replaced so that V is an orthonormal basis.
    #[inline(always)]
    fn order(&mut self) {
        let n = self.short;
        let (zero, one, missing) = (self.number(0.0), self.number(1.0), self.number(missing::<F>()));
        let mut lengths = vec![zero; n];
        let mut least = one;
        for (length, column) in lengths.iter_mut().zip(self.w.chunks_exact_mut(n)) {
            let square = dot(column, column, zero);
            let is = missing.lt(square);
            let inverse = V::select(is, one / square.sqrt(), zero);
            column.iter_mut().for_each(|x| *x *= inverse);
            *length = square;
            least = V::select(is, least, zero);
        }
        let mut order: Vec<usize> = (0..n).collect();
        for lane in 0..V::LANES {
            let length = |j: usize| lengths[j].as_slice()[lane];
            order.sort_unstable_by(|&i, &j| {
                length(j).partial_cmp(&length(i)).unwrap_or(std::cmp::Ordering::Equal).then(i.cmp(&j))
            });
            for (to, &from) in order.iter().enumerate() {
                for row in 0..n {
                    self.v[row + to * n].as_mut_slice()[lane] = self.w[row + from * n].as_slice()[lane];
                }
            }
        }
        let incomplete = least.lt(one);
        if least.any(incomplete) {
            self.w.copy_from_slice(&self.v);
            let mut reflections = Reflections::new(self.token, n);
            reflections.factor(&mut self.w, n);
            let mut q = vec![zero; n * n];
            reflections.form(&self.w, &mut q, n);
            self.v.iter_mut().zip(&q).for_each(|(v, q)| *v = V::select(incomplete, *q, *v));
        }
    }

    /// Makes V orthonormal by a Newton-Schulz step, `V + V (I - V'V) / 2` (Higham, Functions of Matrices, 8.6). Without
    /// it, the rounding errors of all sweeps leave `|V'V - I|` three times as large as in LAPACK's sgesdd (64 x 64).
    #[inline(always)]
    fn orthonormalize(&mut self) {
        let n = self.short;
        let (zero, one, half) = (self.number(0.0), self.number(1.0), self.number(0.5));
        // W is no longer needed, and its memory receives half of I - V'V.
        for i in 0..n {
            for j in 0..=i {
                let product = dot(&self.v[i * n..(i + 1) * n], &self.v[j * n..(j + 1) * n], zero);
                let step = -half * if i == j { product - one } else { product };
                self.w[i + j * n] = step;
                self.w[j + i * n] = step;
            }
        }
        let given = self.v.clone();
        for (own, steps) in self.v.chunks_exact_mut(n).zip(self.w.chunks_exact(n)) {
            // Four columns are added at once, so that each sum is loaded and stored once for all four.
            let (fours, rest) = steps.as_chunks::<4>();
            let (columns, last) = given.split_at(fours.len() * 4 * n);
            for (by, columns) in fours.iter().zip(columns.chunks_exact(4 * n)) {
                let (front, back) = columns.split_at(2 * n);
                let ((a, b), (c, d)) = (front.split_at(n), back.split_at(n));
                for ((((own, a), b), c), d) in own.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                    *own = a.mul_add(by[0], b.mul_add(by[1], c.mul_add(by[2], d.mul_add(by[3], *own))));
                }
            }
            for (by, column) in rest.iter().zip(last.chunks_exact(n)) {
                own.iter_mut().zip(column).for_each(|(own, x)| *own = x.mul_add(*by, *own));
            }
        }
    }

    /// Computes Y = B V.
    #[inline(always)]
    fn multiply(&mut self) {
        let (long, short) = (self.long, self.short);
        let zero = self.number(0.0);
        // Four columns of Y are computed together, so that each element of B is read once for all four.
        for j in (0..short).step_by(4) {
            let column = |t: usize| (j + t).min(short - 1);
            for i in 0..long {
                let mut sums = [zero; 4];
                // The rounding error of a sum of terms of equal sign grows with the number of terms. Partial sums of 16
                // terms keep it small.
                for start in (0..short).step_by(16) {
                    let mut partial = [zero; 4];
                    for k in start..(start + 16).min(short) {
                        let x = self.b[i + k * long];
                        for (t, partial) in partial.iter_mut().enumerate() {
                            *partial = x.mul_add(self.v[k + column(t) * short], *partial);
                        }
                    }
                    sums.iter_mut().zip(partial).for_each(|(sum, partial)| *sum += partial);
                }
                for (t, sum) in sums.into_iter().enumerate() {
                    self.y[i + column(t) * long] = sum;
                }
            }
        }
    }

    /// Returns `max_j |B v_j - s_j p_j| / |B|_1`, and the larger of `max |P'P - I|` and `max |V'V - I|`.
    #[inline(always)]
    fn certify(&self) -> (V, V) {
        let (long, zero) = (self.long, self.number(0.0));
        let (mut residual, mut norm) = (zero, zero);
        let columns = self.y.chunks_exact(long).zip(self.p.chunks_exact(long)).zip(self.b.chunks_exact(long));
        for (((y, p), b), s) in columns.zip(&self.s) {
            let (mut square, mut sum) = (zero, zero);
            for ((y, p), b) in y.iter().zip(p).zip(b) {
                let away = s.neg_mul_add(*p, *y);
                square = away.mul_add(away, square);
                sum += b.abs();
            }
            residual = residual.max(square);
            norm = norm.max(sum);
        }
        let divisor = V::select(norm.le(zero), self.number(1.0), norm);
        (residual.sqrt() / divisor, self.departure(&self.p, long).max(self.departure(&self.v, self.short)))
    }

    /// Returns `max |Q'Q - I|`.
    #[inline(always)]
    fn departure(&self, q: &[V], rows: usize) -> V {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let mut most = zero;
        for (i, x) in q.chunks_exact(rows).enumerate() {
            for (j, y) in q.chunks_exact(rows).enumerate().take(i + 1) {
                let product = dot(x, y, zero);
                most = most.max(if i == j { product - one } else { product }.abs());
            }
        }
        most
    }

    /// Stores the results of each lane in the slices of its matrix.
    #[inline(always)]
    fn store(&self, out: Matrices<'_, F>, scales: &[Scale], certificate: impl Fn(usize) -> Certificate) {
        let Matrices { problem, u, s, vh, certificates } = out;
        let [u_len, s_len, vh_len] = problem.shapes().map(|shape| shape.matrix_len());
        let wide = problem.wide();
        for (lane, scale) in scales.iter().enumerate() {
            // U and Vh are empty if they are not wanted.
            let part = |len: usize, kept: usize| (lane * len).min(kept)..((lane + 1) * len).min(kept);
            let (own_u, own_vh) = (part(u_len, u.len()), part(vh_len, vh.len()));
            let (u, s, vh) = (&mut u[own_u], &mut s[lane * s_len..(lane + 1) * s_len], &mut vh[own_vh]);
            if !scale.finite {
                certificates[lane] = not_finite(u, s, vh);
                continue;
            }
            for (out, x) in s.iter_mut().zip(&self.s) {
                *out = F::from_f64(x.as_slice()[lane].to_f64() * scale.by);
            }
            let (left, right, rows) = if wide { (&self.v, &self.p, self.long) } else { (&self.p, &self.v, self.short) };
            for (out, x) in u.iter_mut().zip(left) {
                *out = x.as_slice()[lane];
            }
            // Vh is the transpose of the right basis.
            let vectors = right.len() / rows;
            for (i, out) in vh.chunks_exact_mut(vectors).enumerate() {
                for (j, out) in out.iter_mut().enumerate() {
                    *out = right[i + j * rows].as_slice()[lane];
                }
            }
            let mut own = certificate(lane).judged_by(PROMISE, self.long, F::EPSILON);
            // A singular value may overflow in this precision although no element does.
            if !s[0].to_f64().is_finite() {
                own = Certificate { status: Status::NotConverged, residual: f64::INFINITY, ..own };
            }
            certificates[lane] = own;
        }
    }
}
