//! Products on the device: the kernels, their order and their buffers. The functions only record dispatches and do not
//! wait for the device.

use super::forms::{Form, Plan};
use super::kernels::{
    BIAS_OF_COLUMNS, BIAS_OF_ROWS, Cooperative, Direct, IDENTITY, NO_BIAS, Operands, Params, SUMMED, SmallCooperative,
    Sum, SumOfScaled, Tile, Tiny, tile_overrides,
};
use crate::device::{Adapter, Buffer, Gpu, Recorder};
use crate::error::{ErrorKind, Result};

/// One factor on the device, stored in column-major order, one matrix after another.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Factor<'a> {
    /// The elements; f16 is stored two to a word.
    pub(in crate::ops) buffer: &'a Buffer<f32>,
    /// Whether the product uses the transpose of the factor.
    pub(in crate::ops) transposed: bool,
    /// Whether one matrix is shared by the whole batch.
    pub(in crate::ops) shared: bool,
}

/// The products `C = act(alpha op(A) op(B) + beta C + bias)` of a batch. op(A) is `m x k`, op(B) is `k x n`, and each
/// result is `m x n`.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Product<'a> {
    pub(in crate::ops) m: u32,
    pub(in crate::ops) n: u32,
    pub(in crate::ops) k: u32,
    pub(in crate::ops) batch: u32,
    pub(in crate::ops) a: Factor<'a>,
    pub(in crate::ops) b: Factor<'a>,
    pub(in crate::ops) ending: Ending<'a>,
    /// Whether every element, including the results, is f16.
    pub(in crate::ops) half: bool,
}

/// The steps that turn a sum into a result.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Ending<'a> {
    pub(in crate::ops) alpha: f32,
    /// The factor of C. If it is 0, C is not read.
    pub(in crate::ops) beta: f32,
    /// The elements of C, and whether one matrix is shared by the whole batch.
    pub(in crate::ops) c: Option<(&'a Buffer<f32>, bool)>,
    pub(in crate::ops) bias: Option<Bias<'a>>,
    /// The activation: 0 none, 1 ReLU, 2 GELU, 3 tanh, 4 sigmoid.
    pub(in crate::ops) activation: u32,
}

/// A bias, which is added to whole rows or to whole columns.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops) struct Bias<'a> {
    pub(in crate::ops) buffer: &'a Buffer<f32>,
    pub(in crate::ops) of_rows: bool,
    pub(in crate::ops) shared: bool,
}

impl Product<'_> {
    /// Returns the settings that are compiled into the kernel. If the kernel stores raw sums (`raw`), the ending is
    /// plain, because another kernel finishes the sums.
    fn operands(&self, raw: bool) -> Operands {
        let plain = raw || self.ending.is_plain();
        Operands { transpose_a: self.a.transposed, transpose_b: self.b.transposed, half: self.half, plain }
    }

    /// Returns the parameters of a dispatch, except for the dispatch range.
    fn params(&self, plan: &Plan) -> Params {
        let Self { m, n, k, batch, a, b, ending, .. } = *self;
        let stride = |shared: bool, numbers: u32| if shared { 0 } else { numbers };
        let (c_shared, bias_shared, bias_is) = (
            ending.c.is_none_or(|c| c.1),
            ending.bias.is_none_or(|bias| bias.shared),
            ending.bias.map_or(NO_BIAS, |bias| if bias.of_rows { BIAS_OF_ROWS } else { BIAS_OF_COLUMNS }),
        );
        Params {
            first: 0,
            m,
            n,
            k,
            a_stride: stride(a.shared, m * k),
            b_stride: stride(b.shared, k * n),
            c_stride: stride(c_shared, m * n),
            bias_stride: stride(bias_shared, if bias_is == BIAS_OF_ROWS { m } else { n }),
            batch,
            parts: plan.parts(k),
            span: plan.span,
            raw: 0,
            activation: ending.activation,
            bias_is,
            together: plan.together,
            depth: plan.depth,
            skip: 0,
            alpha: ending.alpha,
            beta: if ending.c.is_some() { ending.beta } else { 0.0 },
        }
    }
}

impl Ending<'_> {
    /// The ending that leaves sums unchanged.
    pub(super) const NONE: Self = Self { alpha: 1.0, beta: 0.0, c: None, bias: None, activation: IDENTITY };

    /// Returns whether the results are just the sums times alpha, without C, a bias or an activation.
    fn is_plain(&self) -> bool {
        self.c.is_none() && self.bias.is_none() && self.activation == IDENTITY
    }
}

/// Returns the name of the form that the device uses for this shape, if there is one.
pub(in crate::ops) fn form(gpu: &Gpu, m: u32, n: u32, k: u32, half: bool) -> Option<&'static str> {
    Plan::of(gpu.adapter(), m, n, k, half).map(|plan| plan.name())
}

/// Returns the plan for this shape.
///
/// # Errors
/// [`ErrorKind::Limit`] if none of the allowed forms supports the shape.
pub(super) fn plan(adapter: &Adapter, m: u32, n: u32, k: u32, half: bool) -> Result<Plan> {
    Plan::of(adapter, m, n, k, half).ok_or_else(|| {
        let what = format!("sides of a result in the kernels of matmul that may be used on {}", adapter.name);
        ErrorKind::Limit { what, needed: m.max(n).into(), allowed: 0 }.into()
    })
}

/// Returns the number of words of device memory that the parts of sums take in addition to factors and results.
pub(super) fn room_for_sums(plan: &Plan, m: u32, n: u32, k: u32, batch: u64, half: bool) -> u64 {
    let parts = if plan.through_sums(m, k, half) { plan.parts(k) } else { 0 };
    u64::from(parts) * u64::from(m) * u64::from(n) * batch
}

/// Records a product into `out`, which holds `batch` matrices of `m x n`. If `product` is a block of a larger product,
/// the plan is the plan of the larger product. Every index must fit in 31 bits, and every buffer must fit in one
/// binding.
///
/// # Errors
/// Device errors.
pub(super) fn gemm_by(rec: &mut Recorder<'_>, plan: &Plan, product: &Product<'_>, out: &mut Buffer<f32>) -> Result<()> {
    let Product { m, n, k, batch, half, .. } = *product;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    if !plan.through_sums(m, k, half) {
        return multiply(rec, plan, product, product.params(plan), out);
    }
    let len = plan.parts(k) as usize * m as usize * n as usize * batch as usize;
    let mut sums = rec.array::<f32>(len)?;
    partial(rec, plan, product, 0, &mut sums)?;
    finish(rec, product, product.params(plan), &sums, None, out)
}

/// Records the raw sums of a product's parts into `sums`, starting at part `skip`.
pub(super) fn partial(
    rec: &mut Recorder<'_>,
    plan: &Plan,
    product: &Product<'_>,
    skip: u32,
    sums: &mut Buffer<f32>,
) -> Result<()> {
    let params = Params { raw: 1, skip, ..product.params(plan) };
    multiply(rec, plan, product, params, sums)
}

fn multiply(
    rec: &mut Recorder<'_>,
    plan: &Plan,
    product: &Product<'_>,
    params: Params,
    out: &mut Buffer<f32>,
) -> Result<()> {
    let [a, b] = [product.a, product.b].map(|factor| factor.buffer.cast_ref::<u32>());
    // An absent operand is not read, but a buffer must be bound in its place.
    let c = product.ending.c.map_or_else(|| a.clone(), |(c, _)| c.cast_ref());
    let bias = product.ending.bias.map_or_else(|| a.clone(), |bias| bias.buffer.cast_ref());
    let mut out = out.cast_mut::<u32>();
    let operands = product.operands(params.raw != 0).overrides();
    let flops = plan.flops(product.k);
    for range in rec.ranges(plan.units(product.m, product.n, params.parts, product.batch), flops) {
        let (grid, flops) = (range.grid(), range.flops);
        let params = Params { first: range.first, ..params };
        let (a, b, c, bias, out) = (&a, &b, &c, &bias, &mut out);
        match plan.form {
            Form::Tiny { order } => {
                let variant = [&operands[..], &[("ORDER", order.into())]].concat();
                rec.dispatch(&Tiny { params, a, b, c, bias, out }, &variant, grid, flops)?;
            }
            Form::Tile { side, depth, rolled } => {
                let variant = [&operands[..], &tile_overrides(side, depth, rolled)[..]].concat();
                rec.dispatch(&Tile { params, a, b, c, bias, out }, &variant, grid, flops)?;
            }
            Form::Direct { tall, wide } => {
                let variant = [&operands[..], &[("TALL", tall.into()), ("WIDE", wide.into())]].concat();
                let (a, b, out) = (&a.cast_ref(), &b.cast_ref(), &mut out.cast_mut());
                rec.dispatch(&Direct { params, a, b, c, bias, out }, &variant, grid, flops)?;
            }
            Form::Cooperative { fragment, lanes } => {
                let variant = [&operands[..], &[("LANES", lanes.into())]].concat();
                let (a, b) = (&a.cast_ref(), &b.cast_ref());
                if fragment == 8 {
                    rec.dispatch(&SmallCooperative { params, a, b, c, bias, out }, &variant, grid, flops)?;
                } else {
                    rec.dispatch(&Cooperative { params, a, b, c, bias, out }, &variant, grid, flops)?;
                }
            }
        }
    }
    Ok(())
}

/// Records the computation of the results from the first `parts` parts of raw sums.
pub(super) fn finish_parts(
    rec: &mut Recorder<'_>,
    plan: &Plan,
    product: &Product<'_>,
    parts: u32,
    sums: &Buffer<f32>,
    out: &mut Buffer<f32>,
) -> Result<()> {
    finish(rec, product, Params { parts, ..product.params(plan) }, sums, None, out)
}

/// Records the computation of f32 results from all parts of the sums of scaled factors. `exponents` has the exponents
/// of the powers of two by which the rows of op(A), and the columns of op(B), were scaled. The exponents of a shared
/// factor are stored once.
pub(super) fn finish_scaled(
    rec: &mut Recorder<'_>,
    plan: &Plan,
    product: &Product<'_>,
    parts: u32,
    sums: &Buffer<f32>,
    exponents: [&Buffer<u32>; 2],
    out: &mut Buffer<f32>,
) -> Result<()> {
    finish(rec, product, Params { parts, ..product.params(plan) }, sums, Some(exponents), out)
}

fn finish(
    rec: &mut Recorder<'_>,
    product: &Product<'_>,
    params: Params,
    sums: &Buffer<f32>,
    exponents: Option<[&Buffer<u32>; 2]>,
    out: &mut Buffer<f32>,
) -> Result<()> {
    let words = sums.cast_ref::<u32>();
    let c = product.ending.c.map_or_else(|| words.clone(), |(c, _)| c.cast_ref());
    let bias = product.ending.bias.map_or_else(|| words.clone(), |bias| bias.buffer.cast_ref());
    let mut out = out.cast_mut::<u32>();
    let len = product.m * product.n * product.batch;
    let units = if product.half { len.div_ceil(2) } else { len }.div_ceil(SUMMED);
    let flops = f64::from(SUMMED) * f64::from(2 * params.parts + 16);
    for range in rec.ranges(units, flops) {
        let params = Params { first: range.first * SUMMED, ..params };
        let (c, bias, out) = (&c, &bias, &mut out);
        let variant = [("HALF", product.half.into()), ("PLAIN", product.ending.is_plain().into())];
        let (grid, flops) = (range.grid(), range.flops);
        match exponents {
            None => rec.dispatch(&Sum { params, sums, c, bias, out }, &variant, grid, flops)?,
            Some([down, across]) => {
                let kernel = SumOfScaled { params, sums, c, bias, down, across, out };
                rec.dispatch(&kernel, &variant, grid, flops)?;
            }
        }
    }
    Ok(())
}
