//! Expands compressed bytes, within a limit.

use super::fault::Fault;
use super::zstd::Frames;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use std::io::{self, BufRead, Read};

/// The expanded bytes of a compressed source.
pub(super) struct Unpacked<D> {
    decoder: D,
    expected: &'static str,
    /// The number of bytes that may follow.
    left: u64,
    allowed: u64,
}

impl<R: BufRead> Unpacked<DeflateDecoder<R>> {
    pub(super) fn deflate(reader: R, allowed: u64) -> Self {
        Self::new(DeflateDecoder::new(reader), "a member of a zip archive that is not damaged", allowed)
    }
}

impl<R: BufRead> Unpacked<MultiGzDecoder<R>> {
    /// A gzip file may consist of several parts, which are expanded one after the other.
    pub(super) fn gzip(reader: R, allowed: u64) -> Self {
        Self::new(MultiGzDecoder::new(reader), "a gzip file that is whole and not damaged", allowed)
    }
}

impl<R: BufRead> Unpacked<Frames<R>> {
    pub(super) fn zstd(reader: R, allowed: u64) -> Self {
        Self::new(Frames::new(reader), "a Zstandard file that is whole and not damaged", allowed)
    }
}

impl<D: Read> Unpacked<D> {
    fn new(decoder: D, expected: &'static str, allowed: u64) -> Self {
        Self { decoder, expected, left: allowed, allowed }
    }
}

impl<D: Read> Read for Unpacked<D> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = match self.decoder.read(out) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            other => other.map_err(|error| Fault::damaged(self.expected, error))?,
        };
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(Fault::TooLarge { allowed: self.allowed }.error()),
        }
        Ok(read)
    }
}

/// The bytes of a member of a zip archive, whose length and checksum are compared at the end.
pub(super) struct Checked<R> {
    reader: R,
    left: u64,
    wanted: u32,
    sum: crc32fast::Hasher,
}

impl<R: Read> Checked<R> {
    pub(super) fn new(reader: R, len: u64, wanted: u32) -> Self {
        Self { reader, left: len, wanted, sum: crc32fast::Hasher::new() }
    }

    fn wrong(found: &str) -> io::Error {
        let expected = "a member of a zip archive with the length and the checksum that the archive states";
        Fault::Damaged { expected, found: found.to_owned() }.error()
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let read = self.reader.read(out)?;
        self.sum.update(&out[..read]);
        match self.left.checked_sub(read as u64) {
            None => return Err(Self::wrong("more bytes")),
            Some(left) if read == 0 && left > 0 => return Err(Self::wrong("fewer bytes")),
            Some(left) => self.left = left,
        }
        if read == 0 && self.sum.clone().finalize() != self.wanted {
            return Err(Self::wrong("another checksum"));
        }
        Ok(read)
    }
}
