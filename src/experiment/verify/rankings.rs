//! Tournaments of simulated devices: whether their scores rank pairs by how much the devices differ.

use super::Claim;
use crate::context::Context;
use crate::error::Result;
use crate::experiment::tournament::{C2st, Groups, Kl, Qgan, Tournament};
use crate::features::generate::Strings;
use serde::{Deserialize, Serialize};

const BITS: usize = 100;
/// The positions that the divergence of shares of ones reads.
const POSITIONS: usize = 64;
/// What is added to each share before a divergence.
const ADDED: f64 = 1e-10;
/// The correlation that a score which ranks pairs exceeds.
const RANKS: f64 = 0.9;

/// The claims about tournaments of devices, a third of each class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rankings {
    /// The number of devices.
    pub devices: usize,
    /// The number of strings of each device.
    pub strings: usize,
    /// The number of steps of each adversarial pair.
    pub steps: u64,
    /// The number of classifiers of each pair.
    pub repeats: usize,
    /// The number of relabelings of each pair.
    pub permutations: u64,
}

impl Default for Rankings {
    fn default() -> Self {
        Self { devices: 18, strings: 1000, steps: 100, repeats: 5, permutations: 999 }
    }
}

impl Rankings {
    pub(super) fn check(&self, ctx: &Context, seed: u64) -> Result<Vec<Claim>> {
        let samples = self.devices * self.strings;
        let strings = Strings::new(samples, self.devices, BITS, seed)?;
        let mut bits = Vec::with_capacity(samples * BITS);
        (0..samples).for_each(|sample| strings.append(sample, &mut bits));
        bits.iter_mut().for_each(|digit| *digit -= b'0');
        #[expect(clippy::cast_possible_truncation, reason = "a number of devices")]
        let places: Vec<u32> = (0..samples).map(|sample| (sample % self.devices) as u32).collect();
        let names = (0..self.devices).map(|device| format!("device {device}")).collect();
        let groups = Groups::of_bits(BITS, &bits, &places, names)?;
        let kl = Kl::new().permutations(self.permutations).seed(seed).run(ctx, &groups)?;
        let classifiers = C2st::new().repeats(self.repeats).seed(seed).run(ctx, &groups)?;
        let adversarial = Qgan::new().steps(self.steps).seed(seed).run(ctx, &groups)?;
        let note = format!("{} pairs of {} devices, {} strings each", kl.pairs.len(), self.devices, self.strings);
        let off = self.off(&bits, &kl);
        let (ranked, exact) = (spearman(&adversarial, "kl"), spearman(&classifiers, "mean_accuracy"));
        let p = relation_p(&adversarial, "kl");
        Ok(vec![
            Claim::exact(
                "the divergences of the shares of ones are those of a direct count",
                off,
                "greatest difference at most 1e-12",
                off <= 1e-12,
            )
            .note(note.clone()),
            ranks("the divergence of histograms ranks pairs of devices", spearman(&kl, "histogram"), &note),
            ranks("classifiers that tell two devices apart rank the pairs", exact, &note),
            Claim::exact(
                "adversarial pairs rank the pairs less well than classifiers do",
                exact - ranked,
                "Spearman's correlation with the difference of the shares of ones is smaller",
                ranked < exact,
            )
            .note(format!("correlation {ranked:.3} with p {p:.3} after {} steps, classifiers {exact:.3}", self.steps)),
        ])
    }

    /// Returns the greatest difference between a divergence and one that is computed from its definition.
    #[expect(clippy::cast_precision_loss, reason = "counts of strings")]
    fn off(&self, bits: &[u8], kl: &Tournament) -> f64 {
        let shares = |device: usize| -> Vec<f64> {
            let own = bits.chunks(BITS).skip(device).step_by(self.devices);
            let mut ones = vec![0.0; POSITIONS];
            own.for_each(|string| ones.iter_mut().zip(string).for_each(|(sum, &bit)| *sum += f64::from(bit)));
            let added: Vec<f64> = ones.iter().map(|sum| sum / self.strings as f64 + ADDED).collect();
            let sum: f64 = added.iter().sum();
            added.iter().map(|x| x / sum).collect()
        };
        let divergence = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| p * (p / q).ln()).sum::<f64>();
        let each = kl.pairs.iter().enumerate().map(|(place, pair)| {
            let [p, q] = pair.groups.map(shares);
            let wanted = 0.5 * (divergence(&p, &q) + divergence(&q, &p));
            kl.value("shares", place).map_or(f64::INFINITY, |found| (found - wanted).abs())
        });
        each.fold(0.0, f64::max)
    }
}

fn ranks(statement: &str, correlation: f64, note: &str) -> Claim {
    let rule = format!("Spearman's correlation with the difference of the shares of ones above {RANKS}");
    Claim::exact(statement, correlation, rule, correlation > RANKS).note(note)
}

/// Returns Spearman's correlation of a score with the difference of the shares of ones; NaN if there is none.
fn spearman(tournament: &Tournament, score: &str) -> f64 {
    tournament.relation(score).and_then(|relation| relation.spearman).map_or(f64::NAN, |related| related.r)
}

fn relation_p(tournament: &Tournament, score: &str) -> f64 {
    tournament.relation(score).and_then(|relation| relation.spearman).map_or(f64::NAN, |related| related.p)
}
