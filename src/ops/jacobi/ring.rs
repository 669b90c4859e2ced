//! The forms that keep a matrix in registers, a pair of columns at a place (jacobi/ring.wgsl): for square matrices that are safely
//! positive definite.
//!
//! A sweep of order n through workgroup memory, in numbers: the form that keeps W there reads 4 n and writes 2 n of them for each of n / 2
//! pairs in each of n rounds, these write n and read n, and the lanes of a subgroup none. At n = 128: 25 MB, 8.4 MB, and
//! 5.2 million multiply-adds, for which 128 lanes take 41,000 clocks and 128 bytes a clock 197,000 and 66,000.

use super::gpu::{Batch, MAX_SWEEPS};
use super::kernels::{Lane8, Lane16, Lane32, Lane64, Ring as Params};
use super::kernels::{
    Register16, Register32, Register48, Register64, Register80, Register96, Register112, Register128,
};
use crate::device::{Adapter, Buffer, Grid, Recorder};
use crate::error::Result;

/// Orders of the kernels in which a place is a lane.
const LANES: [u32; 4] = [8, 16, 32, 64];
/// Orders of the kernels in which a place is [`PARTS`] invocations of a workgroup.
const REGISTERS: [u32; 8] = [16, 32, 48, 64, 80, 96, 112, 128];

/// Invocations of a workgroup of the first.
const WIDTH: u32 = 128;
/// Invocations at a place of the second.
const PARTS: u32 = 4;

/// How the columns go round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Ring {
    /// Through a subgroup, to this order: a subgroup has one matrix or more.
    Lane(u32),
    /// Through workgroup memory, to this order: a workgroup has one matrix.
    Register(u32),
}

/// The smallest class for an order on subgroups of that many lanes: they hold a matrix or more, and a workgroup whole subgroups.
fn lane_class(subgroup: u32, order: u32) -> Option<u32> {
    LANES.into_iter().find(|&n| order <= n && subgroup.is_multiple_of(n / 2) && WIDTH.is_multiple_of(subgroup))
}

/// The smallest class for an order on workgroups of so many invocations.
fn register_class(invocations: u32, order: u32) -> Option<u32> {
    REGISTERS.into_iter().find(|&n| order <= n && PARTS * n / 2 <= invocations)
}

impl Ring {
    /// The form for an order on this adapter; none if it has none.
    pub(super) fn of(adapter: &Adapter, order: u32) -> Option<Self> {
        let invocations = adapter.limits.workgroup_invocations;
        let subgroup = adapter.subgroup().filter(|_| adapter.uses("lane") && WIDTH <= invocations);
        let lane = subgroup.and_then(|size| lane_class(size, order)).map(Self::Lane);
        // None takes more than WebGPU's least workgroup memory (tests/unroll/ring.rs).
        let register = || register_class(invocations, order).filter(|_| adapter.uses("register")).map(Self::Register);
        lane.or_else(register)
    }

    /// The largest order that it takes.
    pub(super) fn largest_order(self) -> u32 {
        match self {
            Self::Lane(order) | Self::Register(order) => order,
        }
    }

    /// Matrices of a workgroup.
    fn matrices(self) -> u32 {
        match self {
            Self::Lane(order) => WIDTH / (order / 2),
            Self::Register(_) => 1,
        }
    }

    /// Records the sweeps of every matrix of the batch, all of them in one dispatch.
    ///
    /// # Errors
    /// Device errors.
    pub(super) fn orthogonalise(
        self,
        rec: &mut Recorder<'_>,
        batch: &Batch<'_>,
        w: &mut Buffer<f32>,
        state: &mut Buffer<[u32; 4]>,
    ) -> Result<()> {
        let Batch { table, range, .. } = batch;
        let count = range.end - range.start;
        // About seven sweeps of n^2 / 2 pairs, an inner product and a rotation each.
        let work = 7.0 * 5.0 * f64::from(self.largest_order()).powi(3) * f64::from(self.matrices());
        for piece in rec.pieces(count.div_ceil(self.matrices()), work) {
            let taken = piece.start * self.matrices()..(piece.end * self.matrices()).min(count);
            let params =
                Params { first: range.start + taken.start, count: taken.end - taken.start, sweeps: MAX_SWEEPS };
            let groups = piece.end - piece.start;
            macro_rules! dispatch {
                ($($form:ident($order:literal): $kernel:ident),+) => {
                    match self {
                        $(Self::$form($order) => {
                            let kernel = $kernel { params, table, w, state };
                            rec.dispatch(&kernel, &[], Grid::Workgroups(groups), work * f64::from(groups))?;
                        })+
                        Self::Lane(_) | Self::Register(_) => {}
                    }
                };
            }
            dispatch!(
                Lane(8): Lane8,
                Lane(16): Lane16,
                Lane(32): Lane32,
                Lane(64): Lane64,
                Register(16): Register16,
                Register(32): Register32,
                Register(48): Register48,
                Register(64): Register64,
                Register(80): Register80,
                Register(96): Register96,
                Register(112): Register112,
                Register(128): Register128
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{LANES, MAX_SWEEPS, REGISTERS, lane_class, register_class};

    #[test]
    fn subgroups_take_what_they_hold() {
        for (subgroup, largest) in [(4, 8), (8, 16), (16, 32), (32, 64), (64, 64), (128, 64)] {
            for order in 0..=65 {
                let class = lane_class(subgroup, order);
                assert_eq!(class.is_some(), order <= largest, "order {order} on subgroups of {subgroup}");
                let smallest = LANES.into_iter().find(|&n| n >= order);
                assert!(class.is_none() || class == smallest, "order {order}: {class:?}");
            }
        }
        // Sizes that no workgroup is made up of, or that a matrix's lanes do not divide.
        assert_eq!([1, 2, 3, 6, 48, 256].map(|subgroup| lane_class(subgroup, 8)), [None; 6]);
    }

    #[test]
    fn workgroups_take_what_they_hold() {
        assert_eq!(
            [0, 16, 17, 33, 64, 65, 97, 113, 128].map(|n| register_class(256, n)).map(Option::unwrap),
            [16, 16, 32, 48, 64, 80, 112, 128, 128]
        );
        assert_eq!(
            (register_class(256, 129), register_class(128, 64), register_class(128, 65)),
            (None, Some(64), None)
        );
    }

    /// lavapipe cuts the loops of an invocation off in silence after 65,535 iterations altogether. Those of jacobi/lane_N.wgsl and
    /// jacobi/register_N.wgsl are a sweep's n / 2 double rounds; the rest is unrolled.
    #[test]
    fn all_sweeps_fit_lavapipe() {
        let largest = LANES.into_iter().chain(REGISTERS).max().unwrap();
        assert!(MAX_SWEEPS * (1 + largest / 2) <= 65_535);
    }
}
