//! Spectral and numerical features on any GPU through wgpu, and on the CPU where that is faster.
pub mod array;
mod context;
mod device;
pub mod encode;
mod error;
pub mod graph;
pub mod io;
pub mod ops;
pub mod policy;
mod shape;

pub use context::{Context, ContextBuilder, bytes_from};
pub use device::{Adapter, AdapterLimits, KernelTime, PoolCounters, WgpuDevice};
pub use error::{Error, ErrorKind, Result};
pub use policy::Backend;
pub use shape::{Layout, Shape};
