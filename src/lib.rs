//! Laplacian positional encodings of graphs, and the batched linear algebra, Fourier transforms and statistics from
//! which other spectral features are built. Everything runs on any GPU through wgpu, and on the CPU where that is
//! faster or where there is no GPU.
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
//! assert_eq!(encoding.eigenvectors(1).shape(), (3, 2)); // a nalgebra view: nodes, pairs
//! assert_eq!(encoding.uncertified(), 0);
//! # Ok::<(), fiedler::Error>(())
//! ```
//!
//! Operations work on batches. An [`Array`] is a batch of matrices of one [`Shape`], and a [`Ragged`](array::Ragged)
//! array is a batch of square matrices of different orders.
//!
//! ```
//! use fiedler::prelude::*;
//!
//! let ctx = Context::new()?;
//! // 1000 copies of [[2, 1], [1, 2]]
//! let a = Array::from_vec(Shape::new(2, 2, 1000), [2.0_f32, 1.0, 1.0, 2.0].repeat(1000))?;
//! let found = eigh(&ctx, &a)?.ok(&ctx)?; // an error unless every matrix converged
//! let values = found.values.to_host(&ctx)?;
//! assert!((values.matrix(999)[(1, 0)] - 3.0).abs() < 1e-5);
//! println!("{}", found.values.choice().expect("every result has one")); // where it was computed, and why
//! # Ok::<(), fiedler::Error>(())
//! ```
//!
//! # How it hangs together
//!
//! - A [`Context`] is an opened adapter, or only the CPU, with a thread pool, a memory budget and a pool of buffers. A
//!   program creates one context and passes it to every call.
//! - For every call, a cost model ([`policy`]) chooses between the CPU and the device. `fiedler tune` measures the
//!   rates of the model on the machine. Every result has a [`Choice`](policy::Choice), which says where the result was
//!   computed and why that side was chosen. [`Backend`] forces one side.
//! - An [`Array`] is on the host or on the device. Results that are computed on the device stay on the device, so a
//!   chain of operations transfers nothing in between. Operations on the device record their work and return
//!   immediately. [`Array::to_host`] waits for the work to finish.
//! - Every decomposition has a certificate for each matrix. For a matrix A with eigenvalues `l_j`, eigenvectors
//!   `v_j` and the matrix V whose columns are the eigenvectors, a certificate consists of the residual
//!   `max_j |A v_j - l_j v_j|_2 / |A|_1`, the departure from orthogonality `max |V'V - I|`, and an [`ops::Status`]. A
//!   matrix that fails does not affect the other matrices. `ok()` returns an error if any matrix failed.
//!
//! # Where to go
//!
//! | for | see |
//! |---|---|
//! | encodings of graphs | [`SpectralEncoder`], [`graph`], [`io::read`](io), [`cache`] |
//! | eigenvalues, singular values | [`ops::eigh`], [`ops::eigvalsh`], [`ops::eigh_subset`], [`ops::svd`](fn@ops::svd), [`ops::svd_truncated`] |
//! | their gradients | [`ops::gradient`] |
//! | sparse matrices | [`ops::eigsh`](fn@ops::eigsh), [`ops::spmm`], [`ops::sparse`] |
//! | products, transforms | [`ops::matmul`](fn@ops::matmul), [`ops::Gemm`], [`ops::fft`](fn@ops::fft), [`ops::power_spectrum`] |
//! | statistics | [`ops::describe`], [`ops::quantiles`], [`ops::cov`], [`ops::pca`](fn@ops::pca), [`ops::divergence`], [`ops::random`] |
//! | features, training (with the feature `learning`) | [`features`], [`train`] |
//! | experiments, their statistics, tournaments (likewise) | [`experiment`] |
//! | arrays, matrices and graphs of ndarray, faer, petgraph and sprs (with the features of these names) | [`interop`] |
//! | the guides | [`_guides::library`], [`_guides::accuracy`], [`_guides::limits`] |
//!
//! # Conventions
//!
//! - The matrices of a batch are stored one after the other, each column-major. This is nalgebra's order, so
//!   conversions rearrange no elements.
//! - Eigenvalues ascend. Eigenvectors are columns of unit 2-norm. Only the lower triangle of symmetric input is read.
//! - f32 runs on the CPU and on the device. f64 runs only on the CPU and is never narrowed to f32 unless you request
//!   it.
//! - The random-walk Laplacian is `I - D^-1 W`, where W is the weighted adjacency matrix and D is the diagonal matrix
//!   of the degrees. Its eigenvectors are `D^-1/2 v`, scaled to unit norm, where `v` is an eigenvector of the symmetric
//!   Laplacian `I - D^-1/2 W D^-1/2`.
//! - Encodings are canonical. The same graph has the same vectors on every machine, even for repeated eigenvalues
//!   ([`encode::SpectralEncoder`]).
//! - [`graph::Conventions`] sets how a Laplacian treats directions, self-loops, duplicate edges and isolated nodes.
//! - Operations on the device are recorded and return immediately. Reading a result waits until it is computed. The
//!   same adapter, driver and input give the same bits.

#![warn(unreachable_pub, clippy::print_stdout)]
#![cfg_attr(
    not(feature = "learning"),
    allow(dead_code, unreachable_pub, unused_imports, reason = "some of what rooms share is for `learning` alone")
)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss))]

pub mod array;
#[cfg(feature = "arrow")]
pub mod arrow;
pub mod cache;
mod cancel;
mod clock;
mod context;
mod device;
pub mod encode;
mod error;
#[cfg(feature = "learning")]
pub mod experiment;
mod extensions;
#[cfg(feature = "learning")]
pub mod features;
pub mod forms;
pub mod graph;
#[cfg(any(feature = "faer", feature = "ndarray", feature = "petgraph", feature = "sprs"))]
pub mod interop;
pub mod io;
mod lanes;
mod memory;
pub mod ops;
mod order;
mod parallel;
pub mod policy;
mod profile;
mod shape;
#[cfg(feature = "learning")]
pub mod train;

/// The guides of the repository, included in this documentation.
pub mod _guides {
    #[doc = include_str!("../docs/library.md")]
    pub mod library {}
    #[doc = include_str!("../docs/accuracy.md")]
    pub mod accuracy {}
    #[doc = include_str!("../docs/limits.md")]
    pub mod limits {}
}

pub use array::Array;
pub use cancel::Cancel;
pub use clock::Instant;
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

/// The names that most programs use, for `use fiedler::prelude::*;`. The prelude omits `Error` and `Result`, because
/// most programs define these names themselves.
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
