//! Conversions from and to the types of other crates: round trips change nothing, whatever the layout is, and the
//! Laplacian of a converted graph has the spectrum of the original.

mod arrays;
mod graphs;
mod matrices;

use common::random::SplitMix64;
use fiedler::graph::Graph;
use fiedler::{Error, ErrorKind};
use nalgebra::DMatrix;

/// Returns a random number of nodes and random edges with weights, of which some occur twice or are self-loops.
fn random_edges(random: &mut SplitMix64) -> (usize, Vec<(usize, usize, f64)>) {
    let nodes = 1 + random.below(12);
    let edges = (0..random.below(3 * nodes))
        .map(|_| (random.below(nodes), random.below(nodes), if random.below(2) == 0 { 1.5 } else { random.unit() }))
        .collect();
    (nodes, edges)
}

/// Returns the eigenvalues of the Laplacian `D - W` of a symmetric matrix W, ascending.
fn spectrum(w: &DMatrix<f64>) -> Vec<f64> {
    let degrees = DMatrix::from_diagonal(&w.column_sum());
    let mut values: Vec<f64> = (degrees - w).symmetric_eigenvalues().iter().copied().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the adjacency matrix.
fn dense(graph: &Graph) -> DMatrix<f64> {
    let view = graph.view();
    DMatrix::from_fn(view.nodes(), view.nodes(), |row, column| view.weight(row, column))
}

#[track_caller]
fn assert_close(found: &[f64], wanted: &[f64]) {
    let largest = wanted.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
    let is_close =
        found.len() == wanted.len() && found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 1e-12 * largest);
    assert!(is_close, "{found:?} {wanted:?}");
}

/// Checks the kind of an error and a part of its message.
#[track_caller]
fn assert_refused<T>(result: Result<T, Error>, is_kind: impl Fn(&ErrorKind) -> bool, part: &str) {
    let error = result.err().expect("refused");
    assert!(is_kind(error.kind()) && error.to_string().contains(part), "{error:?}: {error}");
}

fn is_shape(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::Shape { .. })
}

fn is_domain(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::Domain { .. })
}
