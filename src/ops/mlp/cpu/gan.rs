//! The steps of an adversarial pair. The generator has a batch of one sample, so the gradient of a layer's weights is
//! the product of a column and a row. It is never stored: one pass over a layer computes the gradient of the layer's
//! inputs and updates the weights. A step reads the generator's parameters twice and writes them once, and reads and
//! writes each moment once: 28 bytes for each parameter with Adam in f32.

use super::super::gan::{Contest, EPSILON, GanProgram, Pair};
use super::super::layout::{Block, Layout, Placed, STRIP, padded};
use super::super::mixed::MixedPrecision;
use super::super::noise::{ABREAST, Purpose, Words, normals};
use super::super::optimizer::Update;
use super::between::{activate, activate_backward};
use super::product::{Rows, add_combination, dots};
use super::step::{Dropout, Mode, Moved, Rates, Scratch, apply, backward, forward};
use super::update::{Moving, Normals, update};
use crate::array::Real as _;
use crate::lanes::{Task, Vector};
use crate::ops::elementary::Elementary;
use std::fmt;

/// The most columns of a row that are updated at a time. Their gradient stays in the first-level cache.
const SEGMENT: usize = 1024;

/// A thread's memory for the steps of pairs.
pub struct GanWorker<T> {
    layouts: [Layout; 2],
    /// The generator's inputs, and what every layer passes on.
    passed: Vec<Vec<T>>,
    /// The derivatives of the generator's loss by the results of every layer's linear map.
    derivatives: Vec<Vec<T>>,
    /// What the derivative of an activation needs.
    saved: Vec<Vec<T>>,
    drawn: Vec<T>,
    /// A layout of one row, and the gradient of the row.
    row: Layout,
    part: Vec<T>,
    judge: Scratch<T>,
    /// For each point, with padding: the distribution to imitate, the generator's, the discriminator's output, and
    /// the derivative of the generator's loss by the distribution.
    target: Vec<T>,
    made: Vec<T>,
    outputs: Vec<T>,
    slopes: Vec<T>,
    normals: Normals<T>,
}

impl<T: Elementary> GanWorker<T> {
    pub(super) fn new(program: &GanProgram<T>) -> Self {
        let zeros = |len: usize| vec![T::from_f64(0.0); len];
        let layouts = program.layouts();
        let [of_generator, of_judge] = &layouts;
        let points = program.generator().outputs();
        let inputs = program.generator().inputs();
        let mut judge = Scratch::new(of_judge, points, MixedPrecision::Off);
        let (each, stride) = (program.discriminator().inputs(), padded(program.discriminator().inputs()));
        for (to, from) in judge.inputs().chunks_exact_mut(stride).zip(program.points.chunks_exact(each)) {
            to[..each].copy_from_slice(from);
        }
        let rows = |place: fn(&Placed) -> usize| of_generator.layers.iter().map(|l| zeros(place(l))).collect();
        Self {
            passed: rows(|l| l.in_stride),
            derivatives: rows(|l| l.stride),
            saved: rows(|l| l.stride),
            drawn: zeros(inputs.next_multiple_of(ABREAST)),
            row: Layout::of_row(),
            part: zeros(SEGMENT),
            judge,
            target: zeros(padded(points)),
            made: zeros(padded(points)),
            outputs: zeros(padded(points)),
            slopes: zeros(padded(points)),
            normals: Normals::new(Words::new(0, "none yet"), 0),
            layouts,
        }
    }

    /// Sets the generator's inputs, and the distribution to imitate.
    #[cfg(test)]
    pub(super) fn set(&mut self, inputs: &[T], target: &[T]) {
        self.passed[0][..inputs.len()].copy_from_slice(inputs);
        self.target[..target.len()].copy_from_slice(target);
    }
}

impl<T> fmt::Debug for GanWorker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GanWorker").finish_non_exhaustive()
    }
}

/// Steps of a pair.
#[derive(Debug)]
pub struct Contending<'a, T> {
    pub(crate) program: &'a GanProgram<T>,
    pub(crate) pair: &'a mut Pair<T>,
    /// The distribution to imitate: a probability for each point.
    pub(crate) target: &'a [T],
    /// The number of steps.
    pub(crate) steps: u64,
}

/// [`Contending`], and the memory for it.
pub(super) struct Bout<'a, T> {
    pub(super) worker: &'a mut GanWorker<T>,
    pub(super) work: Contending<'a, T>,
}

impl<T: Elementary> Task<T> for Bout<'_, T> {
    type Output = Contest<T>;

    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Contest<T> {
        let Self { worker, work: Contending { program, pair, target, steps } } = self;
        worker.target[..target.len()].copy_from_slice(target);
        let mut contest = Contest { losses: Vec::new(), distribution: Vec::new(), diverged: false };
        for _ in 0..steps {
            normals::<V>(token, (pair.words, Purpose::Latent), pair.steps, 0, &mut worker.drawn);
            let inputs = program.generator().inputs();
            worker.passed[0][..inputs].copy_from_slice(&worker.drawn[..inputs]);
            let losses = judge::<V>(token, worker, pair);
            if losses.iter().any(|loss| !loss.is_finite()) {
                contest.diverged = true;
                break;
            }
            learn::<V>(token, program, worker, pair);
            contest.losses.push(losses);
        }
        contest.distribution = worker.made[..target.len()].to_vec();
        contest
    }
}

/// Computes the distribution, the judgments, the losses of the generator and of the discriminator, and the derivatives
/// of the losses by the outputs of the networks.
pub(super) fn judge<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    worker: &mut GanWorker<V::Scalar>,
    pair: &mut Pair<V::Scalar>,
) -> [f64; 2] {
    let [of_generator, of_judge] = &worker.layouts;
    let [generator, discriminator] = pair.moved();
    let points = of_generator.layers.last().map_or(0, |l| l.layer.outputs);
    let Moved { weights, running, .. } = discriminator;
    forward::<V>(token, of_judge, &mut worker.judge, weights, running, points, Mode::Evaluation);
    let stride = of_judge.layers.last().map_or(1, |l| l.stride);
    for (to, from) in worker.outputs.iter_mut().zip(worker.judge.outputs().chunks_exact(stride)) {
        *to = from[0];
    }
    for (l, placed) in of_generator.layers.iter().enumerate() {
        let z = &mut worker.derivatives[l];
        multiplied::<V>(token, placed, &generator.weights, &worker.passed[l], z);
        if let Some(passed) = worker.passed.get_mut(l + 1) {
            let stride = passed.len();
            passed.copy_from_slice(&z[..stride]);
            let shape = [placed.layer.outputs, stride];
            activate::<V>(token, placed.layer.activation, shape, passed, &mut worker.saved[l]);
        }
    }
    let GanWorker { derivatives, target, made, outputs, slopes, .. } = worker;
    let Some(logits) = derivatives.last_mut() else { return [0.0; 2] };
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            softmax(&logits[..points], &mut made[..points]);
            let losses = losses(target, made, outputs, slopes);
            let of_generator = V::Scalar::from_f64(losses[0]);
            for ((logit, made), slope) in logits.iter_mut().zip(&*made).zip(&*slopes) {
                *logit = *made * (*slope - of_generator);
            }
            losses
        },
    )
}

/// `out = bias + weights' x` for a layer.
fn multiplied<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    placed: &Placed,
    weights: &[V::Scalar],
    x: &[V::Scalar],
    out: &mut [V::Scalar],
) {
    let Placed { layer, in_stride, stride, .. } = *placed;
    let right = Rows { data: &weights[placed.weights.range()], stride: placed.weights.stride };
    let bias = &weights[placed.bias.range()];
    if placed.by_output {
        dots::<V>(token, 1, layer.outputs, Rows { data: x, stride: in_stride }, right, bias, out, stride);
    } else {
        out.copy_from_slice(bias);
        add_combination::<V>(token, &x[..placed.inputs], right, out);
    }
}

#[inline(always)]
fn softmax<T: Elementary>(logits: &[T], made: &mut [T]) {
    let mut largest = logits[0];
    for &z in logits {
        largest = if z > largest { z } else { largest };
    }
    for (made, &z) in made.iter_mut().zip(logits) {
        *made = (z - largest).exp();
    }
    let mut sum = 0.0;
    for made in &*made {
        sum += made.to_f64();
    }
    let factor = T::from_f64(1.0 / sum);
    for made in made {
        *made *= factor;
    }
}

/// Returns both losses. Replaces the discriminator's outputs by the derivatives of its loss, and writes the derivatives
/// of the generator's loss by the distribution, `-log(D + 1e-8)`.
#[inline(always)]
pub(super) fn losses<T: Elementary>(target: &[T], made: &[T], outputs: &mut [T], slopes: &mut [T]) -> [f64; 2] {
    let (half, epsilon) = (T::from_f64(0.5), T::from_f64(EPSILON));
    let (mut of_generator, mut of_judge) = ([0.0; STRIP], [0.0; STRIP]);
    let parts = target.as_chunks::<STRIP>().0.iter().zip(made.as_chunks::<STRIP>().0);
    let parts = parts.zip(outputs.as_chunks_mut::<STRIP>().0).zip(slopes.as_chunks_mut::<STRIP>().0);
    for (((target, made), outputs), slopes) in parts {
        for i in 0..STRIP {
            let (real, rest) = (outputs[i].logistic(), (-outputs[i]).logistic());
            let (likely, unlikely) = (real + epsilon, rest + epsilon);
            let (p, g) = (target[i], made[i]);
            slopes[i] = -likely.ln();
            let other = -unlikely.ln();
            of_generator[i] += g.to_f64() * slopes[i].to_f64();
            of_judge[i] += p.to_f64() * slopes[i].to_f64() + g.to_f64() * other.to_f64();
            outputs[i] = half * real * rest * (g / unlikely - p / likely);
        }
    }
    [of_generator.iter().sum(), 0.5 * of_judge.iter().sum::<f64>()]
}

/// Changes both networks, from the derivatives that [`judge`] has left.
pub(super) fn learn<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    program: &GanProgram<V::Scalar>,
    worker: &mut GanWorker<V::Scalar>,
    pair: &mut Pair<V::Scalar>,
) {
    let hyper = pair.generator.hyper;
    let changes = Update::new(program.optimizer(), &hyper, hyper.learning_rate, [pair.steps; 2]);
    let [generator, discriminator] = pair.moved();
    descend::<V>(token, worker, generator, changes);
    let GanWorker { layouts: [_, of_judge], judge, outputs, .. } = worker;
    let points = program.generator().outputs();
    let stride = of_judge.layers.last().map_or(1, |l| l.stride);
    for (to, from) in judge.outputs_mut().chunks_exact_mut(stride).zip(&outputs[..points]) {
        to[0] = *from;
    }
    let dropout = Dropout { below: vec![0; of_judge.layers.len()] };
    backward::<V>(token, of_judge, judge, &discriminator.weights, points, &dropout);
    let (none, unlimited) = (V::Scalar::from_f64(0.0), V::Scalar::from_f64(f64::INFINITY));
    let rates = Rates { update: changes, l1: none, clip: unlimited };
    apply::<V>(token, of_judge, judge, discriminator, (Words::new(0, "none"), 0), rates);
    pair.steps += 1;
}

/// Changes the generator's parameters, from the last layer to the first.
fn descend<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    worker: &mut GanWorker<V::Scalar>,
    moved: &mut Moved<V::Scalar>,
    changes: Update<V::Scalar>,
) {
    let GanWorker { layouts: [layout, _], passed, derivatives, saved, row, part, normals, .. } = worker;
    let mut line = Line { moved, changes, row, part, normals };
    for (l, placed) in layout.layers.iter().enumerate().rev() {
        let (earlier, own) = derivatives.split_at_mut(l);
        let (x, d) = (&passed[l], &own[0]);
        let mut before = earlier.last_mut();
        if let Some(before) = &mut before {
            before.fill(V::Scalar::from_f64(0.0));
        }
        let block = placed.weights;
        let (factors, along) = if placed.by_output { (d, x) } else { (x, d) };
        for row in 0..block.rows {
            let at = block.at + row * block.stride;
            let weights = Rows { data: &line.moved.weights[at..at + block.stride], stride: block.stride };
            match &mut before {
                Some(before) if placed.by_output => {
                    add_combination::<V>(token, &factors[row..=row], weights, before);
                }
                Some(before) => {
                    let zero = [V::Scalar::from_f64(0.0)];
                    let d = Rows { data: along, stride: block.stride };
                    dots::<V>(token, 1, 1, d, weights, &zero, &mut before[row..=row], 1);
                }
                None => {}
            }
            line.update::<V>(token, at, block.cols, factors[row], along);
        }
        line.update::<V>(token, placed.bias.at, placed.layer.outputs, V::Scalar::from_f64(1.0), d);
        if let (Some(before), Some(below)) = (before, l.checked_sub(1)) {
            activate_backward::<V>(token, layout.layers[below].layer.activation, x, &saved[below], before);
        }
    }
}

/// The parameters of the generator, and what changes a row of them.
struct Line<'a, T> {
    moved: &'a mut Moved<T>,
    changes: Update<T>,
    row: &'a mut Layout,
    part: &'a mut [T],
    normals: &'a mut Normals<T>,
}

impl<T: Elementary> Line<'_, T> {
    /// Updates the row of `cols` parameters at `at`, whose gradient is `factor` times `along`.
    fn update<V: Vector<Scalar = T>>(&mut self, token: V::Token, at: usize, cols: usize, factor: T, along: &[T]) {
        for first in (0..cols).step_by(SEGMENT) {
            let cols = SEGMENT.min(cols - first);
            let stride = padded(cols);
            self.row.blocks[0] = Block { at: 0, rows: 1, cols, stride, first: 0 };
            let part = &mut self.part[..stride];
            V::with_instructions(
                token,
                #[inline(always)]
                || part.iter_mut().zip(&along[first..]).for_each(|(g, x)| *g = factor * *x),
            );
            let places = at + first..at + first + stride;
            // Moments that the optimizer does not need are empty.
            let of = |moments: &mut Vec<T>| if moments.is_empty() { 0..0 } else { places.clone() };
            let Moved { weights, first, second, .. } = &mut *self.moved;
            let (of_first, of_second) = (of(first), of(second));
            let moving = Moving {
                weights: &mut weights[places.clone()],
                first: &mut first[of_first],
                second: &mut second[of_second],
            };
            let scale = [T::from_f64(1.0), T::from_f64(0.0)];
            update::<V>(token, self.row, self.changes, scale, part, moving, self.normals);
        }
    }
}
