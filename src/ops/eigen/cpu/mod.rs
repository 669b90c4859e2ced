//! The CPU's eigendecomposition. Small matrices go one a SIMD lane, larger ones one by one through faer; each is scaled first, sorted,
//! and has the same certificate as the device's.

mod certify;
mod dense;
mod group;
mod householder;
mod implicit_ql;
mod inverse_iteration;
mod tridiagonal;
mod values;

use super::{Certificate, Choose};
use crate::array::Real;
use crate::shape::Layout;
use group::{Groups, Width};
use rayon::prelude::*;

/// The largest order that goes one matrix a lane.
const LANES_UP_TO: usize = 128;

/// Which eigenvectors are wanted, of columns in the order of ascending values.
#[derive(Clone, Copy)]
pub(super) enum Columns<'a> {
    /// Every one.
    All,
    /// None: values alone.
    None,
    /// Those that each matrix needs; others stay 0.
    Chosen(Choose<'a>),
}

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct Want<'a> {
    pub(super) columns: Columns<'a>,
    pub(super) certificate: bool,
}

/// One matrix, and where its results go.
struct Matrix<'a, T> {
    index: usize,
    order: usize,
    elements: &'a [T],
    values: &'a mut [T],
    vectors: &'a mut [T],
    certificate: &'a mut Certificate,
}

/// Floating-point operations counted for one matrix: LAPACK's 9 n^3 with vectors.
pub(super) fn flops(order: u32) -> f64 {
    9.0 * f64::from(order).powi(3)
}

/// What was found for every matrix of a batch.
pub(super) struct Found<T> {
    pub(super) values: Vec<T>,
    /// By element of the layout; empty where no columns were wanted.
    pub(super) vectors: Vec<T>,
    pub(super) certificates: Vec<Certificate>,
}

/// Eigenvalues, eigenvectors and certificates of every matrix of `a` (the lower triangles).
pub(super) fn eigh<T: Real>(layout: &Layout, a: &[T], want: Want<'_>) -> Found<T> {
    let mut values = vec![T::from_f64(0.0); layout.row_count()];
    let without = matches!(want.columns, Columns::None);
    let mut vectors = vec![T::from_f64(0.0); if without { 0 } else { layout.len() }];
    let mut certificates = vec![Certificate::default(); layout.batch()];
    // There are two precisions, and T is one of them.
    if T::ON_DEVICE {
        let (values, vectors) = (bytemuck::cast_slice_mut(&mut values), bytemuck::cast_slice_mut(&mut vectors));
        in_f32(split(layout, bytemuck::cast_slice(a), values, vectors, &mut certificates), want);
    } else {
        let (values, vectors) = (bytemuck::cast_slice_mut(&mut values), bytemuck::cast_slice_mut(&mut vectors));
        in_f64(split(layout, bytemuck::cast_slice(a), values, vectors, &mut certificates), want);
    }
    Found { values, vectors, certificates }
}

/// [`solve`] compiled here, once, and not anew in every crate that calls it.
fn in_f32(matrices: Vec<Matrix<'_, f32>>, want: Want<'_>) {
    solve(matrices, want);
}

fn in_f64(matrices: Vec<Matrix<'_, f64>>, want: Want<'_>) {
    solve(matrices, want);
}

fn solve<T: Real>(mut matrices: Vec<Matrix<'_, T>>, want: Want<'_>) {
    matrices.sort_by_key(|m| m.order);
    // A matrix's result depends upon its order alone, not upon its batch.
    let small = matrices.partition_point(|m| m.order <= LANES_UP_TO);
    let (small, large) = matrices.split_at_mut(small);
    let width = T::in_lanes(Width);
    // Enough groups to a task that its memory and its start do not count, few enough that both ends keep busy.
    let per_task = width * (small.len() / (width * 8 * rayon::current_num_threads())).clamp(1, 64);
    rayon::join(
        || small.par_chunks_mut(per_task).rev().for_each(|matrices| T::in_lanes(Groups { matrices, want })),
        || dense::eigh(large, want),
    );
}

/// The part of everything that belongs to each matrix.
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

/// The power of two at or below x; 1 for 0.
fn power_of_two_near(x: f64) -> f64 {
    // The exponent field alone; a subnormal becomes the smallest normal number.
    let bits = x.to_bits() & 0x7ff0_0000_0000_0000;
    if x == 0.0 { 1.0 } else { f64::from_bits(bits.max(1 << 52)) }
}
