//! Graph Laplacians.

pub mod cpu;

pub use cpu::{Laplacian, Normalization};
