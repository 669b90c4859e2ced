//! Solves small matrices on the device. One kernel does the whole decomposition in registers (eigen/small.wgsl).

use super::buffers::Buffers;
use super::kernels::{Few, Lane, Tiny};
use crate::device::{Adapter, Recorder};
use crate::error::Result;
use crate::forms::JacobiForm;
use crate::ops::jacobi::gpu::MAX_SWEEPS;
use std::ops::Range;

/// The numbers of invocations per workgroup of the `Tiny` kernel and of the `Lane` kernel.
const WIDTHS: [u32; 2] = [64, 128];

/// The kernel that solves small matrices. The number is the largest order that the kernel solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Small {
    /// One invocation per matrix.
    Tiny(u32),
    /// One or more matrices per subgroup.
    Lane(u32),
}

/// The largest orders of a `Tiny` kernel and of a `Lane` kernel that need no more than 128 registers.
const LARGEST_WITH_FEW_REGISTERS: [u32; 2] = [6, 16];

/// Returns the order of the smallest `Lane` kernel that solves matrices of the order `order` on subgroups of
/// `subgroups[0]` to `subgroups[1]` lanes; `None` if there is none. All sizes are powers of two. A subgroup must hold a
/// whole number of matrices, and a workgroup must hold a whole number of subgroups.
fn lane_class(subgroups: [u32; 2], order: u32) -> Option<u32> {
    let [least, most] = subgroups;
    Lane::ORDERS
        .iter()
        .copied()
        .find(|&n| order <= n && least.is_multiple_of(n / 2) && most.is_power_of_two() && most <= WIDTHS[1])
}

impl Small {
    /// Returns the smallest kernel that solves matrices of the given order, among the forms that `may` allows.
    pub(super) fn of(adapter: &Adapter, order: u32, may: &dyn Fn(JacobiForm) -> bool) -> Option<Self> {
        let [tiny, lane] = if adapter.few_registers { LARGEST_WITH_FEW_REGISTERS } else { [u32::MAX; 2] };
        let tiny = Tiny::ORDERS.iter().copied().find(|&n| order <= n && n <= tiny && may(JacobiForm::Tiny));
        let fits = may(JacobiForm::Lane) && WIDTHS[1] <= adapter.limits.workgroup_invocations;
        let class = || adapter.subgroups().and_then(|sizes| lane_class(sizes, order));
        tiny.map(Self::Tiny).or_else(|| class().filter(|&n| fits && n <= lane).map(Self::Lane))
    }

    /// Returns the largest order that the kernel solves.
    pub(super) fn largest_order(self) -> u32 {
        match self {
            Self::Tiny(order) | Self::Lane(order) => order,
        }
    }

    /// Returns the form of the kernel.
    pub(super) fn form(self) -> JacobiForm {
        match self {
            Self::Tiny(_) => JacobiForm::Tiny,
            Self::Lane(_) => JacobiForm::Lane,
        }
    }

    /// Returns the number of matrices per workgroup.
    fn matrices(self) -> u32 {
        match self {
            Self::Tiny(_) => WIDTHS[0],
            Self::Lane(order) => WIDTHS[1] / (order / 2),
        }
    }

    /// Records the decomposition of the matrices in the range `matrices` of the table, each of which takes about
    /// `flops` floating-point operations.
    ///
    /// # Errors
    /// Device errors.
    pub(super) fn record(
        self,
        rec: &mut Recorder<'_>,
        buffers: &mut Buffers<'_>,
        matrices: &Range<u32>,
        flops: f64,
        vectors: bool,
    ) -> Result<()> {
        let Buffers { table, a, w, values, certificates, .. } = buffers;
        let (count, each) = (matrices.end - matrices.start, self.matrices());
        let work = flops * f64::from(each);
        for range in rec.ranges(count.div_ceil(each), work) {
            let taken = range.first * each..(range.end() * each).min(count);
            let params = Few {
                first: matrices.start + taken.start,
                count: taken.end - taken.start,
                sweeps: MAX_SWEEPS,
                vectors: vectors.into(),
            };
            match self {
                Self::Tiny(order) => {
                    let kernel = Tiny { order, params, table, a, w, values, certificates };
                    rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
                }
                Self::Lane(order) => {
                    let kernel = Lane { order, params, table, a, w, values, certificates };
                    rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, MAX_SWEEPS, lane_class};

    #[test]
    fn subgroups_take_what_they_hold() {
        let equal = [(4, 8), (8, 16), (16, 32), (32, 32), (64, 32), (128, 32)].map(|(size, n)| ([size, size], n));
        // The sizes of Apple's, AMD's and two of Intel's GPUs.
        let various = [([4, 64], 8), ([32, 64], 32), ([8, 32], 16), ([16, 32], 32)];
        for (subgroups, largest) in equal.into_iter().chain(various) {
            for order in 0..=33 {
                let class = lane_class(subgroups, order);
                assert_eq!(class.is_some(), order <= largest, "order {order} on subgroups of {subgroups:?}");
                let smallest = Lane::ORDERS.iter().copied().find(|&n| n >= order);
                assert!(class.is_none() || class == smallest, "order {order}: {class:?}");
            }
        }
        // Subgroup sizes that do not divide a workgroup, or that are not a multiple of the number of lanes that a
        // matrix needs.
        assert_eq!([1, 2, 3, 6, 48, 256].map(|subgroup| lane_class([subgroup; 2], 8)), [None; 6]);
        assert_eq!(lane_class([32, 256], 8), None);
    }

    /// lavapipe silently cuts off the loops of an invocation after 65,535 iterations in total. In eigen/lane_N.wgsl, a
    /// sweep has n / 2 iterations, each of an even and an odd round (shared/ring.wgsl). The steps after the last sweep
    /// have at most 2 n iterations.
    #[test]
    fn all_sweeps_fit_lavapipe() {
        let n = Lane::ORDERS[Lane::ORDERS.len() - 1];
        assert!(MAX_SWEEPS * (1 + n / 2) + 2 * n <= 65_535);
    }
}
