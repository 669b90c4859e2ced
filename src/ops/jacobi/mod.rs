//! One-sided Jacobi on the device: rotations make the columns of W orthogonal, in batches (Hestenes 1958; Demmel and
//! Veselic, SIAM J. Matrix Anal. Appl. 13, 1992). The families that use it define what the columns mean and what is
//! done with the result.
//!
//! A sweep visits all pairs of columns. A matrix is solved by the first of these forms that the adapter can run at its
//! order; [`ContextBuilder::kernels`](crate::ContextBuilder::kernels) forces one form for tests and measurements.
//!
//! | form | orders | where a matrix is held | needs |
//! |---|---|---|---|
//! | tiny (`generated/eigen/tiny_*`) | to 8 | registers of one invocation; everything in one kernel | nothing |
//! | lane (`generated/eigen/lane_*`) | to 64 | registers, a pair of columns per lane of a subgroup; everything in one kernel | one subgroup size, at least half the order |
//! | register (`generated/jacobi/register_*`) | to 128 | registers of a workgroup, exchanged through 16 KiB | 256 invocations |
//! | workgroup (`jacobi/workgroup`) | to 60, 84, 108 | 16, 32, 48 KiB of workgroup memory | that memory |
//! | blocked (`jacobi/blocked_*`) | to 2048 | global memory: Gram matrices of pairs of blocks, their rotations, products | nothing |
//!
//! The forms tiny and lane do a whole eigendecomposition and belong to `ops/eigen`. The SVD uses the forms that can
//! solve singular matrices, which are workgroup and blocked. Sweeps that exceed an adapter's loop budget are made in
//! another dispatch. The order of preference is based on counts of operations and bytes until `fiedler tune` has
//! measured the forms on an adapter.

mod batch;
mod blocked;
pub(in crate::ops) mod gpu;
pub(super) mod kernels;
mod register;
