//! The arrays that `fiedler encode` writes.

use fiedler::array::Real;
use fiedler::encode::Encoding;
use fiedler::io::{Data, NamedArray, NodeIds, Rows};

/// A precision in which files store values.
pub(super) trait Stored: Real {
    fn data(numbers: &[Self]) -> Data<'_>;
}

impl Stored for f32 {
    fn data(numbers: &[Self]) -> Data<'_> {
        Data::F32(numbers)
    }
}

impl Stored for f64 {
    fn data(numbers: &[Self]) -> Data<'_> {
        Data::F64(numbers)
    }
}

/// Returns the arrays of the file, in the order of the documentation.
pub(super) fn arrays<'a, T: Stored>(encoding: &'a Encoding<T>, ids: Option<&'a NodeIds>) -> Vec<NamedArray<'a>> {
    let (graphs, k) = (encoding.graphs(), encoding.k);
    let nodes = encoding.eigenvectors.len().checked_div(k).unwrap_or_else(|| node_count(encoding));
    let array = |name, rows, shape: &[usize], data| NamedArray { name, rows, shape: shape.to_vec(), data };
    let mut all = vec![
        array("eigenvalues", Rows::Graphs, &[graphs, k], T::data(&encoding.eigenvalues)),
        array("eigenvectors", Rows::Nodes, &[nodes, k], T::data(&encoding.eigenvectors)),
        array("node_offsets", Rows::Other, &[graphs + 1], Data::I64(&encoding.node_offsets)),
        array("residual", Rows::Graphs, &[graphs], Data::F32(&encoding.residual)),
        array("orthogonality", Rows::Graphs, &[graphs], Data::F32(&encoding.orthogonality)),
        array("status", Rows::Graphs, &[graphs], Data::U8(&encoding.status)),
        array("components", Rows::Graphs, &[graphs], Data::I64(&encoding.components)),
        array("tie_group", Rows::Graphs, &[graphs, k], Data::I64(&encoding.tie_group)),
        array("tie_cut", Rows::Graphs, &[graphs], Data::U8(&encoding.tie_cut)),
        array("mask", Rows::Graphs, &[graphs, k], Data::U8(&encoding.mask)),
    ];
    if encoding.walk_steps > 0 {
        let shape = [nodes, encoding.walk_steps];
        all.push(array("random_walk", Rows::Nodes, &shape, Data::F32(&encoding.random_walk)));
    }
    match ids {
        Some(NodeIds::Integers(ids)) => all.push(array("node_ids", Rows::Nodes, &[nodes], Data::I64(ids))),
        Some(NodeIds::Text(ids)) => all.push(array("node_ids", Rows::Nodes, &[nodes], Data::Text(ids))),
        None => {}
    }
    all
}

fn node_count<T>(encoding: &Encoding<T>) -> usize {
    encoding.node_offsets.last().and_then(|&n| usize::try_from(n).ok()).unwrap_or(0)
}
