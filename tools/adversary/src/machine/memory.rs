//! The bytes of a buffer and what is known about them.

use super::shadow::StorageShadow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// What a buffer holds before anyone writes to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Initial {
    /// Zeros that may be read, as WebGPU gives them.
    Zeroed,
    /// Garbage, whose reads are findings.
    Poisoned,
}

/// The bytes of one buffer, which all threads share. Words are atomic, so that kernels with data races are findings
/// rather than undefined behavior of the machine.
#[derive(Debug)]
pub struct Memory {
    words: Box<[AtomicU32]>,
    /// For each word, one bit for each byte that was written.
    written: Box<[AtomicU8]>,
    len: u64,
    /// Who accessed each word in the running dispatch. Most buffers of a program are bound to be written at least once,
    /// but staging buffers never are, so they go without.
    shadow: OnceLock<Box<[StorageShadow]>>,
    generation: AtomicU32,
}

/// What fills poisoned buffers: a NaN whose bits are also a large integer and an index far out of bounds.
pub(crate) const POISON: u32 = 0xffe5_a17d;

const ALL: u8 = 0b1111;

impl Memory {
    /// Returns a buffer of `size` bytes.
    pub fn new(size: u64, initial: Initial) -> Self {
        let count = size.div_ceil(4) as usize;
        let (word, written) = match initial {
            Initial::Zeroed => (0, ALL),
            Initial::Poisoned => (POISON, 0),
        };
        Self {
            words: (0..count).map(|_| AtomicU32::new(word)).collect(),
            written: (0..count).map(|_| AtomicU8::new(written)).collect(),
            len: size,
            shadow: OnceLock::new(),
            generation: AtomicU32::new(0),
        }
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the buffer has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies bytes to the host. Bytes past the end of the buffer are left as they are.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        let count = self.clip(offset, out.len());
        let mut at = offset as usize;
        let mut rest = &mut out[..count];
        while !rest.is_empty() {
            let (word, skip) = (at / 4, at % 4);
            let take = rest.len().min(4 - skip);
            let bytes = self.words[word].load(Relaxed).to_le_bytes();
            rest[..take].copy_from_slice(&bytes[skip..skip + take]);
            rest = &mut rest[take..];
            at += take;
        }
    }

    /// Copies bytes from the host and marks them as written. Bytes past the end of the buffer are dropped.
    pub fn write(&self, offset: u64, data: &[u8]) {
        let count = self.clip(offset, data.len());
        let mut at = offset as usize;
        let mut rest = &data[..count];
        while !rest.is_empty() {
            let (word, skip) = (at / 4, at % 4);
            let take = rest.len().min(4 - skip);
            let mut bytes = self.words[word].load(Relaxed).to_le_bytes();
            bytes[skip..skip + take].copy_from_slice(&rest[..take]);
            self.words[word].store(u32::from_le_bytes(bytes), Relaxed);
            self.written[word].fetch_or(mask(skip, take), Relaxed);
            rest = &rest[take..];
            at += take;
        }
    }

    /// Sets bytes to zero and marks them as written.
    pub fn clear(&self, offset: u64, size: u64) {
        let size = self.clip(offset, usize::try_from(size).unwrap_or(usize::MAX));
        self.write(offset, &vec![0; size]);
    }

    /// Copies bytes from another buffer, or within this one. Bytes that were never written stay so.
    pub fn copy_from(&self, source: &Self, source_offset: u64, offset: u64, size: u64) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let size = self.clip(offset, size).min(source.clip(source_offset, size));
        let mut bytes = vec![0; size];
        source.read(source_offset, &mut bytes);
        let unwritten: Vec<usize> = (0..size).filter(|&i| !source.is_written(source_offset as usize + i)).collect();
        self.write(offset, &bytes);
        for i in unwritten {
            let at = offset as usize + i;
            self.written[at / 4].fetch_and(!mask(at % 4, 1), Relaxed);
        }
    }

    /// Makes bytes garbage again, whose reads are findings.
    pub fn undefine(&self, offset: u64, size: u64) {
        let size = self.clip(offset, usize::try_from(size).unwrap_or(usize::MAX));
        let bytes: Vec<u8> = (0..size).map(|i| POISON.to_le_bytes()[(offset as usize + i) % 4]).collect();
        self.write(offset, &bytes);
        for at in offset as usize..offset as usize + size {
            self.written[at / 4].fetch_and(!mask(at % 4, 1), Relaxed);
        }
    }

    /// Makes all bytes garbage again.
    pub fn poison(&self) {
        self.undefine(0, self.len);
    }

    /// Returns the offset of the first byte in a range that was never written.
    pub fn first_unwritten(&self, offset: u64, size: u64) -> Option<u64> {
        let size = self.clip(offset, usize::try_from(size).unwrap_or(usize::MAX)) as u64;
        (offset..offset + size).find(|&at| !self.is_written(at as usize))
    }

    fn is_written(&self, at: usize) -> bool {
        self.written[at / 4].load(Relaxed) & mask(at % 4, 1) != 0
    }

    /// Returns how many of `size` bytes from `offset` on are in the buffer.
    fn clip(&self, offset: u64, size: usize) -> usize {
        (size as u64).min(self.len.saturating_sub(offset)) as usize
    }

    pub(crate) fn word(&self, index: usize) -> Option<&AtomicU32> {
        self.words.get(index)
    }

    pub(crate) fn is_word_written(&self, index: usize) -> bool {
        self.written[index].load(Relaxed) == ALL
    }

    pub(crate) fn mark_word(&self, index: usize) {
        if self.written[index].load(Relaxed) != ALL {
            self.written[index].store(ALL, Relaxed);
        }
    }

    pub(crate) fn shadow(&self) -> &[StorageShadow] {
        self.shadow.get_or_init(|| self.words.iter().map(|_| StorageShadow::default()).collect())
    }

    /// Returns a number that tells the accesses of a new dispatch from those of all before.
    pub(crate) fn next_generation(&self) -> u64 {
        let next = self.generation.load(Relaxed) + 1;
        if next < 1 << 16 {
            self.generation.store(next, Relaxed);
            return next.into();
        }
        self.shadow().iter().for_each(StorageShadow::forget);
        self.generation.store(1, Relaxed);
        1
    }
}

/// Returns the bits of `count` bytes of a word.
fn mask(first: usize, count: usize) -> u8 {
    (((1u32 << count) - 1) << first) as u8
}
