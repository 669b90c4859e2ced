//! The settings of an encoding.

use crate::ops::eigen::Which;
use crate::ops::laplacian::Normalization;

/// The settings of a [`SpectralEncoder`](super::SpectralEncoder), whose methods explain them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) k: usize,
    pub(super) normalization: Normalization,
    pub(super) which: Which,
    pub(super) drop_trivial: bool,
    pub(super) walk_steps: usize,
    pub(super) method: Method,
    /// The number that errors give the first graph.
    pub(super) first_graph: usize,
}

/// How the pairs of a graph are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// The method that is faster at each graph's order and k.
    #[default]
    Auto,
    /// The dense decomposition.
    Exact,
    /// The iteration on the sparse Laplacian, [`crate::ops::eigsh()`]: k pairs to a residual of 2e-6. The encoding
    /// states the residual that was reached.
    Fast,
}
