//! The tournament by classifiers that are trained to tell two groups apart.

use super::super::statistics::{Words, binomial_test, holm, number};
use super::strings::WORD;
use super::{Column, Groups, Kind, Known, NAME, OnPairs, Tournament, Watch, refuse_device};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::parallel;
use crate::policy::Backend;
use crate::train::distributions::student_critical;
use crate::train::{
    Activation, Division, Hyper, Loss, Mlp, Optimizer, Part, Runs, Samples, Split, Targets, Trainer, moments,
};
use std::collections::BTreeMap;

/// The level of the intervals.
const LEVEL: f64 = 0.95;

/// Classifier two-sample tests (Lopez-Paz and Oquab, *Revisiting classifier two-sample tests*, ICLR 2017): if two
/// groups have the same law, no classifier tells their strings apart better than by chance.
///
/// For every pair and seed, as many strings of both groups as the smaller one has are divided at random into halves. A
/// classifier is trained on the bits, as -1 and 1, of one half of both groups, and its accuracy is that on the other
/// half. Both halves have equally many strings of both groups, so a classifier that ignores its input is right in
/// exactly half of the cases. The p value is that of the exact binomial test against 1/2, that the accuracy is larger,
/// with the first seed; Holm's method adjusts it for all pairs. The mean accuracy over seeds is the score. Its interval
/// takes into account that the seeds divide the same strings (Nadeau and Bengio, *Inference for the generalization
/// error*, Machine Learning 52, 2003).
///
/// By default, the classifier is a logistic regression, which finds every difference of the shares of ones. A network
/// with a hidden layer ([`C2st::hidden`]) can also find dependences between bits, but needs more strings for it.
///
/// ```
/// use fiedler::Context;
/// use fiedler::experiment::tournament::{C2st, Groups};
///
/// // 200 strings of 16 bits, those of the second group with more ones.
/// let bit = |i: u64| u8::from((i * 2_654_435_761 >> 7) % 10 < 3 + 4 * (i / 1600));
/// let bits: Vec<u8> = (0..200 * 16).map(bit).collect();
/// let places: Vec<u32> = (0..200).map(|string| string / 100).collect();
/// let groups = Groups::of_bits(16, &bits, &places, vec!["a".to_owned(), "b".to_owned()])?;
/// let found = C2st::new().run(&Context::cpu(), &groups)?;
/// assert!(found.value("mean_accuracy", 0) > Some(0.8) && found.value("p", 0) < Some(1e-6));
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone)]
pub struct C2st {
    hidden: usize,
    epochs: u64,
    repeats: usize,
    seed: u64,
    progress: Option<OnPairs>,
}

impl std::fmt::Debug for C2st {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { hidden, epochs, repeats, seed, progress: _ } = self;
        let mut shown = f.debug_struct("C2st");
        shown.field("hidden", hidden).field("epochs", epochs).field("repeats", repeats).field("seed", seed);
        shown.finish_non_exhaustive()
    }
}

impl Default for C2st {
    fn default() -> Self {
        Self { hidden: 0, epochs: EPOCHS, repeats: 10, seed: 42, progress: None }
    }
}

/// The epochs, the samples of a step, and the learning rate. On 12 generated devices of 2,000 strings, 10 epochs of a
/// logistic regression, or a layer of 20 units, rank the pairs no better, and take 1.5 and 6 times as long
/// (2026-11-26).
const EPOCHS: u64 = 6;
const BATCH: usize = 64;
const RATE: f64 = 0.01;

/// What came out for a pair: the right answers with each seed, of how many.
struct Answers {
    right: Vec<u64>,
    of: u64,
}

impl C2st {
    /// Creates a tournament of logistic regressions with 10 seeds for each pair.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the units of a hidden layer with ReLU; 0 for none.
    #[must_use]
    pub fn hidden(self, hidden: usize) -> Self {
        Self { hidden, ..self }
    }

    /// Sets the number of epochs of a training.
    #[must_use]
    pub fn epochs(self, epochs: u64) -> Self {
        Self { epochs, ..self }
    }

    /// Sets the number of seeds of each pair.
    #[must_use]
    pub fn repeats(self, repeats: usize) -> Self {
        Self { repeats, ..self }
    }

    /// Sets the first seed. The seeds are consecutive, and all pairs have the same. A seed decides the halves of every
    /// group, the initial weights, and the order of the samples.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets a function that is told how many pairs are done, of how many, by one thread at a time.
    #[must_use]
    pub fn progress(self, on_pairs: OnPairs) -> Self {
        Self { progress: Some(on_pairs), ..self }
    }

    /// Trains and tests the classifiers of all pairs and seeds, on the threads of a context. The result does not depend
    /// on their number.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a group has fewer than two strings, if there are no repeats or epochs, or if the
    /// context requires a device; [`crate::ErrorKind::Limit`] if the strings of a pair exceed the memory budget;
    /// [`crate::ErrorKind::Cancelled`].
    pub fn run(&self, ctx: &Context, groups: &Groups) -> Result<Tournament> {
        refuse_device(ctx)?;
        if self.repeats == 0 {
            return Err(Error::domain(NAME, "expected at least 1 repeat, found 0"));
        }
        if let Some(group) = (0..groups.len()).find(|&group| groups.strings(group) < 2) {
            let what = format!("expected at least two strings of every group, found one of {}", groups.name(group));
            return Err(Error::domain(NAME, what));
        }
        let pairs = groups.pairs();
        let known = Known { groups, pairs: &pairs, seed: self.seed };
        let cpu = ctx.with_backend(Backend::Cpu);
        let net = Mlp::builder(groups.length());
        let net = if self.hidden > 0 { net.layer(self.hidden, Activation::Relu) } else { net }.output(1)?;
        let trainer = Trainer::new(net, Loss::BinaryCrossEntropy, Optimizer::Adam).epochs(self.epochs);
        let watch = Watch::new(pairs.len(), self.progress.as_ref());
        let answers = cpu.on_host(|| {
            let found = parallel::map(&pairs, |_, &pair| {
                let found = self.answers(&cpu, groups, pair, &trainer)?;
                watch.done();
                Ok(found)
            });
            found.into_iter().collect::<Result<Vec<Answers>>>()
        })?;
        let columns = self.columns(&answers)?;
        let scores = columns.iter().find(|column| column.name.name == "mean_accuracy");
        let scores = scores.map(|column| column.values.clone()).unwrap_or_default();
        let relation = known.relation("mean_accuracy", &scores)?;
        let mut made = Tournament::new(Kind::C2st, &known, columns);
        made.relations.extend(relation);
        made.settings = BTreeMap::from([
            ("hidden", self.hidden as u64),
            ("epochs", self.epochs),
            ("repeats", self.repeats as u64),
            ("seed", self.seed),
        ]);
        made.score = "mean_accuracy";
        self.note(&mut made);
        Ok(made.finished())
    }

    /// Trains and tests the classifiers of a pair.
    fn answers(&self, ctx: &Context, groups: &Groups, pair: [usize; 2], trainer: &Trainer) -> Result<Answers> {
        let fewer = pair.map(|group| groups.strings(group)).into_iter().min().unwrap_or(0);
        let half = fewer / 2;
        let (samples, length) = (4 * half, groups.length());
        let of = 2 * half as u64;
        let mut right = Vec::with_capacity(self.repeats);
        for repeat in 0..self.repeats {
            ctx.cancel().check()?;
            let seed = self.seed.wrapping_add(repeat as u64);
            // The order of the division is known, so that the halves of both groups can be put where it has them.
            let split = Split { shares: [0.5, 0.0, 0.5], seed: Some(seed) };
            let parts = split.rows(0, samples, ([2 * half, 0, 2 * half], Division::Shares), seed);
            let (mut x, mut labels) = (vec![0.0_f32; samples * length], vec![0_u32; samples]);
            for (label, group) in (0..).zip(pair) {
                let mut order: Vec<usize> = (0..groups.strings(group)).collect();
                Words::new(seed, &format!("halves of group {group}")).shuffle(&mut order);
                let first = label as usize * half;
                let training = parts[0][first..first + half].iter();
                let test = parts[2][first..first + half].iter();
                for (&row, string) in training.chain(test).zip(order) {
                    labels[row as usize] = label;
                    let words = groups.string(group, string);
                    for (at, x) in x[row as usize * length..][..length].iter_mut().enumerate() {
                        *x = if words[at / WORD] >> (at % WORD) & 1 == 1 { 1.0 } else { -1.0 };
                    }
                }
            }
            let samples = Samples::new(length, x, Targets::Labels(labels))?;
            let hyper = Hyper { learning_rate: RATE, ..Optimizer::Adam.defaults() };
            let runs = Runs::of_hyper(hyper, seed, 1)?;
            let fit = trainer.clone().split(split).batch(BATCH.min(2 * half)).fit::<f32>(ctx, &samples, &runs)?;
            let scores = fit.runs().first().and_then(|run| run.scores(Part::Test));
            right.push(scores.map_or(0, |scores| scores.confusion(0, 0) + scores.confusion(1, 1)));
        }
        Ok(Answers { right, of })
    }

    fn columns(&self, answers: &[Answers]) -> Result<Vec<Column>> {
        let of_first = answers.iter().map(|own| Ok(binomial_test(own.right[0], own.of, 0.5)?.greater));
        let ps: Vec<f64> = of_first.collect::<Result<_>>()?;
        let adjusted = holm(&ps)?;
        let shares =
            |own: &Answers| own.right.iter().map(|&right| number(right) / number(own.of)).collect::<Vec<f64>>();
        let found: Vec<(f64, f64)> = answers.iter().map(|own| moments(&shares(own))).collect();
        // The test samples are as many as the training samples, so the correction of the variance is 1/R + 1.
        let repeats = number(self.repeats as u64);
        let critical = || student_critical(0.5 * (1.0 - LEVEL), repeats - 1.0);
        let width = (self.repeats > 1).then(|| critical() * (1.0 / repeats + 1.0).sqrt());
        let all = |of: &dyn Fn(usize) -> Option<f64>| (0..answers.len()).map(of).collect::<Vec<Option<f64>>>();
        let end = |sign: f64| all(&|i| width.map(|width| found[i].0 + sign * width * found[i].1));
        Ok(vec![
            Column::new("accuracy", "the accuracy with the first seed", all(&|i| shares(&answers[i]).first().copied())),
            Column::new("right", "the right answers with the first seed", all(&|i| Some(number(answers[i].right[0])))),
            Column::new("tested", "the strings that were tested", all(&|i| Some(number(answers[i].of)))),
            Column::new(
                "p",
                "exact binomial test that the accuracy with the first seed is above 1/2",
                all(&|i| Some(ps[i])),
            ),
            Column::new("p_holm", "the same, adjusted for all pairs by Holm's method", all(&|i| Some(adjusted[i]))),
            Column::new("mean_accuracy", "the mean accuracy over seeds", all(&|i| Some(found[i].0))),
            Column::new("low", "the lower end of its 95 % interval", end(-1.0)),
            Column::new("high", "the upper end of its 95 % interval", end(1.0)),
        ])
    }

    fn note(&self, made: &mut Tournament) {
        let apart = (0..made.pairs.len()).filter(|&pair| made.value("p_holm", pair).is_some_and(|p| p <= 0.05)).count();
        made.notes.push(format!(
            "{apart} of {} told apart, by p values of at most 0.05 after Holm's adjustment.",
            if made.pairs.len() == 1 { "1 pair is".to_owned() } else { format!("{} pairs are", made.pairs.len()) }
        ));
        if self.repeats == 1 {
            made.notes.push("With one seed, nothing tells how far the accuracy depends on the halves.".to_owned());
            return;
        }
        made.notes.push(
            "The first seed alone decides the p values, because the seeds divide the same strings. The interval of the \
             mean accuracy takes that into account, by the correction of Nadeau and Bengio."
                .to_owned(),
        );
    }
}
