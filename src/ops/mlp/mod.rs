//! Networks of a few hundred to a few hundred thousand parameters, many of them trained at once: layers, losses,
//! optimizers, and the steps of one run and of an adversarial pair. [`crate::train`] trains with them.
//!
//! A run is independent of the others. Its initial weights, the order of its samples, its dropout and its noise are
//! functions of the seed, its number, the purpose, the layer, the step and the element. So it has the same bits alone,
//! beside other runs, in any order, on any number of threads, and if it was interrupted and resumed.

mod choice;
mod classified;
mod cpu;
mod gan;
mod gpu;
pub(super) mod kernels;
pub(super) mod layered_kernels;
mod layout;
mod mixed;
mod noise;
mod optimizer;
mod order;
mod ranking;
mod residuals;
mod scores;
mod spec;
mod weights;

pub(crate) use choice::Course;
pub use classified::{Calibration, CalibrationBin, Confusion};
pub(crate) use cpu::{Contending, GanWorker, Work, Worker};
pub(crate) use gan::{GanProgram, Pair};
pub(crate) use gpu::{DeviceRuns, DeviceSegment, Held, Parts, Trained, Uploaded};
pub use mixed::MixedPrecision;
pub(crate) use mixed::Scaler;
pub use optimizer::{Hyper, Optimizer};
pub use scores::Scores;
pub use spec::{Activation, Layer, Loss, Mlp, MlpBuilder, Norm};
pub use weights::{Init, Tensor};

use crate::array::Real;
use crate::error::{Error, Result};
use cpu::{Moved, Trains};
use layout::Layout;
use noise::Words;
use spec::NAME;
use std::ops::Range;
use std::sync::Arc;

/// What all runs of a training have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The network.
    pub net: Mlp,
    /// The loss.
    pub loss: Loss,
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The number of samples of a step.
    pub batch: usize,
    /// The precision of the operands of products.
    pub mixed: MixedPrecision,
}

impl Program {
    /// Checks that the parts fit each other.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the loss does not fit the outputs of the network, or the batch is empty.
    pub fn check(&self) -> Result<()> {
        self.loss.check(&self.net)?;
        if self.batch == 0 || self.batch > 1 << 20 {
            return Err(Error::domain(
                NAME,
                format!("expected a batch of 1 to {} samples, found {}", 1 << 20, self.batch),
            ));
        }
        Ok(())
    }

    /// Returns the number of bytes that one run needs in memory.
    #[must_use]
    pub fn bytes(&self, hyper: &Hyper, element: usize) -> usize {
        let layout = Layout::new(&self.net);
        (layout.len * (1 + self.optimizer.moments(hyper)) + layout.running) * element
    }

    /// Returns the bytes in which a thread packs the factors of large products.
    pub(crate) fn packed_bytes(&self, element: usize) -> usize {
        cpu::packed_bytes(self.batch, self.net.with_inputs().map(|(inputs, layer)| [inputs, layer.outputs]), element)
    }
}

/// The targets of a data set, in the order of its samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets<T> {
    /// A label for each sample.
    Labels(Vec<u32>),
    /// The given number of values for each sample, sample by sample.
    Values(Vec<T>, usize),
}

impl<T> Targets<T> {
    /// Returns the number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Labels(labels) => labels.len(),
            Self::Values(values, each) => values.len() / (*each).max(1),
        }
    }

    /// Returns whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A data set: inputs and targets of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples<T> {
    x: Vec<T>,
    inputs: usize,
    targets: Targets<T>,
}

impl<T: Real> Samples<T> {
    /// Creates a data set from the inputs of all samples, sample by sample, and their targets.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the numbers of inputs and targets do not fit each other;
    /// [`crate::ErrorKind::Domain`] if a number is NaN or infinite.
    pub fn new(inputs: usize, x: Vec<T>, targets: Targets<T>) -> Result<Self> {
        Self::from(0, inputs, x, targets)
    }

    /// Does the same for consecutive samples of a larger data set, the first of which has the number `first` there.
    pub(crate) fn from(first: usize, inputs: usize, x: Vec<T>, targets: Targets<T>) -> Result<Self> {
        let samples = targets.len();
        if inputs == 0 || samples.checked_mul(inputs) != Some(x.len()) || samples > u32::MAX as usize {
            let expected = format!("{samples} samples of {inputs} inputs each, at most {} samples", u32::MAX);
            return Err(Error::shape(NAME, expected, format!("{} numbers", x.len())));
        }
        if let Targets::Values(values, each) = &targets
            && (*each == 0 || values.len() % each != 0)
        {
            return Err(Error::shape(
                NAME,
                format!("{each} values for each sample"),
                format!("{} values", values.len()),
            ));
        }
        if let Some(at) = x.iter().position(|x| !x.to_f64().is_finite()) {
            let (sample, input) = (first + at / inputs, at % inputs);
            let what = format!("expected finite inputs, found {} at input {input} of sample {sample}", x[at].to_f64());
            return Err(Error::domain(NAME, what));
        }
        if let Targets::Values(values, each) = &targets
            && let Some(at) = values.iter().position(|x| !x.to_f64().is_finite())
        {
            let (value, sample) = (values[at].to_f64(), first + at / each);
            let what = format!("expected finite targets, found {value} at sample {sample}");
            return Err(Error::domain(NAME, what));
        }
        Ok(Self { x, inputs, targets })
    }

    /// Returns a copy of consecutive samples.
    pub(crate) fn part(&self, rows: Range<usize>) -> Self {
        let targets = match &self.targets {
            Targets::Labels(labels) => Targets::Labels(labels[rows.clone()].to_vec()),
            Targets::Values(values, each) => {
                Targets::Values(values[rows.start * each..rows.end * each].to_vec(), *each)
            }
        };
        Self { x: self.x[rows.start * self.inputs..rows.end * self.inputs].to_vec(), inputs: self.inputs, targets }
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of inputs of a sample.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns the inputs of sample `row`.
    #[must_use]
    pub fn row(&self, row: usize) -> &[T] {
        &self.x[row * self.inputs..][..self.inputs]
    }

    /// Returns the targets.
    #[must_use]
    pub fn targets(&self) -> &Targets<T> {
        &self.targets
    }

    /// Checks that the data set can be trained on with a program.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the numbers of inputs or targets differ; [`crate::ErrorKind::Domain`] if a label
    /// is out of range, if labels are needed and values are given, or the reverse.
    pub fn check(&self, program: &Program) -> Result<()> {
        self.check_from(0, program)
    }

    /// Does the same for samples of a larger data set, the first of which has the number `first` there.
    pub(crate) fn check_from(&self, first: usize, program: &Program) -> Result<()> {
        let (net, loss) = (&program.net, &program.loss);
        if self.inputs != net.inputs() {
            return Err(Error::shape(
                NAME,
                format!("{} inputs, as the network has", net.inputs()),
                self.inputs.to_string(),
            ));
        }
        match &self.targets {
            Targets::Labels(labels) => {
                let Some(classes) = loss.classes(net) else {
                    return Err(Error::domain(NAME, format!("{loss}: expected values as targets, found labels")));
                };
                if *loss == Loss::BinaryCrossEntropy && net.outputs() > 1 {
                    let what = format!("{loss}: expected values for {} outputs, found labels", net.outputs());
                    return Err(Error::domain(NAME, what));
                }
                if let Some(at) = labels.iter().position(|&label| label as usize >= classes) {
                    let (last, found, sample) = (classes - 1, labels[at], first + at);
                    let what = format!("expected labels from 0 to {last}, found {found} at sample {sample}");
                    return Err(Error::domain(NAME, what));
                }
            }
            Targets::Values(_, each) => {
                let wanted = if *loss == Loss::WeightedBinary { 2 } else { net.outputs() };
                if loss.takes_labels() && *loss != Loss::BinaryCrossEntropy {
                    return Err(Error::domain(NAME, format!("{loss}: expected labels, found values")));
                }
                if *each != wanted {
                    return Err(Error::shape(NAME, format!("{wanted} values for each sample"), each.to_string()));
                }
            }
        }
        Ok(())
    }
}

/// The precisions in which networks are trained.
pub trait Number: Real + Trains {}
impl Number for f32 {}
impl Number for f64 {}

/// The parameters of a run, what its optimizer remembers, and its random numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Replica<T> {
    words: Words,
    pub(crate) hyper: Hyper,
    moved: Moved<T>,
    /// The number of steps that were made, including those that were skipped.
    pub(crate) steps: u64,
    pub(crate) scaler: Scaler,
    /// The mean of each input, and the factor of the difference from it.
    pub(crate) scaling: Option<Arc<Vec<[T; 2]>>>,
}

/// A part of an epoch.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    /// The samples that the run is trained on.
    pub(crate) rows: &'a [u32],
    /// Whether the order of the samples is random. Otherwise, it is that of `rows`.
    pub(crate) shuffled: bool,
    /// The number of the order of the samples: the epoch, or, if there are several groups, a number for each group of
    /// each epoch.
    pub(crate) epoch: u64,
    /// The steps of the epoch, or in the group.
    pub(crate) batches: Range<usize>,
    /// The learning rate.
    pub(crate) rate: f64,
    /// What the earlier steps of the epoch have added up. Sums go on from there, so that cuts change no bit of them.
    pub(crate) loss: f64,
    /// Whether to return the loss of every step.
    pub(crate) traces: bool,
}

/// What a part of an epoch adds up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The sum of the losses of the steps of the epoch so far, each times its number of samples.
    pub(crate) loss: f64,
    pub(crate) correct: u64,
    /// The number of samples of the steps with a finite loss.
    pub(crate) samples: u64,
    /// Whether a loss was not finite, or too many steps were skipped. The parameters are those before the step.
    pub(crate) diverged: bool,
    /// The loss of every step, if it was asked for.
    pub(crate) losses: Vec<f64>,
}

/// Returns a random order of the `n` samples of a group, for a split. It depends on the seed and the number of the
/// group alone.
pub(crate) fn shuffled(seed: u64, group: u64, n: u32) -> impl Fn(u32) -> u32 {
    let order = Words::new(seed, noise::SPLITS).order(noise::Purpose::Split, group, n);
    move |position| order.at(position)
}

/// Returns the order in which an epoch goes through `n` groups of samples.
pub(crate) fn group_order(seed: u64, epoch: u64, n: u32) -> impl Fn(u32) -> u32 {
    let order = Words::new(seed, noise::SPLITS).order(noise::Purpose::GroupOrder, epoch, n);
    move |position| order.at(position)
}
