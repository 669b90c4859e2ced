//! Images of drawn digits.

use super::{OPERATION, check, ending, unit};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io::{StreamedArray, StreamedData, write_blocks, write_streamed};
use crate::ops::random::{Stream, fill_words};
use crate::parallel;
use std::io::Write as _;
use std::path::Path;

/// The pixels of a side.
const SIDE: usize = 8;
/// The pixels of an image.
const PIXELS: usize = SIDE * SIDE;
/// The greatest intensity.
const GREATEST: f64 = 16.0;
/// The words of a sample: six of the map, two for each corner, one for each pixel.
const WORDS: usize = 96;
/// Half the width of a stroke, in sides, and how much further its intensity falls to 0.
const WIDTH: f64 = 0.09;
/// The greatest displacement of a corner, deviation of the map from the identity, shift, and noise of a pixel.
const LAW: [f64; 4] = [0.07, 0.17, 0.07, 2.0];
/// The images that a thread makes at a time, and those of a block.
const RUN: usize = 64;
const BLOCK: usize = 1 << 14;

type Corner = [f64; 2];

/// The corners of the line that draws each digit, from the upper left to the lower right of the unit square.
const DIGITS: [&[Corner]; 10] = [
    &[[0.5, 0.1], [0.75, 0.3], [0.75, 0.7], [0.5, 0.9], [0.25, 0.7], [0.25, 0.3], [0.5, 0.1]],
    &[[0.35, 0.25], [0.55, 0.1], [0.55, 0.9]],
    &[[0.25, 0.28], [0.5, 0.1], [0.75, 0.3], [0.25, 0.9], [0.78, 0.9]],
    &[[0.25, 0.15], [0.7, 0.15], [0.45, 0.45], [0.75, 0.65], [0.55, 0.9], [0.25, 0.85]],
    &[[0.65, 0.9], [0.65, 0.1], [0.22, 0.62], [0.82, 0.62]],
    &[[0.75, 0.1], [0.3, 0.1], [0.28, 0.45], [0.65, 0.45], [0.75, 0.7], [0.5, 0.9], [0.25, 0.82]],
    &[[0.68, 0.12], [0.35, 0.4], [0.27, 0.7], [0.5, 0.9], [0.73, 0.7], [0.5, 0.52], [0.3, 0.62]],
    &[[0.22, 0.1], [0.78, 0.1], [0.42, 0.9]],
    &[
        [0.5, 0.48],
        [0.28, 0.3],
        [0.5, 0.1],
        [0.72, 0.3],
        [0.5, 0.48],
        [0.25, 0.7],
        [0.5, 0.9],
        [0.75, 0.7],
        [0.5, 0.48],
    ],
    &[[0.7, 0.4], [0.48, 0.5], [0.28, 0.3], [0.5, 0.1], [0.72, 0.3], [0.68, 0.6], [0.45, 0.9]],
];

/// Images of 8 x 8 pixels of the digits 0 to 9, with intensities that are integers from 0 to 16. Sample i shows the
/// digit i mod 10.
///
/// A digit is drawn as a line with corners. For each sample, the corners are displaced, then the plane is mapped by a
/// matrix near the identity and shifted, all uniformly. With the distance d of a pixel's center from the line, in
/// sides, the intensity is 16 (1.5 - d / 0.09), cut off at 0 and 16, plus uniform noise, and is rounded and cut off
/// again.
#[derive(Clone, Debug)]
pub struct Digits {
    samples: usize,
    seed: u64,
}

impl Digits {
    /// Describes a data set.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if there are no samples.
    pub fn new(samples: usize, seed: u64) -> Result<Self> {
        check("samples", samples, 1, usize::MAX)?;
        Ok(Self { samples, seed })
    }

    /// Returns the digit of a sample.
    #[must_use]
    pub fn class(&self, sample: usize) -> usize {
        sample % DIGITS.len()
    }

    /// Fills `out`, which has 64 elements, with the pixels of a sample, row by row.
    #[expect(clippy::cast_precision_loss, reason = "a pixel")]
    #[expect(clippy::cast_possible_truncation, reason = "integers from 0 to 16")]
    pub fn fill(&self, sample: usize, out: &mut [f32]) {
        let mut stream = Stream::new(self.seed, "digits");
        stream.skip(WORDS as u128 * sample as u128);
        let mut words = [0; WORDS];
        fill_words(&stream, &mut words);
        // Uniform on [-1, 1).
        let word = |place: usize| 2.0 * unit(words[place]) - 1.0;
        let [corners, map, shift, noise] = LAW;
        let moved = |(place, &[x, y]): (usize, &Corner)| {
            let (x, y) = (x + corners * word(6 + 2 * place) - 0.5, y + corners * word(7 + 2 * place) - 0.5);
            [
                x + map * (x * word(0) + y * word(1)) + 0.5 + shift * word(4),
                y + map * (x * word(2) + y * word(3)) + 0.5 + shift * word(5),
            ]
        };
        let line: Vec<Corner> = DIGITS[self.class(sample)].iter().enumerate().map(moved).collect();
        for (pixel, out) in out.iter_mut().enumerate().take(PIXELS) {
            let center = [(pixel % SIDE) as f64 + 0.5, (pixel / SIDE) as f64 + 0.5].map(|x| x / SIDE as f64);
            let square = line.windows(2).map(|ends| square_distance(center, [ends[0], ends[1]])).fold(9.0, f64::min);
            let drawn = GREATEST * (1.5 - square.sqrt() / WIDTH).clamp(0.0, 1.0);
            *out = (drawn + noise * word(WORDS - PIXELS + pixel) + 0.5).floor().clamp(0.0, GREATEST) as f32;
        }
    }

    /// Writes the data set on the threads of a context: `.npz` or `.safetensors` with the arrays `x` (samples, 64) and
    /// `labels` (samples), or `.csv` with a header, a row for each sample, and the digit in the column `label`.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) for another ending; [`Io`](crate::ErrorKind::Io) if the operating system
    /// reports an error, such as a full disk; [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn write(&self, ctx: &Context, path: &Path) -> Result<()> {
        match &ending(path)[..] {
            "csv" => ctx.on_host(|| self.write_table(ctx, path)),
            "npz" | "safetensors" => ctx.on_host(|| self.write_arrays(ctx, path)),
            _ => {
                let what = format!("expected a name that ends in .npz, .safetensors or .csv, found {}", path.display());
                Err(Error::domain(OPERATION, what))
            }
        }
    }

    fn write_arrays(&self, ctx: &Context, path: &Path) -> Result<()> {
        let make = |first: usize, out: &mut [f32]| {
            parallel::for_each(out.chunks_mut(RUN * PIXELS), |block, out| {
                for (row, out) in out.chunks_mut(PIXELS).enumerate() {
                    self.fill(first + block * RUN + row, out);
                }
            });
            ctx.cancel().check()
        };
        #[expect(clippy::cast_possible_wrap, reason = "below 10")]
        let labels: Vec<i64> = (0..self.samples).map(|sample| self.class(sample) as i64).collect();
        let of = |name, shape, data| StreamedArray { name, shape, data };
        write_streamed(
            path,
            &[
                of("labels", vec![self.samples], StreamedData::I64(&labels)),
                of("x", vec![self.samples, PIXELS], StreamedData::F32(&make)),
            ],
        )
    }

    fn write_table(&self, ctx: &Context, path: &Path) -> Result<()> {
        let mut next = 0;
        write_blocks(path, |out| {
            ctx.cancel().check()?;
            if next == 0 {
                (0..PIXELS).for_each(|pixel| out.extend(format!("x{pixel},").bytes()));
                out.extend(b"label\n");
            }
            let end = (next + BLOCK).min(self.samples);
            let texts = parallel::map((next..end).step_by(RUN), |_, first| {
                let (mut text, mut pixels) = (Vec::new(), [0.0; PIXELS]);
                for sample in first..(first + RUN).min(end) {
                    self.fill(sample, &mut pixels);
                    pixels.iter().try_for_each(|pixel| write!(text, "{pixel},"))?;
                    writeln!(text, "{}", self.class(sample))?;
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

/// Returns the square of the distance of a point from the segment between two ends.
fn square_distance([x, y]: Corner, [[x0, y0], [x1, y1]]: [Corner; 2]) -> f64 {
    let (along, across) = (x1 - x0, y1 - y0);
    let length = along * along + across * across;
    let t = (((x - x0) * along + (y - y0) * across) / length.max(1e-9)).clamp(0.0, 1.0);
    let (dx, dy) = (x - x0 - t * along, y - y0 - t * across);
    dx * dx + dy * dy
}

#[cfg(test)]
mod tests {
    use super::{Corner, Digits, PIXELS, square_distance};

    #[test]
    fn distances_from_segments() {
        let ends: [Corner; 2] = [[0.0, 0.0], [2.0, 0.0]];
        for (point, wanted) in [([1.0, 3.0], 9.0), ([-3.0, 4.0], 25.0), ([2.0, 0.0], 0.0), ([5.0, 4.0], 25.0)] {
            assert!((square_distance(point, ends) - wanted).abs() < 1e-12, "{point:?}");
        }
        assert_eq!(square_distance([3.0, 4.0], [[0.0, 0.0], [0.0, 0.0]]), 25.0);
    }

    /// Images of one digit resemble each other more than those of another: the nearest mean is mostly the right one.
    #[test]
    fn images_show_their_digits() {
        let digits = Digits::new(2000, 3).unwrap();
        let mut images = vec![[0.0_f32; PIXELS]; 2000];
        images.iter_mut().enumerate().for_each(|(sample, image)| digits.fill(sample, image));
        assert!(images.iter().flatten().all(|x| (0.0..=16.0).contains(x) && x.fract() == 0.0));
        let mut means = [[0.0_f32; PIXELS]; 10];
        for (sample, image) in images[..1000].iter().enumerate() {
            means[digits.class(sample)].iter_mut().zip(image).for_each(|(mean, x)| *mean += x / 100.0);
        }
        let right = (1000..2000).filter(|&sample| {
            let off = |mean: &[f32; PIXELS]| -> f32 {
                mean.iter().zip(&images[sample]).map(|(mean, x)| (mean - x).powi(2)).sum()
            };
            let nearest = (0..10).min_by(|&a, &b| off(&means[a]).total_cmp(&off(&means[b])));
            nearest == Some(digits.class(sample))
        });
        let right = right.count();
        assert!((700..1000).contains(&right), "{right} of 1000");
        // Means of different digits differ by more than the noise.
        assert_ne!(images[0], images[10]);
    }
}
