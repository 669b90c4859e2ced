//! The Fourier transform of a sample: its plan, and the frequencies of its results.

use super::SampleShape;
use crate::ops::fft::{LinePlan, LinesMemory, Planned, PowerInLanes, RealLine};
use crate::order::ascending;
use num_complex::Complex;
use std::f64::consts::FRAC_1_SQRT_2;
use std::fmt;
use std::sync::Arc;

/// A plan for transforms of samples of one shape, in f64 on the CPU.
pub(super) struct Transform {
    /// The plan for transforms in lanes, if there is one for this length.
    pub(super) in_lanes: Option<PowerInLanes>,
    rows: usize,
    columns: usize,
    along_rows: RealLine<f64>,
    along_columns: Arc<dyn LinePlan<f64>>,
    /// For each result: 2 if another frequency, which is not computed, has the same magnitude; otherwise 1.
    pub(super) weights: Vec<f64>,
    /// The frequency of each result, in cycles per element.
    pub(super) frequencies: Vec<f64>,
    /// The places of the results by ascending frequency; 0 is the first.
    pub(super) order: Vec<usize>,
}

/// Memory for the transform of a sample.
#[derive(Default)]
pub(super) struct Scratch {
    /// The sample to transform.
    pub(super) sample: Vec<f64>,
    result: Vec<Complex<f64>>,
    along_rows: Option<LinesMemory<f64>>,
    column: [Vec<Complex<f64>>; 2],
    inner: Vec<Complex<f64>>,
    power: Vec<f64>,
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Transform({} x {})", self.rows, self.columns)
    }
}

impl Transform {
    /// Returns the number of results of a transform: those frequencies of which no other has the same magnitude for
    /// every real sample.
    pub(super) fn frequencies(shape: SampleShape) -> usize {
        let (rows, columns) = sides(shape);
        rows * (columns / 2 + 1)
    }

    pub(super) fn new(shape: SampleShape) -> Self {
        let (rows, columns) = sides(shape);
        let half = columns / 2 + 1;
        let signed = |k: usize, n: usize| k.min(n - k) as f64 / n as f64;
        let mut weights = Vec::with_capacity(rows * half);
        let mut frequencies = Vec::with_capacity(rows * half);
        for row in 0..rows {
            for column in 0..half {
                let alone = column == 0 || 2 * column == columns;
                weights.push(if alone { 1.0 } else { 2.0 });
                let (down, along) = (signed(row, rows), signed(column, columns));
                // A matrix's highest frequency, (1/2, 1/2), is 1/2 like a vector's.
                frequencies.push(if rows == 1 { along } else { down.hypot(along) * FRAC_1_SQRT_2 });
            }
        }
        let order = ascending(frequencies.iter().copied());
        let along_rows = RealLine::new(columns, false);
        let along_columns = f64::plan(rows, false);
        let in_lanes = if rows == 1 { PowerInLanes::new(columns) } else { None };
        Self { in_lanes, rows, columns, along_rows, along_columns, weights, frequencies, order }
    }

    /// Returns the squared magnitudes of the transform of `scratch.sample`, which is overwritten. The first is the
    /// square of `sum`: samples may be shifted by a constant, which changes only that one.
    pub(super) fn power<'a>(&self, scratch: &'a mut Scratch, sum: f64) -> &'a [f64] {
        let Self { rows, columns, along_rows, along_columns, .. } = self;
        let half = columns / 2 + 1;
        let Scratch { sample, result, along_rows: memory, column: [column, made], inner, power } = scratch;
        result.resize(rows * half, Complex::default());
        let memory = memory.get_or_insert_with(|| along_rows.memory());
        for (row, result) in sample.chunks(*columns).zip(result.chunks_mut(half)) {
            along_rows.forward(row, result, memory);
        }
        if *rows > 1 {
            inner.resize(along_columns.scratch_len(), Complex::default());
            column.resize(*rows, Complex::default());
            made.resize(*rows, Complex::default());
            for at in 0..half {
                for (row, z) in column.iter_mut().enumerate() {
                    *z = result[row * half + at];
                }
                along_columns.run(column, made, inner);
                for (row, z) in made.iter().enumerate() {
                    result[row * half + at] = *z;
                }
            }
        }
        power.clear();
        power.extend(result.iter().map(Complex::norm_sqr));
        power[0] = sum * sum;
        power
    }
}

fn sides(shape: SampleShape) -> (usize, usize) {
    match shape {
        SampleShape::Vector(n) | SampleShape::Matrix { rows: n, columns: 1 } => (1, n),
        SampleShape::Matrix { rows, columns } => (rows, columns),
    }
}
