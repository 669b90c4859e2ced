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
}
