//! One-sided Jacobi on the device: the columns of W made orthogonal by rotations, in batches (Hestenes 1958; Demmel and Veselic,
//! SIAM J. Matrix Anal. Appl. 13, 1992). What the columns mean, and what becomes of them, is the business of the families that
//! call it.

mod batch;
mod blocked;
pub(in crate::ops) mod gpu;
pub(super) mod kernels;
mod register;
