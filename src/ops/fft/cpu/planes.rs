//! Transforms of many small matrices along both axes, one matrix per SIMD lane: nothing is moved between the transforms
//! of the rows and those of the columns.

use super::in_lanes::{LANES, Memory, Plan, Scratch, lines_of, memory};
use super::lengths::is_rader;
use super::passes::in_passes;
use super::{Engine, Working};
use crate::array::Real;
use crate::lanes::{Task, Vector};
use num_complex::Complex;
use std::sync::Arc;

/// The largest number of elements of a matrix, up to which rustfft takes 1.1 to 5 times as long, and the largest if the
/// length of the contiguous lines is a power of two, beyond which it takes 0.8 to 1.0 times as long (one core with
/// AVX-512, 2026-11-29).
const MOST: usize = 512;
const MOST_IN_TWOS: usize = 256;

/// Returns whether `batch` matrices with contiguous lines of length `rows` and lines of length `cols` across them are
/// transformed in lanes. Fewer matrices than lanes take as long as if they filled them.
pub(super) fn takes(rows: usize, cols: usize, batch: usize) -> bool {
    let in_passes = |n: usize| n > 0 && in_passes(n) && !is_rader(n);
    let most = if rows.is_power_of_two() { MOST_IN_TWOS } else { MOST };
    batch >= LANES && rows.saturating_mul(cols) <= most && in_passes(rows) && in_passes(cols)
}

/// Transforms of matrices. Each counts as one line.
pub(super) struct Planes<F> {
    /// The plan for the contiguous lines, and the plan for the lines across them.
    pub(super) rows: Arc<Plan<F>>,
    pub(super) cols: Arc<Plan<F>>,
    /// The factor 1/n by which an inverse transform of n elements is multiplied; `None` for a forward transform.
    pub(super) scale: Option<F>,
}

impl<F: Working> Engine<Complex<F>, Complex<F>> for Planes<F> {
    type Scratch = Scratch;

    fn lengths(&self) -> [usize; 2] {
        [self.rows.n * self.cols.n; 2]
    }

    fn scratch(&self) -> Scratch {
        None
    }

    fn lines(&self) -> usize {
        lines_of(self.rows.n * self.cols.n)
    }

    fn run(&self, from: &[Complex<F>], to: &mut [Complex<F>], scratch: &mut Scratch) {
        F::in_lanes(Matrices { planes: self, from, to, scratch });
    }
}

struct Matrices<'a, F> {
    planes: &'a Planes<F>,
    from: &'a [Complex<F>],
    to: &'a mut [Complex<F>],
    scratch: &'a mut Scratch,
}

impl<F: Working> Task<F> for Matrices<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = F>>(self, token: V::Token) {
        let Self { planes: Planes { rows, cols, scale }, from, to, scratch } = self;
        let (inner, n) = (rows.n, rows.n * cols.n);
        let (Some(rows), Some(cols)) = (rows.passes(), cols.passes()) else { return };
        // An inverse transform is a forward transform with the parts of all numbers exchanged.
        let swap = usize::from(scale.is_some());
        let by = V::splat(token, scale.unwrap_or(<F as Real>::from_f64(1.0)));
        let Some(Memory { x, y, copies }) = memory::<V>(token, n, scratch) else { return };
        for (from, to) in from.chunks(V::LANES * n).zip(to.chunks_mut(V::LANES * n)) {
            copies.gather(token, 2 * n, bytemuck::cast_slice(from), |i, part| x[i / 2][(i % 2) ^ swap] = part);
            rows.run(token, 1, x, y);
            cols.run(token, inner, x, y);
            copies.scatter(token, 2 * n, bytemuck::cast_slice_mut(to), |i| x[i / 2][(i % 2) ^ swap] * by);
        }
    }
}
