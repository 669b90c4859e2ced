//! The tournament by adversarial pairs of networks.

use super::super::statistics::number;
use super::{Column, Groups, Kind, Known, NAME, OnPairs, POSITIONS, Tournament, refuse_device};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::train::{Activation, Gan, Hyper, Mlp, Optimizer, RunStatus, Runs, grid, moments};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The runs whose targets and distributions are in memory.
const TOGETHER: usize = 256;

/// How well a generator imitates the differences of two groups' shares of ones, as the published tournament scores
/// pairs.
///
/// With f_i the share of strings with a one at position i, of the first 64, the distribution to imitate is
/// p_ij = f2_j - f1_i minus the least of these differences, divided by the sum. A generator 4096-128-256-4096 with ReLU
/// and a discriminator 2-20-1 with LeakyReLU(0.2), which sees the coordinates of the grid, are trained by Adam with the
/// learning rate 0.01, betas 0.7 and 0.999 and an L2 term of 0.005, with the losses of [`Gan`]. The score is
/// KL(p || g), in nats, where both distributions are clipped at 1e-10
/// ([`FittedPair::divergence`](crate::train::FittedPair::divergence)). A published epoch is a step; there are 100 in
/// the short form, and 1,000 in the full one.
///
/// The score is that of an imitation, not of a difference: a grid that is hard to imitate has a large one, whether or
/// not the groups differ. So the result has its [`Relation`](super::Relation) to the difference of the groups' shares
/// of ones, with p values, and, with several seeds, how much the score differs between seeds.
///
/// Training takes about 0.1 s of a thread for each pair and 100 steps.
#[derive(Clone)]
pub struct Qgan {
    steps: u64,
    repeats: usize,
    seed: u64,
    progress: Option<OnPairs>,
}

impl std::fmt::Debug for Qgan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { steps, repeats, seed, progress: _ } = self;
        let mut shown = f.debug_struct("Qgan");
        shown.field("steps", steps).field("repeats", repeats).field("seed", seed).finish_non_exhaustive()
    }
}

impl Default for Qgan {
    fn default() -> Self {
        Self { steps: 100, repeats: 1, seed: 42, progress: None }
    }
}

impl Qgan {
    /// Creates a tournament of 100 steps with one seed for each pair.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of steps.
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    /// Sets the number of seeds of each pair. The score is the mean over them.
    #[must_use]
    pub fn repeats(self, repeats: usize) -> Self {
        Self { repeats, ..self }
    }

    /// Sets the first seed. Every pair and repeat has a seed of its own.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets a function that is told how many pairs are done, of how many, by one thread at a time.
    #[must_use]
    pub fn progress(self, on_pairs: OnPairs) -> Self {
        Self { progress: Some(on_pairs), ..self }
    }

    /// Returns the distribution that the generator of a pair is to imitate, row by row of the grid: at \[64 i + j\],
    /// the difference of the second group's share at position j and the first group's at position i, minus the least
    /// of these differences, divided by the sum.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if strings have fewer than 64 bits, or all differences are equal.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn target(groups: &Groups, first: usize, second: usize) -> Result<Vec<f64>> {
        groups.expect_positions()?;
        of_shares(&groups.frequencies(first), &groups.frequencies(second))
            .ok_or_else(|| nothing_to_imitate([first, second].map(|group| groups.name(group))))
    }

    /// Trains a generator and a discriminator for all pairs and seeds, on the threads of a context. The result does not
    /// depend on their number.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if strings have fewer than 64 bits, if there are no steps or repeats, if the shares
    /// of ones of a pair are all equal, so that there is nothing to imitate, or if the context requires a device;
    /// [`crate::ErrorKind::Limit`] if the pairs of all threads exceed the memory budget;
    /// [`crate::ErrorKind::Cancelled`].
    pub fn run(&self, ctx: &Context, groups: &Groups) -> Result<Tournament> {
        refuse_device(ctx)?;
        groups.expect_positions()?;
        if self.repeats == 0 {
            return Err(Error::domain(NAME, "expected at least 1 repeat, found 0"));
        }
        let pairs = groups.pairs();
        let known = Known { groups, pairs: &pairs, seed: self.seed };
        let scores = self.scores(ctx, groups, &pairs)?;
        let of_pair = |place: usize| scores.iter().skip(place).step_by(pairs.len()).flatten().copied().collect();
        let by_pair: Vec<Vec<f64>> = (0..pairs.len()).map(of_pair).collect();
        let statistic = |of: fn((f64, f64)) -> f64| {
            let found = by_pair.iter().map(|own| (!own.is_empty()).then(|| of(moments(own))));
            found.map(|value| value.filter(|value| value.is_finite())).collect::<Vec<Option<f64>>>()
        };
        let means = statistic(|(mean, _)| mean);
        let relation = known.relation("kl", &means)?;
        let failed = by_pair.iter().map(|own| Some(number((self.repeats - own.len()) as u64))).collect();
        let columns = vec![
            Column::new("kl", "KL of the target from the generator's distribution, the mean over seeds", means),
            Column::new("kl_sd", "its standard deviation over seeds", statistic(|(_, deviation)| deviation)),
            Column::new("diverged", "the number of seeds whose training diverged, which have no score", failed),
        ];
        let mut made = Tournament::new(Kind::Qgan, &known, columns);
        made.relations.extend(relation);
        made.settings = BTreeMap::from([("steps", self.steps), ("repeats", self.repeats as u64), ("seed", self.seed)]);
        made.score = "kl";
        self.note(&mut made, &by_pair);
        Ok(made.finished())
    }

    /// Returns the scores of all pairs with the first seed, then those with the second, and so on; `None` for those
    /// that diverged.
    fn scores(&self, ctx: &Context, groups: &Groups, pairs: &[[usize; 2]]) -> Result<Vec<Option<f64>>> {
        let shares: Vec<[f64; POSITIONS]> = (0..groups.len()).map(|group| groups.frequencies(group)).collect();
        let points = POSITIONS * POSITIONS;
        let relu = Activation::Relu;
        let generator = Mlp::builder(points).layer(128, relu).layer(256, relu).output(points)?;
        let discriminator = Mlp::builder(2).layer(20, Activation::LeakyRelu(0.2)).output(1)?;
        let gan = Gan::new(generator, discriminator, Optimizer::Adam, grid(POSITIONS)).steps(self.steps);
        let hyper = Hyper {
            learning_rate: 0.01,
            beta_1: 0.7,
            beta_2: 0.999,
            weight_decay: 0.005,
            ..Optimizer::Adam.defaults()
        };
        let all = pairs.len().saturating_mul(self.repeats);
        let mut scores = Vec::new();
        for first in (0..all).step_by(TOGETHER) {
            let own = first..(first + TOGETHER).min(all);
            let mut targets = Vec::with_capacity(own.len() * points);
            for run in own.clone() {
                let [a, b] = pairs[run % pairs.len()];
                let target = of_shares(&shares[a], &shares[b])
                    .ok_or_else(|| nothing_to_imitate([a, b].map(|group| groups.name(group))))?;
                #[expect(clippy::cast_possible_truncation, reason = "f32 is the precision of the training")]
                targets.extend(target.into_iter().map(|p| p as f32));
            }
            let runs = Runs::of_rows(own.map(|run| (self.seed.wrapping_add(run as u64), hyper)))?;
            let mut gan = gan.clone();
            if let Some(progress) = self.progress.clone() {
                let (of, repeats) = (pairs.len(), self.repeats);
                gan = gan.progress(Arc::new(move |found| progress((first + found.ended) / repeats, of)));
            }
            let fit = gan.fit::<f32>(ctx, &targets, &runs)?;
            let score = |good: bool, score: f64| Some(score).filter(|score| good && score.is_finite());
            let good = |status: RunStatus| status.is_good();
            scores.extend(fit.runs().iter().map(|pair| score(good(pair.status()), pair.divergence())));
        }
        Ok(scores)
    }

    fn note(&self, made: &mut Tournament, by_pair: &[Vec<f64>]) {
        let several: Vec<f64> = by_pair.iter().filter(|own| own.len() > 1).map(|own| moments(own).1.powi(2)).collect();
        let deviation = made.relations.first().and_then(|own| own.deviation);
        let note = match (several.is_empty(), deviation) {
            (false, Some(of_pairs)) => {
                let of_seeds = moments(&several).0.sqrt();
                let repeats = number(self.repeats as u64);
                format!(
                    "Between seeds, the score of a pair has a standard deviation of {of_seeds:.4}. That of the mean \
                     scores of pairs is {of_pairs:.4}; if all pairs were alike, it would be about {:.4}.",
                    of_seeds / repeats.sqrt()
                )
            }
            _ => {
                "Each pair has one seed, so how much of the score is noise of the training is not known; more repeats \
                  show it."
                    .to_owned()
            }
        };
        made.notes.push(note);
        made.notes.push(
            "The score says how well a generator imitates a grid of differences of shares, not how large they are."
                .to_owned(),
        );
    }
}

fn nothing_to_imitate([first, second]: [&str; 2]) -> Error {
    let what =
        format!("expected different shares of ones among the positions of {first} and {second}, found equal ones");
    Error::domain(NAME, what)
}

/// Returns the distribution of a pair by its shares of ones; `None` if all differences are equal.
fn of_shares(first: &[f64; POSITIONS], second: &[f64; POSITIONS]) -> Option<Vec<f64>> {
    let differences: Vec<f64> = first.iter().flat_map(|f1| second.iter().map(move |f2| f2 - f1)).collect();
    let least = differences.iter().copied().fold(f64::INFINITY, f64::min);
    let above: Vec<f64> = differences.into_iter().map(|difference| difference - least).collect();
    let sum: f64 = above.iter().sum();
    (sum > 0.0).then(|| above.into_iter().map(|x| x / sum).collect())
}

#[cfg(test)]
mod tests {
    use super::of_shares;

    #[test]
    fn targets_are_differences() {
        let (mut first, mut second) = ([0.5; 64], [0.5; 64]);
        assert_eq!(of_shares(&first, &second), None);
        (first[3], second[5]) = (0.75, 0.625);
        let p = of_shares(&first, &second).expect("a distribution");
        // Differences above -0.25, that of row 3: 0.25 elsewhere, and 0.125 more in column 5.
        let sum = 63.0 * 64.0 * 0.25 + 64.0 * 0.125;
        for (place, found) in p.iter().enumerate() {
            let (row, column) = (place / 64, place % 64);
            let want = if row == 3 { 0.0 } else { 0.25 } + if column == 5 { 0.125 } else { 0.0 };
            assert!((found - want / sum).abs() < 1e-15, "{row} {column}");
        }
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
