//! Samples of one shape in lanes: a sample in each lane of the vectors, in f64.
//!
//! A group of as many samples as there are lanes is transposed once, and what several columns need is computed once:
//! sums, sorted numbers, the spectrum. No lane affects another, so a sample has the same bits whatever samples are
//! beside it.

mod sort;

use super::moments::Sums;
use super::parts::Known;
use super::transform::{Scratch, Transform};
use super::{Program, SampleShape, Status};
use crate::array::Real;
use crate::lanes::{SimdScalar, Task, Vector};
use crate::ops::fft::Memory;
use crate::parallel;
use std::ops::Range;

/// The numbers in the samples of a task of one thread. Enough to keep the overhead of a task below a percent.
const TASK: usize = 1 << 16;
/// The most lanes of a vector of f64, of which tasks are multiples.
const LANES: usize = 8;

/// Samples, one per lane, from which the parts of measures are computed.
pub(super) struct Group<'a, V: Vector> {
    pub(super) token: V::Token,
    pub(super) shape: SampleShape,
    pub(super) x: &'a [V],
    pub(super) sums: &'a Sums<V>,
    /// The numbers in ascending order, if a column needs them.
    pub(super) sorted: &'a [V],
    /// The squared magnitudes of the transform, if a column needs them.
    pub(super) power: &'a [V],
    pub(super) transform: Option<&'a Transform>,
}

/// Computes the columns of samples, which are stored one after the other, row-major. `values` has the singular values
/// of each sample, and those after the means of its columns are subtracted, if the program needs them.
pub(super) fn run<T: Real>(
    program: &Program,
    samples: &[T],
    values: [&[f64]; 2],
    out: &mut [f32],
    status: &mut [Status],
) {
    let (n, width) = (program.shape.len(), program.width);
    let count = status.len();
    let each = (TASK / n.max(1) / LANES).max(1) * LANES;
    let tasks = out.chunks_mut(each * width).zip(status.chunks_mut(each)).enumerate();
    parallel::for_each(tasks, |_, (task, (out, status))| {
        let rows = task * each..task * each + status.len();
        let samples = &samples[rows.start * n..rows.end * n];
        let values = values.map(|values| {
            let each = values.len() / count;
            &values[rows.start * each..rows.end * each]
        });
        f64::in_lanes(Rows { program, samples: &T::all_to_f64(samples), values, out, status });
    });
}

/// The work of a task.
struct Rows<'a> {
    program: &'a Program,
    samples: &'a [f64],
    values: [&'a [f64]; 2],
    out: &'a mut [f32],
    status: &'a mut [Status],
}

impl Task<f64> for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) {
        let Self { program, samples, values, out, status } = self;
        let (n, needs) = (program.shape.len(), program.needs);
        let [singular, centered] = values.map(|values| values.len() / status.len());
        let zero = V::splat(token, 0.0);
        let mut x = vec![zero; n];
        let mut sorted = vec![zero; if needs.sorted { n } else { 0 }];
        let mut power = vec![zero; program.transform.as_ref().map_or(0, |transform| transform.weights.len())];
        let mut in_lanes = [vec![zero; singular], vec![zero; centered]];
        let (mut parts, mut columns) = (Vec::new(), Vec::with_capacity(program.width));
        let (mut scratch, mut memory) = (Scratch::default(), Memory::default());
        for group in 0..status.len().div_ceil(V::LANES) {
            let first = group * V::LANES;
            let lanes = V::LANES.min(status.len() - first);
            let status = &mut status[first..first + lanes];
            for lane in 0..V::LANES {
                // Lanes beyond the samples repeat the last one.
                let sample = first + lane.min(lanes - 1);
                let valid = gather(&mut x, lane, &samples[sample * n..][..n]);
                if let Some(status) = status.get_mut(lane) {
                    *status = if valid { Status::Ok } else { Status::NotFinite };
                }
                for (to, values) in in_lanes.iter_mut().zip(values) {
                    let each = to.len();
                    gather(to, lane, &values[sample * each..][..each]);
                }
            }
            let sums = Sums::of(token, &x);
            if needs.sorted {
                sorted.copy_from_slice(&x);
                sort::sort(&mut sorted);
            }
            if let Some(transform) = &program.transform {
                // The first number is subtracted, so that the transform of equal numbers is exactly 0.
                if let Some(plan) = &transform.in_lanes {
                    plan.run(token, &mut memory, &x, &mut power);
                    power[0] = sums.sum * sums.sum;
                }
                for lane in (0..lanes).filter(|_| transform.in_lanes.is_none()) {
                    let (start, sum) = (x[0].as_slice()[lane], sums.sum.as_slice()[lane]);
                    scratch.sample.clear();
                    for x in &x {
                        scratch.sample.push(x.as_slice()[lane] - start);
                    }
                    for (power, &of) in power.iter_mut().zip(transform.power(&mut scratch, sum)) {
                        power.as_mut_slice()[lane] = of;
                    }
                }
            }
            let (shape, transform) = (program.shape, program.transform.as_ref());
            let group = Group { token, shape, x: &x, sums: &sums, sorted: &sorted, power: &power, transform };
            let [singular, centered] = in_lanes.each_ref();
            let known = Known { token, shape, sums: &sums, transform, singular, centered };
            columns.clear();
            for measure in &program.measures {
                parts.clear();
                measure.parts(&group, &mut parts);
                measure.columns(&known, &parts, &mut columns);
            }
            let out = &mut out[first * program.width..][..lanes * program.width];
            scatter(&columns, &program.order, out, status);
        }
    }
}

/// Writes a sample to a lane. If a number is not finite, zeros are written, and the result is false.
#[inline(always)]
pub(super) fn gather<V: Vector<Scalar = f64>>(to: &mut [V], lane: usize, sample: &[f64]) -> bool {
    let mut valid = true;
    for (to, x) in to.iter_mut().zip(sample) {
        // Adding 0 turns -0 into 0, so that equal numbers have equal bits.
        let x = x + 0.0;
        to.as_mut_slice()[lane] = x;
        // Zero times an infinity or a NaN is NaN.
        valid &= x * 0.0 == 0.0;
    }
    if !valid {
        for to in to {
            to.as_mut_slice()[lane] = 0.0;
        }
    }
    valid
}

/// Writes the columns of the samples in order, rounded to f32.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "columns are stored in f32")]
pub(super) fn scatter<V: Vector<Scalar = f64>>(
    columns: &[V],
    order: &[Range<usize>],
    out: &mut [f32],
    status: &mut [Status],
) {
    let width = out.len() / status.len();
    for (lane, status) in status.iter_mut().enumerate() {
        let out = &mut out[lane * width..][..width];
        if *status == Status::NotFinite {
            out.fill(f32::NAN);
            continue;
        }
        let mut place = 0;
        for range in order {
            for column in &columns[range.clone()] {
                out[place] = column.as_slice()[lane] as f32;
                place += 1;
            }
        }
        *status = status.of_columns(out);
    }
}
