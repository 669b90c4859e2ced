//! What the reading of a source keeps to.

use super::fault::Fault;
use crate::cancel::Cancel;
use crate::context::DEFAULT_BUDGET;
use std::io::{self, Read, Seek, SeekFrom};

/// What the reading of a source keeps to.
#[derive(Clone, Debug)]
pub(in crate::io) struct Terms {
    /// The maximum number of bytes of a stream, and of an expansion unless [`EXPANSION`](super::EXPANSION) allows more.
    pub(in crate::io) budget: u64,
    /// The switch that ends the reading.
    pub(in crate::io) cancel: Cancel,
    /// Whether weights may be negative.
    pub(in crate::io) signed: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self { budget: DEFAULT_BUDGET, cancel: Cancel::new(), signed: false }
    }
}

/// A reader of stored bytes that fails with [`Fault::Cancelled`] once its switch is set. Whatever expands these bytes
/// or parses them ends with it.
pub(super) struct Heeding<R> {
    reader: R,
    cancel: Cancel,
}

impl<R> Heeding<R> {
    pub(super) fn new(reader: R, cancel: &Cancel) -> Self {
        Self { reader, cancel: cancel.clone() }
    }
}

impl<R: Read> Read for Heeding<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(Fault::Cancelled.error());
        }
        self.reader.read(out)
    }
}

impl<R: Seek> Seek for Heeding<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
    }
}
