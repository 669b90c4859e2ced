//! What an entry is found by: a hash of everything that its value depends upon.

use std::fmt;

/// The name of an entry: 256 bits of BLAKE3 over all that its value depends upon.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub(super) [u8; 32]);

impl fmt::Display for Key {
    /// Lower-case hexadecimal digits, as files are named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// Makes a [`Key`], part by part. Each part goes in with its length before it, so no two lists of parts are the same bytes.
#[derive(Clone, Debug)]
pub struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    /// A key of this domain: a constant that says what the values are, and in which layout. Domains do not collide.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(domain))
    }

    /// Another part.
    pub fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.0.update(&(part.len() as u64).to_le_bytes()).update(part);
        self
    }

    /// Another part, a number.
    pub fn number(&mut self, part: u64) -> &mut Self {
        self.bytes(&part.to_le_bytes())
    }

    /// The key of all parts.
    #[must_use]
    pub fn finish(&self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}
