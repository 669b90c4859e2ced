//! Networks on strings of simulated devices, whose best possible classifier is known.

use super::{Claim, check_counts, check_margin, judge};
use crate::context::Context;
use crate::error::Result;
use crate::experiment::statistics::{Interval, Proportion};
use crate::features::generate::Strings;
use crate::ops::mlp::{Activation, Loss, Mlp, Optimizer, Samples, Targets};
use crate::train::{Fold, Part, Runs, Split, Stop, Trainer};
use serde::{Deserialize, Serialize};

const BITS: usize = 100;
const CLASSES: usize = 3;
const FOLDS: usize = 5;
/// The level of the intervals: three standard errors.
const LEVEL: f64 = 0.9973;
/// The least and the greatest probability of a one, and the places of a string among those of its device for which its
/// likelihood is averaged.
const CLIP: [f64; 2] = [0.1, 0.9];
const PLACES: u32 = 16;

/// The claims about strings of simulated devices, with a 100-30-20-3 network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Devices {
    /// The number of devices, a third of each class.
    pub devices: usize,
    /// The number of strings.
    pub samples: usize,
    /// The largest number of epochs.
    pub epochs: u64,
    /// Half the greatest width of the intervals, less than half of the distance of a linear model from the Bayes rate.
    /// A network that has seen its test samples, or that learns nothing, is off by more.
    pub margin: f64,
}

impl Default for Devices {
    fn default() -> Self {
        Self { devices: 3, samples: 6000, epochs: 60, margin: 0.05 }
    }
}

impl Devices {
    pub(super) fn check_parameters(&self) -> Result<()> {
        let Self { devices, samples, epochs, margin } = self;
        let classes = CLASSES as u64;
        check_counts([
            ("devices", *devices as u64, classes),
            ("samples", *samples as u64, 60),
            ("epochs", *epochs, 1),
        ])?;
        check_margin("margin", *margin)
    }

    pub(super) fn check(&self, ctx: &Context, seed: u64) -> Result<Vec<Claim>> {
        let strings = Strings::new(self.samples, self.devices, BITS, seed)?;
        let (rows, labels) = digits_of(&strings, self.samples);
        let bayes = Proportion::of(right_by_bayes(&strings, &rows, &labels), self.samples as u64, LEVEL)?;
        let network = self.accuracy(ctx, &rows, &labels, (&[30, 20], 1e-3, true), seed)?;
        // A linear model needs larger steps to come as far in as many epochs.
        let linear = self.accuracy(ctx, &rows, &labels, (&[], 1e-2, true), seed)?;
        // Every string is a test sample of one fold.
        let gap = |high: Proportion, low: Proportion| {
            let error = 3.0 * high.standard_error.hypot(low.standard_error);
            let difference = high.share - low.share;
            Interval { low: difference - error, high: difference + error, level: LEVEL }
        };
        let (above, below) = (gap(network, linear), gap(bayes, network));
        let note = format!(
            "network {:.4}, linear {:.4}, Bayes {:.4}; {} strings, {FOLDS} folds",
            network.share, linear.share, bayes.share, self.samples
        );
        let least = |interval: Interval| judge(interval.high < 0.0, interval, self.margin);
        let one = Strings::new(self.samples, 1, BITS, seed)?;
        let (same, _) = digits_of(&one, self.samples);
        // Without a stopping rule, it learns its training samples by heart. If test samples were among them, that
        // would show.
        let leaked = self.accuracy(ctx, &same, &labels, (&[30, 20], 3e-3, false), seed)?;
        let third = 1.0 / CLASSES as f64;
        let narrow = format!("by three standard errors, which are at most {}", self.margin);
        Ok(vec![
            Claim::judged(
                "on strings of devices, a network is not worse than a linear model",
                network.share - linear.share,
                Some(above),
                format!("network - linear not below 0 {narrow}"),
                least(above),
            )
            .note(note.clone()),
            Claim::judged(
                "on strings of devices, a network is not better than the Bayes rate",
                bayes.share - network.share,
                Some(below),
                format!("Bayes - network not below 0 {narrow}"),
                least(below),
            )
            .note(note),
            Claim::judged(
                "where all strings come from one device, a network guesses",
                leaked.share,
                Some(leaked.wilson),
                format!("the interval of the accuracy (Wilson) has 1/3, and is at most {} to either side", self.margin),
                judge(!leaked.wilson.contains(third), leaked.wilson, self.margin),
            )
            .note(format!("{} strings, {FOLDS} folds", self.samples)),
        ])
    }

    /// Returns how many strings are right when each is a test sample once.
    fn accuracy(
        &self,
        ctx: &Context,
        rows: &[u8],
        labels: &[u32],
        (hidden, rate, stops): (&[usize], f64, bool),
        seed: u64,
    ) -> Result<Proportion> {
        let x = rows.iter().map(|&bit| f32::from(bit)).collect();
        let samples = Samples::new(BITS, x, Targets::Labels(labels.to_vec()))?;
        let net = hidden.iter().fold(Mlp::builder(BITS), |net, &width| net.layer(width, Activation::Relu));
        let trainer = Trainer::new(net.output(CLASSES)?, Loss::CROSS_ENTROPY, Optimizer::Adam)
            .epochs(self.epochs)
            .split(Split { shares: [0.7, 0.1, 0.2], seed: None });
        let trainer = if stops { trainer.stop(Stop::on("validation.loss", 10)?) } else { trainer };
        let runs = Runs::seeds(Optimizer::Adam, seed, 1)?.grid("lr", &[rate])?;
        let mut right = 0;
        for number in 0..FOLDS {
            let fit = trainer.clone().fold(Fold { number, of: FOLDS }).fit(ctx, &samples, &runs)?;
            let scores = fit.runs()[0].scores(Part::Test);
            right += scores.map_or(0, |scores| scores.confusion_matrix().right());
        }
        Proportion::of(right, labels.len() as u64, LEVEL)
    }
}

/// Returns the bits of all strings, and their classes from 0 on.
fn digits_of(strings: &Strings, samples: usize) -> (Vec<u8>, Vec<u32>) {
    let mut rows = Vec::with_capacity(samples * BITS);
    (0..samples).for_each(|sample| strings.append(sample, &mut rows));
    rows.iter_mut().for_each(|digit| *digit -= b'0');
    #[expect(clippy::cast_possible_truncation, reason = "a class")]
    (rows, (0..samples).map(|sample| (sample % strings.devices().len() % CLASSES) as u32).collect())
}

/// Returns how many strings the best classifier gets right: it knows the parameters of every device, and chooses the
/// class with the greatest mean likelihood over its devices and over the places of a string.
fn right_by_bayes(strings: &Strings, rows: &[u8], labels: &[u32]) -> u64 {
    let devices = strings.devices();
    let each: Vec<[f64; 3]> = devices
        .iter()
        .flat_map(|&[bias, copies, drift]| {
            (0..PLACES).map(move |place| {
                let at = (f64::from(place) + 0.5) / f64::from(PLACES) - 0.5;
                [(bias + drift * at).clamp(CLIP[0], CLIP[1]), copies, 0.0]
            })
        })
        .collect();
    let right = rows.chunks(BITS).zip(labels).filter(|(bits, label)| {
        // A likelihood depends on the first bit and on four counts: (copy, one).
        let mut counts = [[0.0_f64; 2]; 2];
        for pair in bits.windows(2) {
            counts[usize::from(pair[0] == pair[1])][usize::from(pair[1])] += 1.0;
        }
        let log = |&[ones, copies, _]: &[f64; 3]| {
            let fresh = [1.0 - ones, ones];
            let first = fresh[usize::from(bits[0])].ln();
            (0..2).fold(first, |sum, bit| {
                let own = (1.0 - copies) * fresh[bit];
                sum + counts[0][bit] * own.ln() + counts[1][bit] * (own + copies).ln()
            })
        };
        let logs: Vec<f64> = each.iter().map(log).collect();
        let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sums = [0.0; CLASSES];
        let mut members = [0.0; CLASSES];
        for (place, log) in logs.iter().enumerate() {
            let class = place / PLACES as usize % CLASSES;
            sums[class] += (log - greatest).exp();
            members[class] += 1.0;
        }
        let of = |class: usize| sums[class] / f64::max(members[class], 1.0);
        let best = (0..CLASSES).max_by(|&a, &b| of(a).total_cmp(&of(b)));
        best == Some(**label as usize)
    });
    right.count() as u64
}
