//! The form that keeps a matrix in the registers of a workgroup while its columns circulate through workgroup memory
//! (jacobi/register.wgsl), for square matrices that are safely positive definite.
//!
//! In a sweep at order n, each of n rounds handles n / 2 pairs of columns. For each pair, the form `workgroup` reads
//! `4 n` numbers from workgroup memory and writes `2 n` numbers to it. The form `register` writes n numbers and reads n
//! numbers. At n = 128, a sweep moves 25 MB in the form `workgroup` and 8.4 MB in the form `register`. At 128 bytes per
//! clock, this takes 197,000 and 66,000 clocks. In both forms, a sweep does 5.2 million multiply-adds, for which 128
//! lanes need 41,000 clocks.

use super::batch::{Batch, MAX_SWEEPS};
use super::kernels::{self, Ringing};
use crate::device::{Adapter, Buffer, Recorder};
use crate::error::Result;

/// The orders of the kernels that ship.
const ORDERS: &[u32] = kernels::Register::ORDERS;

/// The number of invocations in a workgroup for each pair of columns.
const PARTS: u32 = 4;

/// The largest order of a kernel that needs no more than 128 registers.
const LARGEST_WITH_FEW_REGISTERS: u32 = 80;

/// The kernel for matrices up to a certain order. The field is this order. One workgroup solves one matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) struct Register(u32);

impl Register {
    /// Returns the smallest kernel that solves matrices of the given order on this adapter.
    pub(super) fn of(adapter: &Adapter, order: u32) -> Option<Self> {
        let largest = if adapter.few_registers { LARGEST_WITH_FEW_REGISTERS } else { u32::MAX };
        Self::within(adapter.limits.workgroup_invocations, largest, order)
    }

    /// Returns the smallest kernel that solves matrices of the given order with workgroups of `invocations`
    /// invocations, among the kernels for orders up to `largest`. All kernels fit in the workgroup memory that WebGPU
    /// guarantees (tools/unroll/files/ring.rs).
    fn within(invocations: u32, largest: u32, order: u32) -> Option<Self> {
        let fits = |&n: &u32| order <= n && n <= largest && PARTS * n / 2 <= invocations;
        ORDERS.iter().copied().find(fits).map(Self)
    }

    /// Returns the largest order that the kernel solves.
    pub(super) fn largest_order(self) -> u32 {
        self.0
    }

    /// Records the sweeps of every matrix of the batch. One dispatch makes all sweeps of its matrices.
    ///
    /// # Errors
    /// Device errors.
    pub(super) fn orthogonalize(
        self,
        rec: &mut Recorder<'_>,
        batch: &Batch<'_>,
        w: &mut Buffer<f32>,
        state: &mut Buffer<[u32; 4]>,
    ) -> Result<()> {
        let Batch { table, matrices, .. } = batch;
        // About seven sweeps over n^2 / 2 pairs of columns, with one inner product and one rotation for each pair.
        let work = 7.0 * 5.0 * f64::from(self.0).powi(3);
        for range in rec.ranges(matrices.end - matrices.start, work) {
            let params = Ringing { first: matrices.start + range.first, sweeps: MAX_SWEEPS };
            let kernel = kernels::Register { order: self.0, params, table, w, state };
            rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Adapter, MAX_SWEEPS, ORDERS, Register, kernels};

    #[test]
    fn workgroups_take_what_they_hold() {
        for (order, class) in
            [(0, 16), (16, 16), (17, 32), (33, 48), (64, 64), (65, 80), (97, 112), (113, 128), (128, 128)]
        {
            assert_eq!(Register::within(256, u32::MAX, order), Some(Register(class)), "order {order}");
        }
        let within = |invocations, order| Register::within(invocations, u32::MAX, order);
        assert_eq!((within(256, 129), within(128, 65)), (None, None));
        assert_eq!(within(128, 64), Some(Register(64)));
        let mut adapter = Adapter::made_up();
        adapter.few_registers = true;
        let given = ["Register80", "Register96", "Workgroup"].map(|kernel| kernels::is_given(&adapter, kernel, &[]));
        assert_eq!(given, [true, false, true]);
        // Few registers.
        assert_eq!([80, 81].map(|order| Register::within(256, 80, order)), [Some(Register(80)), None]);
    }

    /// lavapipe silently cuts off the loops of an invocation after 65,535 iterations in total. In
    /// jacobi/register_N.wgsl, a sweep has n / 2 iterations, each of an even and an odd round (shared/ring.wgsl).
    /// Everything else is unrolled.
    #[test]
    fn all_sweeps_fit_lavapipe() {
        assert!(MAX_SWEEPS * (1 + ORDERS[ORDERS.len() - 1] / 2) <= 65_535);
    }
}
