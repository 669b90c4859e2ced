//! The formulas of the columns, from the parts that the kernels found: a sample in each lane, in f64.

use super::super::kernels::RECORD;
use super::super::moments::Sums;
use super::super::parts::Known;
use super::super::{Measure, Program, Status, cpu};
use super::{Found, Place};
use crate::array::Real;
use crate::lanes::{SimdScalar, Task, Vector};
use crate::parallel;

/// The samples of a task of one thread, a multiple of the lanes.
const TASK: usize = 64;

/// Computes the columns of samples.
pub(super) fn run(
    program: &Program,
    places: &[Place],
    found: &Found,
    samples: &[f32],
    values: [&[f64]; 2],
    out: &mut [f32],
    status: &mut [Status],
) {
    let (n, count) = (program.shape.len(), status.len());
    let tasks = out.chunks_mut(TASK * program.width).zip(status.chunks_mut(TASK)).enumerate();
    parallel::for_each(tasks, |_, (task, (out, status))| {
        let rows = task * TASK..task * TASK + status.len();
        let values = values.map(|values| {
            let each = values.len() / count;
            &values[rows.start * each..rows.end * each]
        });
        let samples = &samples[rows.start * n..rows.end * n];
        f64::in_lanes(Rows { program, places, found, first: rows.start, samples, values, out, status });
    });
}

/// The work of a task.
struct Rows<'a> {
    program: &'a Program,
    places: &'a [Place],
    found: &'a Found,
    first: usize,
    samples: &'a [f32],
    values: [&'a [f64]; 2],
    out: &'a mut [f32],
    status: &'a mut [Status],
}

impl Task<f64> for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) {
        let Self { program, places, found, first, samples, values, out, status } = self;
        let n = program.shape.len();
        let zero = V::splat(token, 0.0);
        let each = values.map(|values| values.len() / status.len());
        let mut in_lanes = each.map(|each| vec![zero; each]);
        let raw = program.measures.iter().any(|measure| matches!(measure, Measure::Raw(_)));
        let mut x = vec![zero; if raw { n } else { 0 }];
        let (mut parts, mut columns) = (Vec::new(), Vec::with_capacity(program.width));
        for group in 0..status.len().div_ceil(V::LANES) {
            let begin = group * V::LANES;
            let lanes = V::LANES.min(status.len() - begin);
            let status = &mut status[begin..begin + lanes];
            let mut record = [zero; RECORD];
            for lane in 0..V::LANES {
                // Lanes beyond the samples repeat the last one.
                let sample = begin + lane.min(lanes - 1);
                let own = &found.records[(first + sample) * RECORD..][..RECORD];
                for (to, &value) in record.iter_mut().zip(own) {
                    to.as_mut_slice()[lane] = f64::from(value);
                }
                if let Some(status) = status.get_mut(lane) {
                    *status = if own[0] > 0.0 { Status::Ok } else { Status::NotFinite };
                }
                for (to, values) in in_lanes.iter_mut().zip(values) {
                    let each = to.len();
                    cpu::gather(to, lane, &values[sample * each..][..each]);
                }
                if raw {
                    cpu::gather(&mut x, lane, &f32::all_to_f64(&samples[sample * n..][..n]));
                }
            }
            // The scale, and its powers.
            let mut unit = zero;
            for (unit, &e) in unit.as_mut_slice().iter_mut().zip(record[1].as_slice()) {
                *unit = e.exp2();
            }
            let units = [V::splat(token, 1.0), unit, unit * unit, unit * unit * unit, (unit * unit) * (unit * unit)];
            let sums = sums_of(token, n, &record, &units);
            let (shape, transform) = (program.shape, program.transform.as_ref());
            let [singular, centered] = in_lanes.each_ref();
            let known = Known { token, shape, sums: &sums, transform, singular, centered };
            columns.clear();
            for (measure, place) in program.measures.iter().zip(places) {
                parts.clear();
                if let Measure::Raw(of) = measure {
                    of.of_numbers(token, &x, &mut parts);
                }
                for (part, &power) in place.range.clone().zip(&place.units) {
                    let mut value = zero;
                    for (lane, value) in value.as_mut_slice().iter_mut().enumerate() {
                        let sample = first + begin + lane.min(lanes - 1);
                        *value = f64::from(found.parts[sample * found.stride + part]);
                    }
                    parts.push(value * units[power]);
                }
                measure.columns(&known, &parts, &mut columns);
            }
            let out = &mut out[begin * program.width..][..lanes * program.width];
            cpu::scatter(&columns, &program.order, out, status);
        }
    }
}

/// Returns the sums of samples from their records.
#[inline(always)]
fn sums_of<V: Vector<Scalar = f64>>(token: V::Token, n: usize, record: &[V; RECORD], units: &[V; 5]) -> Sums<V> {
    let n = V::splat(token, n as f64);
    let [_, _, start, apart, energy, min, max, second, third, fourth, distance, _] = *record;
    Sums {
        n,
        sum: start.mul_add(n, apart) * units[1],
        mean: (start + apart / n) * units[1],
        energy: energy * units[2],
        min: min * units[1],
        max: max * units[1],
        central: [second * units[2], third * units[3], fourth * units[4]],
        distance: distance * units[1],
    }
}
