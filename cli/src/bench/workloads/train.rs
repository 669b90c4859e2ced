//! Trainings of small networks. A workload is one of a few named networks, with the batch and the optimizer that its
//! name stands for, which are those of `benches/train.rs`. The size is the number of its parameters.

use super::input::SEED;
use super::truth::both;
use super::{Calls, Use, Words, Workloads};
use crate::bench::case::Case;
use fiedler::forms::{KernelForm, MlpForm};
use fiedler::ops::random::{Stream, uniform};
use fiedler::policy::{Choice, Family, Workload};
use fiedler::train::{
    Activation, Fit, Hyper, Loss, Mlp, Norm, Number, Optimizer, Runs, Samples, Split, Targets, Trainer,
};
use fiedler::{Context, Error, Result, Shape};

/// The batches of an epoch: few, so that the scores at the end take a small part of the time.
const BATCHES: usize = 4;
/// The number of runs whose losses are compared with those of f64.
const COMPARED: usize = 3;
/// The largest relative error of the mean loss of the first epoch. A step adds a rounding error to the weights and a
/// few to each sum, and the optimizer enlarges errors of small gradients.
const PROMISED: f64 = 1e-5;

/// A network, and how it is trained.
struct Net {
    name: &'static str,
    sizes: &'static [usize],
    parameters: usize,
    batch: usize,
    /// The number of epochs, so that calls of all networks have about the same number of operations.
    epochs: u64,
    optimizer: Optimizer,
    hyper: fn(Hyper) -> Hyper,
    dropout: f64,
    norm: Norm,
}

const SGD: Optimizer = Optimizer::Sgd { nesterov: false };

fn sampled(hyper: Hyper) -> Hyper {
    Hyper { learning_rate: 0.01, temperature: 0.01, prior_precision: 1.0, ..hyper }
}

const fn net(name: &'static str, sizes: &'static [usize], parameters: usize, batch: usize, epochs: u64) -> Net {
    let (dropout, norm, optimizer) = (0.0, Norm::None, Optimizer::Sgld);
    Net { name, sizes, parameters, batch, epochs, optimizer, hyper: sampled, dropout, norm }
}

/// The networks, by their numbers of parameters.
const NETS: [Net; 6] = [
    net("synth", &[4, 100, 1], 601, 10, 64),
    Net {
        optimizer: SGD,
        hyper: |hyper| Hyper { learning_rate: 0.05, momentum: 0.9, ..hyper },
        ..net("digits", &[64, 32, 10], 2_410, 32, 32)
    },
    Net {
        optimizer: Optimizer::Adam,
        hyper: |hyper| Hyper { l1: 0.002, clip: 1.0, ..hyper },
        dropout: 0.2,
        ..net("devices", &[100, 30, 20, 3], 3_713, 8, 32)
    },
    Net { optimizer: Optimizer::Adam, hyper: |hyper| hyper, ..net("wide", &[64, 128, 64, 10], 17_226, 64, 8) },
    net("mnist01", &[784, 50, 1], 39_301, 50, 4),
    Net {
        optimizer: Optimizer::Adam,
        hyper: |hyper| Hyper { weight_decay: 1e-4, ..hyper },
        dropout: 0.5,
        norm: Norm::Batch,
        ..net("lora", &[1792, 512, 512, 512, 10], 1_451_530, 256, 1)
    },
];

const NAMES: [(&str, usize); NETS.len()] = {
    let mut names = [("", 0); NETS.len()];
    let mut i = 0;
    while i < NETS.len() {
        names[i] = (NETS[i].name, NETS[i].parameters);
        i += 1;
    }
    names
};

/// Returns the network of a workload.
fn of(size: usize) -> Result<&'static Net> {
    let wrong = || Error::domain("workload", format!("expected a network of the list, found {size} parameters"));
    NETS.iter().find(|net| net.parameters == size).ok_or_else(wrong)
}

impl Net {
    fn trainer(&self, epochs: u64) -> Result<Trainer> {
        let (first, rest) = (self.sizes[0], &self.sizes[1..self.sizes.len() - 1]);
        let layers = rest.iter().fold(Mlp::builder(first), |net, &width| {
            net.layer(width, Activation::Relu).dropout(self.dropout).norm(self.norm)
        });
        let net = layers.output(self.outputs())?;
        let loss = if self.outputs() == 1 { Loss::BoundedCrossEntropy(4.0) } else { Loss::CROSS_ENTROPY };
        let split = Split { shares: [1.0, 0.0, 0.0], seed: Some(SEED) };
        Ok(Trainer::new(net, loss, self.optimizer).batch(self.batch).epochs(epochs).split(split))
    }

    fn outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    fn rows(&self) -> usize {
        BATCHES * self.batch
    }

    fn runs(&self, count: usize, seed: u64) -> Result<Runs> {
        Runs::of_hyper((self.hyper)(self.optimizer.defaults()), seed, count)
    }

    /// Returns samples with inputs in -1..1, and labels in turn.
    fn samples<T: Number>(&self, seed: u64, number: impl Fn(f32) -> T) -> Result<Samples<T>> {
        let (inputs, rows, cpu) = (self.sizes[0], self.rows(), Context::cpu());
        let made = uniform(&cpu, &mut Stream::new(seed, "bench"), Shape::new(inputs, rows, 1), -1.0..1.0)?;
        let x = made.to_host(&cpu)?.as_slice().iter().map(|&x| number(x)).collect();
        let classes = u32::try_from(self.outputs().max(2)).unwrap_or(u32::MAX);
        Samples::new(inputs, x, Targets::Labels((0..classes).cycle().take(rows).collect()))
    }
}

/// Returns the mean losses of the first epoch.
fn losses<T: Number>(fit: &Fit<T>) -> Vec<f64> {
    fit.runs().iter().map(|run| run.history()[0].loss).collect()
}

/// Returns the training of a workload, and the number of its samples.
///
/// # Errors
/// [`fiedler::ErrorKind::Domain`] if the workload is of another family.
pub fn training(case: &Case) -> Result<(Trainer, usize)> {
    if case.family != Family::Train {
        let what = format!("precision=: expected the workload train, found {}", case.family);
        return Err(Error::domain("workload", what));
    }
    let net = of(case.size)?;
    Ok((net.trainer(net.epochs)?, net.rows()))
}

pub(super) struct Train;

impl Workloads for Train {
    fn words(&self) -> Words {
        Words { size: "net", items: "runs", ..Words::BATCH }
    }

    fn names(&self) -> &'static [(&'static str, usize)] {
        &NAMES
    }

    fn most_items(&self) -> usize {
        1 << 20
    }

    fn shape(&self, case: &Case) -> Shape {
        Shape::new(case.size, case.items, 1)
    }

    fn numbers(&self, case: &Case) -> f64 {
        case.size as f64 * case.items as f64
    }

    /// Counts the products alone: forward, and the gradients of weights and inputs. The parameters are read and written
    /// once.
    fn least(&self, case: &Case) -> [f64; 2] {
        let Ok(net) = of(case.size) else { return [0.0; 2] };
        let each = net.sizes.windows(2).map(|pair| (pair[0] * pair[1]) as f64);
        let step = 2.0 * net.batch as f64 * (3.0 * each.sum::<f64>() - (net.sizes[0] * net.sizes[1]) as f64);
        let steps = BATCHES as f64 * net.epochs as f64;
        let data = 4.0 * (net.rows() * net.sizes[0]) as f64;
        [data + 8.0 * self.numbers(case), step * steps * case.items as f64]
    }

    fn choose(&self, case: &Case, ctx: &Context, _: bool) -> Choice {
        let choose = || {
            let (trainer, samples) = training(case)?;
            trainer.choose::<f32>(ctx, samples, case.items)
        };
        choose().unwrap_or_else(|error| {
            log::warn!("{case}: no prediction: {error}");
            ctx.explain(&Workload::default(), false)
        })
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let net = of(case.size)?;
        let seed = case.seed;
        let (trainer, samples, runs) =
            (net.trainer(net.epochs)?, net.samples(seed, |x| x)?, net.runs(case.items, seed)?);
        use_them(Calls {
            resident: None,
            transfers: Box::new(|| trainer.fit(ctx, &samples, &runs).map(drop)),
            check: Box::new(|| {
                let (trainer, runs) = (net.trainer(1)?, net.runs(case.items.min(COMPARED), seed)?);
                let (truth, found) = both(
                    || Ok(losses(&trainer.fit(&Context::cpu(), &net.samples(seed, f64::from)?, &runs)?)),
                    || Ok(losses(&trainer.fit(ctx, &samples, &runs)?)),
                )?;
                let errors = found.iter().zip(&truth).map(|(found, truth)| (found - truth).abs() / truth);
                let worst = errors.fold(0.0, |worst, e| if e.is_nan() { f64::INFINITY } else { e.max(worst) });
                Ok(worst / PROMISED)
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[601, 3_713, 17_226, 39_301]
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[601, 2_410, 3_713, 17_226, 39_301, 1_451_530], &[1, 10, 100])
    }

    fn forms(&self) -> (&'static [KernelForm], &'static [usize]) {
        const FORMS: [KernelForm; 3] =
            [KernelForm::Mlp(MlpForm::Resident), KernelForm::Mlp(MlpForm::Streamed), KernelForm::Mlp(MlpForm::Layered)];
        (&FORMS, &[601, 3_713, 17_226, 1_451_530])
    }

    /// The form does not depend on the number of runs, and a single run of the widest network takes as long as many of
    /// the others.
    fn tried(&self, size: usize) -> Option<usize> {
        Some(if size > 1_000_000 { 1 } else { 8 })
    }

    /// A network that is not tried takes the form of the tried one whose size is nearest.
    fn range(&self, size: usize) -> [f64; 2] {
        let ctx = Context::cpu();
        let measure = |size| self.choose(&Case::new(Family::Train, size, 1), &ctx, true).workload.size;
        let (_, sizes) = self.forms();
        let at = sizes.iter().position(|&other| other == size).unwrap_or(0);
        let between = |a: usize, b: usize| (measure(sizes[a]) * measure(sizes[b])).sqrt();
        let least = if at == 0 { 1.0 } else { between(at - 1, at) };
        let most = if at + 1 == sizes.len() { 1e30 } else { between(at, at + 1) };
        [least, most]
    }
}

#[cfg(test)]
mod tests {
    use super::{NETS, of};

    /// A workload is found by its number of parameters, and the list ascends.
    #[test]
    fn parameters_are_counted() {
        assert!(NETS.is_sorted_by(|a, b| a.parameters < b.parameters));
        for net in &NETS {
            let each = net.sizes.windows(2).map(|pair| (pair[0] + 1) * pair[1]).sum::<usize>();
            let hidden: usize = net.sizes[1..net.sizes.len() - 1].iter().sum();
            let gains = if net.norm == fiedler::train::Norm::None { 0 } else { 2 * hidden };
            assert_eq!(net.parameters, each + gains, "{}", net.name);
            assert_eq!(of(net.parameters).unwrap().name, net.name);
        }
    }
}
