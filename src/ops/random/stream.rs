//! Named streams of random words, and positions in them.

use super::philox::philox;

/// The number of words in a stream, which has 2^64 blocks of four words.
const PERIOD: u128 = 1 << 66;
/// The number of words that [`Stream::jump`] skips.
const JUMP: u128 = 1 << 48;

/// A sequence of random 32-bit words, and a position in this sequence. The words are those of Philox 4x32-10 for
/// consecutive counters and one key.
///
/// A seed and a name identify a stream. Both are hashed (BLAKE3) to the 64 bits of the key and the upper 64 bits of the
/// counter. So two different streams coincide with a probability of 2^-128, and no arithmetic on seeds makes streams
/// overlap. The lower 64 bits of the counter are the position, in blocks of four words. Moving to any position takes a
/// single step. After 2^66 words a stream starts again.
///
/// ```
/// use fiedler::{Context, Shape, ops::random::{Stream, normal}};
///
/// let ctx = Context::cpu();
/// let mut weights = Stream::new(7, "weights");
/// let first = normal::<f32>(&ctx, &mut weights, Shape::new(64, 1000, 1), 0.0, 1.0)?;
/// assert_eq!(weights.position(), 64_000);
///
/// // The last column again, without the others.
/// let mut again = Stream::new(7, "weights");
/// again.skip(64 * 999);
/// let last = normal::<f32>(&ctx, &mut again, Shape::new(64, 1, 1), 0.0, 1.0)?;
/// assert_eq!(last.to_host(&ctx)?.as_slice(), &first.to_host(&ctx)?.as_slice()[64 * 999..]);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    key: [u32; 2],
    upper: [u32; 2],
    /// The position in words, below [`PERIOD`].
    position: u128,
}

impl Stream {
    /// Creates the stream of the given seed and name, at the beginning of the stream.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("fiedler random stream of a seed and a name, 2026-11");
        hasher.update(&seed.to_le_bytes()).update(name.as_bytes());
        Self::of(&hasher)
    }

    /// Creates a stream of Philox with the given key, without hashing. The stream starts at the block of the given
    /// counter. Key and counter have their lowest words first. This constructor serves to reproduce the words of the
    /// published generator. Keys may be close to each other: their streams are as independent as the streams of other
    /// keys.
    #[must_use]
    pub fn of_key(key: [u32; 2], counter: [u32; 4]) -> Self {
        let [low, high, upper @ ..] = counter;
        Self { key, upper, position: u128::from(u64::from(high) << 32 | u64::from(low)) << 2 }
    }

    /// Returns substream `number` of this stream, at the beginning of the substream. Workers, tensors or epochs can
    /// each have a separate substream. The position of this stream does not affect the substream.
    #[must_use]
    pub fn substream(&self, number: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("fiedler random substream of a stream and a number, 2026-11");
        for word in self.key.into_iter().chain(self.upper) {
            hasher.update(&word.to_le_bytes());
        }
        hasher.update(&number.to_le_bytes());
        Self::of(&hasher)
    }

    fn of(hasher: &blake3::Hasher) -> Self {
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        let word = |i: usize| u32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]);
        Self { key: [word(0), word(4)], upper: [word(8), word(12)], position: 0 }
    }

    /// Returns the position in the stream, in words, modulo 2^66. If the stream was created by [`Stream::new`], this is
    /// the number of words that were taken or skipped.
    #[must_use]
    pub fn position(&self) -> u128 {
        self.position
    }

    /// Skips `words` words.
    pub fn skip(&mut self, words: u128) {
        self.position = (self.position + words % PERIOD) % PERIOD;
    }

    /// Returns the block of four words that contains the position, and moves to the beginning of the next block.
    pub(crate) fn next_block(&mut self) -> [u32; 4] {
        let (block, inside) = self.block(0);
        self.skip(4 - inside as u128);
        #[expect(clippy::cast_possible_truncation, reason = "halves of 64 bits")]
        let [low, high] = [block as u32, (block >> 32) as u32];
        philox([low, high, self.upper[0], self.upper[1]], self.key)
    }

    /// Returns this stream at its current position, and skips 2^48 words in `self`. Repeated calls divide one sequence
    /// into up to 2^18 sections that do not overlap.
    pub fn jump(&mut self) -> Self {
        let here = self.clone();
        self.skip(JUMP);
        here
    }

    pub(in crate::ops) fn key(&self) -> [u32; 2] {
        self.key
    }

    /// Returns the upper half of the counters, which is the same for all blocks of the stream.
    pub(super) fn upper(&self) -> [u32; 2] {
        self.upper
    }

    /// Returns the number of the Philox block that contains the word at offset `words` from the position, and the index
    /// (0 to 3) of this word within the block.
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^66, so 64 bits of blocks and 2 bits of words")]
    pub(super) fn block(&self, words: u64) -> (u64, usize) {
        let place = (self.position + u128::from(words)) % PERIOD;
        ((place >> 2) as u64, (place & 3) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::{Stream, philox};

    #[test]
    fn streams_are_their_own() {
        let stream = Stream::new(1, "a");
        assert_eq!(stream, Stream::new(1, "a"));
        let mut later = stream.clone();
        later.skip(1000);
        assert_eq!(later.substream(3), stream.substream(3), "where a stream stands does not matter");
        let all = [
            stream.clone(),
            Stream::new(1, "b"),
            Stream::new(2, "a"),
            Stream::new(1, ""),
            stream.substream(0),
            stream.substream(1),
            stream.substream(0).substream(1),
        ];
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                assert!((a.key, a.upper) != (b.key, b.upper), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn places_go_round() {
        let mut stream = Stream::of_key([0; 2], [u32::MAX, u32::MAX, 7, 8]);
        assert_eq!((stream.block(0), stream.block(3), stream.block(4)), ((u64::MAX, 0), (u64::MAX, 3), (0, 0)));
        stream.skip(5);
        assert_eq!((stream.position(), stream.block(1)), (1, (0, 2)));
        stream.skip(u128::MAX);
        assert_eq!(stream.position(), 0);
        let (before, after) = (stream.jump(), stream.clone());
        assert_eq!((before.position(), after.position()), (0, 1 << 48));
        let mut zero = Stream::of_key([0; 2], [0; 4]);
        zero.skip(1);
        // The rest of the first block, then the second, which begins the words of the position after it.
        assert_eq!((zero.next_block()[0], zero.position()), (0x6627_e8d5, 4));
        assert_eq!(zero.next_block(), philox([1, 0, 0, 0], [0; 2]));
    }
}
