//! Results of the CPU within those of a device. The words are copied as they are, subnormal numbers included.

use super::kernels::{Count, Replace};
use crate::device::{Buffer, Element, Gpu, Grid};
use crate::error::Result;
use crate::ops::certificate::Certificate;
use crate::shape::to_u32;
use std::ops::Range;

/// Records that the elements of `array` in `ranges`, one range after the other, become `elements`.
///
/// # Errors
/// Device errors.
pub(in crate::ops) fn replace<T: Element>(
    gpu: &Gpu,
    array: &mut Buffer<T>,
    ranges: impl Iterator<Item = Range<usize>>,
    elements: &[T],
) -> Result<()> {
    let words: &[u32] = bytemuck::cast_slice(elements);
    let each = size_of::<T>() / size_of::<u32>();
    let places: Vec<u32> = ranges.flat_map(|range| range.start * each..range.end * each).map(to_u32).collect();
    let mut rec = gpu.record();
    let (places, words) = (rec.upload(&places)?, rec.upload(words)?);
    let count = to_u32(words.len());
    let kernel = Replace { params: Count { count }, places: &places, words: &words, whole: &mut array.cast_mut() };
    rec.dispatch(&kernel, &[], Grid::Invocations(count), f64::from(count))
}

/// Does what [`replace`] does, for the certificates of the matrices with the given indices.
///
/// # Errors
/// Device errors.
pub(in crate::ops) fn replace_certificates(
    gpu: &Gpu,
    array: &mut Buffer<[f32; 4]>,
    indices: &[usize],
    certificates: &[Certificate],
) -> Result<()> {
    let words: Vec<[f32; 4]> = certificates.iter().map(|own| own.for_device()).collect();
    replace(gpu, array, indices.iter().map(|&i| i..i + 1), &words)
}

/// Returns those of the ascending indices that are in a batch, counted from its beginning.
pub(in crate::ops) fn indices_in(indices: &[usize], batch: &Range<usize>) -> Vec<usize> {
    indices.iter().filter(|i| batch.contains(i)).map(|i| i - batch.start).collect()
}
