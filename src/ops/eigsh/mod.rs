//! A few eigenpairs of large sparse symmetric matrices.

mod budget;
mod deflation;
mod gpu;
mod kernels;
mod space;
mod sums;
