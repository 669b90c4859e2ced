//! One-sided Jacobi on the device: for each matrix W of a batch, rotations make the columns of W orthogonal (Hestenes
//! 1958; Demmel and Veselic, SIAM J. Matrix Anal. Appl. 13, 1992). The families `eigen` and `svd` use it. They define
//! what the columns mean and how the orthogonal columns are used.
//!
//! A sweep visits all pairs of columns. A matrix is solved by the first form in this table that the adapter can run at
//! the order of the matrix; [`ContextBuilder::kernels`](crate::ContextBuilder::kernels) forces one form for tests and
//! measurements.
//!
//! | form | orders | where a matrix is held | needs |
//! |---|---|---|---|
//! | tiny (`generated/eigen/tiny_*`) | to 8 | registers of one invocation; everything in one kernel | nothing |
//! | lane (`generated/eigen/lane_*`) | to 32 | registers, with a pair of columns in each lane of a subgroup; everything in one kernel | subgroups of at least half the order |
//! | register (`generated/jacobi/register_*`) | to 128 | registers of a workgroup; columns are exchanged through 16 KiB of workgroup memory | 256 invocations per workgroup |
//! | workgroup (`jacobi/workgroup`) | to 60, 84, 104 | 16, 32, 48 KiB of workgroup memory | that memory |
//! | blocked (`jacobi/blocked_*`) | to 2048 | global memory; the rotations come from the inner products of pairs of blocks of columns | nothing |
//!
//! The forms tiny and lane do a whole eigendecomposition and belong to `ops/eigen`. The SVD uses the forms that can
//! solve singular matrices, which are workgroup and blocked. If the sweeps of a matrix exceed the adapter's loop
//! budget, the remaining sweeps are made in further dispatches. Until `fiedler tune` has measured the forms on an
//! adapter, the order of preference is based on counts of operations and bytes.
//!
//! Where an invocation has few registers (`Adapter::few_registers`), the kernels that would keep values in memory
//! instead are left out: tiny of order 8, lane of order 32, and register beyond 80. The next form in the table then
//! solves these orders. Intel's compiler says so for an Arc A770, Xe2 and Tiger Lake
//! (benches/results/2026-11-24-isa.md).

mod batch;
mod blocked;
pub(in crate::ops) mod gpu;
pub(super) mod kernels;
mod register;
