//! Records the kernels of a program.

use super::super::kernels::{
    Adding, Counting, Counts, Describing, Digest, Digesting, Lines, Order, Ordering, RECORD, Ranking, Ranks, Spectra,
    Stringing, Strings, capacity, counts, width,
};
use super::super::{Autocorrelation, Bits, Histograms, Measure, Program, Quantiles, SampleShape, Spectrum};
use super::super::{order, spectrum};
use super::{Found, Place};
use crate::array::{Array, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu, Recorder, Shared};
use crate::error::Result;
use crate::ops::fft::{fft, rfft};
use crate::parallel;
use crate::policy::Backend;
use crate::shape::{Axis, Shape, to_u32};
use std::sync::Arc;

/// The estimated operations for each number of a sample.
const DIGEST: f64 = 40.0;
const ORDER: f64 = 60.0;
const COUNT: f64 = 30.0;
const SPECTRUM: f64 = 100.0;

/// What is recorded for the samples that are computed together.
pub(super) struct Recording<'a> {
    pub(super) ctx: &'a Context,
    pub(super) gpu: &'a Arc<Gpu>,
    pub(super) program: &'a Program,
    pub(super) places: &'a [Place],
    /// The number of parts of a sample.
    pub(super) stride: usize,
    pub(super) count: usize,
}

/// The arrays that all kernels share.
struct Arrays {
    bits: Buffer<u32>,
    scaled: Buffer<f32>,
    records: Buffer<f32>,
    parts: Buffer<f32>,
}

impl Recording<'_> {
    /// Runs the kernels, and waits for what they found.
    pub(super) fn run(&self, samples: &[f32]) -> Result<Found> {
        let Self { gpu, program, count, stride, .. } = *self;
        let n = program.shape.len();
        let mut rec = gpu.record();
        let bits = rec.upload(bytemuck::cast_slice::<f32, u32>(samples))?;
        let scaled = rec.array(samples.len())?;
        let records = rec.array(count * RECORD)?;
        let parts = rec.array(count * stride.max(1))?;
        let apart = program.transform.is_some();
        let mut distances = rec.array(if apart { samples.len() } else { 1 })?;
        let mut arrays = Arrays { bits, scaled, records, parts };
        for range in rec.ranges(to_u32(count), DIGEST * n as f64) {
            let params = Digesting { first: range.first, n: to_u32(n), apart: u32::from(apart) };
            let Arrays { bits, scaled, records, .. } = &mut arrays;
            let kernel = Digest { params, bits, scaled, distances: &mut distances, records };
            rec.dispatch(&kernel, &width(n), range.grid(), range.flops)?;
        }
        drop(rec);
        let transformed = if apart { Some(self.transformed(distances)?) } else { None };
        let mut rec = gpu.record();
        for (measure, place) in program.measures.iter().zip(self.places) {
            let offset = place.range.start;
            match measure {
                Measure::Raw(_) | Measure::Moments(_) | Measure::Covariance(_) => {}
                Measure::Quantiles(of) => self.ranks(&mut rec, of, offset, &mut arrays)?,
                Measure::Histogram(of) => self.bins(&mut rec, of, offset, samples, &mut arrays)?,
                Measure::Spectrum(of) => {
                    if let Some(transformed) = &transformed {
                        self.spectrum(&mut rec, of, offset, transformed, &mut arrays)?;
                    }
                }
                Measure::Singular(of) if of.has_sums() => self.lines(&mut rec, offset, &mut arrays)?,
                Measure::Singular(_) => {}
                Measure::Autocorrelation(of) => self.order(&mut rec, of, offset, &mut arrays)?,
                Measure::Bits(of) => self.strings(&mut rec, of, offset, &mut arrays)?,
            }
        }
        let records = rec.read(&arrays.records)?;
        let parts = rec.read(&arrays.parts)?;
        drop(rec);
        Ok(Found { records: records.wait()?, parts: parts.wait()?, stride })
    }

    /// Returns the transforms of the distances from the first number of each sample.
    fn transformed(&self, distances: Buffer<f32>) -> Result<Shared<[f32; 2]>> {
        let ctx = self.ctx.with_backend(Backend::Gpu);
        let (rows, columns) = match self.program.shape {
            SampleShape::Vector(n) | SampleShape::Matrix { rows: n, columns: 1 } => (1, n),
            SampleShape::Matrix { rows, columns } => (rows, columns),
        };
        // A matrix stored row by row is its transpose stored column by column.
        let samples: Array<f32> =
            Array::from_storage(Shape::new(columns, rows, self.count), Storage::device(distances));
        let mut made = rfft(&ctx, &samples, Axis::Rows)?;
        if rows > 1 {
            made = fft(&ctx, &made, Axis::Cols)?;
        }
        Ok(made.storage().on_device(&ctx, self.gpu)?.cast())
    }

    fn ranks(&self, rec: &mut Recorder<'_>, of: &Quantiles, offset: usize, arrays: &mut Arrays) -> Result<()> {
        let n = self.program.shape.len();
        let places: Vec<u32> = of.places(n).map(to_u32).collect();
        let size = n.next_power_of_two();
        let stages = f64::from(size.ilog2() * (size.ilog2() + 1) / 2);
        let places_on = rec.upload(if places.is_empty() { &[0] } else { &places[..] })?;
        for range in rec.ranges(to_u32(self.count), 4.0 * stages * size as f64) {
            let params = Ranking {
                first: range.first,
                n: to_u32(n),
                size: to_u32(size),
                offset: to_u32(offset),
                stride: to_u32(self.stride),
                places: to_u32(places.len()),
                deviation: u32::from(of.mad),
            };
            let Arrays { scaled, parts, .. } = &mut *arrays;
            let kernel = Ranks { params, scaled, places: &places_on, parts };
            rec.dispatch(&kernel, &capacity(n), range.grid(), range.flops)?;
        }
        Ok(())
    }

    /// Counts the numbers in each bin. The edges come from the host, where they are computed in f64: an edge in f32 is
    /// on the wrong side of numbers that are as good as equal to it, such as the multiples of 0.1.
    fn bins(
        &self,
        rec: &mut Recorder<'_>,
        of: &Histograms,
        offset: usize,
        samples: &[f32],
        arrays: &mut Arrays,
    ) -> Result<()> {
        let n = self.program.shape.len();
        let edges = match of.edges() {
            Some(edges) => edges,
            None => {
                let mut edges = vec![0.0; self.count * (of.bins + 1)];
                self.ctx.on_host(|| {
                    let each = edges.chunks_mut(of.bins + 1).zip(samples.chunks(n));
                    parallel::for_each(each, |_, (edges, sample)| of.edges_of(sample, edges));
                    Ok(())
                })?;
                edges
            }
        };
        let edges = rec.upload(&edges)?;
        for range in rec.ranges(to_u32(self.count), COUNT * n as f64) {
            let params = Counting {
                first: range.first,
                n: to_u32(n),
                offset: to_u32(offset),
                stride: to_u32(self.stride),
                codes: to_u32(of.bins),
                given: u32::from(of.range.is_some()),
                places: 0,
                order: 0,
                delay: 0,
            };
            let Arrays { bits, scaled, parts, .. } = &mut *arrays;
            // Given edges are in the unit of the numbers as they are.
            let numbers: &Buffer<f32> = if of.range.is_some() { &bits.cast_ref() } else { scaled };
            let kernel = Counts { params, numbers, edges: &edges, parts };
            rec.dispatch(&kernel, &counts(n, false), range.grid(), range.flops)?;
        }
        Ok(())
    }

    fn order(&self, rec: &mut Recorder<'_>, of: &Autocorrelation, offset: usize, arrays: &mut Arrays) -> Result<()> {
        let n = self.program.shape.len();
        let (n_32, stride) = (to_u32(n), to_u32(self.stride));
        let lags: Vec<u32> = of.known_lags().map(to_u32).collect();
        let lags_on = rec.upload(if lags.is_empty() { &[0] } else { &lags[..] })?;
        let work = (ORDER + 4.0 * lags.len() as f64 + 2.0 * of.support as f64 + 64.0) * n as f64;
        for range in rec.ranges(to_u32(self.count), work) {
            let params = Ordering {
                first: range.first,
                n: n_32,
                offset: to_u32(offset),
                stride,
                support: to_u32(of.support),
                lags: to_u32(lags.len()),
                first_zero: u32::from(of.wants_first_zero()),
            };
            let Arrays { scaled, records, parts, .. } = &mut *arrays;
            let kernel = Order { params, scaled, records, lags: &lags_on, parts };
            rec.dispatch(&kernel, &capacity(n), range.grid(), range.flops)?;
        }
        if of.patterns() == 0 {
            return Ok(());
        }
        let offset = offset + order::PARTS + lags.len();
        let work = (COUNT + (of.order * of.order) as f64) * n as f64;
        for range in rec.ranges(to_u32(self.count), work) {
            let params = Counting {
                first: range.first,
                n: n_32,
                offset: to_u32(offset),
                stride,
                codes: to_u32(of.patterns()),
                given: 0,
                places: to_u32(of.places(n)),
                order: to_u32(of.order),
                delay: to_u32(of.delay),
            };
            let Arrays { scaled, parts, .. } = &mut *arrays;
            // Patterns need no edges, but a binding.
            let numbers = &*scaled;
            let kernel = Counts { params, numbers, edges: numbers, parts };
            rec.dispatch(&kernel, &counts(n, true), range.grid(), range.flops)?;
        }
        Ok(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    fn spectrum(
        &self,
        rec: &mut Recorder<'_>,
        of: &Spectrum,
        offset: usize,
        transformed: &Buffer<[f32; 2]>,
        arrays: &mut Arrays,
    ) -> Result<()> {
        let Some(transform) = &self.program.transform else { return Ok(()) };
        let n = self.program.shape.len();
        let places = rec.upload(&of.table(transform))?;
        let bins = transform.weights.len();
        let [top, bands, powers] = of.further();
        let bands_at = spectrum::PARTS + if top { of.top } else { 0 };
        let powers_at = bands_at + if bands { of.bands } else { 0 };
        let at = |wanted: bool, place: usize| if wanted { to_u32(place) } else { 0 };
        for range in rec.ranges(to_u32(self.count), (SPECTRUM + 4.0 * of.top as f64) * n as f64) {
            let params = Describing {
                first: range.first,
                n: to_u32(n),
                offset: to_u32(offset),
                stride: to_u32(self.stride),
                bins: to_u32(bins),
                skipped: to_u32(of.skipped()),
                top: to_u32(of.top),
                top_at: at(top, spectrum::PARTS),
                bands: to_u32(of.bands),
                bands_at: at(bands, bands_at),
                powers_at: at(powers, powers_at),
                count: of.bins(transform) as f32,
                epsilon: of.epsilon as f32,
                rolloff: of.rolloff as f32,
            };
            let Arrays { records, parts, .. } = &mut *arrays;
            let kernel = Spectra { params, transformed, records, places: &places, parts };
            rec.dispatch(&kernel, &capacity(n), range.grid(), range.flops)?;
        }
        Ok(())
    }

    fn lines(&self, rec: &mut Recorder<'_>, offset: usize, arrays: &mut Arrays) -> Result<()> {
        let n = self.program.shape.len();
        let columns = self.program.shape.columns();
        for range in rec.ranges(to_u32(self.count), 4.0 * n as f64) {
            let params = Adding {
                first: range.first,
                rows: to_u32(n / columns),
                columns: to_u32(columns),
                offset: to_u32(offset),
                stride: to_u32(self.stride),
            };
            let Arrays { scaled, parts, .. } = &mut *arrays;
            rec.dispatch(&Lines { params, scaled, parts }, &width(n), range.grid(), range.flops)?;
        }
        Ok(())
    }

    fn strings(&self, rec: &mut Recorder<'_>, of: &Bits, offset: usize, arrays: &mut Arrays) -> Result<()> {
        let n = self.program.shape.len();
        let of = of.parts_of(self.program.shape);
        let work = 10.0 * n as f64 + 4.0 * (of.total * of.strings) as f64;
        for range in rec.ranges(to_u32(self.count), work) {
            let params = Stringing {
                first: range.first,
                n: to_u32(n),
                offset: to_u32(offset),
                stride: to_u32(self.stride),
                strings: to_u32(of.strings),
                apart: to_u32(of.apart),
                length: to_u32(of.length),
                positions_at: to_u32(of.positions_at.unwrap_or(0)),
                pairs_at: to_u32(of.pairs_at.unwrap_or(0)),
            };
            let Arrays { bits, parts, .. } = &mut *arrays;
            rec.dispatch(&Strings { params, numbers: bits, parts }, &capacity(n), range.grid(), range.flops)?;
        }
        Ok(())
    }
}
