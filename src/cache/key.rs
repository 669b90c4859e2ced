//! The keys of entries, which are hashes of everything on which a value depends.

use std::fmt;

/// The key of an entry, which is the 256-bit BLAKE3 hash of everything on which the value depends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub(super) [u8; 32]);

impl Key {
    /// Returns the hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Key {
    /// Writes lowercase hexadecimal digits, as in the file names of entries.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// A builder of a [`Key`] from a list of byte strings. Each byte string is hashed after its length, so no two different
/// lists give the same input to the hash.
#[derive(Clone, Debug)]
pub struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// Starts a key in a domain. The domain is a constant text that identifies the kind and the layout of the values.
    /// Keys of different domains do not collide.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(domain))
    }

    /// Adds a byte string.
    pub fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.0.update(&(part.len() as u64).to_le_bytes()).update(part);
        self
    }

    /// Adds a number, as the byte string of its eight little-endian bytes.
    pub fn number(&mut self, part: u64) -> &mut Self {
        self.bytes(&part.to_le_bytes())
    }

    /// Returns the key of everything that was added.
    #[must_use]
    pub fn finish(&self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}
