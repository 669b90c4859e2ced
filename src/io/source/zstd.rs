//! Expands Zstandard files: <https://datatracker.ietf.org/doc/html/rfc8878>.
//!
//! The decoder of `ruzstd` expands one frame, and leaves it to its caller to compare the checksum and the length that
//! the frame states, to go on with the next frame and to skip frames without content.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// The longest window that a frame may have: what the `zstd` command accepts without `--long`.
const WINDOW: u64 = 128 << 20;

/// The expanded bytes of all frames.
pub(super) struct Frames<R> {
    reader: R,
    decoder: FrameDecoder,
    /// Whether a frame has begun that has not ended.
    open: bool,
    /// The number of bytes of the open frame that were returned.
    returned: u64,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(reader: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        Self { reader, decoder, open: false, returned: 0 }
    }

    /// Begins the next frame with content. Returns false at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.reader.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.reader) {
                Ok(()) => {
                    (self.open, self.returned) = (true, 0);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.reader.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error.to_string())),
            }
        }
        Ok(false)
    }

    /// Ends a frame, of which all bytes were returned.
    fn end(&mut self) -> io::Result<()> {
        self.open = false;
        let stated = self.decoder.content_size();
        if stated > 0 && stated != self.returned {
            return Err(io::Error::other(format!("{} bytes where a frame states {stated}", self.returned)));
        }
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(wanted), Some(found)) if wanted != found => Err(io::Error::other("another checksum")),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.open && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.reader, one)
                    .map_err(|error| io::Error::other(error.to_string()))?;
            }
            let read = self.decoder.read(out)?;
            self.returned += read as u64;
            if read > 0 {
                return Ok(read);
            }
            self.end()?;
        }
    }
}
