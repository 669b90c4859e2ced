//! The keys of entries: hashes of everything that a value depends on.

use std::fmt;

/// The key of an entry: 256 bits of BLAKE3 over everything that its value depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub(super) [u8; 32]);

impl fmt::Display for Key {
    /// Writes lower-case hexadecimal digits, as in the names of files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// A builder of a [`Key`] from parts. The length of each part precedes it, so no two lists of parts
/// give the same bytes.
#[derive(Clone, Debug)]
pub struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// Starts a key in this domain, a constant that says what the values are and in which layout.
    /// Domains do not collide.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(domain))
    }

    /// Adds a part.
    pub fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.0.update(&(part.len() as u64).to_le_bytes()).update(part);
        self
    }

    /// Adds a number as a part.
    pub fn number(&mut self, part: u64) -> &mut Self {
        self.bytes(&part.to_le_bytes())
    }

    /// Returns the key of all parts.
    #[must_use]
    pub fn finish(&self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}
