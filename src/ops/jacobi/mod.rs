//! One-sided Jacobi on the device: rotations make the columns of W orthogonal, in batches (Hestenes 1958; Demmel and
//! Veselic, SIAM J. Matrix Anal. Appl. 13, 1992). The families that call it decide what the columns mean and what
//! becomes of them.
//!
//! A sweep goes over all pairs of columns. An order takes the first of these forms that the adapter can run;
//! [`ContextBuilder::kernels`](crate::ContextBuilder::kernels) forces one of them for tests and measurements.
//!
//! | form | orders | where a matrix is held | needs |
//! |---|---|---|---|
//! | tiny (`generated/eigen/tiny_*`) | to 8 | registers of one invocation; everything in one kernel | nothing |
//! | lane (`generated/eigen/lane_*`) | to 64 | registers, a pair of columns per lane of a subgroup; everything in one kernel | one subgroup size, at least half the order |
//! | register (`generated/jacobi/register_*`) | to 128 | registers of a workgroup, exchanged through 16 KiB | 256 invocations |
//! | workgroup (`jacobi/workgroup`) | to 60, 84, 108 | 16, 32, 48 KiB of workgroup memory | that memory |
//! | blocked (`jacobi/blocked_*`) | to 2048 | global memory: Gram matrices of pairs of blocks, their rotations, products | nothing |
//!
//! Tiny and lane do the whole of an eigendecomposition and belong to `ops/eigen`. The SVD uses the forms that take
//! singular matrices, workgroup and blocked. Sweeps beyond an adapter's loop budget go to another dispatch. The order
//! of preference follows counted operations and bytes until `fiedler tune` has tried the forms on an adapter.

mod batch;
mod blocked;
pub(in crate::ops) mod gpu;
pub(super) mod kernels;
mod register;
