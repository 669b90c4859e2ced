//! Conversions between f32 and f16, which run on the side (host or device) where the array is stored, and of tiny
//! numbers to and from a scale at which a device does not flush them; and the replacement of results by those of the
//! CPU.

pub(super) mod kernels;
pub(super) mod replace;
pub(super) mod tiny;

use crate::array::{Array, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu};
use crate::error::{Error, ErrorKind, Result};
use crate::parallel;
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use kernels::{Narrow, Params, WIDTH, Widen};

/// The number of elements that a thread converts at a time.
const CHUNK: usize = 1 << 15;

impl Array<f32> {
    /// Converts every element to the nearest f16, and rounds ties to even. A magnitude of at least 65520 becomes
    /// infinity, and a magnitude below 2^-25 becomes zero. The sign is kept in both cases. NaN stays NaN. The result is
    /// on the same side (host or device) as `self`.
    ///
    /// # Errors
    /// [`ErrorKind::Domain`] if the array is on the device of another context; [`ErrorKind::Limit`] if the array is on
    /// the device and is larger than a binding; device errors.
    pub fn to_f16(&self, ctx: &Context) -> Result<Array<f16>> {
        let storage = match self.storage() {
            Storage::Host(data) => {
                let mut out = vec![f16::ZERO; data.len()];
                let chunks = data.chunks(CHUNK).zip(out.chunks_mut(CHUNK));
                ctx.on_host(|| {
                    parallel::for_each(chunks, |_, (from, to)| to.convert_from_f32_slice(from));
                    Ok(())
                })?;
                Storage::host(out)
            }
            Storage::Device(buffer) => Storage::device(narrow(ctx.gpu_of(buffer)?, buffer, self.shape().len())?),
        };
        Ok(self.made(self.shape(), storage))
    }
}

impl Array<f16> {
    /// Converts every element to the f32 with the same numerical value. The result is on the same side (host or device)
    /// as `self`.
    ///
    /// # Errors
    /// The errors of [`Array::to_f16`].
    pub fn to_f32(&self, ctx: &Context) -> Result<Array<f32>> {
        let storage = match self.storage() {
            Storage::Host(data) => {
                let mut out = vec![0.0; data.len()];
                let chunks = data.chunks(CHUNK).zip(out.chunks_mut(CHUNK));
                ctx.on_host(|| {
                    parallel::for_each(chunks, |_, (from, to)| from.convert_to_f32_slice(to));
                    Ok(())
                })?;
                Storage::host(out)
            }
            Storage::Device(buffer) => Storage::device(widen(ctx.gpu_of(buffer)?, buffer, self.shape().len())?),
        };
        Ok(self.made(self.shape(), storage))
    }
}

/// Returns `len` as the u32 that the kernels take, after checking that an array of `len` elements fits in a binding.
fn count(gpu: &Gpu, len: usize) -> Result<u32> {
    let allowed = (gpu.adapter().limits.storage_binding / 4).min(1 << 31);
    u32::try_from(len).ok().filter(|&len| u64::from(len) <= allowed).ok_or_else(|| -> Error {
        ErrorKind::Limit { what: "elements of an array on the device".to_owned(), needed: len as u64, allowed }.into()
    })
}

fn narrow(gpu: &Gpu, x: &Buffer<f32>, len: usize) -> Result<Buffer<f32>> {
    let len = count(gpu, len)?;
    let mut rec = gpu.record();
    let mut y = rec.array::<u32>(len.div_ceil(2) as usize)?;
    for range in rec.ranges(len.div_ceil(2 * WIDTH), f64::from(40 * WIDTH)) {
        let params = Params { first: range.first * WIDTH, len };
        let kernel = Narrow { params, x, y: &mut y };
        rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
    }
    Ok(y.cast())
}

fn widen(gpu: &Gpu, x: &Buffer<f32>, len: usize) -> Result<Buffer<f32>> {
    let len = count(gpu, len)?;
    let mut rec = gpu.record();
    let mut y = rec.array::<f32>(len as usize)?;
    let x = x.cast_ref::<u32>();
    for range in rec.ranges(len.div_ceil(WIDTH), f64::from(10 * WIDTH)) {
        let params = Params { first: range.first * WIDTH, len };
        let kernel = Widen { params, x: &x, y: &mut y };
        rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
    }
    Ok(y)
}
