//! What an encoding is asked to be.

use crate::ops::laplacian::Normalization;

/// Which end of the spectrum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// The k smallest eigenvalues.
    #[default]
    Smallest,
    /// The k largest eigenvalues.
    Largest,
}

/// The settings of a [`SpectralEncoder`](super::SpectralEncoder), where each is explained.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) k: usize,
    pub(super) normalization: Normalization,
    pub(super) which: Which,
    pub(super) drop_trivial: bool,
    pub(super) walk_steps: usize,
}
