//! Stores the columns of blocks in caches: what the keys contain. `unit` has the form of the values.
//!
//! A unit is one representation of a block of samples of one layer. Its key contains the numbers of the block, the
//! shape of the samples, the definition of the representation, [`NUMERICS`], and the adapter if a device computes, but
//! no name and no path, so that
//! renamed files, renamed layers and appended samples find what is known. Columns of a sample do not depend on the
//! samples beside it, so a data set that is partly found has the same bits as one that is computed in a single call.
//!
//! A *fingerprint* is the hash of the content of a block, stored under
//! [`Layers::origins`](crate::io::Layers::origins). It tells the keys of the units of a block that is not read.

use super::edges::Concrete;
use super::unit::Unit;
use crate::cache::{Cache, Key, KeyHasher, Value};
use crate::io::{LayerRows, Numbers};
use crate::ops::series::Measure;
use serde_json::json;
use std::sync::Arc;

/// The version of the numerical results. A change that may alter any bit of any column requires a new number.
const NUMERICS: u64 = 8;
/// A description of the meaning and the layout of the stored values.
const DOMAIN: &str = "fiedler 2026-11-25 columns of a representation of a block of samples, little-endian";
/// A description of the content of a block.
const CONTENT: &str = "fiedler 2026-11-25 numbers of a block of samples, and their shape, little-endian";
/// A description of the fingerprints.
const FINGERPRINT: &str = "fiedler 2026-11-25 hash of the content of a block of samples";

/// The caches that are searched before anything is computed, in the order of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Stores(pub(super) Vec<Arc<Cache>>);

/// Returns the hash of the numbers of a block and their shape.
pub(super) fn content(rows: &LayerRows, samples: usize, shape: [usize; 2]) -> [u8; 32] {
    let mut hasher = KeyHasher::new(CONTENT);
    hasher.number(samples as u64).number(shape[0] as u64).number(shape[1] as u64);
    for &length in rows.lengths.iter().flatten() {
        hasher.number(length as u64);
    }
    match &rows.numbers {
        Numbers::F32(numbers) => hasher.number(32).bytes(bytemuck::cast_slice(numbers)),
        Numbers::F64(numbers) => hasher.number(64).bytes(bytemuck::cast_slice(numbers)),
    };
    *hasher.finish().as_bytes()
}

/// The hashes of the definitions of representations, with the ranges of each layer.
pub(super) struct Definitions<'a> {
    concrete: &'a Concrete,
    hashes: Vec<Vec<[u8; 32]>>,
}

impl<'a> Definitions<'a> {
    /// Hashes the definitions. `side` is what bits depend on besides them: nothing on the CPU, the adapter on a device.
    pub(super) fn new(concrete: &'a Concrete, side: &str) -> Self {
        let hash = |measures: &Vec<Measure>| {
            let mut hasher = KeyHasher::new(DOMAIN);
            let definition = json!({ "parts": measures }).to_string();
            hasher.number(NUMERICS).bytes(definition.as_bytes()).bytes(side.as_bytes());
            *hasher.finish().as_bytes()
        };
        let hashes = concrete.lists().iter().map(|list| list.iter().map(hash).collect()).collect();
        Self { concrete, hashes }
    }

    /// Returns the number of representations.
    pub(super) fn len(&self) -> usize {
        self.hashes[0].len()
    }

    /// Returns the keys of all representations of a block of a planned layer.
    pub(super) fn keys(&self, planned: usize, content: &[u8; 32]) -> impl Iterator<Item = Key> {
        self.hashes[self.concrete.place(planned)].iter().map(|definition| {
            let mut hasher = KeyHasher::new(DOMAIN);
            hasher.bytes(content).bytes(definition);
            hasher.finish()
        })
    }
}

/// Returns the key of the fingerprint of a block that comes from a place.
fn fingerprint_key(origin: &Key) -> Key {
    let mut hasher = KeyHasher::new(FINGERPRINT);
    hasher.bytes(CONTENT.as_bytes()).bytes(origin.as_bytes());
    hasher.finish()
}

impl Stores {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a unit of these numbers of samples and columns, if one is stored.
    pub(super) fn get(&self, key: &Key, samples: usize, width: usize) -> Option<Unit> {
        self.0.iter().find_map(|cache| {
            let unit = Unit::stored(cache.get(key)?, samples, width);
            if unit.is_none() {
                cache.of_no_use(key);
            }
            unit
        })
    }

    /// Returns the fingerprint of a block that comes from a place, if it is stored.
    pub(super) fn fingerprint(&self, origin: &Key) -> Option<[u8; 32]> {
        let key = fingerprint_key(origin);
        self.0.iter().find_map(|cache| {
            let found = cache.peek(&key)?;
            let content = <[u8; 32]>::try_from(&*found).ok();
            if content.is_none() {
                cache.of_no_use(&key);
            }
            content
        })
    }

    /// Stores the fingerprint of a block that comes from a place.
    pub(super) fn put_fingerprint(&self, origin: &Key, content: [u8; 32]) {
        let (key, value) = (fingerprint_key(origin), Value::from(content));
        self.0.iter().for_each(|cache| cache.put(key, &value));
    }

    /// Writes what the caches have collected.
    pub(super) fn flush(&self) {
        self.0.iter().for_each(|cache| cache.flush());
    }

    pub(super) fn put(&self, key: Key, unit: &Unit) {
        self.0.iter().for_each(|cache| cache.put(key, unit.bytes()));
    }
}
