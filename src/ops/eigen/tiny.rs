//! Small matrices on the device: everything in registers, an invocation a matrix.

use super::gpu::Buffers;
use super::kernels::{Few, Tiny2, Tiny3, Tiny4, Tiny6, Tiny8};
use crate::device::{Adapter, Grid, Recorder};
use crate::error::Result;
use crate::ops::jacobi::gpu::MAX_SWEEPS;
use std::ops::Range;

/// The largest orders of the kernels that ship. A column that is padded to the next costs arithmetic, and 5 and 7 are rare.
const CLASSES: [u32; 5] = [2, 3, 4, 6, 8];

/// Matrices of a workgroup.
const WIDTH: u32 = 64;

/// The kernel for matrices to a certain order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiny(u32);

impl Tiny {
    /// The smallest that holds the order, where this adapter uses these kernels.
    pub(super) fn of(adapter: &Adapter, order: u32) -> Option<Self> {
        CLASSES.into_iter().find(|&class| order <= class && adapter.uses("tiny")).map(Self)
    }

    /// The largest order that it takes.
    pub(super) fn largest_order(self) -> u32 {
        self.0
    }

    /// Records the decomposition of the matrices in `range` of the table, of about `flops` each.
    ///
    /// # Errors
    /// Device errors.
    pub(super) fn record(
        self,
        rec: &mut Recorder<'_>,
        buffers: &mut Buffers<'_>,
        range: &Range<u32>,
        flops: f64,
        vectors: bool,
    ) -> Result<()> {
        let Buffers { table, a, w, values, certificates, .. } = buffers;
        let count = range.end - range.start;
        let work = flops * f64::from(WIDTH);
        for piece in rec.pieces(count.div_ceil(WIDTH), work) {
            let taken = piece.start * WIDTH..(piece.end * WIDTH).min(count);
            let params = Few {
                first: range.start + taken.start,
                count: taken.end - taken.start,
                sweeps: MAX_SWEEPS,
                vectors: vectors.into(),
            };
            let (grid, flops) = (Grid::Workgroups(piece.end - piece.start), work * f64::from(piece.end - piece.start));
            macro_rules! dispatch {
                ($($class:literal: $kernel:ident),+) => {
                    match self.0 {
                        $($class => {
                            let kernel = $kernel { params, table, a, w, values, certificates };
                            rec.dispatch(&kernel, &[], grid, flops)?;
                        })+
                        _ => {}
                    }
                };
            }
            dispatch!(2: Tiny2, 3: Tiny3, 4: Tiny4, 6: Tiny6, 8: Tiny8);
        }
        Ok(())
    }
}
