//! The tables of words that tell the kernels about layers, blocks of parameters and runs. Their order is that of
//! `memory.wgsl`, `update.wgsl` and `record.wgsl`.

use super::super::cpu::thresholds;
use super::super::kernels::{BLOCK_WORDS, LAYER_WORDS, MATRIX, NONE, RECORD_WORDS, ROW, SUMMED, THRESHOLDS};
use super::super::layout::Layout;
use super::super::optimizer::{Hyper, Optimizer, Update};
use super::super::spec::{Activation, Loss, Norm};
use super::super::{Program, Replica};
use super::form::{Parameters, Rows};
use crate::shape::to_u32;

/// What the kernels are told about the loss: its number, the weights of the classes, and two parameters.
pub(super) struct OfLoss {
    pub(super) kind: u32,
    pub(super) class_weights: Vec<u32>,
    pub(super) of_label: f32,
    pub(super) of_each: f32,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "f32 is the kernels' precision")]
impl OfLoss {
    pub(super) fn new(program: &Program) -> Self {
        let plain = |kind| Self { kind, class_weights: Vec::new(), of_label: 0.0, of_each: 0.0 };
        match &program.loss {
            Loss::CrossEntropy { label_smoothing, class_weights } => Self {
                class_weights: class_weights.iter().map(|&weight| (weight as f32).to_bits()).collect(),
                of_label: (1.0 - label_smoothing) as f32,
                of_each: (label_smoothing / program.net.outputs() as f64) as f32,
                ..plain(0)
            },
            Loss::BinaryCrossEntropy => plain(1),
            Loss::BoundedCrossEntropy(bound) => {
                let least = (-bound).exp();
                Self { of_label: (1.0 - 2.0 * least) as f32, of_each: least as f32, ..plain(2) }
            }
            Loss::MeanSquares => plain(3),
            Loss::Tangent => plain(4),
            Loss::Savage => plain(5),
            Loss::WeightedBinary => plain(6),
        }
    }
}

/// Returns the words of all layers.
#[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
pub(super) fn layers(layout: &Layout, parameters: &Parameters, rows: &Rows) -> Vec<u32> {
    let mut words = Vec::new();
    for (placed, of) in layout.layers.iter().zip(&rows.layers) {
        let weights = parameters.laid(&placed.weights);
        let [gain, shift] = placed.scaling.map_or([0, 0], |both| both.map(|block| parameters.laid(&block).at));
        let (activation, slope) = match placed.layer.activation {
            Activation::Identity => (0, 0.0),
            Activation::Relu => (1, 0.0),
            Activation::LeakyRelu(slope) => (2, slope as f32),
            Activation::Gelu => (3, 0.0),
            Activation::Tanh => (4, 0.0),
            Activation::Sigmoid => (5, 0.0),
        };
        let norm = match placed.layer.norm {
            Norm::None => 0,
            Norm::Batch => 1,
            Norm::Layer => 2,
        };
        let outputs = placed.layer.outputs;
        let own = [
            to_u32(placed.inputs.div_ceil(4)),
            to_u32(outputs),
            to_u32(outputs.div_ceil(4)),
            weights.at,
            weights.pitch,
            u32::from(placed.by_output),
            parameters.laid(&placed.bias).at,
            gain,
            shift,
            placed.running.map_or(0, |host| parameters.running(host)),
            norm,
            activation,
            slope.to_bits(),
            of.inputs,
            of.input_pitch,
            of.outputs,
            of.pitch,
            of.derivatives,
            of.hats,
            of.sums,
            to_u32(placed.stride),
        ];
        words.extend_from_slice(&own);
        words.resize(words.len().next_multiple_of(LAYER_WORDS), 0);
    }
    words
}

/// Returns the words of all blocks of parameters.
pub(super) fn blocks(layout: &Layout, parameters: &Parameters, rows: &Rows) -> Vec<u32> {
    let mut words = Vec::new();
    let mut block = |block: &super::super::layout::Block, kind: u32, left: [u32; 2], right: [u32; 2]| {
        let laid = parameters.laid(block);
        let sizes = [to_u32(block.rows), to_u32(block.cols), laid.pitch, to_u32(block.first)];
        words.extend_from_slice(&[kind, laid.at]);
        words.extend_from_slice(&sizes);
        words.extend_from_slice(&left);
        words.extend_from_slice(&right);
        words.resize(words.len().next_multiple_of(BLOCK_WORDS), 0);
    };
    for (placed, of) in layout.layers.iter().zip(&rows.layers) {
        let (inputs, derivatives) = ([of.inputs, of.input_pitch], [of.derivatives, of.pitch]);
        let (left, right) = if placed.by_output { (derivatives, inputs) } else { (inputs, derivatives) };
        block(&placed.weights, MATRIX, left, right);
        block(&placed.bias, ROW, [0, 0], derivatives);
        if let Some([gain, shift]) = &placed.scaling {
            block(gain, SUMMED, [0, 0], [of.sums, 0]);
            block(shift, SUMMED, [0, 0], [of.sums + to_u32(placed.layer.outputs.div_ceil(4)), 0]);
        }
    }
    words
}

/// The number of an update, and its numbers in the order in which `update.wgsl` reads them.
pub(super) fn of_update(update: Update<f32>) -> (u32, [f32; 8]) {
    match update {
        Update::Sgd { rate, decay } => (0, [rate, decay, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        Update::Momentum { rate, decay, momentum, gain, nesterov } => {
            (1 + u32::from(nesterov), [rate, decay, momentum, gain, 0.0, 0.0, 0.0, 0.0])
        }
        Update::Adam { rate, mean, beta_2, square, correction, epsilon, decay, shrink } => {
            (3, [rate, mean, beta_2, square, correction, epsilon, decay, shrink])
        }
        Update::Sgld { rate, shrink, noise } => (4, [rate, shrink, noise, 0.0, 0.0, 0.0, 0.0, 0.0]),
        Update::Psgld { rate, pull, noise, beta_2, square, epsilon, adapts } => {
            (5, [rate, pull, noise, beta_2, square, epsilon, f32::from(u8::from(adapts)), 0.0])
        }
        Update::Prior { deviation } => (6, [deviation, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    }
}

/// Returns the part of an update that follows the number of steps that changed the parameters: the corrections of
/// Adam's biases, or the gain of momentum.
pub(super) fn correction(optimizer: Optimizer, hyper: &Hyper, applied: u64) -> [f32; 2] {
    // At a rate of 1, the rate is the correction.
    match Update::<f32>::new(optimizer, hyper, 1.0, [applied; 2]) {
        Update::Momentum { gain, .. } => [gain, 0.0],
        Update::Adam { rate, correction, .. } => [rate, correction],
        _ => [0.0; 2],
    }
}

/// What a dispatch does to a run.
pub(super) struct Record {
    /// The place of the run in the buffers.
    pub(super) run: u32,
    pub(super) epoch: u64,
    pub(super) batch: u32,
    pub(super) steps: u32,
    /// Where the list of its samples is, and where their scaling is.
    pub(super) list: u32,
    pub(super) scaling: Option<u32>,
    /// Where the numbers of its updates are.
    pub(super) rates: u32,
    pub(super) update: u32,
    pub(super) shuffled: bool,
    /// Where the corrections of updates are, and the place among them of the first step if none is skipped before it,
    /// plus the number of steps that have been skipped.
    pub(super) corrections: [u32; 2],
}

#[expect(clippy::cast_possible_truncation, reason = "halves of 64 bits; f32 is the kernels' precision")]
impl Record {
    /// Returns the words.
    pub(super) fn words<T>(&self, program: &Program, replica: &Replica<T>, first_step: u64) -> Vec<u32> {
        let [key_low, key_high] = replica.words.key();
        let hyper = &replica.hyper;
        let clips = hyper.clip.is_finite();
        let mut words = vec![
            key_low,
            key_high,
            first_step as u32,
            (first_step >> 32) as u32,
            self.epoch as u32,
            (self.epoch >> 32) as u32,
            self.batch,
            self.steps,
            self.list,
            self.scaling.unwrap_or(NONE),
            self.rates,
            (hyper.l1 as f32).to_bits(),
            (if clips { hyper.clip as f32 } else { 0.0 }).to_bits(),
            u32::from(clips),
            self.update,
            self.run,
            u32::from(self.shuffled),
            self.corrections[0],
            self.corrections[1],
        ];
        debug_assert_eq!(words.len(), THRESHOLDS);
        words.extend(thresholds(program, hyper));
        words.resize(words.len().next_multiple_of(RECORD_WORDS), 0);
        words
    }
}
