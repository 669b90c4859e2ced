//! The blocked form, for matrices larger than workgroup memory. The columns are divided into blocks, and every two
//! blocks meet once per sweep, in the rounds of a tournament (Bischof 1987; Arbenz and Slapnicar 1995; Becka, Oksa and
//! Vajtersic 2002). The schedule of the tournament is that of MAGMA's `zgesvj_batched`. Each round computes the inner
//! products of the columns in every pair of blocks, makes one sweep of Jacobi on these inner products, and multiplies
//! the blocks by the resulting rotations.

use super::batch::Batch;
use super::kernels::{Apply, CHUNK, Gram, PAIR, Round, Solve, TILE, Tallied, Tally};
use crate::device::{Adapter, Buffer, Grid, Recorder};
use crate::error::Result;
use crate::shape::to_u32;

/// The maximum number of sweeps. In an f32 simulation over fourteen families of matrices (graphs, random matrices,
/// graded matrices, clusters, glued Wilkinson matrices) at n = 200, 257, 512 and 1000, 8 to 10 sweeps were typical. The
/// maximum was 13 sweeps, for a matrix with equally many eigenvalues 1 and -1.
pub(super) const MAX_SWEEPS: u32 = 24;
/// The typical number of sweeps in which there is something to rotate. Estimates of time count only these sweeps.
const TYPICAL_SWEEPS: f64 = 10.0;

/// The maximum number of columns. Up to this number, the tests check that the loops of the kernels do not exceed
/// lavapipe's limit on iterations.
const MOST_COLUMNS: u32 = 2048;
/// The maximum number of inner products that are stored at a time (16 MiB). If the matrices of a batch need more, they
/// are divided into ranges that are solved one after the other.
const GRAMS: usize = 4 << 20;

/// The size classes. The matrices of one class are solved together, and each class is given by the maximum number of
/// columns of its matrices. The classes are wide enough that a ragged batch needs few dispatches, and narrow enough
/// that few workgroups have nothing to do.
pub(super) const CLASSES: [u32; 9] = [128, 192, 256, 384, 512, 768, 1024, 1536, MOST_COLUMNS];

/// Returns the class of matrices of the given order.
pub(super) fn class_of(order: u32) -> Option<u32> {
    CLASSES.into_iter().find(|&class| order <= class)
}

/// The work of a dispatch for each matrix: the number of pairs of blocks, the number of chunks of rows, and the number
/// of tiles of rows.
struct Share {
    pairs: u32,
    chunks: u32,
    tiles: u32,
}

impl Share {
    fn of(class: u32) -> Self {
        Self { pairs: class.div_ceil(PAIR), chunks: class.div_ceil(CHUNK), tiles: class.div_ceil(TILE) }
    }

    /// Returns the number of inner products that are stored for each matrix.
    fn grams(&self) -> usize {
        self.pairs as usize * self.chunks as usize * (PAIR * PAIR) as usize
    }

    /// Returns the maximum number of matrices that are solved together. Their workgroups must fit in one dispatch, and
    /// their inner products must not exceed [`GRAMS`].
    fn most(&self, adapter: &Adapter) -> u32 {
        let groups = self.pairs * self.chunks.max(self.tiles);
        let room = to_u32(GRAMS / self.grams());
        (adapter.limits.workgroups_per_dimension / groups).min(room).max(1)
    }
}

/// Records the sweeps of every matrix of the batch. All matrices belong to the class `class`.
///
/// # Errors
/// Device errors.
pub(super) fn orthogonalize(
    rec: &mut Recorder<'_>,
    adapter: &Adapter,
    class: u32,
    batch: &Batch<'_>,
    w: &mut Buffer<f32>,
    state: &mut Buffer<[u32; 4]>,
) -> Result<()> {
    let Batch { table, matrices } = batch;
    let share = Share::of(class);
    // In each pair of blocks, a row contributes to PAIR^2 inner products, and each contribution takes two operations.
    let per_row = 2.0 * f64::from(PAIR * PAIR) * f64::from(share.pairs);
    let flops = [f64::from(class), 5.0 * f64::from(PAIR)].map(|rows| rows * per_row);
    for range in rec.ranges_of(share.most(adapter), matrices.end - matrices.start, flops[0]) {
        let (first, count) = (matrices.start + range.first, range.count);
        let matrices = count as usize;
        let mut grams = rec.array(matrices * share.grams())?;
        let mut marks = rec.array(matrices * share.pairs as usize)?;
        let idle = TYPICAL_SWEEPS / f64::from(MAX_SWEEPS) * f64::from(count);
        for _ in 0..MAX_SWEEPS {
            for round in 0..2 * share.pairs - 1 {
                let Share { pairs, chunks, tiles } = share;
                let params = Round { first, round, pairs, chunks, tiles };
                let gram = Gram { params, table, w, state, grams: &mut grams };
                rec.dispatch(&gram, &[], Grid::Workgroups(count * pairs * chunks), idle * flops[0])?;
                let solve = Solve { params, table, state, grams: &mut grams, marks: &mut marks };
                rec.dispatch(&solve, &[], Grid::Workgroups(count * pairs), idle * flops[1])?;
                let apply = Apply { params, table, state, grams: &grams, marks: &marks, w };
                rec.dispatch(&apply, &[], Grid::Workgroups(count * pairs * tiles), idle * flops[0])?;
            }
            let params = Tallied { first, count, pairs: share.pairs };
            let tally = Tally { params, table, marks: &marks, state };
            rec.dispatch(&tally, &[], Grid::Invocations(count), f64::from(count))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, CLASSES, PAIR, Share, TILE};

    /// lavapipe silently cuts off the loops of an invocation after 65,535 iterations in total. The counts follow the
    /// kernels: the iterations of a nested loop are multiplied by those of the loop around it.
    #[test]
    fn the_loops_of_every_class_fit_lavapipe() {
        const BUDGET: u32 = 65_535;
        let quads = TILE / 4;
        for class in CLASSES {
            let share = Share::of(class);
            let slots = PAIR * PAIR / 256;
            let gram = CHUNK / TILE * (1 + PAIR * quads / 64 + quads) + 4 * 5;
            let solve = slots * (1 + share.chunks) + 2 * slots + (PAIR - 1) * (1 + 2);
            let apply = 4 * 5 + 2 + PAIR + 4 * 5;
            for (kernel, loops) in [("gram", gram), ("solve", solve), ("apply", apply), ("tally", share.pairs)] {
                assert!(loops <= BUDGET, "{kernel}, class {class}: {loops} iterations");
            }
            assert_eq!(share.pairs * PAIR, class, "classes are whole pairs of blocks");
            assert!(share.pairs * share.chunks.max(share.tiles) <= 65_535, "class {class}: workgroups of one matrix");
        }
    }
}
