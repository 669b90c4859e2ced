//! From the pairs that an iteration found on a sparse Laplacian to the pairs that its encoding gives: as [`super::pairs`], but
//! only the wanted end of the spectrum is there, and the null space is known without being solved for.

use super::canonical::{canonical_basis, tie_groups};
use super::pairs::{Finished, Pairs, finish};
use super::settings::Settings;
use super::walks::return_probabilities;
use crate::array::Real;
use crate::graph::GraphRef;
use crate::ops::eigen::{Certificate, Which};
use crate::ops::eigsh::{Solved, Wanted};
use crate::ops::sparse::Operator;
use crate::ops::{Normalization, Status};

/// What an iteration is asked for, whichever precision it computes in: a residual, relative to |L|_1.
pub(super) const TOLERANCE: f64 = 2e-6;

/// What a residual may be, relative to |L|_1: what an iteration is asked for, and the rounding of what is handed out to f32.
const PROMISE: f64 = 1e-5;

/// The Laplacian whose pairs are iterated: the random walk's symmetric similar.
pub(super) fn solved(normalization: Normalization) -> Normalization {
    match normalization {
        Normalization::RandomWalk => Normalization::Symmetric,
        other => other,
    }
}

/// What an iteration is asked for, beside a null space of that dimension, in a graph of n nodes.
pub(super) fn wanted(settings: &Settings, null: usize, n: usize) -> Wanted {
    let Settings { k, which, drop_trivial, .. } = *settings;
    let rest = n - null;
    let count = match which {
        Which::Smallest if !drop_trivial => k.saturating_sub(null),
        _ => k,
    };
    Wanted { count: count.min(rest), most: k, which, whole_groups: true }
}

/// The encoding of one graph of what was found on its operator.
pub(super) fn pairs<T: Real>(
    settings: &Settings,
    graph: GraphRef<'_>,
    operator: &Operator<'_, T>,
    found: &Solved,
) -> Pairs {
    let n = graph.nodes();
    let null = if settings.drop_trivial { 0 } else { operator.null_vectors() };
    let rest = n - operator.null_vectors();
    let components = graph.components().count;
    let random_walk = return_probabilities(graph, settings.walk_steps);
    let bounds = operator.bounds(0);

    let known = match settings.which {
        Which::Smallest => null.min(settings.k),
        Which::Largest => settings.k.saturating_sub(rest).min(null),
    };
    // Ascending: iterations give pairs from the wanted end inward.
    let m = found.values.len();
    let taken = m.min(settings.k - known);
    let (selected, place): (_, Box<dyn Fn(usize) -> usize>) = match settings.which {
        Which::Smallest => (0..taken, Box::new(|i| i)),
        Which::Largest => (m - taken..m, Box::new(move |i| m - 1 - i)),
    };
    let ascending: Vec<f64> = (0..m).map(|i| found.values[place(i)]).collect();
    let groups = tie_groups(&ascending, found.resolution);
    let mut basis = operator.canonical_null(known);
    let mut start = 0;
    for members in groups.chunk_by(|a, b| a == b) {
        let group = start..start + members.len();
        start = group.end;
        let taken = group.start.max(selected.start)..group.end.min(selected.end);
        if !taken.is_empty() {
            let column = |i: usize| found.vectors[place(i) * n..(place(i) + 1) * n].iter().copied();
            let mut space: Vec<f64> = group.clone().flat_map(column).collect();
            canonical_basis(&mut space, n, taken.end - group.start);
            basis.extend_from_slice(&space[(taken.start - group.start) * n..(taken.end - group.start) * n]);
        }
    }
    // The null space is a group of its own.
    let own = u32::from(known > 0);
    let values: Vec<f64> = std::iter::repeat_n(0.0, known).chain(ascending[selected.clone()].iter().copied()).collect();
    let tie_group =
        std::iter::repeat_n(0, known).chain(groups[selected.clone()].iter().map(|&g| i64::from(own + g))).collect();
    // A value that its own residual, or rounding, does not tell from the null space.
    let unresolved = operator.null_vectors() > 0
        && selected.clone().any(|i| {
            let (value, residual) = (ascending[i], found.residuals[place(i)]);
            value.abs() <= residual.max(16.0 * found.epsilon * bounds.norm)
        });
    let values: Vec<f32> = values.into_iter().map(f32::from_f64).collect();
    let Finished { vectors, residual, orthogonality } = finish(settings, graph, &values, basis);
    let kept = residual <= PROMISE && orthogonality <= PROMISE;
    let status = match (kept, unresolved) {
        (false, _) => Status::NotConverged,
        (true, true) => Status::Unresolved,
        (true, false) => Status::Converged,
    };
    let certificate = Certificate { status, sweeps: 0, residual, orthogonality };
    Pairs { values, vectors, tie_group, certificate, components, random_walk }
}
