//! Operations.

pub mod laplacian;
