//! Turns the eigenpairs that a solver found for one graph's Laplacian into those of its encoding: the known null
//! space, separation of close values, tie groups, canonical vectors, certificate. In f64, on the host, the same for
//! every solver.

use super::canonical::canonical_basis;
use super::separate::{CLOSE, is_due, separate, small};
use super::settings::Settings;
use super::walks::return_probabilities;
use crate::array::Real;
use crate::graph::GraphRef;
use crate::ops::eigen::{Certificate, Which};
use crate::ops::laplacian::{Laplacian, Normalization};
use crate::ops::sparse::Operator;
use crate::ops::ties::tie_groups;
use crate::ops::{ITERATED, Status};
use std::ops::Range;

/// The encoding of one graph.
#[derive(Debug)]
pub(super) struct Pairs<T> {
    /// The eigenvalues: as many as there are, at most k.
    pub(super) values: Vec<T>,
    /// A column for each value, column-major.
    pub(super) vectors: Vec<T>,
    pub(super) tie_group: Vec<i64>,
    /// Whether a tie group continues beyond the k pairs.
    pub(super) tie_cut: bool,
    pub(super) certificate: Certificate,
    pub(super) components: usize,
    /// The return probabilities: `(n, walk_steps)`.
    pub(super) random_walk: Vec<f32>,
}

/// The pairs of a spectrum that an encoding contains.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selection {
    /// The number of vectors of the known null space, which are the first pairs.
    pub(super) known: usize,
    /// The range of the other pairs, which follow, counted from the smallest.
    pub(super) others: Range<usize>,
}

impl Selection {
    /// Selects from a spectrum of n values, of which `null` are known to be 0.
    pub(super) fn new(settings: &Settings, null: usize, n: usize) -> Self {
        let (k, rest) = (settings.k, n - null);
        let zeros = if settings.drop_trivial { 0 } else { null };
        match settings.which {
            Which::Smallest => {
                let known = zeros.min(k);
                Self { known, others: 0..(k - known).min(rest) }
            }
            Which::Largest => {
                let known = k.saturating_sub(rest).min(zeros);
                Self { known, others: rest - (k - known).min(rest)..rest }
            }
        }
    }
}

/// The pairs that a solver found in addition to the known null space.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Adjacent values of the spectrum, ascending; tie groups are whole, as far as the solver could make them.
    pub(super) values: Vec<f64>,
    /// A column for each value, column-major, orthonormal, orthogonal to the null space.
    pub(super) vectors: Vec<f64>,
    /// The range of them that the encoding contains.
    pub(super) selected: Range<usize>,
    /// Whether they are separated as far as f64 can.
    pub(super) apart: bool,
    /// The next larger value, if one is known.
    pub(super) next: Option<f64>,
    /// The status with which the solver ended.
    pub(super) status: Status,
    /// Whether the solver is an iteration, which determines the bounds that its residuals are judged by.
    pub(super) iterated: bool,
}

/// Computes the encoding of one graph; `operator` is the Laplacian that was solved, in f64.
pub(super) fn pairs<T: Real>(
    settings: &Settings,
    graph: GraphRef<'_>,
    operator: &Operator<'_, f64>,
    known: usize,
    candidates: Candidates,
) -> Pairs<T> {
    let n = graph.nodes();
    let bounds = operator.bounds(0);
    let null = operator.null_vectors();
    let Candidates { mut values, mut vectors, selected, apart, next, status, iterated } = candidates;
    if is_due(&values, null > 0, bounds.upper) {
        let small = small(&values, bounds.upper);
        let separated =
            separate(graph, super::sparse::solved_normalization(settings.normalization), &mut vectors[..small * n]);
        values[..small].copy_from_slice(&separated);
    }
    let groups = tie_groups(&values, bounds.upper);
    let mut basis = operator.canonical_null(known);
    let mut unresolved = !apart;
    let mut start = 0;
    for members in groups.chunk_by(|a, b| a == b) {
        let group = start..start + members.len();
        start = group.end;
        let taken = group.start.max(selected.start)..group.end.min(selected.end);
        if taken.is_empty() {
            continue;
        }
        let space = &mut vectors[group.start * n..group.end * n];
        canonical_basis(space, n, taken.end - group.start);
        let columns = &space[(taken.start - group.start) * n..(taken.end - group.start) * n];
        if null > 0 && values[group.start] <= DOUBTFUL * bounds.upper {
            let beyond = values[group.start..].windows(2).find(|pair| pair[1] - pair[0] > CLOSE * bounds.upper);
            let beyond = beyond.map(|pair| pair[1]).or(next);
            unresolved |= !is_told_from_zero(operator, &values[taken.clone()], columns, beyond);
        }
        basis.extend_from_slice(columns);
    }
    let inner = match settings.which {
        Which::Smallest => selected.end,
        Which::Largest => selected.start,
    };
    let cut_within = inner > 0 && inner < groups.len() && groups[inner] == groups[inner - 1] && !selected.is_empty();
    let tie_cut = cut_within || (known > 0 && known < null);
    // The null space is a separate group.
    let own = i64::from(known > 0);
    let tie_group = std::iter::repeat_n(0, known).chain(groups[selected.clone()].iter().map(|&g| own + i64::from(g)));
    let first = groups.get(selected.start).map_or(0, |&g| i64::from(g));
    let tie_group = tie_group.enumerate().map(|(i, g)| if i < known { g } else { g - first }).collect();
    let values: Vec<T> =
        std::iter::repeat_n(0.0, known).chain(values[selected].iter().copied()).map(stored::<T>).collect();
    let Finished { vectors, residual, orthogonality } = finish(settings, graph, &values, basis);
    let certificate = Certificate { status, sweeps: 0, residual, orthogonality };
    let certificate = if iterated {
        certificate.judged_as(ITERATED.residual::<T>(), ITERATED.orthogonality::<T>())
    } else {
        certificate.judged(n, T::EPSILON)
    };
    let status = match certificate.status {
        Status::Converged if unresolved => Status::Unresolved,
        other => other,
    };
    let certificate = Certificate { status, ..certificate };
    let components = graph.components().count;
    let random_walk = return_probabilities(graph, settings.walk_steps);
    Pairs { values, vectors, tie_group, tie_cut, certificate, components, random_walk }
}

/// Returns the encoding of a graph whose Laplacian is not finite.
pub(super) fn not_finite<T: Real>(
    settings: &Settings,
    graph: GraphRef<'_>,
    found: usize,
    solved: Certificate,
) -> Pairs<T> {
    Pairs {
        values: vec![T::from_f64(f64::NAN); found],
        vectors: vec![T::from_f64(0.0); found * graph.nodes()],
        tie_group: vec![-1; found],
        tie_cut: false,
        certificate: solved,
        components: graph.components().count,
        random_walk: return_probabilities(graph, settings.walk_steps),
    }
}

/// Any solver here distinguishes values from this share of the spectrum's bound on from 0.
const DOUBTFUL: f64 = 1e-5;

/// Returns whether these values are distinguished from 0. The error of a Rayleigh quotient is at most the square of
/// its vector's residual over the distance from the values beyond its own (Temple 1928), and the residual itself if
/// that distance is not known.
fn is_told_from_zero(operator: &Operator<'_, f64>, values: &[f64], columns: &[f64], beyond: Option<f64>) -> bool {
    let residuals = operator.residuals(values, columns);
    values.iter().zip(residuals).all(|(&value, residual)| {
        let distance = beyond.map_or(residual, |beyond| beyond - value);
        value > if distance > residual { residual * residual / distance } else { residual }
    })
}

/// Converts a number to the encoding's type, with one sign of zero.
fn stored<T: Real>(x: f64) -> T {
    T::from_f64(x) + T::from_f64(0.0)
}

/// The vectors of the encoding, and the measures of them.
struct Finished<T> {
    vectors: Vec<T>,
    residual: f64,
    orthogonality: f64,
}

/// Turns the canonical basis into the vectors of the requested Laplacian, and measures them.
fn finish<T: Real>(settings: &Settings, graph: GraphRef<'_>, values: &[T], mut basis: Vec<f64>) -> Finished<T> {
    let n = graph.nodes();
    let orthogonality = orthogonality::<T>(&basis, n, values.len());
    let laplacian = Laplacian::new(graph, settings.normalization);
    if settings.normalization == Normalization::RandomWalk {
        to_random_walk(&mut basis, n, &laplacian.similarity_scale());
    }
    let vectors: Vec<T> = basis.into_iter().map(stored::<T>).collect();
    let residual = residual(&laplacian, values, &vectors);
    Finished { vectors, residual, orthogonality }
}

/// Computes `max |V'V - I|` of the columns rounded to T, as the encoding has them.
fn orthogonality<T: Real>(basis: &[f64], n: usize, columns: usize) -> f64 {
    let column = |j: usize| basis[j * n..(j + 1) * n].iter().map(|&x| T::from_f64(x).to_f64());
    let mut worst = 0.0;
    for j in 0..columns {
        for i in 0..=j {
            let product: f64 = column(i).zip(column(j)).map(|(x, y)| x * y).sum();
            let away = (product - f64::from(u8::from(i == j))).abs();
            // A NaN is kept.
            worst = if away.is_nan() || away > worst { away } else { worst };
        }
    }
    worst
}

/// Computes D^-1/2 v, scaled to unit 2-norm, again with a positive entry of largest magnitude.
fn to_random_walk(basis: &mut [f64], n: usize, scale: &[f64]) {
    for column in basis.chunks_exact_mut(n.max(1)) {
        column.iter_mut().zip(scale).for_each(|(x, s)| *x *= s);
        canonical_basis(column, n, 1);
    }
}

/// Computes `max_j |L v_j - l_j v_j|_2 / |L|_1` of the encoding's pairs.
fn residual<T: Real>(laplacian: &Laplacian<'_>, values: &[T], vectors: &[T]) -> f64 {
    let n = laplacian.order();
    let norm = laplacian.norm_1();
    let mut worst = 0.0;
    for (value, column) in values.iter().zip(vectors.chunks_exact(n.max(1))) {
        let v = T::all_to_f64(column);
        let square: f64 = (0..n)
            .map(|row| {
                let product: f64 = laplacian.row(row).map(|(column, x)| x * v[column]).sum();
                ((laplacian.diagonal(row) - value.to_f64()) * v[row] + product).powi(2)
            })
            .sum();
        let relative = square.sqrt() / if norm == 0.0 { 1.0 } else { norm };
        worst = if relative.is_nan() || relative > worst { relative } else { worst };
    }
    worst
}
