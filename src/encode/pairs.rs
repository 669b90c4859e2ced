//! From the eigendecomposition of one graph's Laplacian to the pairs that its encoding gives: selection, canonical vectors,
//! certificate. In f64, on the host, the same for every backend.

use super::canonical::{canonical_basis, tie_groups};
use super::settings::Settings;
use super::walks::return_probabilities;
use crate::array::Real;
use crate::graph::{Components, GraphRef, IsolatedDiagonal};
use crate::ops::eigen::{Certificate, Which};
use crate::ops::laplacian::{Laplacian, Normalization};
use std::ops::Range;

/// Eigenvalues closer than this, times the largest magnitude of the spectrum, are one tie group. The kernels' values are off by at
/// most about 2 eps |L|_1 (measured, ops/eigen), two of them by twice that; below 16 eps f32 cannot tell a tie from a gap.
const RESOLUTION: f64 = 16.0 * f32::EPSILON as f64;

/// The encoding of one graph.
#[derive(Debug)]
pub(super) struct Pairs {
    /// As many as there are, at most k.
    pub(super) values: Vec<f32>,
    /// A column for each value, column-major.
    pub(super) vectors: Vec<f32>,
    pub(super) tie_group: Vec<i64>,
    pub(super) certificate: Certificate,
    pub(super) components: usize,
    /// `(n, walk_steps)`.
    pub(super) random_walk: Vec<f32>,
}

/// The columns that [`pairs`] looks at: those selected, and the rest of their tie groups.
pub(super) fn needed(settings: &Settings, graph: GraphRef<'_>, values: &[f64]) -> Range<usize> {
    let trivial = match settings.drop_trivial {
        true => zero_modes(graph, &graph.components(), settings.normalization).len(),
        false => 0,
    };
    let selected = selected(settings, trivial, values.len());
    let groups = groups(values);
    let (Some(first), Some(last)) = (groups.get(selected.start), groups.get(selected.end.wrapping_sub(1))) else {
        return 0..0;
    };
    groups.partition_point(|g| g < first)..groups.partition_point(|g| g <= last)
}

/// The places of the pairs that are handed out.
fn selected(settings: &Settings, trivial: usize, n: usize) -> Range<usize> {
    match settings.which {
        Which::Smallest => trivial.min(n)..trivial.saturating_add(settings.k).min(n),
        Which::Largest => n.saturating_sub(settings.k).max(trivial.min(n))..n,
    }
}

fn groups(values: &[f64]) -> Vec<u32> {
    let largest = values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    tie_groups(values, RESOLUTION * largest)
}

/// What of the eigendecomposition (`values` ascending, `vectors` column-major) goes into the encoding.
pub(super) fn pairs<T: Real>(
    settings: &Settings,
    graph: GraphRef<'_>,
    values: &[T],
    vectors: &[T],
    solved: Certificate,
) -> Pairs {
    let n = graph.nodes();
    let components = graph.components();
    let random_walk = return_probabilities(graph, settings.walk_steps);
    let zero_modes = zero_modes(graph, &components, settings.normalization);
    let trivial = if settings.drop_trivial { zero_modes.len() } else { 0 };
    let selected = selected(settings, trivial, n);
    let found = selected.len();
    let values: Vec<f64> = values.iter().map(|x| x.to_f64()).collect();
    if !values.iter().all(|x| x.is_finite()) {
        let (values, vectors) = (vec![f32::NAN; found], vec![0.0; found * n]);
        let count = components.count;
        return Pairs {
            values,
            vectors,
            tie_group: vec![-1; found],
            certificate: solved,
            components: count,
            random_walk,
        };
    }

    let groups = groups(&values);
    let mut basis = vec![0.0; found * n];
    let mut start = 0;
    for members in groups.chunk_by(|a, b| a == b) {
        let group = start..start + members.len();
        start = group.end;
        if group.start < selected.end && group.end > selected.start {
            let mut space: Vec<f64> = vectors[group.start * n..group.end * n].iter().map(|x| x.to_f64()).collect();
            // Zero modes that are dropped may be tied with pairs that stay: what stays is orthogonal to them.
            let dropped = trivial.clamp(group.start, group.end) - group.start;
            if dropped > 0 {
                zero_modes.iter().for_each(|mode| deflate(&mut space, n, mode));
            }
            let first = group.start + dropped;
            canonical_basis(&mut space, n, selected.end.min(group.end) - first);
            let taken = first.max(selected.start)..group.end.min(selected.end);
            let (from, to) = ((taken.start - first) * n, (taken.start - selected.start) * n);
            let length = taken.len() * n;
            basis[to..to + length].copy_from_slice(&space[from..from + length]);
        }
    }
    let values: Vec<f32> = values[selected.clone()].iter().map(|&x| f32::from_f64(x)).collect();
    let tie_group = groups[selected].iter().map(|&g| g.into()).collect();
    let Finished { vectors, residual, orthogonality } = finish(settings, graph, &values, basis);
    let certificate = Certificate { residual, orthogonality, ..solved }.judged(n, f32::EPSILON.into());
    Pairs { values, vectors, tie_group, certificate, components: components.count, random_walk }
}

/// What is handed out, and what is measured of it.
pub(super) struct Finished {
    pub(super) vectors: Vec<f32>,
    pub(super) residual: f64,
    pub(super) orthogonality: f64,
}

/// From the canonical basis in f64 to the vectors of the Laplacian that was asked for, in f32, with their measures.
pub(super) fn finish(settings: &Settings, graph: GraphRef<'_>, values: &[f32], mut basis: Vec<f64>) -> Finished {
    let n = graph.nodes();
    let orthogonality = orthogonality(&basis, n, values.len());
    let laplacian = Laplacian::new(graph, settings.normalization);
    if settings.normalization == Normalization::RandomWalk {
        to_random_walk(&mut basis, n, &laplacian.similarity_scale());
    }
    let vectors: Vec<f32> = basis.into_iter().map(f32::from_f64).collect();
    let residual = residual(&laplacian, values, &vectors);
    Finished { vectors, residual, orthogonality }
}

/// A vector of the null space that is known in advance: the nodes of one component, and the value on each.
type ZeroMode = Vec<(usize, f64)>;

/// One for each component: constant for D - W, D^1/2 for the normalised forms, where a node of degree 0 has one only if its
/// diagonal is 0. Unit 2-norm. Those of the random walk are its symmetric similar's.
fn zero_modes(graph: GraphRef<'_>, components: &Components, normalization: Normalization) -> Vec<ZeroMode> {
    let degrees = graph.degrees();
    let combinatorial = normalization == Normalization::Combinatorial;
    let isolated_is_zero = combinatorial || graph.conventions().isolated == IsolatedDiagonal::Zero;
    let mut modes: Vec<ZeroMode> = vec![Vec::new(); components.count];
    for (node, &label) in components.labels.iter().enumerate() {
        let degree = degrees[node];
        if degree > 0.0 || isolated_is_zero {
            let value = if combinatorial || degree == 0.0 { 1.0 } else { degree.sqrt() };
            modes[label as usize].push((node, value));
        }
    }
    modes.retain(|mode| !mode.is_empty());
    for mode in &mut modes {
        let norm = mode.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
        mode.iter_mut().for_each(|(_, x)| *x /= norm);
    }
    modes
}

/// Takes the part along `mode` out of every column.
fn deflate(columns: &mut [f64], n: usize, mode: &ZeroMode) {
    for column in columns.chunks_exact_mut(n) {
        let along: f64 = mode.iter().map(|&(i, x)| x * column[i]).sum();
        mode.iter().for_each(|&(i, x)| column[i] -= along * x);
    }
}

/// `max |V'V - I|` of what is given, that is of the columns rounded to f32.
fn orthogonality(basis: &[f64], n: usize, columns: usize) -> f64 {
    let column = |j: usize| basis[j * n..(j + 1) * n].iter().map(|&x| f64::from(f32::from_f64(x)));
    let mut worst = 0.0;
    for j in 0..columns {
        for i in 0..=j {
            let product: f64 = column(i).zip(column(j)).map(|(x, y)| x * y).sum();
            let away = (product - f64::from(u8::from(i == j))).abs();
            // A NaN stays.
            worst = if away.is_nan() || away > worst { away } else { worst };
        }
    }
    worst
}

/// D^-1/2 v, scaled to unit 2-norm, the entry of largest magnitude positive again.
fn to_random_walk(basis: &mut [f64], n: usize, scale: &[f64]) {
    for column in basis.chunks_exact_mut(n.max(1)) {
        column.iter_mut().zip(scale).for_each(|(x, s)| *x *= s);
        canonical_basis(column, n, 1);
    }
}

/// `max_j |L v_j - l_j v_j|_2 / |L|_1` of what is given.
fn residual(laplacian: &Laplacian<'_>, values: &[f32], vectors: &[f32]) -> f64 {
    let n = laplacian.order();
    let norm = laplacian.norm_1();
    let mut worst = 0.0;
    for (value, column) in values.iter().zip(vectors.chunks_exact(n.max(1))) {
        let v: Vec<f64> = column.iter().map(|&x| x.into()).collect();
        let square: f64 = (0..n)
            .map(|row| {
                let product: f64 = laplacian.row(row).map(|(column, x)| x * v[column]).sum();
                ((laplacian.diagonal(row) - f64::from(*value)) * v[row] + product).powi(2)
            })
            .sum();
        let relative = square.sqrt() / if norm == 0.0 { 1.0 } else { norm };
        worst = if relative.is_nan() || relative > worst { relative } else { worst };
    }
    worst
}
