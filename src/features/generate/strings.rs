//! Strings of bits from simulated devices.

use super::{MOST_ELEMENTS, check, unit};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io::write_blocks;
use crate::ops::random::{Stream, fill_words};
use crate::parallel;
use std::io::Write as _;
use std::path::Path;

/// The ranges of the bias, of the probability of a copy, and of the magnitude of the drift, for each class.
const LAWS: [[[f64; 2]; 3]; 3] = [
    [[0.48, 0.52], [0.0, 0.05], [-0.01, 0.01]],
    [[0.54, 0.58], [0.0, 0.10], [-0.02, 0.02]],
    [[0.60, 0.65], [0.05, 0.15], [-0.03, 0.03]],
];
/// The least and the greatest probability of a one.
const CLIP: [f64; 2] = [0.1, 0.9];
/// The fewest bits of a string that [`read_samples`](crate::io::read_samples) takes for one.
const FEWEST: usize = 8;
/// The bits that a thread makes at a time, and those of a block.
const RUN: usize = 1 << 14;
const BLOCK: usize = 8 << 20;

/// Strings of bits from simulated random number generators, in three classes of growing bias. Device k has the class
/// k mod 3, and sample i comes from device i mod `devices`.
///
/// Bit j of string i of a device, of which there are n, is the previous bit with probability c, and else 1 with
/// probability `b + d (i / n - 1/2)`, cut off at 0.1 and 0.9. A device has its own b, c and d, which are uniform on the
/// ranges of its class:
///
/// | class | bias b | copies c | drift d |
/// |---|---|---|---|
/// | 1 | 0.48 to 0.52 | 0 to 0.05 | -0.01 to 0.01 |
/// | 2 | 0.54 to 0.58 | 0 to 0.10 | -0.02 to 0.02 |
/// | 3 | 0.60 to 0.65 | 0.05 to 0.15 | -0.03 to 0.03 |
#[derive(Clone, Debug)]
pub struct Strings {
    samples: usize,
    length: usize,
    seed: u64,
    devices: Vec<[f64; 3]>,
}

impl Strings {
    /// Describes a data set.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if there are no samples, no devices or more than samples, or fewer than 8
    /// bits.
    pub fn new(samples: usize, devices: usize, length: usize, seed: u64) -> Result<Self> {
        check("samples", samples, 1, usize::MAX)?;
        check("devices", devices, 1, samples)?;
        check("bits", length, FEWEST, MOST_ELEMENTS)?;
        let stream = Stream::new(seed, "devices of strings");
        let device = |device: usize| {
            let mut words = [0; 3];
            let mut stream = stream.clone();
            stream.skip(3 * device as u128);
            fill_words(&stream, &mut words);
            let mut word = words.into_iter();
            LAWS[device % LAWS.len()].map(|[low, high]| low + (high - low) * unit(word.next().unwrap_or(0)))
        };
        Ok(Self { samples, length, seed, devices: (0..devices).map(device).collect() })
    }

    /// Returns the class of a sample, from 1 to 3.
    #[must_use]
    pub fn class(&self, sample: usize) -> usize {
        sample % self.devices.len() % LAWS.len() + 1
    }

    /// Returns the bias, the probability of a copy, and the drift of each device.
    #[must_use]
    pub fn devices(&self) -> &[[f64; 3]] {
        &self.devices
    }

    /// Appends the digits of a sample.
    #[expect(clippy::cast_precision_loss, reason = "counts of strings")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^32")]
    pub fn append(&self, sample: usize, out: &mut Vec<u8>) {
        let (device, of) = (sample % self.devices.len(), self.devices.len());
        let [bias, copies, drift] = self.devices[device];
        let count = (self.samples - device).div_ceil(of);
        let ones = (bias + drift * ((sample / of) as f64 / count as f64 - 0.5)).clamp(CLIP[0], CLIP[1]);
        let [ones, copies] = [ones, copies].map(|share| (share * 4_294_967_296.0) as u64);
        let mut stream = Stream::new(self.seed, "strings");
        stream.skip(2 * sample as u128 * self.length as u128);
        let mut words = vec![0; 2 * self.length];
        fill_words(&stream, &mut words);
        let mut last = None;
        out.extend(words.as_chunks::<2>().0.iter().map(|&[copy, one]| {
            let own = u64::from(one) < ones;
            let bit = last.filter(|_| u64::from(copy) < copies).unwrap_or(own);
            last = Some(bit);
            b'0' + u8::from(bit)
        }));
    }

    /// Writes a line with the bits and the class of each sample, on the threads of a context.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error, such as a full disk;
    /// [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn write(&self, ctx: &Context, path: &Path) -> Result<()> {
        let (run, mut next) = ((RUN / self.length).max(1), 0);
        let block = (BLOCK / self.length).max(1).next_multiple_of(run);
        ctx.on_host(|| {
            write_blocks(path, |out| {
                ctx.cancel().check()?;
                let end = (next + block).min(self.samples);
                let texts = parallel::map((next..end).step_by(run), |_, first| {
                    let mut text = Vec::with_capacity(run * (self.length + 3));
                    for sample in first..(first + run).min(end) {
                        self.append(sample, &mut text);
                        writeln!(text, " {}", self.class(sample))?;
                    }
                    Ok(text)
                });
                for text in texts {
                    out.extend(text.map_err(|error: std::io::Error| Error::io("write", path, error))?);
                }
                next = end;
                Ok(())
            })
        })
    }
}
