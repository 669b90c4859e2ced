//! Many generative adversarial pairs at once, each of which imitates a distribution over the same points.

use super::running::RunStatus;
use super::trainer::{OnProgress, Progress};
use super::{Run, Runs};
use crate::cancel::Cancel;
use crate::clock::Instant;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::mlp::{Contending, GanProgram, GanWorker, Init, Mlp, Number, Optimizer, Pair, Tensor};
use crate::parallel;
use crate::policy::Backend;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The number of steps between two looks at whether the work was cancelled.
const TOGETHER: u64 = 8;
/// Probabilities below this count as this in a divergence.
const LEAST: f64 = 1e-10;
/// How far the sum of a distribution may be from 1.
const OFF: f64 = 1e-3;

/// Returns the points of a grid with `side` points on each axis of the unit square, as coordinates of the points one
/// after another. Point i has the coordinates (i mod `side`, i div `side`) / (`side` - 1).
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a number of points")]
pub fn grid(side: usize) -> Vec<f64> {
    let place = |i: usize| i as f64 / (side.max(2) - 1) as f64;
    (0..side * side).flat_map(|i| [place(i % side), place(i / side)]).collect()
}

/// Trains generative adversarial pairs (Goodfellow et al., NIPS 2014) on distributions over a fixed set of points, each
/// pair independent of the others.
///
/// In each step, the generator maps standard normals to a distribution g over the points by a softmax of its outputs,
/// and the discriminator judges each point by its coordinates, D = sigmoid(output). With p, the distribution to
/// imitate, one step of the optimizer changes both networks by the gradients of
///
/// ```text
/// generator       -sum_i g_i log(D_i + 1e-8)
/// discriminator   -1/2 sum_i (p_i log(D_i + 1e-8) + g_i log(1 - D_i + 1e-8))
/// ```
///
/// Both gradients are computed before either network changes. Pairs are trained on the CPU, a pair on a thread. Only
/// the pairs that are being trained are in memory, so a thousand pairs need no more memory than one pair for each
/// thread, besides the results.
///
/// ```
/// use fiedler::Context;
/// use fiedler::train::{Activation, Gan, Hyper, Mlp, Optimizer, Runs, grid};
///
/// // Distributions over a grid of 8 x 8 points that grow along the first axis, one for each pair.
/// let slope = |steep: f32| (0..64).map(move |i| 1.0 + steep * (i % 8) as f32);
/// let rows = [0.1, 1.0].map(|steep| slope(steep).map(|x| x / slope(steep).sum::<f32>()).collect::<Vec<_>>());
///
/// let generator = Mlp::builder(16).layer(32, Activation::Relu).output(64)?;
/// let discriminator = Mlp::builder(2).layer(20, Activation::LeakyRelu(0.2)).output(1)?;
/// let hyper = Hyper { beta_1: 0.7, ..Optimizer::Adam.defaults() };
/// let fit = Gan::new(generator, discriminator, Optimizer::Adam, grid(8))
///     .steps(200)
///     .fit(&Context::cpu(), &rows.concat(), &Runs::of_hyper(hyper, 42, 2)?)?;
/// assert!(fit.runs().iter().all(|pair| pair.divergence() < 0.2));
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone)]
pub struct Gan {
    generator: Mlp,
    discriminator: Mlp,
    optimizer: Optimizer,
    points: Vec<f64>,
    steps: u64,
    init: Init,
    keeps: bool,
    progress: Option<OnProgress>,
}

impl fmt::Debug for Gan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gan")
            .field("generator", &self.generator)
            .field("discriminator", &self.discriminator)
            .finish_non_exhaustive()
    }
}

/// The result of training pairs.
#[derive(Debug)]
pub struct GanFit<T> {
    pairs: Vec<FittedPair<T>>,
}

/// One pair of a [`GanFit`].
#[derive(Debug)]
pub struct FittedPair<T> {
    run: Run,
    status: RunStatus,
    losses: Vec<[f64; 2]>,
    distribution: Vec<T>,
    divergence: f64,
    networks: Option<[Vec<Tensor<T>>; 2]>,
    seconds: f64,
}

impl Gan {
    /// Creates a training of 100 steps with torch's initial weights. `points` has the coordinates of all points, point
    /// by point; the generator has an output for each point, and the discriminator an input for each coordinate and
    /// one output.
    #[must_use]
    pub fn new(generator: Mlp, discriminator: Mlp, optimizer: Optimizer, points: Vec<f64>) -> Self {
        Self {
            generator,
            discriminator,
            optimizer,
            points,
            steps: 100,
            init: Init::Torch,
            keeps: false,
            progress: None,
        }
    }

    /// Sets the number of steps.
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }

    /// Sets the law of the initial weights.
    #[must_use]
    pub fn init(self, init: Init) -> Self {
        Self { init, ..self }
    }

    /// Sets whether the parameters of all pairs are kept. Otherwise, a pair's networks are dropped when it is trained.
    #[must_use]
    pub fn keep_parameters(self, keep: bool) -> Self {
        Self { keeps: keep, ..self }
    }

    /// Sets a function that is told of the progress after every pair, by one thread at a time. The steps of a pair that
    /// diverged count as if it had made them all.
    #[must_use]
    pub fn progress(self, on_progress: OnProgress) -> Self {
        Self { progress: Some(on_progress), ..self }
    }

    /// Trains a pair for each run. `targets` has the distribution of each run, one after another, in the order of the
    /// points. A pair that diverges does not affect the others.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the numbers of points, outputs, coordinates, runs and targets do not fit each
    /// other; [`crate::ErrorKind::Domain`] if a network has a normalization or dropout, if the discriminator has
    /// several outputs, if a coordinate is not finite, if the optimizer is a sampler, if a hyperparameter is out of its
    /// range or asks for an L1 term or clipping, if a run has a dropout or a number of epochs of its own, if a target
    /// is no distribution, if there are no steps, or if the context requires a device; [`crate::ErrorKind::Limit`] if
    /// the pairs of all threads and what is kept exceed the memory budget; [`crate::ErrorKind::Cancelled`].
    pub fn fit<T: Number>(&self, ctx: &Context, targets: &[T], runs: &Runs) -> Result<GanFit<T>> {
        let points = self.points.iter().map(|&x| T::from_f64(x)).collect();
        let program = GanProgram::new(self.generator.clone(), self.discriminator.clone(), self.optimizer, points)?;
        let bytes = self.check(ctx, &program, targets, runs)?;
        let begun = Instant::now();
        let (workers, ended) = (Mutex::new(Vec::new()), Mutex::new(0));
        let rows = targets.chunks_exact(program.generator().outputs());
        let pairs = ctx.on_host(|| {
            let pairs = parallel::map(runs.rows().iter().zip(rows), |_, (run, target)| {
                ctx.cancel().check()?;
                let kept = workers.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut worker = kept.unwrap_or_else(|| T::gan_worker(&program));
                let fitted = self.train(&program, &mut worker, run, target, ctx.cancel());
                workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
                let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                *ended += 1;
                if let Some(progress) = &self.progress {
                    progress(&self.progress_of(runs.rows().len(), *ended, begun, bytes));
                }
                Ok(fitted)
            });
            pairs.into_iter().collect::<Result<Vec<_>>>()
        })?;
        Ok(GanFit { pairs })
    }

    /// Checks everything before any work, and returns the bytes that are needed.
    fn check<T: Number>(&self, ctx: &Context, program: &GanProgram<T>, targets: &[T], runs: &Runs) -> Result<u64> {
        let wrong = |what: String| Err(Error::domain("gan", what));
        if ctx.policy().backend == Backend::Gpu {
            return wrong("expected the backend auto or cpu: pairs are trained on the CPU".to_owned());
        }
        if self.steps == 0 {
            return wrong("expected at least 1 step, found 0".to_owned());
        }
        let (count, points) = (runs.rows().len(), program.generator().outputs());
        if targets.len() != count * points {
            let expected = format!("a distribution over {points} points for each of {count} runs");
            return Err(Error::shape("gan", expected, format!("{} numbers", targets.len())));
        }
        for (number, target) in targets.chunks_exact(points).enumerate() {
            if let Some(bad) = target.iter().map(|p| p.to_f64()).find(|p| !(p.is_finite() && *p >= 0.0)) {
                return wrong(format!("distribution {number}: expected probabilities, found {bad}"));
            }
            let sum: f64 = target.iter().map(|p| p.to_f64()).sum();
            if (sum - 1.0).abs() > OFF {
                return wrong(format!("distribution {number}: expected a sum of 1, found {sum}"));
            }
        }
        let mut each = 0;
        for run in runs.rows() {
            if run.epochs.is_some() || run.hyper.dropout.is_some() {
                return wrong(format!("run {}: expected neither epochs nor a dropout of its own", run.number));
            }
            program.check(&run.hyper).map_err(|error| Error::domain("gan", format!("run {}: {error}", run.number)))?;
            each = each.max(program.bytes(&run.hyper));
        }
        let parameters = program.generator().parameters() + program.discriminator().parameters();
        let kept = size_of::<T>() * (points + if self.keeps { parameters } else { 0 });
        let losses = usize::try_from(self.steps).unwrap_or(usize::MAX).saturating_mul(size_of::<[f64; 2]>());
        let of_run = kept.saturating_add(losses);
        let needed = (each * ctx.threads().min(count)).saturating_add(of_run.saturating_mul(count)) as u64;
        if needed > ctx.memory_budget() {
            return Err(Error::budget(format_args!("bytes for {count} pairs"), needed, ctx.memory_budget()));
        }
        Ok(needed)
    }

    /// Trains one pair.
    fn train<T: Number>(
        &self,
        program: &GanProgram<T>,
        worker: &mut GanWorker<T>,
        run: &Run,
        target: &[T],
        cancel: &Cancel,
    ) -> FittedPair<T> {
        let begun = Instant::now();
        let mut pair = Pair::new(program, self.init, run.seed, run.hyper);
        let (mut losses, mut distribution) = (Vec::new(), Vec::new());
        let mut status = RunStatus::Finished;
        while pair.steps < self.steps {
            // The caller returns that the work was cancelled.
            if cancel.is_cancelled() {
                status = RunStatus::Cancelled;
                break;
            }
            let steps = TOGETHER.min(self.steps - pair.steps);
            let mut contest = T::contend(worker, Contending { program, pair: &mut pair, target, steps });
            losses.append(&mut contest.losses);
            distribution = contest.distribution;
            if contest.diverged {
                status = if losses.is_empty() { RunStatus::NonFinite } else { RunStatus::Diverged };
                break;
            }
        }
        // The last step may have gone wrong without a step after it that would have noticed.
        if status.is_good() && !pair.is_finite() {
            status = RunStatus::Diverged;
        }
        let networks = self.keeps.then(|| {
            [pair.generator.tensors(program.generator()), pair.discriminator.tensors(program.discriminator())]
        });
        let divergence = divergence(target, &distribution);
        let seconds = begun.elapsed().as_secs_f64();
        FittedPair { run: run.clone(), status, losses, distribution, divergence, networks, seconds }
    }

    fn progress_of(&self, runs: usize, ended: usize, begun: Instant, bytes: u64) -> Progress {
        let left = (runs - ended) as u64 * self.steps;
        Progress {
            runs,
            ended,
            stopped: 0,
            steps: ended as u64 * self.steps,
            at_most: left,
            expected: left,
            elapsed: begun.elapsed(),
            bytes,
            groups: 1,
        }
    }
}

impl<T> GanFit<T> {
    /// Returns all pairs, by the numbers of their runs.
    #[must_use]
    pub fn runs(&self) -> &[FittedPair<T>] {
        &self.pairs
    }
}

impl<T> FittedPair<T> {
    /// Returns the run's number, seed and hyperparameters.
    #[must_use]
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Returns how the run ended.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        self.status
    }

    /// Returns the losses of the generator and of the discriminator before each step.
    #[must_use]
    pub fn losses(&self) -> &[[f64; 2]] {
        &self.losses
    }

    /// Returns the generator's distribution in the last step, before its update.
    #[must_use]
    pub fn distribution(&self) -> &[T] {
        &self.distribution
    }

    /// Returns the Kullback-Leibler divergence KL(p || g) of the distribution to imitate from the generator's, in nats.
    /// Both are clipped to at least 1e-10 and divided by their sums first. It is NaN if the pair diverged so that the
    /// generator's distribution is.
    #[must_use]
    pub fn divergence(&self) -> f64 {
        self.divergence
    }

    /// Returns the tensors of the generator and of the discriminator, if [`Gan::keep_parameters`] was set.
    #[must_use]
    pub fn networks(&self) -> Option<&[Vec<Tensor<T>>; 2]> {
        self.networks.as_ref()
    }

    /// Returns the seconds of a thread that the pair took.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// Returns KL(p || g) after both are clipped and normalized.
fn divergence<T: Number>(p: &[T], g: &[T]) -> f64 {
    let clipped = |x: &T| x.to_f64().clamp(LEAST, 1.0);
    let (sum_p, sum_g): (f64, f64) = (p.iter().map(clipped).sum(), g.iter().map(clipped).sum());
    p.iter()
        .zip(g)
        .map(|(p, g)| {
            let (p, g) = (clipped(p) / sum_p, clipped(g) / sum_g);
            p * (p / g).ln()
        })
        .sum()
}
