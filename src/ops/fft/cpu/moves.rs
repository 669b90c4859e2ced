//! Moves lines from memory to SIMD lanes and back.
//!
//! Adjacent numbers of a line are adjacent in memory, and in lanes they are in different vectors. So some numbers of
//! each line are copied to a small array, whose vectors are then shuffled.

use super::in_lanes::LANES;
use super::passes::Pair;
use crate::array::Real;
use crate::lanes::Vector;
use num_complex::Complex;

/// The number of adjacent scalars of a line that are copied together, and after a shuffle are in as many vectors.
const GROUP: usize = 4;
/// The number of groups of every line that are copied before the first vector is loaded: a vector that is loaded right
/// after its parts were stored has to wait for them.
const GROUPS: usize = 4;
const STEP: usize = GROUP * GROUPS;
/// The number of elements of lines across rows that are copied before the first vector is loaded.
const ROWS: usize = 8;

/// Copies of the lines that are in lanes. Lines in memory are read and written from first to last, so that the
/// processor fetches them in advance.
pub(super) struct Copies<F> {
    scalars: Vec<F>,
}

impl<F: Real> Copies<F> {
    /// Returns the copies of lines of `len` scalars at most.
    pub(super) fn new(len: usize) -> Self {
        // Beyond the last line is room for whole steps.
        Self { scalars: vec![F::from_f64(0.0); LANES * len + STEP] }
    }

    /// Passes the scalars of the lines in `from`, which have `len` scalars each, to `put`: a vector for each place in a
    /// line. Lanes without a line have unspecified values.
    #[inline(always)]
    pub(super) fn gather<V: Vector<Scalar = F>>(
        &mut self,
        token: V::Token,
        len: usize,
        from: &[F],
        mut put: impl FnMut(usize, V),
    ) {
        self.scalars[..from.len()].copy_from_slice(from);
        let mut room = [[[F::from_f64(0.0); GROUP]; LANES]; GROUPS];
        for first in (0..len).step_by(STEP) {
            // Scalars beyond a line are not used.
            for lane in 0..V::LANES {
                let Some(step) = self.scalars[first + lane * len..].first_chunk::<STEP>() else { break };
                for (room, group) in room.iter_mut().zip(step.as_chunks::<GROUP>().0) {
                    room[lane] = *group;
                }
            }
            for (first, room) in (first..len).step_by(GROUP).zip(&room) {
                let room = room.as_flattened();
                let parts = V::parted_by_four(std::array::from_fn(|i| V::load(token, &room[i * V::LANES..])));
                for (i, part) in parts.into_iter().enumerate().take(len - first) {
                    put(first + i, part);
                }
            }
        }
    }

    /// Writes to the lines in `to`, which have `len` scalars each, what `get` returns for each place in a line.
    #[inline(always)]
    pub(super) fn scatter<V: Vector<Scalar = F>>(
        &mut self,
        token: V::Token,
        len: usize,
        to: &mut [F],
        get: impl Fn(usize) -> V,
    ) {
        let zero = V::splat(token, F::from_f64(0.0));
        let mut room = [[[F::from_f64(0.0); GROUP]; LANES]; GROUPS];
        // Whole steps are written. What a line writes beyond itself is overwritten by the next line, which is written
        // later, because steps are in descending order.
        for first in (0..len).step_by(STEP).rev() {
            for (first, room) in (first..len).step_by(GROUP).zip(&mut room) {
                let room = room.as_flattened_mut();
                let mut parts = [zero; GROUP];
                for (place, part) in (first..len).zip(&mut parts) {
                    *part = get(place);
                }
                for (i, part) in V::mixed_by_four(parts).into_iter().enumerate() {
                    part.store(&mut room[i * V::LANES..]);
                }
            }
            for lane in 0..V::LANES {
                let Some(step) = self.scalars[first + lane * len..].first_chunk_mut::<STEP>() else { break };
                for (room, group) in room.iter().zip(step.as_chunks_mut::<GROUP>().0) {
                    *group = room[lane];
                }
            }
        }
        to.copy_from_slice(&self.scalars[..to.len()]);
    }
}

/// Some adjacent lines across the rows of matrices, at most as many as there are lanes.
pub(super) struct Narrow {
    /// Where each line begins.
    begins: [usize; LANES],
    count: usize,
    /// The length of the rows.
    inner: usize,
}

impl Narrow {
    /// Returns the lines `first..first + count` of matrices of `n` rows, each of which has `inner` elements.
    pub(super) fn new(first: usize, count: usize, inner: usize, n: usize) -> Self {
        let begin = |line: usize| line / inner * inner * n + line % inner;
        Self { begins: std::array::from_fn(|lane| begin(first + lane.min(count - 1))), count, inner }
    }

    /// Writes the elements of the lines to `x`.
    #[inline(always)]
    pub(super) fn gather<F: Real, V: Vector<Scalar = F>>(
        &self,
        token: V::Token,
        from: &[Complex<F>],
        x: &mut [Pair<V>],
        swap: bool,
    ) {
        let zero = F::from_f64(0.0);
        let mut room = [[Complex::new(zero, zero); LANES]; ROWS];
        for (first, x) in x.chunks_mut(ROWS).enumerate() {
            for (row, room) in (first * ROWS..).zip(&mut room[..x.len()]) {
                let from = &from[row * self.inner..];
                for (room, begin) in room[..V::LANES].iter_mut().zip(self.begins) {
                    *room = from[begin];
                }
            }
            for (x, room) in x.iter_mut().zip(&room) {
                let room: &[F] = bytemuck::cast_slice(room);
                let [re, im] = V::parted([V::load(token, room), V::load(token, &room[V::LANES..])]);
                *x = if swap { [im, re] } else { [re, im] };
            }
        }
    }

    /// Writes `x` to the elements of the lines.
    #[inline(always)]
    pub(super) fn scatter<F: Real, V: Vector<Scalar = F>>(
        &self,
        x: impl Iterator<Item = Pair<V>>,
        to: &mut [Complex<F>],
    ) {
        let zero = F::from_f64(0.0);
        let mut room = [Complex::new(zero, zero); LANES];
        for (row, x) in x.enumerate() {
            let [a, b] = V::mixed(x);
            let scalars: &mut [F] = bytemuck::cast_slice_mut(&mut room);
            a.store(scalars);
            b.store(&mut scalars[V::LANES..]);
            let to = &mut to[row * self.inner..];
            for (z, begin) in room[..self.count].iter().zip(self.begins) {
                to[begin] = *z;
            }
        }
    }
}
