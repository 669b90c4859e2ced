//! The arrays by which files store an encoding.

use super::data_set::NodeIds;
use super::named::{Data, NamedArray, Rows};
use crate::array::Real;
use crate::encode::Encoding;
use num_complex::Complex;

/// Returns the arrays of an encoding, in the order in which `fiedler encode` writes them, for
/// [`write`](fn@super::write) and [`to_bytes`](super::to_bytes). Their names are those of the fields of [`Encoding`],
/// and their shapes are stated there; complex eigenvectors are complex numbers under the name `eigenvectors`. `ids` becomes the array `node_ids`.
#[must_use]
pub fn encoding_arrays<'a, T: Real>(encoding: &'a Encoding<T>, ids: Option<&'a NodeIds>) -> Vec<NamedArray<'a>> {
    let (graphs, k) = (encoding.graphs(), encoding.k);
    let nodes = encoding.node_offsets.last().and_then(|&nodes| usize::try_from(nodes).ok()).unwrap_or(0);
    let array = |name, rows, shape: &[usize], data| NamedArray { name, rows, shape: shape.to_vec(), data };
    let vectors = match encoding.complex_eigenvectors.is_empty() {
        true => numbers(&encoding.eigenvectors),
        false => complex_numbers(&encoding.complex_eigenvectors),
    };
    let mut all = vec![
        array("eigenvalues", Rows::Graphs, &[graphs, k], numbers(&encoding.eigenvalues)),
        array("eigenvectors", Rows::Nodes, &[nodes, k], vectors),
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

fn complex_numbers<T: Real>(numbers: &[Complex<T>]) -> Data<'_> {
    match size_of::<T>() {
        4 => Data::C64(bytemuck::cast_slice(numbers)),
        _ => Data::C128(bytemuck::cast_slice(numbers)),
    }
}

/// Returns the numbers in their own precision: [`Real`] is f32 or f64.
fn numbers<T: Real>(numbers: &[T]) -> Data<'_> {
    match bytemuck::try_cast_slice(numbers) {
        Ok(numbers) if size_of::<T>() == 4 => Data::F32(numbers),
        _ => Data::F64(bytemuck::cast_slice(numbers)),
    }
}
