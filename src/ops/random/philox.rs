//! Philox 4x32-10, which computes four random words from a counter and a key (Salmon, Moraes, Dror and Shaw, Parallel
//! random numbers: as easy as 1, 2, 3, SC 2011). Philox 4x32-10 has ten rounds of two multiplications, so every word of
//! every stream takes the same time.

/// The number of blocks that are computed together, so that the compiler can vectorize the computation.
pub(super) const ABREAST: usize = 16;
/// The number of words in [`ABREAST`] blocks.
pub(in crate::ops) const WORDS: usize = 4 * ABREAST;

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// Returns the lower and the upper half of a 64-bit number.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "halves of 64 bits")]
fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

/// Returns the block of four random words for a counter. The lowest word of the counter comes first.
pub(in crate::ops) fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let [low_0, high_0] = halves(u64::from(counter[0]) * u64::from(MULTIPLIERS[0]));
        let [low_1, high_1] = halves(u64::from(counter[2]) * u64::from(MULTIPLIERS[1]));
        counter = [high_1 ^ counter[1] ^ key[0], low_1, high_0 ^ counter[3] ^ key[1], low_0];
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    counter
}

/// Returns the [`ABREAST`] blocks from number `block` on, for counters whose upper half is `upper`.
#[inline(always)]
pub(in crate::ops) fn abreast(block: u64, upper: [u32; 2], mut key: [u32; 2]) -> [u32; WORDS] {
    let blocks: [[u32; 2]; ABREAST] = std::array::from_fn(|lane| halves(block.wrapping_add(lane as u64)));
    let mut counter =
        [blocks.map(|[low, _]| low), blocks.map(|[_, high]| high), [upper[0]; ABREAST], [upper[1]; ABREAST]];
    for _ in 0..10 {
        let mut next = [[0; ABREAST]; 4];
        for lane in 0..ABREAST {
            let [low_0, high_0] = halves(u64::from(counter[0][lane]) * u64::from(MULTIPLIERS[0]));
            let [low_1, high_1] = halves(u64::from(counter[2][lane]) * u64::from(MULTIPLIERS[1]));
            next[0][lane] = high_1 ^ counter[1][lane] ^ key[0];
            next[1][lane] = low_1;
            next[2][lane] = high_0 ^ counter[3][lane] ^ key[1];
            next[3][lane] = low_0;
        }
        counter = next;
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    let mut words = [0; WORDS];
    for lane in 0..ABREAST {
        for part in 0..4 {
            words[4 * lane + part] = counter[part][lane];
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{ABREAST, abreast, philox};

    /// The test vectors of the authors' Random123 1.09, `kat_vectors`.
    #[test]
    fn philox_is_the_published_one() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        assert_eq!(philox(pi, [0xa409_3822, 0x299f_31d0]), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    #[test]
    fn blocks_side_by_side_are_the_same() {
        for block in [0, 5, u64::from(u32::MAX) - 3, u64::MAX - 7] {
            let words = abreast(block, [7, 8], [9, 10]);
            for lane in 0..ABREAST {
                let at = block.wrapping_add(lane as u64);
                let one = philox([at as u32, (at >> 32) as u32, 7, 8], [9, 10]);
                assert_eq!(words[4 * lane..4 * lane + 4], one, "block {at}");
            }
        }
    }
}
