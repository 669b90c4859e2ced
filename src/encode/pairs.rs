//! Converts the eigenpairs that a solver found for the Laplacian of a graph to the pairs of its encoding. The steps
//! are: add the known null space, separate close eigenvalues, find tie groups, make the vectors canonical, and compute
//! the certificate. All steps run in f64 on the host and are the same for every solver.

use super::canonical::canonical_basis;
use super::separate::{CLOSE, Limits, is_due, separate, small};
use super::settings::Settings;
use super::walks::return_probabilities;
use crate::array::Real;
use crate::graph::GraphRef;
use crate::ops::eigen::{Certificate, Which};
use crate::ops::laplacian::doubled::Refined;
use crate::ops::laplacian::{Laplacian, Normalization, entrywise};
use crate::ops::sparse::Operator;
use crate::ops::ties::{TIE, fine_tie, tie_groups};
use crate::ops::{ITERATED, Status};
use crate::parallel;
use std::ops::Range;

/// The encoding of one graph.
#[derive(Debug)]
pub(super) struct Pairs<T> {
    /// The eigenvalues, at most k of them.
    pub(super) values: Vec<T>,
    /// The eigenvectors as the columns of a column-major matrix, one for each eigenvalue. Of complex ones, these are
    /// the real parts.
    pub(super) vectors: Vec<T>,
    /// The imaginary parts of complex eigenvectors; empty if they are real.
    pub(super) imaginary: Vec<T>,
    pub(super) tie_group: Vec<i64>,
    /// Whether only some pairs of a tie group are among the k pairs.
    pub(super) tie_cut: bool,
    pub(super) certificate: Certificate,
    pub(super) components: usize,
    /// The return probabilities, with shape `(n, walk_steps)`.
    pub(super) random_walk: Vec<f32>,
}

impl<T: Real> Pairs<T> {
    /// Multiplies the eigenvalues by a power of two with the given exponent. They are unresolved if T does not hold
    /// them.
    pub(super) fn scale(&mut self, exponent: i32) {
        let factor = 2_f64.powi(exponent);
        for value in &mut self.values {
            let exact = value.to_f64() * factor;
            *value = T::from_f64(exact);
            if leaves_range(exact, *value) && self.certificate.status == Status::Converged {
                self.certificate.status = Status::Unresolved;
            }
        }
    }
}

/// Returns whether T holds only an infinity, or a number with fewer digits, for an eigenvalue.
pub(super) fn leaves_range<T: Real>(exact: f64, value: T) -> bool {
    exact != 0.0 && !(T::SMALLEST..f64::INFINITY).contains(&value.to_f64().abs())
}

/// The pairs of the spectrum that an encoding contains.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selection {
    /// The number of vectors of the known null space that the encoding contains. They are the first pairs of the
    /// encoding.
    pub(super) known: usize,
    /// The range of the other pairs that the encoding contains. Its indices refer to the ascending spectrum without the
    /// null space.
    pub(super) others: Range<usize>,
}

impl Selection {
    /// Selects pairs from a spectrum of `n` eigenvalues. `null` is the number of eigenvalues that are known to be 0.
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

/// The pairs that a solver found, without the known null space.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// Adjacent eigenvalues of the spectrum in ascending order. Tie groups are complete if the solver could complete
    /// them.
    pub(super) values: Vec<f64>,
    /// The eigenvectors as the columns of a column-major matrix, one for each eigenvalue. They are orthonormal and
    /// orthogonal to the null space.
    pub(super) vectors: Vec<f64>,
    /// The range of `values` that the encoding contains.
    pub(super) selected: Range<usize>,
    /// Whether the solver separated the eigenvalues as far as f64 allows.
    pub(super) apart: bool,
    /// The eigenvalue of the spectrum that follows the last of `values`, if it is known.
    pub(super) next: Option<f64>,
    /// The status that the solver returned.
    pub(super) status: Status,
    /// Whether the solver is iterative. This determines the limits for the measures of the certificate.
    pub(super) iterated: bool,
    /// Whether each value is accurate relative to itself.
    pub(super) relative: bool,
}

/// Computes the encoding of one graph. `operator` is the Laplacian in f64 whose pairs the solver found, and `known` is
/// the number of null vectors that the encoding contains.
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
    let Candidates { mut values, mut vectors, selected, apart, next, status, iterated, relative } = candidates;
    let limits = if iterated { Limits::of::<f32>(n) } else { Limits::of::<T>(n) };
    // Eigenvalues near 0 are separated from it if there is a null space, or if a component lacks its null vector
    // because its balance is upset by edges of little weight.
    let zero = null > 0 || graph.has_negative_weights();
    if !relative && is_due(&values, zero, bounds.upper, limits) {
        let small = small(&values, bounds.upper, limits);
        let separated =
            separate(graph, super::sparse::solved_normalization(settings.normalization), &mut vectors[..small * n]);
        values[..small].copy_from_slice(&separated);
    }
    // Values that are accurate relative to themselves are closer if they are equal. Others have an error of some eps
    // also in the smallest graphs.
    let tolerance = match () {
        () if iterated || T::EPSILON > 1e-10 => TIE,
        () if relative => fine_tie(n) / 2.0,
        () => fine_tie(n.max(16)),
    };
    let groups = tie_groups(&values, tolerance, (!relative).then_some(bounds.upper));
    let mut basis = operator.canonical_null(known);
    let mut unresolved = !apart;
    let mut start = 0;
    let ranges = groups.chunk_by(|a, b| a == b).map(|members| {
        let group = start..start + members.len();
        start = group.end;
        (group.clone(), group.start.max(selected.start)..group.end.min(selected.end))
    });
    let ranges: Vec<_> = ranges.filter(|(_, taken)| !taken.is_empty()).collect();
    for (group, taken) in &ranges {
        canonical_basis(&mut vectors[group.start * n..group.end * n], n, taken.end - group.start);
    }
    let amplified = relative && settings.normalization == Normalization::RandomWalk && values.len() <= MOST_REFINED;
    let accurate = || entrywise::are_accurate(graph, &groups, (&values, &vectors), selected.clone(), T::EPSILON);
    if amplified && !accurate() {
        refine(graph, &groups, &ranges, &mut vectors);
    }
    for (group, taken) in ranges {
        let columns = &vectors[taken.start * n..taken.end * n];
        if !relative && zero && values[group.start] <= DOUBTFUL * bounds.upper {
            let beyond = values[group.start..].windows(2).find(|pair| pair[1] - pair[0] > CLOSE * bounds.upper);
            let beyond = beyond.map(|pair| pair[1]).or(next);
            unresolved |= !is_told_from_zero(operator, &values[taken], columns, beyond);
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
    let all = std::iter::repeat_n(0.0, known).chain(values[selected].iter().copied());
    let values: Vec<T> = all.clone().map(stored::<T>).collect();
    unresolved |= all.zip(&values).any(|(exact, &value)| leaves_range(exact, value));
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
    let imaginary = Vec::new();
    Pairs { values, vectors, imaginary, tie_group, tie_cut, certificate, components, random_walk }
}

/// The most vectors that are refined in twice the digits, which takes up to 0.1 s for all of them.
const MOST_REFINED: usize = 128;

/// Finds the vectors in twice the digits. Of each tie group, only eigenvalues that are equal in these digits share a
/// canonical basis: others are told apart, since a combination of their vectors is not accurate where D^-1/2 amplifies
/// it. `ranges` are those of the groups.
fn refine(graph: GraphRef<'_>, groups: &[u32], ranges: &[(Range<usize>, Range<usize>)], vectors: &mut [f64]) {
    let n = graph.nodes();
    let mut refined = Refined::new(graph, groups, vectors);
    for (group, _) in ranges {
        for equal in refined.equal(group.clone()) {
            let mut near = refined.rounded(equal.clone());
            canonical_basis(&mut near, n, equal.len());
            refined.turn(equal, &near);
        }
        vectors[group.start * n..group.end * n].copy_from_slice(&refined.rounded(group.clone()));
    }
}

/// Returns the encoding of a graph whose decomposition contains eigenvalues that are not finite. `found` is the number
/// of pairs in the encoding.
pub(super) fn not_finite<T: Real>(
    settings: &Settings,
    graph: GraphRef<'_>,
    found: usize,
    solved: Certificate,
) -> Pairs<T> {
    Pairs {
        values: vec![T::from_f64(f64::NAN); found],
        vectors: vec![T::from_f64(0.0); found * graph.nodes()],
        imaginary: Vec::new(),
        tie_group: vec![-1; found],
        tie_cut: false,
        certificate: solved,
        components: graph.components().count,
        random_walk: return_probabilities(graph, settings.walk_steps),
    }
}

/// The limit, relative to the bound of the spectrum, above which every solver of this library reliably distinguishes an
/// eigenvalue from 0.
const DOUBTFUL: f64 = 1e-5;

/// Returns whether all `values` are certainly not 0. Each of them is the Rayleigh quotient of one of the `columns`. Its
/// error is at most r^2 / d, where r is the residual of the column and d is the distance to `beyond`, the next larger
/// eigenvalue that is not close to `values` (Temple 1928). If `beyond` is not known or d is at most r, the error is at
/// most r.
fn is_told_from_zero(operator: &Operator<'_, f64>, values: &[f64], columns: &[f64], beyond: Option<f64>) -> bool {
    let residuals = operator.residuals(values, columns);
    values.iter().zip(residuals).all(|(&value, residual)| {
        let distance = beyond.map_or(residual, |beyond| beyond - value);
        value > if distance > residual { residual * residual / distance } else { residual }
    })
}

/// Converts a number to the type of the encoding. Negative zero becomes positive zero.
pub(super) fn stored<T: Real>(x: f64) -> T {
    T::from_f64(x) + T::from_f64(0.0)
}

/// The vectors of the encoding and the measures of their accuracy.
struct Finished<T> {
    vectors: Vec<T>,
    residual: f64,
    orthogonality: f64,
}

/// Converts the canonical basis to the eigenvectors of the requested Laplacian and measures their accuracy.
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

/// The number of nodes from which on the columns of a graph are measured in parallel. Graphs with fewer nodes are
/// measured in parallel with each other.
const LARGE: usize = 1 << 16;

/// Returns the largest of the `count` numbers that `one` computes, or NaN if one is NaN. `n` is the number of nodes.
pub(super) fn largest(n: usize, count: usize, one: impl Fn(usize) -> f64 + Sync) -> f64 {
    let larger = |worst: f64, found: f64| if found.is_nan() || found > worst { found } else { worst };
    match n {
        LARGE.. => parallel::map(0..count, |_, j| one(j)).into_iter().fold(0.0, larger),
        _ => (0..count).map(one).fold(0.0, larger),
    }
}

/// Computes `max |V'V - I|`, where the columns of V are the columns of `basis`, rounded to T as the encoding stores
/// them.
pub(super) fn orthogonality<T: Real>(basis: &[f64], n: usize, columns: usize) -> f64 {
    let column = |j: usize| basis[j * n..(j + 1) * n].iter().map(|&x| T::from_f64(x).to_f64());
    largest(n, columns, |j| {
        let away = (0..=j).map(|i| {
            let product: f64 = column(i).zip(column(j)).map(|(x, y)| x * y).sum();
            (product - f64::from(u8::from(i == j))).abs()
        });
        away.fold(0.0, |worst: f64, away| if away.is_nan() || away > worst { away } else { worst })
    })
}

/// Replaces each column v by D^-1/2 v, where `scale` is the diagonal of D^-1/2. The result is scaled to unit 2-norm,
/// and its sign is chosen so that the entry of largest magnitude is positive.
fn to_random_walk(basis: &mut [f64], n: usize, scale: &[f64]) {
    for column in basis.chunks_exact_mut(n.max(1)) {
        column.iter_mut().zip(scale).for_each(|(x, s)| *x *= s);
        canonical_basis(column, n, 1);
    }
}

/// Computes `max_j |L v_j - l_j v_j|_2 / |L|_1` for the eigenvalues l_j and the eigenvectors v_j of the encoding, where
/// L is the Laplacian.
fn residual<T: Real>(laplacian: &Laplacian<'_>, values: &[T], vectors: &[T]) -> f64 {
    let n = laplacian.order();
    let norm = laplacian.norm_1();
    largest(n, values.len(), |j| {
        let (value, v) = (values[j].to_f64(), T::all_to_f64(&vectors[j * n..(j + 1) * n]));
        let square: f64 = (0..n)
            .map(|row| {
                let product: f64 = laplacian.row(row).map(|(column, x)| x * v[column]).sum();
                ((laplacian.diagonal(row) - value) * v[row] + product).powi(2)
            })
            .sum();
        square.sqrt() / if norm == 0.0 { 1.0 } else { norm }
    })
}
