//! Columns of one representation for the samples of a block, in the form in which caches store them.
//!
//! | part | bytes |
//! |---|---|
//! | the status of each sample | 1 each |
//! | the columns of each sample, sample by sample | f32, little-endian |
//!
//! Columns go to this form when they are computed and from it to the result, so that what is found in a cache takes one
//! copy, and what is computed two.

use crate::cache::Value;
use crate::ops::series::Status;
use std::ops::Range;
use std::sync::Arc;

/// Columns of a representation for the samples of a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    bytes: Value,
    samples: usize,
}

/// A unit that is being computed.
pub(super) struct Filling<'a> {
    status: &'a mut [u8],
    values: &'a mut [[u8; 4]],
}

impl Unit {
    /// Returns a unit whose columns are not defined for any sample.
    pub(super) fn undefined(samples: usize, width: usize) -> Self {
        let mut bytes: Value = std::iter::repeat_n(Status::Undefined as u8, samples * (1 + 4 * width)).collect();
        filling(&mut bytes, samples).values.fill(f32::NAN.to_le_bytes());
        Self { bytes, samples }
    }

    /// Returns a unit that was stored, unless its bytes are those of none with these numbers of samples and columns.
    pub(super) fn stored(bytes: Value, samples: usize, width: usize) -> Option<Self> {
        let (status, values) = bytes.split_at_checked(samples)?;
        let valid = values.len() == 4 * samples * width && status.iter().all(|&byte| Status::of(byte).is_some());
        valid.then_some(Self { bytes, samples })
    }

    /// Returns what a cache stores.
    pub(super) fn bytes(&self) -> &Value {
        &self.bytes
    }

    /// Returns the places of the columns of a unit that was not shared yet.
    pub(super) fn fill(&mut self) -> Filling<'_> {
        filling(&mut self.bytes, self.samples)
    }

    /// Copies the columns to their range in the rows of some samples, of which `first` is the first, and raises the
    /// status of each.
    pub(super) fn put(
        &self,
        columns: Range<usize>,
        first: usize,
        width: usize,
        values: &mut [f32],
        status: &mut [Status],
    ) {
        let (of_samples, from) = self.bytes.split_at(self.samples);
        let rows = values.chunks_mut(width.max(1)).zip(status).skip(first);
        let each = 4 * columns.len();
        for (((row, status), &of), from) in rows.zip(of_samples).zip(from.chunks(each.max(1))) {
            let to = &mut row[columns.clone()];
            if cfg!(target_endian = "little") {
                bytemuck::cast_slice_mut::<f32, u8>(to).copy_from_slice(from);
            } else {
                let from = from.as_chunks::<4>().0;
                to.iter_mut().zip(from).for_each(|(to, &from)| *to = f32::from_le_bytes(from));
            }
            *status = (*status).max(Status::of(of).unwrap_or_default());
        }
    }
}

fn filling(bytes: &mut Value, samples: usize) -> Filling<'_> {
    let Some(bytes) = Arc::get_mut(bytes) else { unreachable!("a unit that is being computed has one owner") };
    let (status, values) = bytes.split_at_mut(samples);
    Filling { status, values: values.as_chunks_mut().0 }
}

impl Filling<'_> {
    /// Returns the number of columns.
    pub(super) fn width(&self) -> usize {
        self.values.len() / self.status.len()
    }

    /// Sets the columns of a sample and what became of it.
    pub(super) fn set(&mut self, sample: usize, columns: &[f32], status: Status) {
        self.status[sample] = status as u8;
        let to = &mut self.values[sample * columns.len()..][..columns.len()];
        if cfg!(target_endian = "little") {
            to.as_flattened_mut().copy_from_slice(bytemuck::cast_slice(columns));
        } else {
            to.iter_mut().zip(columns).for_each(|(to, from)| *to = from.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_comes_back_or_not_at_all() {
        let mut unit = Unit::undefined(3, 2);
        assert_eq!(unit.fill().width(), 2);
        unit.fill().set(0, &[1.5, f32::INFINITY], Status::Overflow);
        unit.fill().set(2, &[-0.0, 2.0], Status::Ok);
        assert_eq!(unit.bytes()[..7], [2, 1, 0, 0, 0, 0xc0, 0x3f], "the status, and 1.5 with its least byte first");
        let bytes = unit.bytes().clone();
        assert_eq!(Unit::stored(bytes.clone(), 3, 2).unwrap(), unit);
        let stored = |bytes: &[u8], samples, width| Unit::stored(bytes.into(), samples, width);
        assert!(stored(&bytes, 3, 1).is_none() && stored(&bytes[1..], 3, 2).is_none());
        assert!(stored(&bytes[..26], 3, 2).is_none() && stored(&[], 3, 2).is_none());
        assert!(stored(&[&[9], &bytes[1..]].concat(), 3, 2).is_none());

        let (mut values, mut status) = (vec![7.0; 4 * 4], vec![Status::Ok, Status::Ok, Status::NotFinite, Status::Ok]);
        unit.put(1..3, 1, 4, &mut values, &mut status);
        assert_eq!(status, [Status::Ok, Status::Overflow, Status::NotFinite, Status::Ok]);
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let expected = [7.0, 1.5, f32::INFINITY, 7.0, 7.0, f32::NAN, f32::NAN, 7.0, 7.0, -0.0, 2.0, 7.0];
        assert_eq!(bits(&values), bits(&[&[7.0; 4][..], &expected].concat()));
    }
}
