//! Spectral and numerical features on any GPU through wgpu, and on the CPU where that is faster: Laplacian encodings of graphs,
//! eigenvalues and eigenvectors of batches of matrices, each with a certificate.
//!
//! ```
//! use fiedler::prelude::*;
//!
//! let ctx = Context::new()?; // the best GPU, or the CPU where there is none
//! let ring = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)], &Conventions::default())?;
//! let path = Graph::from_edges(3, &[(0, 1), (1, 2)], &Conventions::default())?;
//! let graphs = GraphBatch::from_graphs(&[ring, path])?;
//!
//! let encoding = SpectralEncoder::new(2).laplacian(Normalization::Combinatorial).encode(&ctx, &graphs)?;
//! assert!((encoding.eigenvalues(0)[1] - 2.0).abs() < 1e-5);
//! assert_eq!(encoding.eigenvectors(1).shape(), (3, 2));
//! assert_eq!(encoding.uncertified(), 0);
//! # Ok::<(), fiedler::Error>(())
//! ```
//!
//! # Conventions
//!
//! - Matrices are column-major, the batch slowest: nalgebra's order, from and to which nothing is rearranged.
//! - Eigenvalues ascend; eigenvectors are columns of unit 2-norm; of symmetric input the lower triangle is read.
//! - A certificate comes with every matrix: [`ops::Status`], residual `max_j |A v_j - l_j v_j|_2 / |A|_1`, orthogonality
//!   `max |V'V - I|`. One bad matrix spoils no other; `ok()` makes it an error.
//! - f32 runs anywhere; f64 is never narrowed unless asked for, and runs on the CPU.
//! - The random-walk Laplacian `I - D^-1 W` is solved through its symmetric similar; its vectors are `D^-1/2 v`, scaled to unit norm.
//! - Encodings are canonical: the same graph has the same vectors on every machine, ties included ([`encode::SpectralEncoder`]).
//! - What a Laplacian does with directions, self-loops, duplicate edges and isolated nodes is a value: [`graph::Conventions`].
//! - Operations on the device are recorded and return at once; reading waits. Same adapter, driver and input: the same bits.

#![warn(unreachable_pub, clippy::print_stdout)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss))]

pub mod array;
pub mod cache;
mod cancel;
mod context;
mod device;
pub mod encode;
mod error;
mod extensions;
pub mod forms;
pub mod graph;
pub mod io;
mod lanes;
pub mod ops;
mod parallel;
pub mod policy;
mod profile;
mod shape;

pub use array::Array;
pub use cancel::Cancel;
pub use context::{Context, ContextBuilder, bytes_from};
pub use device::{Adapter, AdapterLimits, PoolCounters, WgpuBuffer, WgpuDevice};
pub use encode::SpectralEncoder;
pub use error::{Error, ErrorKind, Result};
pub use graph::{Graph, GraphBatch};
pub use ops::eigen::eigh;
pub use ops::fft::fft;
pub use ops::svd::svd;
pub use policy::Backend;
pub use profile::{Clock, KernelTime, Profile, StageTime};
pub use shape::{Axis, Layout, Shape};

/// What most programs name: `use fiedler::prelude::*;`. Neither `Error` nor `Result` is here, for most have their own.
pub mod prelude {
    pub use crate::array::Array;
    pub use crate::context::Context;
    pub use crate::encode::SpectralEncoder;
    pub use crate::graph::{Conventions, Graph, GraphBatch};
    pub use crate::ops::eigen::{eigh, eigvalsh};
    pub use crate::ops::fft::{fft, ifft, irfft, rfft};
    pub use crate::ops::laplacian::Normalization;
    pub use crate::ops::matmul::matmul;
    pub use crate::ops::svd::{svd, svdvals};
    pub use crate::policy::Backend;
    pub use crate::shape::{Axis, Shape};
}
