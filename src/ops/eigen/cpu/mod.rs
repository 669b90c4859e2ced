//! The eigendecomposition on the CPU. Small matrices are solved one per SIMD lane, and larger matrices one at a time.
//! Each matrix is scaled first, its eigenpairs are sorted, and its certificate contains the same measures as on the
//! device.
//!
//! Matrices up to order 128 are solved in lanes. They are reduced by Householder's method (`tridiagonal`), diagonalized
//! by the implicit QL iteration (`implicit_ql`), and certified (`certify`). If the encoder needs only a few
//! eigenvectors, `subset` computes them by inverse iteration instead. Larger matrices, and the matrices of calls with
//! too few matrices to fill the lanes, are reduced one at a time by `householder`, with one pass over memory per step.
//! Then `ops::twisted` computes all eigenvectors in f32, one per lane, if the eigenvalues are distinct. Otherwise,
//! faer's divide and conquer computes all eigenvectors, or `inverse_iteration` computes a few. If no eigenvectors are
//! wanted, `root_free` computes the eigenvalues of one matrix, or `values_only` those of several, with one matrix per
//! lane. `finish` completes the results. The bits of a lane do not depend on the other lanes, but a call with few
//! matrices may be solved by another algorithm than a call with many matrices. The algorithm depends only on the number
//! and the orders of the matrices and on the columns that are requested.
//!
//! Positive definite matrices whose diagonal elements differ greatly are solved by `graded`, for the sake of their
//! small eigenvalues. Complex Hermitian matrices are solved by `hermitian`.

mod certify;
mod dense;
mod finish;
mod graded;
mod group;
pub(super) mod hermitian;
mod householder;
mod implicit_ql;
mod inverse_iteration;
mod root_free;
mod subset;
mod tridiagonal;
mod values_only;
mod workspace;

use super::Certificate;
use super::request::{Columns, Request};
use crate::array::Real;
use crate::context::Context;
use crate::parallel;
use crate::shape::Layout;
use group::{Groups, Width};

/// The largest order of the matrices that are solved one per lane.
const LANES_UP_TO: usize = 128;
/// The minimum number of matrices in a batch for which matrices of orders above [`ALWAYS_LANES`] are solved in lanes.
/// Fewer matrices would leave too many lanes empty. A group of 16 lanes takes 0.2 ms at n = 32 and 8 ms at n = 128,
/// regardless of how many of its lanes are used. A matrix that is solved separately takes about a tenth of these times
/// (AVX-512, 2026-11-21).
const LANES_FOR: usize = 8;
/// The largest order at which solving a whole group takes less time than solving a single matrix with faer.
const ALWAYS_LANES: usize = 16;

/// One matrix, and the slices that its results are written to.
struct Matrix<'a, T> {
    index: usize,
    order: usize,
    elements: &'a [T],
    values: &'a mut [T],
    vectors: &'a mut [T],
    certificate: &'a mut Certificate,
}

/// Returns the number of floating-point operations that the cost model counts for one matrix. It is 9 n^3, which is
/// LAPACK's count if eigenvectors are computed.
pub(super) fn flops(order: u32) -> f64 {
    9.0 * f64::from(order).powi(3)
}

/// Returns the name of the algorithm for matrices of the given order in a batch of `batch` matrices.
pub(super) fn algorithm(order: u32, batch: usize) -> &'static str {
    if order as usize <= up_to(batch) { "one matrix per SIMD lane" } else { "one matrix at a time" }
}

/// Returns the largest order at which all matrices of a batch of `batch` matrices are solved one per lane.
fn up_to(batch: usize) -> usize {
    if batch < LANES_FOR { ALWAYS_LANES } else { LANES_UP_TO }
}

/// The eigenvalues, eigenvectors and certificates of all matrices of a batch.
pub(super) struct Found<T> {
    pub(super) values: Vec<T>,
    /// The eigenvectors, in the places that the layout gives to the elements of the matrices; empty if no columns were
    /// wanted. The vector is from [`Context::zeroed_room`].
    pub(super) vectors: Vec<T>,
    pub(super) certificates: Vec<Certificate>,
}

/// Returns the indices of the positive definite matrices of `a` whose diagonal elements differ greatly.
pub(super) fn graded_of<T: Real>(layout: &Layout, a: &[T], request: Request<'_>) -> Vec<usize> {
    if matches!(request.columns, Columns::Chosen(_)) {
        return Vec::new(); // the solver of graphs knows better
    }
    let takes = |i: usize| graded::takes(layout.orders()[i] as usize, &a[layout.elements(i)]).then_some(i);
    parallel::map_runs(layout.batch(), 64, takes).into_iter().flatten().collect()
}

/// Computes eigenvalues, eigenvectors and certificates of every matrix of `a`. Only the lower triangles are read.
pub(super) fn eigh<T: Real>(ctx: &Context, layout: &Layout, a: &[T], request: Request<'_>) -> Found<T> {
    let mut values = vec![T::from_f64(0.0); layout.row_count()];
    let without = request.columns.is_none();
    let mut vectors = ctx.zeroed_room(if without { 0 } else { layout.len() });
    let mut certificates = vec![Certificate::default(); layout.batch()];
    // T is f32 or f64; there is no other precision.
    if T::ON_DEVICE {
        let (values, vectors) = (bytemuck::cast_slice_mut(&mut values), bytemuck::cast_slice_mut(&mut vectors));
        in_f32(split(layout, bytemuck::cast_slice(a), values, vectors, &mut certificates), request);
    } else {
        let (values, vectors) = (bytemuck::cast_slice_mut(&mut values), bytemuck::cast_slice_mut(&mut vectors));
        in_f64(split(layout, bytemuck::cast_slice(a), values, vectors, &mut certificates), request);
    }
    Found { values, vectors, certificates }
}

/// Instantiates [`solve`] for f32 in this crate, so that it is not compiled again in every crate that calls it.
fn in_f32(matrices: Vec<Matrix<'_, f32>>, request: Request<'_>) {
    solve(matrices, request);
}

fn in_f64(matrices: Vec<Matrix<'_, f64>>, request: Request<'_>) {
    solve(matrices, request);
}

fn solve<T: Real>(matrices: Vec<Matrix<'_, T>>, request: Request<'_>) {
    let chosen = matches!(request.columns, Columns::Chosen(_)); // by the solver of graphs, which knows better
    let is_graded = |m: &Matrix<'_, T>| !chosen && graded::is_graded(m.order, m.elements);
    let (graded, mut matrices): (Vec<_>, Vec<_>) = matrices.into_iter().partition(is_graded);
    let rest = parallel::map(graded, |_, mut m| {
        let done = request.cancel.is_cancelled() || graded::solve(&mut m, request);
        (!done).then_some(m)
    });
    matrices.extend(rest.into_iter().flatten());
    matrices.sort_by_key(|m| m.order);
    let up_to = if request.whole { up_to(matrices.len()) } else { LANES_UP_TO };
    let small = matrices.partition_point(|m| m.order <= up_to);
    let (small, large) = matrices.split_at_mut(small);
    let width = T::in_lanes(Width);
    // Each task has enough groups that the cost of allocating its memory and of starting it is negligible, but few
    // enough that no thread is idle for long at the end.
    let per_task = width * (small.len() / (width * 8 * parallel::threads())).clamp(1, 64);
    parallel::both(
        || {
            parallel::for_each(small.chunks_mut(per_task).rev(), |_, matrices| {
                if !request.cancel.is_cancelled() {
                    T::in_lanes(Groups { matrices, request });
                }
            })
        },
        || dense::eigh(large, request),
    );
}

/// Splits the arrays into the slices that belong to each matrix.
fn split<'a, T: Real>(
    layout: &Layout,
    mut elements: &'a [T],
    mut values: &'a mut [T],
    mut vectors: &'a mut [T],
    certificates: &'a mut [Certificate],
) -> Vec<Matrix<'a, T>> {
    let mut parts = Vec::with_capacity(layout.batch());
    for ((index, &order), certificate) in layout.orders().iter().enumerate().zip(certificates) {
        let order = order as usize;
        let (own, rest) = elements.split_at(order * order);
        let (own_values, rest_values) = values.split_at_mut(order);
        let (own_vectors, rest_vectors) = vectors.split_at_mut((order * order).min(vectors.len()));
        (elements, values, vectors) = (rest, rest_values, rest_vectors);
        parts.push(Matrix { index, order, elements: own, values: own_values, vectors: own_vectors, certificate });
    }
    parts
}

/// Returns the largest power of two that is at most `x`; the smallest normal number if `x` is subnormal, and 1 if `x`
/// is 0.
fn power_of_two_near(x: f64) -> f64 {
    // Only the exponent field counts.
    let bits = x.to_bits() & 0x7ff0_0000_0000_0000;
    if x == 0.0 { 1.0 } else { f64::from_bits(bits.max(1 << 52)) }
}

#[cfg(test)]
mod tests {
    use super::group::Groups;
    use super::householder::Reduce;
    use super::{Certificate, Columns, Layout, Request, split};
    use crate::array::Real;
    use crate::cancel::Cancel;
    use crate::lanes::SimdScalar;
    use crate::ops::certificate::Status;

    /// Returns symmetric matrices with elements in (-1, 1), one after the other.
    fn noise<T: Real>(orders: &[u32]) -> Vec<T> {
        let mut state = 1_u64;
        let mut all = Vec::new();
        for &n in orders {
            let first = all.len();
            let n = n as usize;
            all.resize(first + n * n, T::from_f64(0.0));
            for j in 0..n {
                for i in j..n {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let x = T::from_f64((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0);
                    (all[first + i + j * n], all[first + j + i * n]) = (x, x);
                }
            }
        }
        all
    }

    /// Vectors with one lane, as on a machine without SIMD, also solve the matrices. The eigenvalues agree with those
    /// from the widest vectors to within rounding errors.
    fn one_lane_is_enough<T: Real>() {
        let layout = Layout::new([1, 2, 3, 7, 16, 33, 61]);
        let a: Vec<T> = noise(layout.orders());
        let request = Request { columns: Columns::All, certificate: true, whole: false, cancel: &Cancel::new() };
        let solve = |narrow: bool| {
            let (mut w, mut v) = (vec![T::from_f64(0.0); layout.row_count()], vec![T::from_f64(0.0); layout.len()]);
            let mut certificates = vec![Certificate::default(); layout.batch()];
            let mut matrices = split(&layout, &a, &mut w, &mut v, &mut certificates);
            let groups = Groups { matrices: &mut matrices, request };
            if narrow {
                T::in_one_lane(groups)
            } else {
                T::in_lanes(groups)
            }
            assert!(certificates.iter().all(|c| c.status == Status::Converged), "{certificates:?}");
            w
        };
        for (narrow, wide) in solve(true).iter().zip(solve(false)) {
            assert!((narrow.to_f64() - wide.to_f64()).abs() < 300.0 * T::EPSILON, "{narrow:?} {wide:?}");
        }
    }

    #[test]
    fn one_lane_is_enough_in_both_precisions() {
        one_lane_is_enough::<f32>();
        one_lane_is_enough::<f64>();
    }

    /// `Q T Q'` equals the original matrix, with the widest vectors and with vectors of one lane. The orders are close
    /// to the number of lanes and to the number of rows in a block.
    #[test]
    fn a_reduction_is_similar() {
        for n in [2, 3, 4, 5, 15, 16, 17, 33, 70] {
            let a: Vec<f64> = noise(&[n]);
            let n = n as usize;
            let matrix = faer::MatRef::from_column_major_slice(&a, n, n);
            for reduced in [f64::in_lanes(Reduce(matrix)), f64::in_one_lane(Reduce(matrix))] {
                let mut t = faer::Mat::<f64>::zeros(n, n);
                for i in 0..n {
                    t[(i, i)] = reduced.diagonal[i];
                    if i + 1 < n {
                        (t[(i, i + 1)], t[(i + 1, i)]) = (reduced.off_diagonal[i], reduced.off_diagonal[i]);
                    }
                }
                for k in (0..n.saturating_sub(1)).rev() {
                    let mut h = faer::Mat::<f64>::identity(n, n);
                    for i in 0..n {
                        for j in 0..n {
                            h[(i, j)] -= reduced.tau[k] * reduced.reflectors[(i, k)] * reduced.reflectors[(j, k)];
                        }
                    }
                    t = &h * &t * &h;
                }
                let off = (&t - matrix).norm_max();
                assert!(off < 100.0 * f64::EPSILON * n as f64, "n = {n}: off by {off:e}");
            }
        }
    }
}
