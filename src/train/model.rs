//! Trained networks that were read from a file, and their predictions.

use super::files::Origin;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io::SampleRows;
use crate::ops::mlp::{
    Activation, Init, Layer, Loss, MixedPrecision, Mlp, Norm, Number, Optimizer, Program, Replica, Samples, Scores,
    Targets, Work,
};
use crate::parallel;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of samples that a thread predicts at a time.
const CHUNK: usize = 1024;

/// The networks of a training.
#[derive(Debug)]
pub struct Model<T> {
    program: Program,
    origin: Origin,
    best: usize,
    /// Whether each run ended well.
    good: Vec<bool>,
    replicas: Vec<Replica<T>>,
}

impl<T: Number> Model<T> {
    /// Returns the network.
    #[must_use]
    pub fn net(&self) -> &Mlp {
        &self.program.net
    }

    /// Returns the number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.replicas.len()
    }

    /// Returns the run that was the best in training.
    #[must_use]
    pub fn best_run(&self) -> usize {
        self.best
    }

    /// Returns the numbers of the runs that ended well.
    #[must_use]
    pub fn good_runs(&self) -> Vec<usize> {
        (0..self.runs()).filter(|run| self.good.get(*run).copied().unwrap_or(true)).collect()
    }

    /// Returns what the file of the data set said about its columns.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the numbers that the given runs predict for each sample, as means over the runs: the probability of each
    /// class, or the values.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the number of inputs differs; [`crate::ErrorKind::Domain`] if there is no such
    /// run, or it diverged, or there is no run at all, or an input is not finite; [`crate::ErrorKind::Cancelled`].
    pub fn predict(&self, ctx: &Context, inputs: usize, x: Vec<T>, runs: &[usize]) -> Result<Vec<f64>> {
        self.predict_from(ctx, 0, (inputs, x), runs)
    }

    /// Does the same for the inputs of a file, of which as many rows are in memory as fit in a quarter of the memory
    /// budget.
    ///
    /// # Errors
    /// The same, and those of [`SampleRows::inputs_of`].
    pub fn predict_rows(&self, ctx: &Context, file: &SampleRows, runs: &[usize]) -> Result<Vec<f64>> {
        // An input, and what stands for the targets.
        let of_row = (file.inputs() * size_of::<T>() + 8 * self.net().outputs()) as u64;
        let rows = usize::try_from(ctx.memory_budget() / 4 / of_row).unwrap_or(usize::MAX).max(1);
        let mut found = Vec::with_capacity(file.len() * self.columns());
        for first in (0..file.len()).step_by(rows) {
            let x = file.inputs_of(first..file.len().min(first.saturating_add(rows)))?;
            found.append(&mut self.predict_from(ctx, first, (file.inputs(), x), runs)?);
        }
        Ok(found)
    }

    /// Predicts samples of a larger data set, the first of which has the number `first` there.
    fn predict_from(
        &self,
        ctx: &Context,
        first: usize,
        (inputs, x): (usize, Vec<T>),
        runs: &[usize],
    ) -> Result<Vec<f64>> {
        let wrong = |what: String| Err(Error::domain("predict", what));
        if let Some(run) = runs.iter().find(|run| **run >= self.replicas.len()) {
            return wrong(format!("expected a run below {}, found {run}", self.replicas.len()));
        }
        let good = self.good_runs();
        if let Some(run) = runs.iter().find(|run| !good.contains(run)) {
            return wrong(format!("expected a run that ended well, found run {run}, which diverged"));
        }
        if runs.is_empty() {
            return wrong("expected at least one run, found none".to_owned());
        }
        let each = if self.program.loss == Loss::WeightedBinary { 2 } else { self.program.net.outputs() };
        let count = x.len() / inputs.max(1);
        let targets = if self.program.loss.takes_labels() && self.program.loss != Loss::BinaryCrossEntropy {
            Targets::Labels(vec![0; count])
        } else {
            Targets::Values(vec![T::from_f64(0.0); count * each], each)
        };
        let samples = Samples::from(first, inputs, x, targets)?;
        samples.check(&self.program)?;
        let columns = self.columns();
        let rows: Vec<u32> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        #[expect(clippy::cast_precision_loss, reason = "a number of runs")]
        let share = 1.0 / runs.len() as f64;
        ctx.on_host(|| {
            let mut out = vec![0.0; count * columns];
            let chunks = rows.chunks(CHUNK).zip(out.chunks_mut(CHUNK * columns));
            parallel::for_each(chunks, |_, (rows, out)| {
                let mut worker = T::worker(&self.program);
                for &run in runs {
                    let mut replica = self.replicas[run].clone();
                    let mut places = out.chunks_exact_mut(columns);
                    let work = Work { program: &self.program, samples: &samples, replica: &mut replica };
                    let _: Scores = T::evaluate(&mut worker, work, rows, &mut |z| {
                        let place = places.next().into_iter().flatten();
                        match *z {
                            // With one output, the probability of label 1.
                            [p] if columns == 2 => {
                                place.zip([1.0 - p.to_f64(), p.to_f64()]).for_each(|(out, p)| *out += share * p);
                            }
                            _ => place.zip(z).for_each(|(out, z)| *out += share * z.to_f64()),
                        }
                    });
                }
            });
            Ok(out)
        })
    }

    /// Returns how many numbers [`Model::predict`] returns for each sample.
    #[must_use]
    pub fn columns(&self) -> usize {
        if self.origin.classes.is_empty() { self.program.net.outputs() } else { self.origin.classes.len() }
    }

    /// Creates the networks from the settings of their training and the stacked tensors of all runs. Returns `None` if
    /// they do not fit each other.
    pub(super) fn of_parts(
        spec: &Value,
        origin: Origin,
        (best, good): (usize, Vec<bool>),
        stacks: BTreeMap<String, (Vec<usize>, Vec<T>)>,
    ) -> Option<Self> {
        let layers = spec["layers"].as_array()?.iter().map(|layer| {
            Some(Layer {
                outputs: usize::try_from(layer["outputs"].as_u64()?).ok()?,
                norm: [Norm::None, Norm::Batch, Norm::Layer]
                    .into_iter()
                    .find(|norm| layer["norm"] == format!("{norm:?}"))?,
                activation: activation(layer["activation"].as_str()?)?,
                dropout: layer["dropout"].as_f64()?,
            })
        });
        let inputs = usize::try_from(spec["inputs"].as_u64()?).ok()?;
        let net = Mlp::from_layers(inputs, layers.collect::<Option<Vec<_>>>()?).ok()?;
        let loss = loss(spec["loss"].as_str()?)?;
        let program =
            Program { net, loss, optimizer: Optimizer::Sgd { nesterov: false }, batch: 1, mixed: MixedPrecision::Off };
        program.check().ok()?;
        let runs = *stacks.get("layers.0.weight")?.0.first()?;
        // Before any memory is taken: the sizes that the settings claim are those of the tensors.
        for (layer, (inputs, outputs)) in net_sizes(&program.net).enumerate() {
            let weights = stacks.get(&format!("layers.{layer}.weight"))?;
            (weights.0 == [runs, outputs, inputs]).then_some(())?;
        }
        let mut replicas = Vec::with_capacity(runs);
        for run in 0..runs {
            let mut replica = Replica::new(&program, Init::Torch, 0, program.optimizer.defaults());
            let find = |name: &str, len: usize| stacks.get(name)?.1.get(run * len..(run + 1) * len).map(<[T]>::to_vec);
            let missing = || Error::domain("predict", "a tensor is missing");
            replica
                .set_tensors(&program.net, |name, shape| find(name, shape.iter().product()).ok_or_else(missing))
                .ok()?;
            if let (Some(means), Some(factors)) = (find("scaling.mean", inputs), find("scaling.factor", inputs)) {
                replica.scaling = Some(Arc::new(means.into_iter().zip(factors).map(|(a, b)| [a, b]).collect()));
            }
            replicas.push(replica);
        }
        Some(Self { program, origin, best: best.min(runs.saturating_sub(1)), good, replicas })
    }
}

/// Returns the numbers of inputs and outputs of each layer.
fn net_sizes(net: &Mlp) -> impl Iterator<Item = (usize, usize)> {
    let outputs = net.layers().iter().map(|layer| layer.outputs);
    std::iter::once(net.inputs()).chain(outputs.clone()).zip(outputs)
}

/// Returns the activation that is written in this way by its `Debug`.
fn activation(text: &str) -> Option<Activation> {
    use Activation as A;
    let slope = text.strip_prefix("LeakyRelu(").and_then(|rest| rest.strip_suffix(')')?.parse().ok());
    let plain = [A::Identity, A::Relu, A::Gelu, A::Tanh, A::Sigmoid];
    slope.map(A::LeakyRelu).or_else(|| plain.into_iter().find(|known| format!("{known:?}") == text))
}

/// Returns the loss that is written in this way by its `Debug`. Weights of classes do not matter for predictions.
fn loss(text: &str) -> Option<Loss> {
    let bound = text.strip_prefix("BoundedCrossEntropy(").and_then(|rest| rest.strip_suffix(')')?.parse().ok());
    if text.starts_with("CrossEntropy") {
        return Some(Loss::CROSS_ENTROPY);
    }
    let plain = [Loss::BinaryCrossEntropy, Loss::MeanSquares, Loss::Tangent, Loss::Savage, Loss::WeightedBinary];
    bound.map(Loss::BoundedCrossEntropy).or_else(|| plain.into_iter().find(|known| format!("{known:?}") == text))
}
