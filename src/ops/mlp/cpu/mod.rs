//! Training on the CPU. A run is trained by one thread, with the neurons of a layer in the lanes of SIMD vectors, so no
//! run waits for another. Where there are fewer runs than threads, several threads compute the rows of a large product,
//! or update the parameters of one run. Sums run over inputs and samples in order, or in
//! [`STRIP`](super::layout::STRIP) fixed parts, so the bits of a run depend neither on its neighbors nor on the number
//! of threads, nor on the width of the vectors on machines with fused multiply-add.
//!
//! `step.rs` has the order of a step. Its parts are `product.rs`, `blocked.rs`, `between.rs`, `norm.rs`, `loss.rs` and
//! `update.rs`, generic over the width of vectors and over f32 and f64. In mixed precision, `narrow.rs` rounds the
//! operands of products, and `ops/mlp/mixed.rs` decides whether a step counts. An adversarial pair (`gan.rs`) stays on
//! one thread from its first step to its last.

mod between;
mod blocked;
mod gan;
mod loss;
mod narrow;
mod norm;
mod product;
mod step;
#[cfg(test)]
pub(super) mod tests;
mod update;

pub(super) use blocked::{most_threads, packed_bytes};
pub(crate) use gan::{Contending, GanWorker};
pub(super) use step::Moved;
pub(super) use update::update_threads;

use super::gan::{Contest, GanProgram};
use super::layout::Layout;
use super::noise::Purpose;
use super::optimizer::Update;
use super::scores::{Classified, Scores};
use super::{Hyper, Program, Replica, Samples, Segment, Tally, Targets};
use crate::lanes::{SimdScalar as _, Task, Vector};
use crate::ops::elementary::Elementary;
use gan::Bout;
use loss::{Prepared, predicted};
use std::fmt;
use step::{Dropout, Engine, Mode, Rates, Scratch, apply, forward, gradient};

/// The number of samples that are evaluated together.
const TOGETHER: usize = 64;

/// A thread's memory for training and evaluation, which serves one run after another.
pub struct Worker<T> {
    engine: Engine<T>,
    scratch: Scratch<T>,
    /// The samples of a batch, their labels and their values.
    rows: Vec<u32>,
    labels: Vec<u32>,
    values: Vec<T>,
}

/// The functions that are compiled once for each precision.
pub trait Trains: Sized + Send + Sync {
    /// Trains a run through a segment of an epoch.
    fn train(worker: &mut Worker<Self>, work: Work<'_, Self>, segment: &Segment) -> Tally;
    /// Evaluates a run on the samples of the given rows. `each` sees the probabilities or outputs of each sample.
    fn evaluate(worker: &mut Worker<Self>, work: Work<'_, Self>, rows: &[u32], each: &mut dyn FnMut(&[Self]))
    -> Scores;
    /// Returns the scores of the samples of the given rows, whose outputs are rows of `width` numbers in `outputs`.
    fn scores(
        worker: &mut Worker<Self>,
        program: &Program,
        samples: &Samples<Self>,
        rows: &[u32],
        outputs: &[f32],
        width: usize,
    ) -> Scores;
    /// Returns the memory that a thread needs.
    fn worker(program: &Program) -> Worker<Self>;
    /// Returns the loss and the gradient, in the layout of the parameters, of the given samples.
    fn gradient_of(worker: &mut Worker<Self>, work: Work<'_, Self>, rows: &[u32]) -> (Self, Vec<Self>);
    /// Returns the memory that a thread needs for adversarial pairs.
    fn gan_worker(program: &GanProgram<Self>) -> GanWorker<Self>;
    /// Makes steps of an adversarial pair.
    fn contend(worker: &mut GanWorker<Self>, work: Contending<'_, Self>) -> Contest<Self>;
}

/// A run, and what it is trained on.
#[derive(Debug)]
pub struct Work<'a, T> {
    /// What all runs share.
    pub program: &'a Program,
    /// The data set.
    pub samples: &'a Samples<T>,
    /// The run.
    pub replica: &'a mut Replica<T>,
}

macro_rules! trains {
    ($float:ident) => {
        impl Trains for $float {
            fn train(worker: &mut Worker<Self>, work: Work<'_, Self>, segment: &Segment) -> Tally {
                Self::in_lanes(Training { worker, work, segment })
            }
            fn evaluate(
                worker: &mut Worker<Self>,
                work: Work<'_, Self>,
                rows: &[u32],
                each: &mut dyn FnMut(&[Self]),
            ) -> Scores {
                Self::in_lanes(Evaluation { worker, work, rows, each })
            }
            fn scores(
                worker: &mut Worker<Self>,
                program: &Program,
                samples: &Samples<Self>,
                rows: &[u32],
                outputs: &[f32],
                width: usize,
            ) -> Scores {
                Self::in_lanes(Scoring { worker, program, samples, rows, outputs, width })
            }
            fn worker(program: &Program) -> Worker<Self> {
                Worker::new(program)
            }
            fn gradient_of(worker: &mut Worker<Self>, work: Work<'_, Self>, rows: &[u32]) -> (Self, Vec<Self>) {
                Self::in_lanes(Gradient { worker, work, rows })
            }
            fn gan_worker(program: &GanProgram<Self>) -> GanWorker<Self> {
                GanWorker::new(program)
            }
            fn contend(worker: &mut GanWorker<Self>, work: Contending<'_, Self>) -> Contest<Self> {
                Self::in_lanes(Bout { worker, work })
            }
        }
    };
}

trains!(f32);
trains!(f64);

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl<T> Worker<T> {
    /// Sets the number of threads that may work on one step. It changes no bit.
    pub(crate) fn set_team(&mut self, threads: usize) {
        self.scratch.team.threads = threads;
    }
}

impl<T: Elementary> Worker<T> {
    fn new(program: &Program) -> Self {
        let layout = Layout::new(&program.net);
        let loss = Prepared::new(&program.loss, program.net.outputs());
        let scratch = Scratch::new(&layout, program.batch.max(TOGETHER), program.mixed);
        Self { engine: Engine { layout, loss }, scratch, rows: Vec::new(), labels: Vec::new(), values: Vec::new() }
    }

    /// Copies the inputs and the targets of samples to where the step reads them.
    fn gather(&mut self, work: &Work<'_, T>, rows: &[u32]) {
        let Samples { x, inputs, .. } = work.samples;
        let stride = self.engine.layout.layers.first().map_or(1, |l| l.in_stride);
        for (&row, to) in rows.iter().zip(self.scratch.inputs().chunks_exact_mut(stride)) {
            let row = row as usize;
            let (from, to) = (&x[row * inputs..][..*inputs], &mut to[..*inputs]);
            match &work.replica.scaling {
                None => to.copy_from_slice(from),
                Some(scaling) => {
                    for ((to, from), [mean, factor]) in to.iter_mut().zip(from).zip(scaling.iter()) {
                        *to = (*from - *mean) * *factor;
                    }
                }
            }
        }
        self.gather_targets(work.samples, rows);
    }

    fn gather_targets(&mut self, samples: &Samples<T>, rows: &[u32]) {
        self.labels.clear();
        self.values.clear();
        match &samples.targets {
            Targets::Labels(labels) => self.labels.extend(rows.iter().map(|&row| labels[row as usize])),
            Targets::Values(values, each) => {
                self.values.extend(rows.iter().flat_map(|&row| &values[row as usize * each..][..*each]));
            }
        }
    }

    /// Adds the samples that were gathered to `scores`, by their outputs, of which each sample has a row of `stride`.
    /// `each` sees the probabilities or outputs of each sample.
    #[inline(always)]
    fn score(
        &self,
        samples: &Samples<T>,
        outputs: impl Iterator<Item = impl Iterator<Item = T>>,
        scores: &mut Scores,
        each: &mut dyn FnMut(&[T]),
    ) {
        let targets = targets(samples, &self.labels, &self.values);
        let least = if size_of::<T>() == size_of::<f32>() { f32::EPSILON.into() } else { f64::EPSILON };
        let (mut z, mut copy) = (Vec::new(), Vec::new());
        for (sample, own) in outputs.enumerate() {
            z.clear();
            z.extend(own);
            copy.clone_from(&z);
            let class = predicted(&z);
            let (loss, weight) = self.engine.loss.value(&mut z, targets, sample);
            self.engine.loss.probabilities(&mut copy);
            let confidence = match copy[..] {
                [p] => p.to_f64().max(1.0 - p.to_f64()),
                _ => copy.get(class as usize).map_or(0.0, |p| p.to_f64()),
            };
            let of = |class: u32| match copy[..] {
                [p] => {
                    if class == 0 {
                        1.0 - p.to_f64()
                    } else {
                        p.to_f64()
                    }
                }
                _ => copy.get(class as usize).map_or(0.0, |p| p.to_f64()),
            };
            let classified = self.labels.get(sample).map(|&label| Classified {
                label,
                class,
                confidence,
                of_label: of(label),
                of_one: of(1),
            });
            scores.add(loss, weight, classified, least);
            if let (Prepared::MeanSquares, loss::Targets::Values(values, each)) = (&self.engine.loss, targets) {
                let own = &values[sample * each..][..each];
                scores.add_values(copy.iter().zip(own).map(|(z, t)| (z.to_f64(), t.to_f64())));
            }
            each(&copy);
        }
    }
}

/// Returns the targets of the samples that were gathered.
fn targets<'a, T>(samples: &Samples<T>, labels: &'a [u32], values: &'a [T]) -> loss::Targets<'a, T> {
    match samples.targets {
        Targets::Labels(_) => loss::Targets::Labels(labels),
        Targets::Values(_, each) => loss::Targets::Values(values, each),
    }
}

struct Training<'a, T> {
    worker: &'a mut Worker<T>,
    work: Work<'a, T>,
    segment: &'a Segment<'a>,
}

impl<T: Elementary> Task<T> for Training<'_, T> {
    type Output = Tally;

    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Tally {
        let Self { worker, work, segment } = self;
        let program = work.program;
        let (hyper, words) = (work.replica.hyper, work.replica.words);
        let dropout = Dropout::new(program, &hyper);
        let samples = u32::try_from(segment.rows.len()).unwrap_or(u32::MAX);
        let order = segment.shuffled.then(|| words.order(Purpose::Order, segment.epoch, samples));
        let mut tally = Tally { loss: segment.loss, ..Tally::default() };
        for batch in segment.batches.clone() {
            let begin = batch * program.batch;
            let end = (begin + program.batch).min(segment.rows.len());
            let mut rows = std::mem::take(&mut worker.rows);
            rows.clear();
            match &order {
                Some(order) => {
                    rows.resize(end - begin, 0);
                    #[expect(clippy::cast_possible_truncation, reason = "below the number of samples, which fits")]
                    V::with_instructions(
                        token,
                        #[inline(always)]
                        || order.fill(begin as u32, &mut rows),
                    );
                    rows.iter_mut().for_each(|row| *row = segment.rows[*row as usize]);
                }
                None => rows.extend_from_slice(&segment.rows[begin..end]),
            }
            worker.gather(&work, &rows);
            worker.rows = rows;
            let rows = end - begin;
            let step = work.replica.steps;
            let Worker { engine, scratch, labels, values, .. } = &mut *worker;
            let targets = targets(work.samples, labels, values);
            let drawn = (words, step, &dropout);
            let Replica { moved, scaler, .. } = &mut *work.replica;
            let running = moved.running.clone();
            let scaled = program.mixed.scales();
            scratch.set_scale(program.mixed.scale(scaler));
            let (loss, right) = gradient::<V>(token, engine, scratch, moved, targets, rows, drawn);
            let finite = loss.to_f64().is_finite();
            if !finite || scaled && !scratch.fits() {
                moved.running = running;
                if !scaled || scaler.skip() {
                    tally.diverged = true;
                    return tally;
                }
            } else {
                let applied = step - u64::from(scaler.skipped);
                let update = Update::new(program.optimizer, &hyper, segment.rate, [step, applied]);
                let rates = Rates { update, l1: T::from_f64(hyper.l1), clip: T::from_f64(hyper.clip) };
                apply::<V>(token, &engine.layout, scratch, moved, (words, step), rates);
                if scaled {
                    scaler.apply();
                }
            }
            work.replica.steps += 1;
            if finite {
                tally.samples += rows as u64;
                tally.correct += right;
                #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
                let weight = rows as f64;
                tally.loss += loss.to_f64() * weight;
            }
            if segment.traces {
                tally.losses.push(loss.to_f64());
            }
        }
        tally
    }
}

impl Dropout {
    fn new(program: &Program, hyper: &Hyper) -> Self {
        Self { below: thresholds(program, hyper).collect() }
    }
}

/// Returns for each layer how many of 2^16 elements dropout drops.
pub(super) fn thresholds(program: &Program, hyper: &Hyper) -> impl Iterator<Item = u32> {
    program.net.layers().iter().map(|layer| {
        let probability = if layer.dropout > 0.0 { hyper.dropout.unwrap_or(layer.dropout) } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 65535")]
        let below = (probability * 65536.0).round().min(65535.0) as u32;
        below
    })
}

struct Evaluation<'a, T> {
    worker: &'a mut Worker<T>,
    work: Work<'a, T>,
    rows: &'a [u32],
    each: &'a mut dyn FnMut(&[T]),
}

impl<T: Elementary> Task<T> for Evaluation<'_, T> {
    type Output = Scores;

    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Scores {
        let Self { worker, work, rows, each } = self;
        let mut scores = work.samples.scores(work.program);
        let (outputs, layout) = (work.program.net.outputs(), Layout::new(&work.program.net));
        let stride = layout.layers.last().map_or(1, |l| l.stride);
        for rows in rows.chunks(TOGETHER) {
            worker.gather(&work, rows);
            let Worker { engine, scratch, .. } = &mut *worker;
            let Moved { weights, running, .. } = &mut work.replica.moved;
            forward::<V>(token, &engine.layout, scratch, weights, running, rows.len(), Mode::Evaluation);
            V::with_instructions(
                token,
                #[inline(always)]
                || {
                    let own = worker.scratch.outputs().chunks_exact(stride).take(rows.len());
                    worker.score(work.samples, own.map(|z| z[..outputs].iter().copied()), &mut scores, each);
                },
            );
        }
        scores
    }
}

impl<T> Samples<T> {
    /// Returns the scores of no samples.
    fn scores(&self, program: &Program) -> Scores {
        let labeled = matches!(self.targets, Targets::Labels(_));
        Scores::new(program.loss.classes(&program.net).filter(|_| labeled))
    }
}

/// The scores of outputs that were computed elsewhere.
struct Scoring<'a, T> {
    worker: &'a mut Worker<T>,
    program: &'a Program,
    samples: &'a Samples<T>,
    rows: &'a [u32],
    outputs: &'a [f32],
    width: usize,
}

impl<T: Elementary> Task<T> for Scoring<'_, T> {
    type Output = Scores;

    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Scores {
        let Self { worker, program, samples, rows, outputs, width } = self;
        let mut scores = samples.scores(program);
        worker.gather_targets(samples, rows);
        V::with_instructions(
            token,
            #[inline(always)]
            || {
                let own = outputs
                    .chunks_exact(width)
                    .map(|z| z[..program.net.outputs()].iter().map(|&z| T::from_f64(z.into())));
                worker.score(samples, own, &mut scores, &mut |_| {});
            },
        );
        scores
    }
}

struct Gradient<'a, T> {
    worker: &'a mut Worker<T>,
    work: Work<'a, T>,
    rows: &'a [u32],
}

impl<T: Elementary> Task<T> for Gradient<'_, T> {
    type Output = (T, Vec<T>);

    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> (T, Vec<T>) {
        let Self { worker, work, rows } = self;
        worker.gather(&work, rows);
        let dropout = Dropout::new(work.program, &work.replica.hyper);
        let Worker { engine, scratch, labels, values, .. } = worker;
        let targets = targets(work.samples, labels, values);
        let drawn = (work.replica.words, work.replica.steps, &dropout);
        let Replica { moved, scaler, .. } = work.replica;
        scratch.set_scale(work.program.mixed.scale(scaler));
        let (loss, _) = gradient::<V>(token, engine, scratch, moved, targets, rows.len(), drawn);
        (loss, scratch.gradient().to_vec())
    }
}
