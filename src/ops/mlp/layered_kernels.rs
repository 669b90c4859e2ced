//! The kernels of the form that computes a layer at a time: each does one thing for all runs.

use super::kernels::{Params, STORED};
use crate::device::{Budget, Overrides, kernels, mirrors};

/// Invocations of a workgroup.
pub(super) const WIDTH: u32 = 256;
/// The rows and the columns of a result that a workgroup computes.
pub(super) const TILE: u32 = 64;
/// The sums that a workgroup computes together.
pub(super) const SUMS_TOGETHER: u32 = 8;
/// The vectors of parameters in a piece, of which a workgroup has one.
pub(super) const PIECE: u32 = 4096;

/// Returns the overrides of a variant. All numbers of a run are in storage.
pub(super) fn variant(own: Overrides<'_>) -> Vec<(&'static str, f64)> {
    let shared = [("WIDTH", WIDTH.into()), ("QUADS", 1.0), ("OWN_WEIGHTS", 0.0), ("ROWS", STORED.into())];
    [&shared[..], own].concat()
}

/// Returns the override with the given name.
pub(super) fn whether(name: &'static str, yes: bool) -> (&'static str, f64) {
    (name, f64::from(u8::from(yes)))
}

fn all(own: &[Vec<(&'static str, f64)>]) -> Vec<Vec<(&'static str, f64)>> {
    own.iter().map(|own| variant(own)).collect()
}

fn only() -> Vec<Vec<(&'static str, f64)>> {
    all(&[Vec::new()])
}

fn forward() -> Vec<Vec<(&'static str, f64)>> {
    let both = [(true, false), (true, true), (false, false), (false, true)];
    all(&both.map(|(trains, by_output)| vec![whether("TRAINING", trains), whether("RIGHT_ALONG", by_output)]))
}

fn backward() -> Vec<Vec<(&'static str, f64)>> {
    all(&[false, true].map(|by_input| vec![whether("RIGHT_ALONG", by_input)]))
}

fn gradient() -> Vec<Vec<(&'static str, f64)>> {
    all(&[vec![whether("LEFT_ALONG", false)]])
}

fn normalize() -> Vec<Vec<(&'static str, f64)>> {
    let some = [(true, true), (true, false), (false, false)];
    all(&some.map(|(trains, samples)| vec![whether("TRAINING", trains), whether("OVER_SAMPLES", samples)]))
}

fn denormalize() -> Vec<Vec<(&'static str, f64)>> {
    all(&[true, false].map(|samples| vec![whether("OVER_SAMPLES", samples)]))
}

/// The budget of products.
const PRODUCTS: Budget = Budget {
    registers: 96,
    instructions: 1_700,
    occupancy: 30,
    because: "an invocation has 16 sums, and the next vectors of both factors, in registers",
};

kernels! {
    /// The samples of the runs' batches.
    Gather = [
        "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "mlp/order.wgsl",
        "mlp/layered/here.wgsl", "mlp/layered/gather.wgsl"
    ] variants only {
        uniform params: Params,
        read plan: u32,
        read lists: u32,
        read x: [f32; 4],
        write scratch: [u32; 4],
    }
    /// The linear map of a layer, and what follows.
    Forward = [
        "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "mlp/functions.wgsl",
        "mlp/elements.wgsl", "mlp/layered/here.wgsl", "mlp/layered/tile.wgsl", "mlp/layered/forward.wgsl"
    ] variants forward {
        budget PRODUCTS;
        uniform params: Params,
        read plan: u32,
        read weights: [f32; 4],
        write scratch: [u32; 4],
    }
    /// The normalization of a layer, and what follows.
    Normalize = [
        "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "mlp/functions.wgsl",
        "mlp/elements.wgsl", "mlp/layered/here.wgsl", "mlp/layered/strands.wgsl", "mlp/layered/normalize.wgsl"
    ] variants normalize {
        budget Budget { instructions: 1_750, ..Budget::USUAL };
        uniform params: Params,
        read plan: u32,
        read weights: [f32; 4],
        write scratch: [u32; 4],
    }
    /// The losses of the runs' batches, and their derivatives.
    Losses = [
        "shared/real.wgsl", "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl",
        "mlp/functions.wgsl", "mlp/order.wgsl", "mlp/loss.wgsl", "mlp/layered/here.wgsl", "mlp/layered/losses.wgsl"
    ] variants only {
        uniform params: Params,
        read plan: u32,
        read targets: u32,
        write scratch: [u32; 4],
        write found: [u32; 4],
    }
    /// The derivatives by the inputs of the activation in front of a layer.
    Backward = [
        "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "mlp/functions.wgsl",
        "mlp/elements.wgsl", "mlp/layered/here.wgsl", "mlp/layered/tile.wgsl", "mlp/layered/backward.wgsl"
    ] variants backward {
        budget PRODUCTS;
        uniform params: Params,
        read plan: u32,
        read weights: [f32; 4],
        write scratch: [u32; 4],
    }
    /// The derivatives by the inputs of a normalization.
    Denormalize = [
        "random/philox.wgsl", "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "mlp/functions.wgsl",
        "mlp/elements.wgsl", "mlp/layered/here.wgsl", "mlp/layered/strands.wgsl", "mlp/layered/denormalize.wgsl"
    ] variants denormalize {
        uniform params: Params,
        read plan: u32,
        read weights: [f32; 4],
        write scratch: [u32; 4],
    }
    /// The gradient of a layer's weights, and the optimizer.
    Gradient = [
        "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "random/philox.wgsl", "mlp/blocks.wgsl",
        "mlp/noise.wgsl", "mlp/optimizer.wgsl", "mlp/layered/here.wgsl", "mlp/layered/tile.wgsl",
        "mlp/layered/change.wgsl", "mlp/layered/gradient.wgsl"
    ] variants gradient {
        budget PRODUCTS;
        uniform params: Params,
        read plan: u32,
        write weights: [f32; 4],
        write moments: [f32; 4],
        write scratch: [u32; 4],
        write found: [u32; 4],
    }
    /// The gradients of biases, gains and shifts, and the optimizer.
    Rest = [
        "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "random/philox.wgsl", "mlp/blocks.wgsl",
        "mlp/noise.wgsl", "mlp/optimizer.wgsl", "mlp/layered/here.wgsl", "mlp/layered/strands.wgsl",
        "mlp/layered/change.wgsl", "mlp/layered/rest.wgsl"
    ] variants only {
        budget Budget { instructions: 1_400, ..Budget::USUAL };
        uniform params: Params,
        read plan: u32,
        write weights: [f32; 4],
        write moments: [f32; 4],
        write scratch: [u32; 4],
        write found: [u32; 4],
    }
    /// The sums of squares of pieces of the gradients.
    Length = [
        "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "mlp/blocks.wgsl", "mlp/layered/here.wgsl",
        "mlp/layered/pieces.wgsl", "mlp/layered/length.wgsl"
    ] variants only {
        uniform params: Params,
        read plan: u32,
        write scratch: [u32; 4],
    }
    /// Gradients that are shortened, and the optimizer.
    Clip = [
        "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "random/philox.wgsl", "mlp/blocks.wgsl",
        "mlp/noise.wgsl", "mlp/optimizer.wgsl", "mlp/layered/here.wgsl", "mlp/layered/pieces.wgsl",
        "mlp/layered/change.wgsl", "mlp/layered/clip.wgsl"
    ] variants only {
        uniform params: Params,
        read plan: u32,
        write weights: [f32; 4],
        write moments: [f32; 4],
        write scratch: [u32; 4],
        write found: [u32; 4],
    }
    /// The noise of samplers.
    Normals = [
        "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "random/philox.wgsl", "mlp/blocks.wgsl",
        "mlp/noise.wgsl", "mlp/layered/here.wgsl", "mlp/layered/normals.wgsl"
    ] variants only {
        uniform params: Params,
        read plan: u32,
        write scratch: [u32; 4],
    }
    /// The outputs of the runs.
    Take = [
        "mlp/record.wgsl", "mlp/places.wgsl", "mlp/memory.wgsl", "mlp/layered/here.wgsl", "mlp/layered/take.wgsl"
    ] variants only {
        uniform params: Params,
        read plan: u32,
        write scratch: [u32; 4],
        write outputs: [f32; 4],
    }
}

mirrors! {
    TILE = TILE,
    SUMS_TOGETHER = SUMS_TOGETHER,
    PIECE = PIECE,
}
