//! What is uploaded: the data set or a group of it, with the lists of samples; and the numbers of the runs.

use super::super::{Replica, Samples, Scaler, Targets};
use super::Parts;
use super::form::{Parameters, narrow};
use crate::array::Real;
use crate::device::{Buffer, Gpu};
use crate::error::Result;
use crate::ops::convert::tiny::{Lines, Raised};
use crate::shape::to_u32;
use std::collections::HashMap;
use std::sync::Arc;

/// Where the samples of a run are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// For each part, where its list begins, and its length.
    pub(super) parts: [(u32, u32); 3],
    pub(super) scaling: Option<u32>,
}

/// A run, by the scaling of its inputs and the lists of its samples.
pub(crate) type Member<'a, T> = (Option<&'a Arc<Vec<[T; 2]>>>, &'a Parts);

/// A data set, or a group of it, on a device.
#[derive(Debug)]
pub(crate) struct Uploaded {
    pub(super) places: Vec<Place>,
    pub(super) x: Buffer<[f32; 4]>,
    pub(super) lists: Buffer<u32>,
    pub(super) targets: Buffer<u32>,
    /// The number of values of a sample, or 0 for labels.
    pub(super) each: u32,
    /// The number of samples that a run is trained on, and of the steps through them.
    pub(super) trained_on: u32,
    pub(super) batches: u32,
}

impl Uploaded {
    /// Uploads samples, for runs that have equally many of each part and `batches` steps through them. A run is given
    /// by its scaling and its lists of samples.
    ///
    /// # Errors
    /// Device errors.
    pub(crate) fn upload<T: Real>(
        gpu: &Gpu,
        samples: &Samples<T>,
        runs: &[Member<'_, T>],
        batches: usize,
    ) -> Result<Self> {
        let trained_on = runs.first().map_or(0, |(_, parts)| to_u32(parts[0].len()));
        let (each, targets) = targets(samples);
        let (x, lists, places) = data(samples, runs);
        let mut rec = gpu.record();
        let x = rec.upload(&x)?;
        let lists = rec.upload(&lists)?;
        let targets = rec.upload(&targets)?;
        Ok(Self { places, x, lists, targets, each, trained_on, batches: to_u32(batches) })
    }
}

/// Returns the number of values of a sample, or 0 for labels; and the targets of all samples as words.
fn targets<T: Real>(samples: &Samples<T>) -> (u32, Vec<u32>) {
    match samples.targets() {
        Targets::Labels(labels) => (0, labels.clone()),
        Targets::Values(values, each) => (to_u32(*each), values.iter().map(|&value| narrow(value).to_bits()).collect()),
    }
}

/// Returns the inputs of all samples in rows of vectors, followed by the means and the factors of every scaling; the
/// lists of samples; and where those of every run are.
fn data<T: Real>(samples: &Samples<T>, runs: &[Member<'_, T>]) -> (Vec<[f32; 4]>, Vec<u32>, Vec<Place>) {
    let inputs = samples.inputs();
    let columns = inputs.div_ceil(4);
    let mut x = Vec::with_capacity(samples.len() * columns);
    let mut push = |row: &mut dyn Iterator<Item = f32>| {
        let row: Vec<f32> = row.collect();
        x.extend(row.chunks(4).map(|some| {
            let mut four = [0.0; 4];
            four[..some.len()].copy_from_slice(some);
            four
        }));
    };
    let words: Vec<f32> = (0..samples.len()).flat_map(|sample| samples.row(sample)).map(|&x| narrow(x)).collect();
    // Inputs that are scaled may be tiny.
    let scaled = !runs.is_empty() && runs.iter().all(|(scaling, _)| scaling.is_some());
    let lines = Lines { inner: if scaled { inputs } else { 0 }, outer: 1 };
    let raised = Raised::of(&words, lines, 1);
    for row in raised.words.chunks_exact(inputs.max(1)) {
        push(&mut row.iter().copied());
    }
    let (mut lists, mut places) = (Vec::new(), Vec::new());
    let mut known = HashMap::new();
    let mut scalings = HashMap::new();
    let mut rows = samples.len() * columns;
    for (scaling, parts) in runs {
        let parts = *known.entry(Arc::as_ptr(parts)).or_insert_with(|| {
            [0, 1, 2].map(|part| {
                let own: &Vec<u32> = &parts[part];
                lists.extend_from_slice(own);
                (to_u32(lists.len() - own.len()), to_u32(own.len()))
            })
        });
        let scaling = scaling.map(|scaling| {
            *scalings.entry(Arc::as_ptr(scaling)).or_insert_with(|| {
                let power = |at: usize, sign: i32| 2.0_f64.powi(sign * raised.exponents.get(at).unwrap_or(&0));
                let scaled = |which: usize, sign: i32| {
                    move |(at, both): (usize, &[T; 2])| narrow(T::from_f64(both[which].to_f64() * power(at, sign)))
                };
                push(&mut scaling.iter().enumerate().map(scaled(0, -1)));
                push(&mut scaling.iter().enumerate().map(scaled(1, 1)));
                rows += 2 * columns;
                to_u32(rows - 2 * columns)
            })
        });
        places.push(Place { parts, scaling });
    }
    (x, lists, places)
}

/// Returns the initial counts and loss scale of every run, in the layout of `found` in step.wgsl.
pub(super) fn counts<T>(width: u32, runs: &[&Replica<T>]) -> Vec<[u32; 4]> {
    let mut found = Vec::new();
    for replica in runs {
        let Scaler { scale, clean, skipped, in_a_row } = replica.scaler;
        found.extend([[0; 4], [scale.to_bits(), clean, skipped, in_a_row]]);
        found.resize(found.len() + width as usize, [0; 4]);
    }
    found
}

/// Returns the parameters, the running statistics and the moments of all runs.
pub(super) fn numbers<T: Real>(
    parameters: &Parameters,
    moments: u32,
    runs: &[&Replica<T>],
) -> (Vec<[f32; 4]>, Vec<[f32; 4]>) {
    let (stride, quads) = (parameters.stride as usize, parameters.quads as usize);
    let mut weights = vec![[0.0; 4]; runs.len() * stride];
    let mut moved = vec![[0.0; 4]; runs.len() * quads * moments as usize];
    for (run, replica) in runs.iter().enumerate() {
        let own = bytemuck::cast_slice_mut(&mut weights[run * stride..][..stride]);
        parameters.pack(&replica.moved.weights, own);
        parameters.pack_running(&replica.moved.running, own);
        for (place, vector) in [&replica.moved.first, &replica.moved.second].into_iter().enumerate() {
            if !vector.is_empty() {
                let at = (run * moments as usize + place) * quads;
                parameters.pack(vector, bytemuck::cast_slice_mut(&mut moved[at..][..quads]));
            }
        }
    }
    (weights, moved)
}
