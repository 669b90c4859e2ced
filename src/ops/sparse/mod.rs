//! Sparse symmetric matrices: graph Laplacians that are never written out, and their products with blocks of vectors.

mod chunks;
pub(in crate::ops) mod gpu;
mod kernels;
mod null;
mod operator;

pub use null::NullSpace;
pub use operator::{Bounds, Operator};

pub(in crate::ops) use null::NONE;
