//! One training step of one run: gather, forward, loss, backward, update.

use super::super::layout::{Layout, Placed};
use super::super::mixed::MixedPrecision;
use super::super::noise::{ABREAST, Words, keep};
use super::super::optimizer::Update;
use super::super::spec::{Activation, Norm};
use super::between::{activate, activate_backward, multiply};
use super::blocked::{self, Team, is_large};
use super::loss::{Prepared, Targets, is_right};
use super::narrow::narrow;
use super::norm::{
    Scaling, batch_norm, batch_norm_backward, batch_norm_fixed, column_sums, layer_norm, layer_norm_backward,
};
use super::product::{Factor, Rows, Sizes, dots, product};
use super::update::{Moving, Normals, length, update, update_in_parts, update_threads};
use crate::array::Real as _;
use crate::lanes::Vector;
use crate::ops::elementary::Elementary;

/// What the steps of all runs of a call share.
#[derive(Debug)]
pub(super) struct Engine<T> {
    pub(super) layout: Layout,
    pub(super) loss: Prepared<T>,
}

/// The numbers that a run changes.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::ops::mlp) struct Moved<T> {
    pub(in crate::ops::mlp) weights: Vec<T>,
    pub(in crate::ops::mlp) first: Vec<T>,
    pub(in crate::ops::mlp) second: Vec<T>,
    /// The running statistics of batch normalizations.
    pub(in crate::ops::mlp) running: Vec<T>,
}

/// The dropout of a run.
#[derive(Clone, Debug)]
pub(super) struct Dropout {
    /// For each layer, how many of 2^16 elements are dropped.
    pub(super) below: Vec<u32>,
}

/// Memory for one step, which a thread uses for one run after another.
pub(super) struct Scratch<T> {
    /// The inputs of the network, and what every layer passes on.
    passed: Vec<Vec<T>>,
    /// The derivatives of the loss by the results of every layer's linear map.
    derivatives: Vec<Vec<T>>,
    /// What the derivative of an activation needs.
    saved: Vec<Vec<T>>,
    /// Normalized elements, and the factors that normalized them.
    hat: Vec<Vec<T>>,
    inverse: Vec<Vec<T>>,
    /// Factors of dropout.
    kept: Vec<Vec<T>>,
    exponentials: Vec<T>,
    /// The transposed weights of every layer that needs them.
    turned: Vec<Vec<T>>,
    gradient: Vec<T>,
    normals: Normals<T>,
    mixed: MixedPrecision,
    /// In mixed precision, the parameters with weights of 16 bits.
    narrow: Vec<T>,
    /// The factor of the derivatives.
    scale: T,
    /// Whether everything that was rounded to 16 bits is finite.
    fits: bool,
    /// The number of samples for which there is room.
    room: usize,
    /// The threads that may work on one step.
    pub(super) team: Team<T>,
}

impl<T: Elementary> Scratch<T> {
    pub(super) fn new(layout: &Layout, room: usize, mixed: MixedPrecision) -> Self {
        let zeros = |len: usize| vec![T::from_f64(0.0); len];
        let each = |of: &dyn Fn(&Placed) -> usize| layout.layers.iter().map(|l| zeros(of(l))).collect::<Vec<_>>();
        let inputs = layout.layers.first().map_or(0, |l| l.in_stride);
        let mut passed = vec![zeros(inputs * room)];
        passed.extend(each(&|l| l.stride * room));
        let needed = |yes: bool, len: usize| if yes { len } else { 0 };
        Self {
            passed,
            derivatives: each(&|l| l.stride * room),
            saved: each(&|l| {
                let saves = matches!(l.layer.activation, Activation::Gelu | Activation::Tanh | Activation::Sigmoid);
                needed(saves, l.stride * room)
            }),
            hat: each(&|l| needed(l.scaling.is_some(), l.stride * room)),
            inverse: each(&|l| needed(l.scaling.is_some(), l.stride.max(room))),
            kept: each(&|_| 0),
            exponentials: zeros(layout.layers.last().map_or(0, |l| l.stride * room)),
            turned: each(&|_| 0),
            gradient: zeros(layout.len),
            normals: Normals::new(Words::new(0, "none yet"), 0),
            mixed,
            narrow: Vec::new(),
            scale: T::from_f64(1.0),
            fits: true,
            room,
            team: Team::new(1),
        }
    }

    /// Returns the place for the inputs of samples.
    pub(super) fn inputs(&mut self) -> &mut [T] {
        &mut self.passed[0]
    }

    /// Returns the outputs of the network after [`forward`].
    pub(super) fn outputs(&self) -> &[T] {
        self.derivatives.last().map_or(&[], |z| z)
    }

    /// Returns the place for the derivatives of the loss by the outputs, which [`backward`] reads.
    pub(super) fn outputs_mut(&mut self) -> &mut [T] {
        self.derivatives.last_mut().map_or(&mut [], |z| z)
    }

    /// Sets the factor of the derivatives of the next steps, a power of two.
    pub(super) fn set_scale(&mut self, scale: f32) {
        self.scale = T::from_f64(scale.into());
    }

    /// Returns whether everything that the last step rounded to 16 bits is finite.
    pub(super) fn fits(&self) -> bool {
        self.fits
    }

    /// Returns the gradient after [`backward`].
    pub(super) fn gradient(&self) -> &[T] {
        &self.gradient
    }
}

/// Whether a forward pass is part of training.
#[derive(Clone, Copy)]
pub(super) enum Mode<'a> {
    Training(Words, u64, &'a Dropout),
    Evaluation,
}

/// Computes the outputs of `rows` samples, whose inputs are in `scratch`. In training, the running statistics change.
pub(super) fn forward<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    layout: &Layout,
    scratch: &mut Scratch<V::Scalar>,
    weights: &[V::Scalar],
    running: &mut [V::Scalar],
    rows: usize,
    mode: Mode<'_>,
) {
    debug_assert!(rows <= scratch.room, "{rows} samples in a room for {}", scratch.room);
    let last = layout.layers.len() - 1;
    let mixed = if let Mode::Training(..) = mode { scratch.mixed } else { MixedPrecision::Off };
    let inputs = layout.layers[0].in_stride * rows;
    let mut fits = narrow::<V>(token, mixed, &mut scratch.passed[0][..inputs]);
    for (l, placed) in layout.layers.iter().enumerate() {
        let Placed { layer, in_stride, stride, .. } = *placed;
        let (before, after) = scratch.passed.split_at_mut(l + 1);
        let (x, mut z) = (&before[l][..rows * in_stride], &mut after[0][..rows * stride]);
        if l == last {
            z = &mut scratch.derivatives[l][..rows * stride];
        }
        let left = Rows { data: x, stride: in_stride };
        let of_weights = Rows { data: &weights[placed.weights.range()], stride: placed.weights.stride };
        let bias = &weights[placed.bias.range()];
        if placed.by_output {
            dots::<V>(token, rows, layer.outputs, left, of_weights, bias, z, stride);
        } else {
            let sizes = Sizes { rows, inner: placed.inputs, cols: layer.outputs };
            product::<V>(token, &scratch.team, sizes, Factor::Plain(left), of_weights, Some(bias), z);
        }
        if placed.scaling.is_none() {
            fits &= narrow::<V>(token, mixed, z);
        }
        if l == last {
            break;
        }
        if let Some([gain, shift]) = placed.scaling {
            let scaling = Scaling { gain: &weights[gain.range()], shift: &weights[shift.range()] };
            let (hat, inverse) = (&mut scratch.hat[l], &mut scratch.inverse[l]);
            match (placed.running, mode) {
                (Some(at), Mode::Training(..)) => {
                    batch_norm::<V>(token, z, scaling, hat, inverse, &mut running[at..at + 2 * stride]);
                }
                (Some(at), Mode::Evaluation) => {
                    batch_norm_fixed::<V>(token, z, scaling, &running[at..at + 2 * stride]);
                }
                (None, _) => layer_norm::<V>(token, layer.outputs, z, scaling, hat, inverse),
            }
        }
        activate::<V>(token, layer.activation, [layer.outputs, stride], z, &mut scratch.saved[l]);
        if let Mode::Training(words, step, dropout) = mode
            && dropout.below[l] > 0
        {
            let below = dropout.below[l];
            let kept = &mut scratch.kept[l];
            kept.resize((rows * stride).next_multiple_of(2 * ABREAST), V::Scalar::from_f64(0.0));
            let scale = V::Scalar::from_f64(65536.0 / (65536.0 - f64::from(below)));
            keep::<V>(token, words, l, step, below, scale, kept);
            multiply::<V>(token, z, kept);
        }
        fits &= narrow::<V>(token, mixed, z);
    }
    scratch.fits = fits;
}

/// Computes the gradient of all parameters from the derivatives by the outputs, which are in `scratch`.
pub(super) fn backward<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    layout: &Layout,
    scratch: &mut Scratch<V::Scalar>,
    weights: &[V::Scalar],
    rows: usize,
    dropout: &Dropout,
) {
    for (l, placed) in layout.layers.iter().enumerate().rev() {
        let Placed { layer, inputs, in_stride, stride, .. } = *placed;
        let x = Rows { data: &scratch.passed[l][..rows * in_stride], stride: in_stride };
        let (earlier, own) = scratch.derivatives.split_at_mut(l);
        let d = Rows { data: &own[0][..rows * stride], stride };
        let gradient = &mut scratch.gradient[placed.weights.range()];
        if placed.by_output {
            let sizes = Sizes { rows: layer.outputs, inner: rows, cols: inputs };
            product::<V>(token, &scratch.team, sizes, Factor::Transposed(d), x, None, gradient);
        } else {
            let sizes = Sizes { rows: inputs, inner: rows, cols: layer.outputs };
            product::<V>(token, &scratch.team, sizes, Factor::Transposed(x), d, None, gradient);
        }
        column_sums::<V>(token, d.data, &mut scratch.gradient[placed.bias.range()]);
        let Some(before) = l.checked_sub(1) else { break };
        let of_weights = &weights[placed.weights.range()];
        let sizes = Sizes { rows, inner: layer.outputs, cols: inputs };
        let out = &mut earlier[before][..rows * in_stride];
        if !placed.by_output && is_large(sizes) {
            let right = Factor::Transposed(Rows { data: of_weights, stride });
            blocked::product::<V>(token, &scratch.team, sizes, Factor::Plain(d), right, None, out);
        } else {
            let mut right = of_weights;
            if !placed.by_output {
                let turned = &mut scratch.turned[l];
                turn::<V>(token, of_weights, [inputs, layer.outputs], [stride, in_stride], turned);
                right = turned;
            }
            let right = Rows { data: right, stride: in_stride };
            product::<V>(token, &scratch.team, sizes, Factor::Plain(d), right, None, out);
        }
        let below = &layout.layers[before];
        if dropout.below[before] > 0 {
            multiply::<V>(token, out, &scratch.kept[before]);
        }
        activate_backward::<V>(token, below.layer.activation, x.data, &scratch.saved[before], out);
        scratch.fits &= narrow::<V>(token, scratch.mixed, out);
        if let Some([gain, shift]) = below.scaling {
            let (hat, inverse) = (&scratch.hat[before], &scratch.inverse[before]);
            // The blocks of gains and shifts are adjacent.
            let both = &mut scratch.gradient[gain.at..shift.at + shift.stride];
            let (of_gain, of_shift) = both.split_at_mut(gain.stride);
            let gain = &weights[gain.range()];
            if below.layer.norm == Norm::Batch {
                batch_norm_backward::<V>(token, out, gain, hat, inverse, of_gain, of_shift);
            } else {
                let len = below.layer.outputs;
                layer_norm_backward::<V>(token, len, out, gain, hat, inverse, of_gain, of_shift);
            }
            scratch.fits &= narrow::<V>(token, scratch.mixed, out);
        }
    }
}

/// Writes the transpose of a matrix of `rows` times `cols`.
fn turn<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    from: &[V::Scalar],
    [rows, cols]: [usize; 2],
    [stride, turned_stride]: [usize; 2],
    to: &mut Vec<V::Scalar>,
) {
    // The padding keeps the zeros, because a layer always has the same place.
    to.resize(cols * turned_stride, V::Scalar::from_f64(0.0));
    V::with_instructions(
        token,
        #[inline(always)]
        || {
            // Eight rows at a time become eight adjacent elements of each row of the transpose.
            let mut row = 0;
            while row + 8 <= rows {
                let lines: [&[V::Scalar]; 8] = std::array::from_fn(|i| &from[(row + i) * stride..][..cols]);
                for (col, to) in to.chunks_exact_mut(turned_stride).take(cols).enumerate() {
                    let eight: [V::Scalar; 8] = std::array::from_fn(|i| lines[i][col]);
                    to[row..][..8].copy_from_slice(&eight);
                }
                row += 8;
            }
            for row in row..rows {
                let line = &from[row * stride..][..cols];
                for (to, from) in to.chunks_exact_mut(turned_stride).zip(line) {
                    to[row] = *from;
                }
            }
        },
    );
}

/// What one step does to a run.
#[derive(Clone, Copy)]
pub(super) struct Rates<T> {
    pub(super) update: Update<T>,
    pub(super) l1: T,
    pub(super) clip: T,
}

/// Computes the loss and the gradient of `rows` samples, whose inputs are in `scratch`. Returns the loss, and the
/// number of samples whose label was predicted.
pub(super) fn gradient<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    engine: &Engine<V::Scalar>,
    scratch: &mut Scratch<V::Scalar>,
    moved: &mut Moved<V::Scalar>,
    targets: Targets<'_, V::Scalar>,
    rows: usize,
    (words, step, dropout): (Words, u64, &Dropout),
) -> (V::Scalar, u64) {
    let layout = &engine.layout;
    let mode = Mode::Training(words, step, dropout);
    let mut rounded = std::mem::take(&mut scratch.narrow);
    let mut weights_fit = true;
    let mixed = scratch.mixed;
    if mixed != MixedPrecision::Off {
        rounded.clone_from(&moved.weights);
        for placed in &layout.layers {
            weights_fit &= narrow::<V>(token, mixed, &mut rounded[placed.weights.range()]);
        }
    }
    let weights = if mixed == MixedPrecision::Off { &moved.weights } else { &rounded };
    forward::<V>(token, layout, scratch, weights, &mut moved.running, rows, mode);
    let (stride, outputs) = layout.layers.last().map_or((1, 1), |l| (l.stride, l.layer.outputs));
    let Scratch { derivatives, exponentials, scale, fits, .. } = scratch;
    let scale = *scale;
    let Some(z) = derivatives.last_mut() else { return (V::Scalar::from_f64(0.0), 0) };
    let z = &mut z[..rows * stride];
    let (loss, right) = V::with_instructions(
        token,
        #[inline(always)]
        || {
            let mut right = 0;
            if let Targets::Labels(labels) = targets {
                for (z, &label) in z.chunks_exact(stride).zip(labels) {
                    right += u64::from(is_right(&z[..outputs], label));
                }
            }
            let loss = engine.loss.derivatives(z, [outputs, stride], targets, exponentials);
            if mixed.scales() {
                z.iter_mut().for_each(|z| *z *= scale);
            }
            (loss, right)
        },
    );
    *fits &= weights_fit & narrow::<V>(token, mixed, z);
    backward::<V>(token, layout, scratch, weights, rows, dropout);
    scratch.narrow = rounded;
    if mixed.scales() {
        let unscaled = V::Scalar::from_f64(1.0) / scale;
        V::with_instructions(
            token,
            #[inline(always)]
            || scratch.gradient.iter_mut().for_each(|g| *g *= unscaled),
        );
    }
    (loss, right)
}

/// Changes the parameters by the gradient in `scratch`.
pub(super) fn apply<V: Vector<Scalar: Elementary>>(
    token: V::Token,
    layout: &Layout,
    scratch: &mut Scratch<V::Scalar>,
    moved: &mut Moved<V::Scalar>,
    (words, step): (Words, u64),
    rates: Rates<V::Scalar>,
) {
    let one = V::Scalar::from_f64(1.0);
    let clips = rates.clip < V::Scalar::from_f64(f64::INFINITY);
    let mut scale = one;
    if clips {
        let norm = length::<V>(token, layout, rates.l1, &moved.weights, &scratch.gradient);
        let factor = rates.clip / (norm + V::Scalar::from_f64(1e-6));
        scale = if factor < one { factor } else { one };
    }
    let Moved { weights, first, second, .. } = moved;
    let moving = Moving { weights, first, second };
    let Scratch { gradient, normals, team, .. } = scratch;
    let factors = [scale, rates.l1];
    if team.threads > 1 && update_threads(layout.len) > 1 {
        return update_in_parts::<V>(token, layout, rates.update, factors, gradient, moving, (words, step));
    }
    normals.at(words, step);
    update::<V>(token, layout, rates.update, factors, gradient, moving, normals);
}
