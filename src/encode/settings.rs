//! What an encoding is asked to be.

use crate::ops::eigen::Which;
use crate::ops::laplacian::Normalization;

/// The settings of a [`SpectralEncoder`](super::SpectralEncoder), where each is explained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) k: usize,
    pub(super) normalization: Normalization,
    pub(super) which: Which,
    pub(super) drop_trivial: bool,
    pub(super) walk_steps: usize,
    pub(super) method: Method,
    /// What errors call the first graph.
    pub(super) first_graph: usize,
}

/// How the pairs of a graph are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// The faster one for each graph's order, edges and k.
    #[default]
    Auto,
    /// The dense decomposition.
    Exact,
    /// The iteration on the sparse Laplacian, [`crate::ops::eigsh()`]: k pairs to a residual of 2e-6, of which the encoding says how
    /// large it came out.
    Fast,
}
