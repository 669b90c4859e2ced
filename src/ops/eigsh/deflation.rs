//! Projects the known null space, which has one vector for each connected component, out of slabs on the device.

use super::kernels::{ALONE, Deflate, Part, slab_variant};
use super::sums::CHUNK;
use crate::device::{Buffer, Recorder};
use crate::error::Result;
use crate::ops::sparse::gpu::{Most, Rows, Slab, Stage};
use crate::ops::sparse::{NONE, NullSpace};
use crate::shape::to_u32;
use std::sync::{Mutex, PoisonError};

/// The known null vectors on the device.
#[derive(Debug)]
pub(super) struct Deflation {
    /// V', which has one row for each null vector with more than one entry.
    vectors: Rows,
    /// V'X, where X is the current slab.
    along: Mutex<Buffer<[f32; 4]>>,
    labels: Buffer<u32>,
    values: Buffer<f32>,
}

impl Deflation {
    /// Uploads the null vectors, for use with slabs of at most `4 lanes` columns. Returns `None` if no null vector is
    /// known.
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
            along: Mutex::new(rec.array(count * lanes as usize)?),
            labels: rec.upload(&labels)?,
            values: rec.upload(&null.values)?,
        }))
    }

    /// Records `x <- x - V V' x` for the columns and problems that `stage` selects. V has all known null vectors.
    pub(super) fn record(
        &self,
        rec: &mut Recorder<'_>,
        (chunks, count): (&Buffer<[u32; 4]>, u32),
        stage: &Stage<'_>,
        x: &mut Slab,
    ) -> Result<()> {
        let lanes = x.lanes;
        let mut along = self.along.lock().unwrap_or_else(PoisonError::into_inner);
        self.vectors.gather(rec, x, &mut along)?;
        let flops = 8.0 * f64::from(lanes) * CHUNK as f64;
        for part in rec.ranges(count, flops) {
            let base = to_u32(stage.base);
            let kernel = Deflate {
                params: Part { first: part.first, base, column: stage.column, width: stage.end },
                chunks,
                labels: &self.labels,
                values: &self.values,
                coefficients: stage.coefficients,
                along: &along,
                x: &mut x.data,
            };
            rec.dispatch(&kernel, &slab_variant(lanes), part.grid(), part.flops)?;
        }
        Ok(())
    }
}

/// The null vectors that have more than one entry. `rows` lists the rows of each vector, one vector after the
/// other, and `offsets` says where the rows of each vector start. `labels` assigns each row the index of its
/// vector. The label is [`ALONE`] if the vector has only one entry, and [`NONE`] if the row belongs to no null
/// vector.
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
