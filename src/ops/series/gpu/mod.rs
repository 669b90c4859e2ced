//! Parts of measures on the device: a workgroup for each sample.
//!
//! A block of samples is uploaded once. The first kernel scales the numbers (`parts.rs`) and adds them up; the others
//! read the scaled numbers. All parts of a sample are in one row, which is read back, and the formulas run on the host.
//! Plain numbers and projections of them (`Raw`) are not worth a transfer and come from the host's samples.

mod finish;
mod limits;
mod record;

pub(super) use limits::check;

use super::{Columns, Measure, Program, Status, order, spectrum};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::Result;
use record::Recording;
use std::ops::Range;
use std::sync::Arc;

/// The parts of a measure in a row of all parts, and their units.
#[derive(Clone, Debug)]
struct Place {
    range: Range<usize>,
    units: Vec<usize>,
}

/// Returns where the parts of each measure are.
fn places(program: &Program) -> Vec<Place> {
    let mut end = 0;
    let place = |measure| {
        let units = units(measure, program);
        let begin = end;
        end += units.len();
        Place { range: begin..end, units }
    };
    program.measures.iter().map(place).collect()
}

/// Returns the units of the parts that kernels compute for a measure (`parts.rs`).
fn units(measure: &Measure, program: &Program) -> Vec<usize> {
    let n = program.shape.len();
    match measure {
        Measure::Raw(_) | Measure::Moments(_) | Measure::Covariance(_) => Vec::new(),
        Measure::Quantiles(of) => vec![1; of.places(n).count() + usize::from(of.mad)],
        Measure::Histogram(of) => vec![0; of.bins],
        Measure::Spectrum(of) => {
            let [top, bands, powers] = of.further();
            let seen = program.transform.as_ref().map_or(0, |transform| transform.weights.len()) - of.skipped();
            let further = usize::from(top) * of.top + usize::from(bands) * of.bands + usize::from(powers) * seen;
            spectrum::UNITS.into_iter().chain(std::iter::repeat_n(2, further)).collect()
        }
        Measure::Singular(of) => vec![1; if of.has_sums() { 2 } else { 0 }],
        Measure::Autocorrelation(of) => {
            let lags = std::iter::repeat_n(2, of.known_lags().count());
            order::UNITS.into_iter().chain(lags).chain(std::iter::repeat_n(0, of.patterns())).collect()
        }
        Measure::Bits(of) => vec![0; of.parts_of(program.shape).total],
    }
}

/// Computes the columns of samples. `values` has the singular values of each sample, and those after the means of its
/// columns are subtracted, as far as the program wants them.
pub(super) fn run(
    ctx: &Context,
    gpu: &Arc<Gpu>,
    program: &Program,
    samples: &[f32],
    values: [&[f64]; 2],
) -> Result<Columns> {
    let (n, places) = (program.shape.len(), places(program));
    let stride = places.last().map_or(0, |place| place.range.end);
    let count = samples.len() / n;
    let each = limits::samples(gpu, n, stride.max(n));
    let mut made =
        Columns { width: program.width, values: vec![0.0; count * program.width], status: vec![Status::Ok; count] };
    for first in (0..count).step_by(each) {
        let rows = first..count.min(first + each);
        let own = &samples[rows.start * n..rows.end * n];
        let found = Recording { ctx, gpu, program, places: &places, stride, count: rows.len() }.run(own)?;
        let values = values.map(|values| {
            let each = values.len() / count;
            &values[rows.start * each..rows.end * each]
        });
        let out = &mut made.values[rows.start * program.width..rows.end * program.width];
        ctx.on_host(|| {
            finish::run(program, &places, &found, own, values, out, &mut made.status[rows]);
            Ok(())
        })?;
    }
    Ok(made)
}

/// What the kernels found.
struct Found {
    records: Vec<f32>,
    parts: Vec<f32>,
    stride: usize,
}
