//! Spectral and numerical features on any GPU through wgpu, and on the CPU where that is faster.
pub mod error;
pub mod graph;
pub mod io;
pub mod ops;
pub use error::{Error, ErrorKind, Result};
