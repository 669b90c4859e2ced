//! Inputs that are made of valid files by chance: bits that change, parts that are missing, doubled or exchanged. Each
//! is read without a panic, and what is read fits the input.
//!
//! `FIEDLER_FUZZ=N` reads N inputs for each file instead. With a limit of the address space, an input that takes too
//! much memory ends the process: `(ulimit -v 4000000; FIEDLER_FUZZ=200000 cargo test --test host io_formats::fuzz)`.

use super::samples::{all, arrays, deflated, gzip, ogb, scipy, stored, tar, unweighted, zstd};
use fiedler::graph::{Conventions, Duplicates};
use fiedler::io::{ReadOptions, read_from};

/// A generator of numbers (xorshift), whose sequence is always the same.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % bound.max(1) as u64).unwrap()
    }

    fn span(&mut self, len: usize) -> std::ops::Range<usize> {
        let start = self.below(len);
        let most = [4, 16, 64, 512][self.below(4)];
        start..(start + 1 + self.below(most)).min(len)
    }

    fn mutate(&mut self, sample: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
        const BYTES: &[u8] = b"\0\x01\x7f\x80\xff019-.eE+ \n\r\t,;\"'[]{}<>/&#%:=";
        let mut bytes = sample.to_vec();
        for _ in 0..=self.below(4) {
            if bytes.is_empty() {
                break;
            }
            let at = self.below(bytes.len());
            match self.below(9) {
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = BYTES[self.below(BYTES.len())],
                2 => bytes.insert(at, BYTES[self.below(BYTES.len())]),
                3 => bytes.truncate(at),
                4 => drop(bytes.drain(self.span(bytes.len()))),
                5 => {
                    let part = bytes[self.span(bytes.len())].to_vec();
                    bytes.splice(at..at, part);
                }
                6 => {
                    let other = &others[self.below(others.len())];
                    let part = other[self.span(other.len())].to_vec();
                    let end = (at + part.len()).min(bytes.len());
                    bytes.splice(at..end, part);
                }
                7 => {
                    let digit = bytes.iter().skip(at).position(u8::is_ascii_digit).map_or(at, |place| at + place);
                    bytes[digit] = b'0' + u8::try_from(self.below(10)).unwrap();
                }
                _ => {
                    let len = bytes.len().min(at + 8) - at;
                    let number = [0_u64, 1, u64::MAX, 1 << 31, 1 << 32, 1 << 63, 5, 1000][self.below(8)];
                    bytes[at..at + len].copy_from_slice(&number.to_le_bytes()[..len]);
                }
            }
        }
        bytes
    }
}

fn inputs(default: usize) -> usize {
    std::env::var("FIEDLER_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Reads an input, and checks that the graphs are not larger than it allows.
fn check(name: &str, bytes: &[u8], content: usize) -> bool {
    let options = ReadOptions::default().memory_budget(1 << 20);
    let strict = Conventions { duplicates: Duplicates::Error, ..Conventions::default() };
    let conventions = if bytes.len().is_multiple_of(2) { Conventions::default() } else { strict };
    match read_from(name, bytes, &conventions, &options) {
        Ok(set) => {
            assert!(set.graphs.columns().len() <= 2 * content, "{name}: {} entries", set.graphs.columns().len());
            assert!(set.graphs.nodes() <= 64 * content + (1 << 24), "{name}: {} nodes", set.graphs.nodes());
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// Reads inputs that are made of one file. `wrap` puts the changed file into another, so that checksums agree.
fn fuzz(name: &str, sample: &[u8], others: &[Vec<u8>], wrap: &dyn Fn(Vec<u8>) -> Vec<u8>, count: usize) {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ sample.len() as u64);
    let mut read = 0;
    for _ in 0..count {
        let changed = chance.mutate(sample, others);
        let content = changed.len().max(1 << 10);
        let bytes = wrap(changed);
        read += usize::from(check(name, &bytes, content.max(1 << 20)));
    }
    // If nothing could be read, the inputs would show little of the readers.
    assert!(count < 1000 || read > 0, "{name}: none of {count} inputs was read");
}

#[test]
fn changed_files_are_read_without_panic() {
    let samples = [all(), unweighted()].concat();
    let others: Vec<Vec<u8>> = samples.iter().map(|(_, content)| content.clone()).collect();
    for (name, content) in &samples {
        fuzz(name, content, &others, &|bytes| bytes, inputs(2000));
    }
}

#[test]
fn changed_files_within_compressed_files_are_read_without_panic() {
    let samples = all();
    let others: Vec<Vec<u8>> = samples.iter().map(|(_, content)| content.clone()).collect();
    for (name, content) in samples.iter().filter(|(name, _)| !name.ends_with("npz")) {
        fuzz(name, &gzip(content), &others, &|bytes| bytes, inputs(500));
        fuzz(name, &zstd(content), &others, &|bytes| bytes, inputs(500));
    }
    let large: Vec<u8> = (0..2000_u32).flat_map(|i| format!("{} {}\n", i, i * 7 % 2000).into_bytes()).collect();
    fuzz("g.zst", &zstd(&large), &others, &|bytes| bytes, inputs(1000));
    fuzz("g.gz", &gzip(&large), &others, &|bytes| bytes, inputs(1000));
}

#[test]
fn changed_arrays_within_archives_are_read_without_panic() {
    for members in [arrays(), scipy("csr"), scipy("csc"), scipy("coo")] {
        let others: Vec<Vec<u8>> = members.iter().map(|(_, content)| content.clone()).collect();
        for place in 0..members.len() {
            let wrap = |bytes| {
                let mut changed = members.clone();
                changed[place].1 = bytes;
                stored(&changed)
            };
            fuzz("g.npz", &members[place].1, &others, &wrap, inputs(300));
        }
    }
}

#[test]
fn changed_archives_are_read_without_panic() {
    let text = all().into_iter().filter(|(name, _)| !name.ends_with("npz")).collect::<Vec<_>>();
    let archives = [stored(&ogb()), deflated(&ogb()), tar(&ogb()), tar(&text[..1]), stored(&text[4..5])];
    for archive in &archives {
        fuzz("g.zip", archive, &archives, &|bytes| bytes, inputs(1000));
    }
    let members = ogb();
    for place in 0..members.len() {
        let plain = [&b"0,1\n1,0\n1,2\n2,1\n0,1\n1,0\n"[..], b"3\n3\n", b"4\n2\n"][place];
        let wrap = |bytes: Vec<u8>| {
            let mut changed = members.clone();
            changed[place].1 = gzip(&bytes);
            tar(&changed)
        };
        fuzz("g.tar", plain, &[plain.to_vec()], &wrap, inputs(500));
    }
}
