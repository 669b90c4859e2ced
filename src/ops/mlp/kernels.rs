//! The kernels of training: a workgroup trains one run through many steps, or computes its outputs. In mixed precision,
//! outputs are those of f32.

use super::gpu::Form;
use super::mixed::MixedPrecision;
use crate::device::{Adapter, Budget, Overrides, kernels, mirrors, uniform};

uniform! {
    /// What all runs of a dispatch share: where the tables of `plan` are, the sizes of the data set and of a run, and
    /// the loss. The last four are those of kernels that compute a layer at a time: the step, counted within the plan;
    /// the layer or the block; where gradients and the squares of their lengths are kept.
    pub(super) struct Params {
        first: u32, records_at: u32, layers: u32, blocks: u32, blocks_at: u32, batch: u32, samples: u32, batches: u32,
        quads: u32, stride: u32, moments: u32, scratch: u32, samples_at: u32, noise: u32, noise_at: u32, each: u32,
        loss: u32, class_weights: u32, of_label: f32, of_each: f32,
        turn: u32, part: u32, gradients_at: u32, lengths_at: u32,
    }
}

/// The words of a layer, of a block of parameters, and of a run, in `plan`.
pub(super) const LAYER_WORDS: usize = 24;
pub(super) const BLOCK_WORDS: usize = 12;
pub(super) const RECORD_WORDS: usize = 40;
/// The words of a run's record that say where the list and the scaling of its samples are, and its place in the
/// buffers; and the first of its layers' thresholds of dropout.
pub(super) const LIST: usize = 8;
pub(super) const SCALING: usize = 9;
pub(super) const RUN: usize = 15;
pub(super) const THRESHOLDS: usize = 19;

/// Where the rows of a batch are.
pub(super) const STORED: u32 = 0;
pub(super) const FAR_INPUTS: u32 = 1;
pub(super) const OWN: u32 = 2;
/// In storage, as those of [`STORED`], for the kernels that compute a layer at a time.
pub(super) const LAYERED: u32 = 3;
/// Added to places of rows that are in storage although others are in workgroup memory.
pub(super) const FAR: u32 = 0x8000_0000;
/// A place that does not exist.
pub(super) const NONE: u32 = u32::MAX;

/// The kinds of blocks of parameters: the gradient is a sum of products, a sum, or was summed up.
pub(super) const MATRIX: u32 = 0;
pub(super) const ROW: u32 = 1;
pub(super) const SUMMED: u32 = 2;

/// The number of steps without a skipped one after which the scale of losses is doubled.
pub(super) const GROWTH: u32 = 2000;
/// The number of skipped steps in a row that ends a run.
pub(super) const PATIENCE: u32 = 50;
/// The largest scale, 2^126, whose inverse is not subnormal.
pub(super) const LARGEST_SCALE: f32 = 8.507_059e37;

/// Returns the overrides of a form.
pub(super) fn variant(form: &Form) -> [(&'static str, f64); 4] {
    [
        ("WIDTH", form.width.into()),
        ("QUADS", form.quads.into()),
        ("OWN_WEIGHTS", f64::from(u8::from(form.own_weights))),
        ("ROWS", form.rows.into()),
    ]
}

/// Does the same for training in mixed precision.
pub(super) fn mixed_variant(form: &Form) -> [(&'static str, f64); 5] {
    let [width, quads, own_weights, rows] = variant(form);
    [width, quads, own_weights, rows, ("F16", f64::from(u8::from(form.mixed == MixedPrecision::F16)))]
}

fn mixed_variants() -> Vec<Vec<(&'static str, f64)>> {
    Form::all_mixed().iter().map(|form| mixed_variant(form).to_vec()).collect()
}

fn variants() -> Vec<Vec<(&'static str, f64)>> {
    Form::all().iter().map(|form| variant(form).to_vec()).collect()
}

/// Returns whether an adapter may be given a variant: whether it has that much workgroup memory.
pub(in crate::ops) fn is_given(adapter: &Adapter, _: &'static str, overrides: Overrides<'_>) -> bool {
    let value = |name: &str| overrides.iter().find(|(own, _)| *own == name).map_or(0.0, |(_, value)| *value);
    let limits = &adapter.limits;
    value("QUADS") * 16.0 + Form::OTHER_BYTES <= f64::from(limits.workgroup_storage)
        && value("WIDTH") <= f64::from(limits.workgroup_invocations)
}

kernels! {
    /// Steps of training.
    Step = [
        "shared/real.wgsl", "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl",
        "mlp/plain.wgsl", "mlp/functions.wgsl", "mlp/order.wgsl", "mlp/elements.wgsl", "mlp/forward.wgsl",
        "mlp/loss.wgsl", "mlp/backward.wgsl", "mlp/blocks.wgsl", "mlp/noise.wgsl", "mlp/optimizer.wgsl",
        "mlp/update.wgsl", "mlp/step.wgsl"
    ] variants variants {
        budget Budget {
            registers: 204,
            instructions: 9_200,
            occupancy: 10,
            because: "the numbers of a run fill workgroup memory, and compilers use the registers that this leaves",
        };
        uniform params: Params,
        read plan: u32,
        read lists: u32,
        read x: [f32; 4],
        read targets: u32,
        write weights: [f32; 4],
        write moments: [f32; 4],
        write scratch: [u32; 4],
        write found: [u32; 4],
    }
    /// Steps of training in mixed precision.
    MixedStep = [
        "shared/real.wgsl", "shared/half.wgsl", "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl",
        "mlp/narrow.wgsl", "mlp/scaler.wgsl", "mlp/functions.wgsl", "mlp/order.wgsl", "mlp/elements.wgsl",
        "mlp/forward.wgsl", "mlp/loss.wgsl", "mlp/backward.wgsl", "mlp/blocks.wgsl", "mlp/noise.wgsl",
        "mlp/optimizer.wgsl", "mlp/update.wgsl", "mlp/step.wgsl"
    ] variants mixed_variants {
        budget Budget {
            registers: 204,
            instructions: 14_000,
            occupancy: 10,
            because: "the numbers of a run fill workgroup memory, and compilers use the registers that this leaves",
        };
        uniform params: Params,
        read plan: u32,
        read lists: u32,
        read x: [f32; 4],
        read targets: u32,
        write weights: [f32; 4],
        write moments: [f32; 4],
        write scratch: [u32; 2],
        write found: [u32; 4],
    }
    /// The outputs of networks.
    Outputs = [
        "shared/real.wgsl", "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl",
        "mlp/functions.wgsl", "mlp/elements.wgsl", "mlp/forward.wgsl", "mlp/outputs.wgsl"
    ] variants variants {
        budget Budget {
            instructions: 2_400,
            occupancy: 10,
            because: "the numbers of a run fill workgroup memory",
            ..Budget::USUAL
        };
        uniform params: Params,
        read plan: u32,
        read lists: u32,
        read x: [f32; 4],
        read weights: [f32; 4],
        write scratch: [u32; 4],
        write outputs: [f32; 4],
    }
}

mirrors! {
    LAYER_WORDS = LAYER_WORDS,
    BLOCK_WORDS = BLOCK_WORDS,
    RECORD_WORDS = RECORD_WORDS,
    LIST = LIST,
    SCALING = SCALING,
    RUN = RUN,
    THRESHOLDS = THRESHOLDS,
    STORED = STORED,
    FAR_INPUTS = FAR_INPUTS,
    OWN = OWN,
    FAR = FAR,
    NONE = NONE,
    GROWTH = GROWTH,
    PATIENCE = PATIENCE,
    LARGEST_SCALE = LARGEST_SCALE,
    MATRIX = MATRIX,
    ROW = ROW,
    SUMMED = SUMMED,
}
