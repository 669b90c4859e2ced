//! Generative adversarial pairs on a fixed set of points (Goodfellow et al., NIPS 2014). The generator maps normals to
//! a distribution over the points, and the discriminator judges each point by its coordinates.
//!
//! A step draws z, computes the distribution g = softmax(generator(z)) and the judgments D = sigmoid(discriminator) of
//! all points, and changes both networks by the gradients of
//!
//! ```text
//! generator       L_G = -sum_i g_i log(D_i + 1e-8)
//! discriminator   L_D = -1/2 sum_i (p_i log(D_i + 1e-8) + g_i log(1 - D_i + 1e-8))
//! ```
//!
//! where p is the distribution to imitate. Both losses are those before the step.

use super::cpu::Moved;
use super::layout::{Layout, padded};
use super::noise::{RUNS, Words};
use super::{Hyper, Init, Loss, MixedPrecision, Mlp, Norm, Optimizer, Program, Replica};
use crate::array::Real;
use crate::error::{Error, Result};

/// The name of the operation in errors.
const NAME: &str = "gan";
/// What is added to a judgment before its logarithm.
pub(super) const EPSILON: f64 = 1e-8;

/// What all pairs have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct GanProgram<T> {
    generator: Program,
    discriminator: Program,
    /// The coordinates of all points, point by point.
    pub(super) points: Vec<T>,
}

impl<T: Real> GanProgram<T> {
    /// Creates what all pairs have in common.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the numbers of points, outputs and coordinates differ;
    /// [`crate::ErrorKind::Domain`] if a layer has a normalization or dropout, if the discriminator has several
    /// outputs, if a coordinate is not finite, or if the optimizer is a sampler.
    pub(crate) fn new(generator: Mlp, discriminator: Mlp, optimizer: Optimizer, points: Vec<T>) -> Result<Self> {
        for (net, name) in [(&generator, "generator"), (&discriminator, "discriminator")] {
            if net.layers().iter().any(|layer| layer.norm != Norm::None || layer.dropout > 0.0) {
                let what = format!("{name}: expected layers without normalization and dropout");
                return Err(Error::domain(NAME, what));
            }
        }
        if discriminator.outputs() != 1 {
            let what = format!("expected a discriminator with 1 output, found {}", discriminator.outputs());
            return Err(Error::domain(NAME, what));
        }
        if optimizer.is_sampler() {
            return Err(Error::domain(NAME, format!("expected an optimizer, found the sampler {optimizer}")));
        }
        let (count, each) = (generator.outputs(), discriminator.inputs());
        if points.len() != count * each {
            let expected = format!("{count} points of {each} coordinates, as the networks have");
            return Err(Error::shape(NAME, expected, format!("{} coordinates", points.len())));
        }
        if let Some(at) = points.iter().position(|x| !x.to_f64().is_finite()) {
            let what = format!("expected finite coordinates, found {} at point {}", points[at].to_f64(), at / each);
            return Err(Error::domain(NAME, what));
        }
        // The losses of the programs are not used.
        let program =
            |net, batch| Program { net, loss: Loss::MeanSquares, optimizer, batch, mixed: MixedPrecision::Off };
        Ok(Self { generator: program(generator, 1), discriminator: program(discriminator, count), points })
    }

    /// Checks that the hyperparameters can be those of a pair.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if one is out of its range, or if the gradient is to be clipped or has an L1 term.
    pub(crate) fn check(&self, hyper: &Hyper) -> Result<()> {
        hyper.check(self.optimizer())?;
        if hyper.l1 != 0.0 || hyper.clip.is_finite() {
            let what = "expected neither an l1 term nor clipping";
            return Err(Error::domain(NAME, what));
        }
        Ok(())
    }

    pub(crate) fn generator(&self) -> &Mlp {
        &self.generator.net
    }

    pub(crate) fn discriminator(&self) -> &Mlp {
        &self.discriminator.net
    }

    pub(crate) fn optimizer(&self) -> Optimizer {
        self.generator.optimizer
    }

    /// Returns the bytes of a pair with its moments, and of what a thread needs to train it.
    pub(crate) fn bytes(&self, hyper: &Hyper) -> usize {
        let rows = |layout: &Layout| layout.layers.iter().map(|l| l.in_stride + 3 * l.stride).sum::<usize>();
        let ([of_generator, of_judge], points) = (self.layouts(), self.generator().outputs());
        let worker = rows(&of_generator) + points * rows(&of_judge) + of_judge.len + 4 * padded(points);
        let pair = self.generator.bytes(hyper, size_of::<T>()) + self.discriminator.bytes(hyper, size_of::<T>());
        pair + worker * size_of::<T>()
    }

    /// Returns the layouts of the generator and of the discriminator.
    pub(super) fn layouts(&self) -> [Layout; 2] {
        [Layout::new(self.generator()), Layout::new(self.discriminator())]
    }
}

/// The parameters of a pair, what its optimizers remember, and its random numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair<T> {
    pub(crate) generator: Replica<T>,
    pub(crate) discriminator: Replica<T>,
    /// The words of the generator's inputs.
    pub(super) words: Words,
    /// The number of steps that were made.
    pub(crate) steps: u64,
}

impl<T: Real> Pair<T> {
    /// Creates a pair with its initial weights.
    pub(crate) fn new(program: &GanProgram<T>, init: Init, seed: u64, hyper: Hyper) -> Self {
        // The discriminator has a stream of its own, so that the layers of the two networks share no numbers.
        Self {
            generator: Replica::new(&program.generator, init, seed, hyper),
            discriminator: Replica::drawn(&program.discriminator, init, Words::new(seed, JUDGES), hyper),
            words: Words::new(seed, RUNS),
            steps: 0,
        }
    }

    /// Returns whether all parameters are finite.
    pub(crate) fn is_finite(&self) -> bool {
        let both = [&self.generator, &self.discriminator];
        both.iter().all(|replica| replica.moved.weights.iter().all(|w| w.to_f64().is_finite()))
    }

    pub(super) fn moved(&mut self) -> [&mut Moved<T>; 2] {
        [&mut self.generator.moved, &mut self.discriminator.moved]
    }
}

/// The name of the streams of discriminators.
const JUDGES: &str = "discriminators";

/// What steps of a pair return.
#[derive(Clone, Debug, PartialEq)]
pub struct Contest<T> {
    /// The losses of the generator and of the discriminator before each step.
    pub(crate) losses: Vec<[f64; 2]>,
    /// The generator's distribution in the last step, before its update.
    pub(crate) distribution: Vec<T>,
    /// Whether a loss was not finite. The parameters are those before its step.
    pub(crate) diverged: bool,
}
