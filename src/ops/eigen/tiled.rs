//! The steps before and after the Jacobi sweeps for matrices that do not fit in workgroup memory. Many workgroups share
//! a matrix.

use super::buffers::Buffers;
use super::kernels::{
    COLUMNS, Certify, Departure, Norm, Normalize, Peak, Quotient, ROWS, Rank, Residual, SIDE, SLOTS, Shift, Sort, Tiles,
};
use crate::device::{Adapter, Grid, Recorder};
use crate::error::Result;
use std::ops::Range;

/// Returns the number of tiles in the rectangle into which the lower triangle of V'V is folded
/// (eigen/tiled_departure.wgsl).
fn folded(capacity: u32) -> u32 {
    let tiles = capacity.div_ceil(SIDE);
    tiles.div_ceil(2) * (tiles + 1)
}

/// Returns the maximum number of matrices in one dispatch that uses `groups` workgroups per matrix.
fn most(adapter: &Adapter, groups: u32) -> u32 {
    (adapter.limits.workgroups_per_dimension / groups).max(1)
}

/// Records the kernels that compute W and the state of every matrix in the range `matrices` of the table. The largest
/// order of these matrices is at most `capacity`.
///
/// # Errors
/// Device errors.
pub(super) fn prepare(
    rec: &mut Recorder<'_>,
    adapter: &Adapter,
    buffers: &mut Buffers<'_>,
    capacity: u32,
    matrices: &Range<u32>,
) -> Result<()> {
    let Buffers { table, a, w, state, .. } = buffers;
    let groups = capacity.div_ceil(ROWS);
    let work = 2.0 * f64::from(capacity).powi(2);
    for range in rec.ranges_of(most(adapter, groups), matrices.end - matrices.start, work) {
        let (all, flops) = (range.count * groups, range.flops);
        let mut peaks = rec.array(all as usize)?;
        let mut circles = rec.array(2 * all as usize)?;
        let params = Tiles { first: matrices.start + range.first, groups, capacity, tiles: groups };
        rec.dispatch(&Peak { params, table, a, peaks: &mut peaks }, &[], Grid::Workgroups(all), flops)?;
        let norm = Norm { params, table, a, peaks: &peaks, circles: &mut circles };
        rec.dispatch(&norm, &[], Grid::Workgroups(all), flops)?;
        let shift = Shift { params, table, a, peaks: &peaks, circles: &circles, w, state };
        rec.dispatch(&shift, &[], Grid::Workgroups(all), flops)?;
    }
    Ok(())
}

/// Records the kernels that compute the eigenvalues, the certificates and, if `vectors` is true, the sorted
/// eigenvectors of every matrix in the range `matrices` of the table. The largest order of these matrices is at most
/// `capacity`.
///
/// # Errors
/// Device errors.
pub(super) fn finish(
    rec: &mut Recorder<'_>,
    adapter: &Adapter,
    buffers: &mut Buffers<'_>,
    capacity: u32,
    matrices: &Range<u32>,
    vectors: bool,
) -> Result<()> {
    let Buffers { table, a, w, state, values, certificates } = buffers;
    let (rows, columns, folded) = (capacity.div_ceil(ROWS), capacity.div_ceil(COLUMNS), folded(capacity));
    let blocks = capacity.div_ceil(64);
    let sorted = capacity.div_ceil(SLOTS / capacity);
    let n = f64::from(capacity);
    let groups = [capacity, rows * columns, folded, sorted].into_iter().max().unwrap_or(1);
    for range in rec.ranges_of(most(adapter, groups), matrices.end - matrices.start, 2.0 * n.powi(3)) {
        let (first, count) = (matrices.start + range.first, range.count);
        let (all, flops) = (count as usize * capacity as usize, f64::from(count) * n * n);
        let mut guesses = rec.array(all)?;
        let mut sums = rec.array(2 * all * rows as usize)?;
        let mut residuals = rec.array(all)?;
        let mut ranks = rec.array(all)?;
        let mut departures = rec.array(count as usize * folded as usize)?;
        let of = |groups| (Tiles { first, groups, capacity, tiles: rows }, Grid::Workgroups(count * groups));

        let (params, grid) = of(capacity);
        rec.dispatch(&Normalize { params, table, state, w, guesses: &mut guesses }, &[], grid, 3.0 * flops)?;
        let (params, grid) = of(rows * columns);
        let residual = Residual { params, table, a, w, state, guesses: &guesses, sums: &mut sums };
        rec.dispatch(&residual, &[], grid, 2.0 * n * flops)?;
        let (params, grid) = of(blocks);
        let quotient = Quotient { params, table, state, sums: &sums, guesses: &mut guesses, residuals: &mut residuals };
        rec.dispatch(&quotient, &[], grid, 2.0 * flops / f64::from(ROWS))?;
        let (params, grid) = of(folded);
        rec.dispatch(&Departure { params, table, w, state, departures: &mut departures }, &[], grid, n * flops)?;
        let (params, grid) = of(blocks);
        let rank = Rank { params, table, state, guesses: &guesses, values, ranks: &mut ranks };
        rec.dispatch(&rank, &[], grid, flops)?;
        let params = Tiles { first, groups: 1, capacity, tiles: folded };
        let certify = Certify { params, table, state, residuals: &residuals, departures: &departures, certificates };
        rec.dispatch(&certify, &[], Grid::Workgroups(count), flops / n)?;
        if vectors {
            let (params, grid) = of(sorted);
            rec.dispatch(&Sort { params, table, state, ranks: &ranks, w }, &[], grid, flops)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, ROWS, SIDE, SLOTS, folded};

    /// lavapipe silently cuts off the loops of an invocation after 65,535 iterations in total. The counts follow the
    /// kernels: the iterations of a nested loop are multiplied by those of the loop around it. Each kernel that is not
    /// listed by name has fewer than `3 n` iterations.
    #[test]
    fn the_loops_of_every_kernel_fit_lavapipe() {
        const BUDGET: u32 = 65_535;
        for n in [64_u32, 110, 257, 1000, 2048] {
            let rows = n.div_ceil(ROWS);
            let peak = ROWS * (1 + rows);
            let residual = n.div_ceil(COLUMNS) * (1 + 4 + 2 + COLUMNS) + 4 + ROWS / 4;
            let departure = n.div_ceil(28) * (1 + 4 + 7 * (1 + 4)) + 4 * 5;
            let sort = 2 * SLOTS / 256;
            for (kernel, loops) in
                [("peak", peak), ("residual", residual), ("departure", departure), ("sort", sort), ("others", 3 * n)]
            {
                assert!(loops <= BUDGET, "{kernel}, n = {n}: {loops} iterations");
            }
        }
    }

    /// The indices that eigen/tiled_departure.wgsl computes visit every tile of the lower triangle once, except that
    /// tiles of the middle row may be visited twice.
    #[test]
    fn the_folded_triangle_is_whole() {
        for tiles in 1..=64 {
            let mut seen = std::collections::HashSet::new();
            for group in 0..folded(tiles * SIDE) {
                let (fold, along) = (group / (tiles + 1), group % (tiles + 1));
                let upper = along < tiles - fold;
                let x = if upper { tiles - 1 - fold } else { fold };
                let y = if upper { along } else { along - (tiles - fold) };
                assert!(y <= x && x < tiles, "{tiles} tiles, group {group}");
                seen.insert((x, y));
            }
            assert_eq!(seen.len() as u32, tiles * (tiles + 1) / 2, "{tiles} tiles");
        }
    }
}
