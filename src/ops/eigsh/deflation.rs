//! The known null space on the device, taken out of slabs: one vector for each connected component.

use super::kernels::{Deflate, Part, slab_variant};
use super::space::Step;
use super::sums::CHUNK;
use crate::device::{Buffer, Grid, Recorder};
use crate::error::Result;
use crate::ops::sparse::gpu::{Most, Rows, Slab, Stage};
use crate::ops::sparse::{NONE, NullSpace};

/// A row that is a component by itself: what is orthogonal to its unit vector is 0 there.
const ALONE: u32 = u32::MAX - 1;

/// By how much a rounding error along the null space may grow over a vector that the filter damps, before it is taken out again. The
/// errors are of 2^-24: what is left of them is under 1e-4 of the smallest column, whose next Rayleigh-Ritz step does not see it.
const GROWTH: f64 = 1024.0;

/// See the module.
#[derive(Debug)]
pub(super) struct Deflation {
    /// V', a row for each vector of more than one entry.
    vectors: Rows,
    /// V'X.
    along: Buffer<[f32; 4]>,
    labels: Buffer<u32>,
    values: Buffer<f32>,
}

impl Deflation {
    /// For slabs of at most `lanes`; none where nothing is known.
    pub(super) fn upload(
        rec: &mut Recorder<'_>,
        null: &NullSpace<f32>,
        most: Most,
        lanes: u32,
    ) -> Result<Option<Self>> {
        if null.is_empty() {
            return Ok(None);
        }
        let Members { offsets, rows, labels } = Members::of(null);
        let values: Vec<f32> = rows.iter().map(|&row| null.values[row as usize]).collect();
        let count = offsets.len() - 1;
        Ok(Some(Self {
            vectors: Rows::upload(rec, (&offsets, &rows, Some(&values)), &[0, count], most, lanes)?,
            along: rec.array(count * lanes as usize)?,
            labels: rec.upload(&labels)?,
            values: rec.upload(&null.values)?,
        }))
    }

    /// `x <- x - V V' x` in the columns and problems that take part.
    pub(super) fn record(
        &self,
        rec: &mut Recorder<'_>,
        (chunks, count): (&Buffer<[u32; 4]>, u32),
        stage: &Stage<'_>,
        x: &mut Slab,
    ) -> Result<()> {
        let lanes = x.lanes;
        let mut along = self.along.clone();
        self.vectors.gather(rec, x, &mut along)?;
        let flops = 8.0 * f64::from(lanes) * CHUNK as f64;
        for part in rec.pieces(count, flops) {
            let groups = part.end - part.start;
            let base = u32::try_from(stage.base).unwrap_or(u32::MAX);
            let kernel = Deflate {
                params: Part { first: part.start, base, begins: stage.columns.start, ends: stage.columns.end },
                chunks,
                labels: &self.labels,
                values: &self.values,
                coefficients: stage.coefficients,
                along: &along,
                x: &mut x.data,
            };
            rec.dispatch(&kernel, &slab_variant(lanes), Grid::Workgroups(groups), flops * f64::from(groups))?;
        }
        Ok(())
    }
}

/// The rows of each vector of more than one entry, in order, and the row's vector in this numbering.
struct Members {
    offsets: Vec<usize>,
    rows: Vec<u32>,
    labels: Vec<u32>,
}

impl Members {
    fn of(null: &NullSpace<f32>) -> Self {
        let mut sizes = vec![0_usize; null.len()];
        null.labels.iter().filter(|&&label| label != NONE).for_each(|&label| sizes[label as usize] += 1);
        let mut offsets = vec![0];
        let mut names = vec![ALONE; sizes.len()];
        for (name, &size) in names.iter_mut().zip(&sizes).filter(|(_, size)| **size > 1) {
            *name = to_u32(offsets.len() - 1);
            offsets.push(offsets[offsets.len() - 1] + size);
        }
        let mut next = offsets.clone();
        let mut rows = vec![0; offsets[offsets.len() - 1]];
        let mut labels = vec![NONE; null.labels.len()];
        for (row, (label, &old)) in
            labels.iter_mut().zip(&null.labels).enumerate().filter(|(_, (_, old))| **old != NONE)
        {
            *label = names[old as usize];
            if *label != ALONE {
                let place = &mut next[*label as usize];
                rows[*place] = to_u32(row);
                *place += 1;
            }
        }
        Self { offsets, rows, labels }
    }
}

/// After which steps of a filter the null space has to be taken out, beside the end. A rounding error along it obeys the recurrence with A = 0;
/// where the filter damps, the recurrence has conjugate roots of modulus sqrt(-before).
pub(super) fn places(steps: &[Option<Vec<Step>>], degree: usize) -> Vec<bool> {
    let mut due = vec![false; degree];
    // The response to an error in the last block, and to one in the block before.
    let fresh = [[1.0, 0.0], [0.0, 1.0]];
    let mut states = vec![(fresh, 1.0); steps.len()];
    for (i, due) in due.iter_mut().enumerate() {
        for (own, (response, damped)) in steps.iter().zip(&mut states) {
            let Some(own) = own else { continue };
            let step = own[i];
            for pair in response.iter_mut() {
                *pair = [step.own * pair[0] + step.before * pair[1], pair[0]];
            }
            *damped *= own.get(i.max(1)).map_or(1.0, |step| step.before.abs().sqrt());
            let growth: f64 = response.iter().map(|pair| pair[0].abs()).sum();
            // What is no number is none that may pass.
            *due |= !(growth <= GROWTH * *damped);
        }
        if *due {
            states.fill((fresh, 1.0));
        }
    }
    due
}

/// Rows are numbered by 32 bits, which the callers check.
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::places;
    use crate::ops::eigsh::space::Filter;

    fn count(damped: (f64, f64), wanted: f64, degree: usize) -> usize {
        places(&[None, Some(Filter { damped, wanted }.steps(degree))], degree).iter().filter(|due| **due).count()
    }

    /// `|C_m(t)|` over its largest value where it damps, 1, is `cosh(m acosh |t|)`: the steps until it is 1024 are known.
    #[test]
    fn the_null_space_is_taken_out_as_often_as_it_grows() {
        // Damped from 1 to 2, 0 is at t = -3: 5.8 a step, so every fourth or fifth; it does not matter what is wanted.
        for wanted in [0.0, 0.5, 0.99] {
            let often = count((1.0, 2.0), wanted, 40);
            assert!((8..=13).contains(&often), "{often}");
        }
        // Damped from 1e-3 to 2, t = -1.001: 1.046 a step, 1024 after 169 steps or a little less.
        assert_eq!(count((1e-3, 2.0), 1e-4, 100), 0);
        assert!((1..=2).contains(&count((1e-3, 2.0), 1e-4, 200)));
        // The null space is among what is damped.
        assert_eq!(count((0.0, 1.5), 2.0, 400), 0);
    }
}
