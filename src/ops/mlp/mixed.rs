//! Mixed precision: the operands of products have 16 bits, everything else has 32. The rules by which losses are scaled
//! are those of torch.amp.GradScaler, for each run on its own.

use super::kernels::{GROWTH, LARGEST_SCALE, PATIENCE};
use std::fmt;

/// The precision of what the products of a training read: the weights, the inputs of layers, and the derivatives by
/// their outputs.
///
/// Sums, biases, normalizations, losses, the parameters that the optimizer changes and its moments have the precision
/// of the training in any case. Evaluations and predictions do not round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MixedPrecision {
    /// That of the training.
    #[default]
    Off,
    /// IEEE binary16. Losses are scaled, so that small derivatives do not become zero. A step in which a number exceeds
    /// 65504 is skipped, and the scale is halved.
    F16,
    /// bfloat16: the range of f32, with 8 bits of precision. No scale is needed.
    Bf16,
}

impl MixedPrecision {
    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
        }
    }

    /// Returns whether losses are scaled.
    pub(crate) fn scales(self) -> bool {
        self == Self::F16
    }

    /// Returns the factor of a run's derivatives.
    pub(super) fn scale(self, scaler: &Scaler) -> f32 {
        if self.scales() { scaler.scale } else { 1.0 }
    }
}

impl fmt::Display for MixedPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The scale of a run's losses, which only trainings in f16 change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scaler {
    /// The factor of the derivatives, a power of two.
    pub(crate) scale: f32,
    /// The number of steps since the scale changed.
    pub(crate) clean: u32,
    /// The number of steps that were skipped, and how many of them were the last steps.
    pub(crate) skipped: u32,
    pub(crate) in_a_row: u32,
}

impl Default for Scaler {
    fn default() -> Self {
        Self { scale: 65536.0, clean: 0, skipped: 0, in_a_row: 0 }
    }
}

impl Scaler {
    /// Counts a step that changed the parameters.
    pub(super) fn apply(&mut self) {
        self.in_a_row = 0;
        self.clean += 1;
        if self.clean == GROWTH {
            self.clean = 0;
            let doubled = 2.0 * self.scale;
            self.scale = if doubled <= LARGEST_SCALE { doubled } else { self.scale };
        }
    }

    /// Counts a step that is skipped, and returns whether the run has diverged.
    pub(super) fn skip(&mut self) -> bool {
        self.clean = 0;
        self.skipped = self.skipped.saturating_add(1);
        self.in_a_row += 1;
        self.scale /= 2.0;
        self.scale < 1.0 || self.in_a_row == PATIENCE
    }
}
