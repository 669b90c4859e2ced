//! Series of four laws.

use super::{MOST_ELEMENTS, OPERATION, check, ending, unit};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io::{StreamedArray, StreamedData, write_blocks, write_streamed};
use crate::ops::random::{Stream, fill_normals, fill_words};
use crate::parallel;
use std::io::Write as _;
use std::ops::RangeInclusive;
use std::path::Path;

/// The laws of the classes.
const LAWS: usize = 4;
/// How much of a number of an autoregressive series its successor keeps.
const KEPT: f64 = 0.7;
/// The frequencies of sines, in cycles per element.
const FREQUENCIES: [f64; 2] = [0.01, 0.2];
/// The deviation of the noise that is added to a sine.
const NOISE: f64 = 0.5;
/// The numbers that a thread makes at a time.
const RUN: usize = 1 << 14;
/// The numbers of a block of text, which has about 10 bytes for each.
const BLOCK: usize = 1 << 20;

/// Series of up to four laws. Sample i has the class i mod `classes`, and the classes are, with standard normals `e_j`:
///
/// | class | law |
/// |---|---|
/// | 0 | white noise: `x_j = e_j` |
/// | 1 | autoregression: `x_j = 0.7 x_(j-1) + e_j`, stationary from the first element on |
/// | 2 | a sine in noise: `x_j = sin(2 pi f j) + e_j / 2`, where f is uniform on `[0.01, 0.2)` for every sample |
/// | 3 | a random walk: `x_j = x_(j-1) + e_j` from `x_0 = e_0` |
///
/// Numbers are computed in f64 and rounded to f32.
#[derive(Clone, Debug)]
pub struct Series {
    samples: usize,
    classes: usize,
    lengths: RangeInclusive<usize>,
    seed: u64,
}

impl Series {
    /// Describes a data set of the first `classes` laws. If `lengths` has more than one length, the length of every
    /// series is drawn uniformly from it.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if there are no samples, not 1 to 4 classes, or no lengths, or a length is
    /// 0 or above 2^32.
    pub fn new(samples: usize, classes: usize, lengths: RangeInclusive<usize>, seed: u64) -> Result<Self> {
        check("samples", samples, 1, usize::MAX)?;
        check("classes", classes, 1, LAWS)?;
        check("elements of the shortest series", *lengths.start(), 1, MOST_ELEMENTS)?;
        check("elements of the longest series", *lengths.end(), *lengths.start(), MOST_ELEMENTS)?;
        Ok(Self { samples, classes, lengths, seed })
    }

    /// Returns the class of a sample.
    #[must_use]
    pub fn class(&self, sample: usize) -> usize {
        sample % self.classes
    }

    /// Returns the length of a sample.
    #[must_use]
    pub fn length(&self, sample: usize) -> usize {
        let (least, count) = (*self.lengths.start(), self.lengths.end() - self.lengths.start() + 1);
        let word = self.words("lengths of series", sample);
        // At most 2^32 lengths, so the upper half of the product is one of them.
        least + ((u128::from(word) * count as u128) >> 32) as usize
    }

    fn words(&self, name: &str, sample: usize) -> u32 {
        let mut stream = Stream::new(self.seed, name);
        stream.skip(sample as u128);
        let mut word = [0];
        fill_words(&stream, &mut word);
        word[0]
    }

    /// Fills `out` with the first elements of a sample.
    pub fn fill(&self, sample: usize, out: &mut [f32]) {
        let mut noise = Stream::new(self.seed, "series");
        noise.skip(sample as u128 * *self.lengths.end() as u128);
        fill_normals(&noise, out);
        match self.class(sample) {
            1 => {
                // The variance of the stationary law is 1 / (1 - 0.7^2).
                let mut last = f64::from(out[0]) / (1.0 - KEPT * KEPT).sqrt();
                out[0] = rounded(last);
                for x in &mut out[1..] {
                    last = KEPT * last + f64::from(*x);
                    *x = rounded(last);
                }
            }
            2 => {
                let [low, high] = FREQUENCIES;
                let frequency = low + (high - low) * unit(self.words("frequencies of series", sample));
                let (sine, cosine) = sine_and_cosine(std::f64::consts::TAU * frequency);
                let (mut s, mut c) = (0.0, 1.0);
                for x in out {
                    *x = rounded(s + NOISE * f64::from(*x));
                    (s, c) = (s * cosine + c * sine, c * cosine - s * sine);
                }
            }
            3 => {
                let mut sum = 0.0;
                for x in out {
                    sum += f64::from(*x);
                    *x = rounded(sum);
                }
            }
            _ => {}
        }
    }

    /// Writes the data set on the threads of a context: `.npz` or `.safetensors` with the arrays `x` (samples, length)
    /// and `labels` (samples), or `.csv` with a header, a row for each sample, and the class in the column `label`. If
    /// the lengths differ, `.csv` without header and label.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) for another ending; [`Io`](crate::ErrorKind::Io) if the operating system
    /// reports an error, such as a full disk; [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn write(&self, ctx: &Context, path: &Path) -> Result<()> {
        let ragged = self.lengths.start() < self.lengths.end();
        match (&ending(path)[..], ragged) {
            ("csv", _) => ctx.on_host(|| self.write_table(ctx, path, ragged)),
            ("npz" | "safetensors", false) => ctx.on_host(|| self.write_arrays(ctx, path)),
            (_, ragged) => {
                let endings =
                    if ragged { ".csv for series of different lengths" } else { ".npz, .safetensors or .csv" };
                let what = format!("expected a name that ends in {endings}, found {}", path.display());
                Err(Error::domain(OPERATION, what))
            }
        }
    }

    fn write_arrays(&self, ctx: &Context, path: &Path) -> Result<()> {
        let length = *self.lengths.end();
        let make = |first: usize, out: &mut [f32]| {
            let run = (RUN / length).max(1);
            parallel::for_each(out.chunks_mut(run * length), |block, out| {
                for (row, out) in out.chunks_mut(length).enumerate() {
                    self.fill(first + block * run + row, out);
                }
            });
            ctx.cancel().check()
        };
        #[expect(clippy::cast_possible_wrap, reason = "below 4")]
        let labels: Vec<i64> = (0..self.samples).map(|sample| self.class(sample) as i64).collect();
        let of = |name, shape, data| StreamedArray { name, shape, data };
        write_streamed(
            path,
            &[
                of("labels", vec![self.samples], StreamedData::I64(&labels)),
                of("x", vec![self.samples, length], StreamedData::F32(&make)),
            ],
        )
    }

    fn write_table(&self, ctx: &Context, path: &Path, ragged: bool) -> Result<()> {
        let longest = *self.lengths.end();
        let (run, mut next) = ((RUN / longest).max(1), 0);
        let block = (BLOCK / longest).max(1).next_multiple_of(run);
        write_blocks(path, |out| {
            ctx.cancel().check()?;
            if next == 0 && !ragged {
                (1..=longest)
                    .try_for_each(|column| write!(out, "x{column},"))
                    .map_err(|e| Error::io("write", path, e))?;
                out.extend(b"label\n");
            }
            let end = (next + block).min(self.samples);
            let texts = parallel::map((next..end).step_by(run), |_, first| {
                let (mut text, mut numbers) = (Vec::new(), Vec::new());
                for sample in first..(first + run).min(end) {
                    numbers.resize(if ragged { self.length(sample) } else { longest }, 0.0);
                    self.fill(sample, &mut numbers);
                    for (i, number) in numbers.iter().enumerate() {
                        let comma = if i > 0 { "," } else { "" };
                        write!(text, "{comma}{number}")?;
                    }
                    if ragged { text.push(b'\n') } else { writeln!(text, ",{}", self.class(sample))? }
                }
                Ok(text)
            });
            for text in texts {
                out.extend(text.map_err(|error: std::io::Error| Error::io("write", path, error))?);
            }
            next = end;
            Ok(())
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest f32")]
fn rounded(x: f64) -> f32 {
    x as f32
}

/// Returns the sine and the cosine of an angle from 0 to 1.3 by Taylor's series, whose next terms are below 2^-53 of
/// the sums. Those of the standard library differ between machines.
fn sine_and_cosine(angle: f64) -> (f64, f64) {
    let square = angle * angle;
    let (mut sine, mut cosine) = (1.0, 1.0);
    for k in (1..=11_u32).rev() {
        let k = f64::from(2 * k);
        sine = 1.0 - sine * square / (k * (k + 1.0));
        cosine = 1.0 - cosine * square / (k * (k - 1.0));
    }
    (sine * angle, cosine)
}

#[cfg(test)]
mod tests {
    use super::sine_and_cosine;

    /// The standard library's are within an ulp; so are these, of a unit circle.
    #[test]
    fn angles() {
        for i in 0..=1300 {
            let angle = f64::from(i) / 1000.0;
            let (sine, cosine) = sine_and_cosine(angle);
            let off = (sine - angle.sin()).abs().max((cosine - angle.cos()).abs());
            assert!(off <= 2.0 * f64::EPSILON, "{angle}: {off:e}");
        }
    }
}
