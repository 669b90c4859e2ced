//! Stores the columns of blocks in caches: what the keys contain, and the form of the values.
//!
//! A unit is one representation of a block of samples of one layer. Its key contains the numbers of the block, the
//! shape of the samples, the definition of the representation, and [`NUMERICS`], but no name and no path, so that
//! renamed files, renamed layers and appended samples find what is known. Columns of a sample do not depend on the
//! samples beside it, so a data set that is partly found has the same bits as one that is computed in a single call.

use super::representation::Representation;
use crate::cache::{Cache, Key, KeyHasher, Value};
use crate::io::{LayerRows, Numbers};
use crate::ops::series::Status;
use std::sync::Arc;

/// The version of the numerical results. A change that may alter any bit of any column requires a new number.
const NUMERICS: u64 = 1;
/// A description of the meaning and the layout of the stored values.
const DOMAIN: &str = "fiedler 2026-11-25 columns of a representation of a block of samples, little-endian";

/// Columns of a representation for the samples of a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    /// Sample by sample.
    pub(super) values: Vec<f32>,
    pub(super) status: Vec<Status>,
}

/// The caches that are searched before anything is computed, in the order of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores(pub(super) Vec<Arc<Cache>>);

/// The part of the keys of a block that all representations share.
pub(super) fn content(rows: &LayerRows, samples: usize, shape: [usize; 2]) -> KeyHasher {
    let mut hasher = KeyHasher::new(DOMAIN);
    hasher.number(NUMERICS).number(samples as u64).number(shape[0] as u64).number(shape[1] as u64);
    for &length in rows.lengths.iter().flatten() {
        hasher.number(length as u64);
    }
    match &rows.numbers {
        Numbers::F32(numbers) => hasher.number(32).bytes(bytemuck::cast_slice(numbers)),
        Numbers::F64(numbers) => hasher.number(64).bytes(bytemuck::cast_slice(numbers)),
    };
    hasher
}

/// Returns the key of a representation of a block.
pub(super) fn key(content: &KeyHasher, representation: &Representation) -> Key {
    let mut hasher = content.clone();
    hasher.bytes(representation.definition().to_string().as_bytes());
    hasher.finish()
}

impl Stores {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a unit of these numbers of samples and columns, if one is stored.
    pub(super) fn get(&self, key: &Key, samples: usize, width: usize) -> Option<Unit> {
        self.0.iter().find_map(|cache| {
            let unit = decoded(&cache.get(key)?, samples, width);
            if unit.is_none() {
                cache.of_no_use(key);
            }
            unit
        })
    }

    pub(super) fn put(&self, key: Key, unit: &Unit) {
        if self.0.is_empty() {
            return;
        }
        let value = encoded(unit);
        self.0.iter().for_each(|cache| cache.put(key, &value));
    }
}

fn encoded(unit: &Unit) -> Value {
    let mut bytes = Vec::with_capacity(unit.status.len() + 4 * unit.values.len());
    bytes.extend(unit.status.iter().map(|&status| status as u8));
    bytes.extend(unit.values.iter().flat_map(|value| value.to_le_bytes()));
    bytes.into()
}

fn decoded(bytes: &[u8], samples: usize, width: usize) -> Option<Unit> {
    let (status, values) = bytes.split_at_checked(samples)?;
    let status = status.iter().map(|&byte| Status::of(byte)).collect::<Option<Vec<_>>>()?;
    let (values, rest) = values.as_chunks::<4>();
    let values: Vec<f32> = values.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    (rest.is_empty() && values.len() == samples * width).then_some(Unit { values, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_comes_back_or_not_at_all() {
        let unit =
            Unit { values: vec![1.5, f32::NAN, -0.0, f32::INFINITY], status: vec![Status::Ok, Status::Overflow] };
        let bytes = encoded(&unit);
        let back = decoded(&bytes, 2, 2).unwrap();
        assert_eq!(back.status, unit.status);
        let bits = |unit: &Unit| unit.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&unit));
        assert!(decoded(&bytes, 2, 1).is_none() && decoded(&bytes[1..], 2, 2).is_none());
        assert!(decoded(&bytes[..17], 2, 2).is_none() && decoded(&[], 2, 2).is_none());
        let wrong: Vec<u8> = std::iter::once(9).chain(bytes[1..].iter().copied()).collect();
        assert!(decoded(&wrong, 2, 2).is_none());
    }
}
