//! Tournaments of simulated devices: whether their scores rank pairs by how much the devices differ.

use super::{Claim, check_counts};
use crate::context::Context;
use crate::error::Result;
use crate::experiment::statistics::{Bound, Interval, Status, number, spearman};
use crate::experiment::tournament::{C2st, Groups, Kl, Qgan, Tournament};
use crate::features::generate::Strings;
use crate::train::distributions::student_critical;
use crate::train::moments;
use serde::{Deserialize, Serialize};

const BITS: usize = 100;
/// The positions that the divergence of shares of ones reads.
const POSITIONS: usize = 64;
/// What is added to each share before a divergence.
const ADDED: f64 = 1e-10;
/// The correlation that a score which ranks pairs exceeds, with its whole interval. That of noise is around 0.
const RANKS: f64 = 0.8;
/// The level of the intervals, and the fewest devices that have some: without one, there are three pairs to correlate.
const LEVEL: f64 = 0.95;
const FEWEST: usize = 4;

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
    pub(super) fn check_parameters(&self) -> Result<()> {
        let Self { devices, strings, steps, repeats, permutations: _ } = self;
        let counts = [("devices", *devices as u64, 2), ("strings", *strings as u64, 2)];
        check_counts(counts)?;
        check_counts([("steps", *steps, 1), ("repeats", *repeats as u64, 1)])
    }

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
        let pairs = if kl.pairs.len() == 1 { "pair" } else { "pairs" };
        let note = format!("{} {pairs} of {} devices, {} strings each", kl.pairs.len(), self.devices, self.strings);
        let off = self.off(&bits, &kl);
        let of = |tournament: &Tournament, score: &str| Ranked::new(tournament, score, self.devices);
        let (histogram, exact) = (of(&kl, "histogram"), of(&classifiers, "mean_accuracy"));
        let ranked = of(&adversarial, "kl");
        let p = adversarial.relation("kl").and_then(|relation| relation.spearman).map(|own| own.p);
        let shown = |x: Option<f64>, digits: usize| x.map_or_else(|| "none".to_owned(), |x| format!("{x:.digits$}"));
        let less = exact.minus(&ranked);
        Ok(vec![
            Claim::exact(
                "the divergences of the shares of ones are those of a direct count",
                off,
                "greatest difference at most 1e-12",
                off <= 1e-12,
            )
            .note(note.clone()),
            ranks("the divergence of histograms ranks pairs of devices", &histogram, &note),
            ranks("classifiers that tell two devices apart rank the pairs", &exact, &note),
            Claim::judged(
                "adversarial pairs rank the pairs less well than classifiers do",
                less.whole.unwrap_or(f64::NAN),
                less.interval(|r| r, |r| r),
                "the interval of the difference of Spearman's correlations (jackknife over devices) is above 0",
                match less.interval(|r| r, |r| r) {
                    Some(own) if own.low > 0.0 => Status::Pass,
                    Some(own) if own.high <= 0.0 => Status::Fail,
                    _ => Status::Undecided,
                },
            )
            .note(format!(
                "correlation {} with p {} after {}, classifiers {}",
                shown(ranked.whole, 3),
                shown(p, 4),
                if self.steps == 1 { "1 step".to_owned() } else { format!("{} steps", self.steps) },
                shown(exact.whole, 3)
            )),
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

fn ranks(statement: &str, ranked: &Ranked, note: &str) -> Claim {
    let interval = ranked.interval(atanh, f64::tanh);
    let rule = format!(
        "the interval of Spearman's correlation with the difference of the shares of ones (jackknife over devices, by \
         Fisher's z) is above {RANKS}"
    );
    let status = Bound::AtLeast(RANKS).judge(interval);
    Claim::judged(statement, ranked.whole.unwrap_or(f64::NAN), interval, rule, status).note(note)
}

/// Fisher's z of a correlation, which has none at 1.
fn atanh(r: f64) -> f64 {
    r.clamp(-1.0 + 1e-9, 1.0 - 1e-9).atanh()
}

/// Spearman's correlation of a score with the difference of the shares of ones. Pairs share devices, so what is left
/// out for an interval is one device with all its pairs at a time.
struct Ranked {
    whole: Option<f64>,
    /// The correlation without each of the devices.
    without: Vec<Option<f64>>,
}

impl Ranked {
    fn new(tournament: &Tournament, score: &str, devices: usize) -> Self {
        let of = |left_out: Option<usize>| {
            let own = tournament.pairs.iter().enumerate();
            let own = own.filter(|(_, pair)| left_out.is_none_or(|device| !pair.groups.contains(&device)));
            let (scores, differences): (Vec<f64>, Vec<f64>) =
                own.filter_map(|(place, pair)| Some((tournament.value(score, place)?, pair.difference))).unzip();
            spearman(&scores, &differences, 0).ok().map(|found| found.r)
        };
        let without = if devices < FEWEST { Vec::new() } else { (0..devices).map(|device| of(Some(device))).collect() };
        Self { whole: of(None), without }
    }

    fn minus(&self, other: &Self) -> Self {
        let difference = |(one, other): (&Option<f64>, &Option<f64>)| Some((*one)? - (*other)?);
        let without = self.without.iter().zip(&other.without).map(difference).collect();
        Self { whole: difference((&self.whole, &other.whole)), without }
    }

    /// Returns the jackknife's interval on the scale of a transform, with its inverse; `None` if devices are too few.
    fn interval(&self, transform: impl Fn(f64) -> f64, inverse: impl Fn(f64) -> f64) -> Option<Interval> {
        let whole = transform(self.whole?);
        let each: Vec<f64> = self.without.iter().map(|r| r.map(&transform)).collect::<Option<_>>()?;
        if each.is_empty() {
            return None;
        }
        let n = number(each.len() as u64);
        let (_, deviation) = moments(&each);
        let error = deviation * (n - 1.0) / n.sqrt();
        let reach = student_critical(0.5 * (1.0 - LEVEL), n - 1.0) * error;
        Some(Interval { low: inverse(whole - reach), high: inverse(whole + reach), level: LEVEL })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For a mean, the jackknife's error is the deviation over the square root of n: the means without 1, 2, 3, 4 are
    /// 3, 8/3, 7/3, 2, and the deviation of 1 to 4 is 1.29.
    #[test]
    fn the_jackknife_of_a_mean_is_its_standard_error() {
        let ranked = Ranked { whole: Some(2.5), without: [9.0, 8.0, 7.0, 6.0].map(|sum| Some(sum / 3.0)).to_vec() };
        let found = ranked.interval(|x| x, |x| x).expect("an interval");
        let wanted = student_critical(0.025, 3.0) * (5.0_f64 / 3.0).sqrt() / 2.0;
        assert!((found.half_width() - wanted).abs() < 1e-12, "{found:?} {wanted}");
    }

    #[test]
    fn few_devices_decide_nothing() {
        for devices in [2, 3] {
            let few = Rankings { devices, strings: 60, steps: 1, repeats: 1, permutations: 9 };
            let claims = few.check(&Context::cpu(), 1).expect("claims");
            assert_eq!(claims[0].status, Status::Pass);
            assert!(claims[1..].iter().all(|claim| claim.status == Status::Undecided), "{claims:?}");
        }
    }
}
