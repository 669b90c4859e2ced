//! How well the probabilities of two classes rank their samples: the area under the ROC curve.

use super::classified::count;

/// The probabilities of class 1, with the labels, until the area is computed from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ranking {
    /// The bits of a probability, and the label as the lowest bit. They are in the order of the probabilities, because
    /// the two highest bits of a number in [0, 1] are 0.
    keys: Vec<u64>,
    /// Whether a probability was NaN.
    undefined: bool,
    area: Option<f64>,
}

impl Ranking {
    pub(super) fn add(&mut self, probability: f64, positive: bool) {
        self.undefined |= probability.is_nan();
        // The sum with 0 makes -0 equal to 0.
        self.keys.push((probability + 0.0).to_bits() << 1 | u64::from(positive));
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.undefined |= other.undefined;
        self.keys.extend_from_slice(&other.keys);
    }

    /// Computes the area, and frees the probabilities.
    pub(super) fn settle(&mut self) {
        if self.area.is_none() {
            let mut keys = std::mem::take(&mut self.keys);
            self.area = Some(if self.undefined { f64::NAN } else { area(&mut keys) });
        }
    }

    /// Returns the area; NaN if one of the classes has no samples.
    pub(super) fn area(&self) -> f64 {
        let mut own = self.clone();
        own.settle();
        own.area.unwrap_or(f64::NAN)
    }
}

/// Returns the share of the pairs of a sample of each class in which that of class 1 has the larger probability. Equal
/// ones count half. The pairs are counted exactly, so the order of the samples does not matter.
#[expect(clippy::cast_precision_loss, reason = "a number of pairs")]
fn area(keys: &mut [u64]) -> f64 {
    keys.sort_unstable();
    let positives = |keys: &[u64]| keys.iter().map(|key| key & 1).sum::<u64>();
    let (mut below, mut halves) = (0, 0_u128);
    for tied in keys.chunk_by(|a, b| a >> 1 == b >> 1) {
        let own = positives(tied);
        let others = tied.len() as u64 - own;
        halves += u128::from(own) * u128::from(2 * below + others);
        below += others;
    }
    halves as f64 / (2.0 * count(positives(keys)) * count(below))
}
