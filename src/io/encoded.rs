//! The arrays by which files store an encoding.

use super::data_set::NodeIds;
use super::named::{Data, NamedArray, Rows};
use crate::array::Real;
use crate::encode::{Encoding, StructuralEncoding};
use num_complex::Complex;

/// Returns the arrays of an encoding, in the order in which `fiedler encode` writes them, for
/// [`write`](fn@super::write) and [`to_bytes`](super::to_bytes). Their names are those of the fields of [`Encoding`],
/// and their shapes are stated there; complex eigenvectors are complex numbers under the name `eigenvectors`. `ids`
/// becomes the array `node_ids`.
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

/// Returns the arrays that a structural encoding has, in the order in which `fiedler encode` writes them
/// after those of [`encoding_arrays`]. Their names are those of the fields of [`StructuralEncoding`], and their shapes
/// are stated there. Its certificates are the arrays `structural_status`, `structural_residual` and
/// `structural_orthogonality`.
#[must_use]
pub fn structural_arrays<'a, T: Real>(encoding: &'a StructuralEncoding<T>) -> Vec<NamedArray<'a>> {
    let graphs = encoding.graphs();
    let nodes = encoding.node_offsets.last().and_then(|&nodes| usize::try_from(nodes).ok()).unwrap_or(0);
    let (times, restarts) = (encoding.heat_times.len(), encoding.restarts.len());
    let encoder = encoding.encoder();
    let electrostatic = if encoder.electrostatic { StructuralEncoding::<T>::ELECTROSTATIC } else { 0 };
    let array = |name, rows, shape: &[usize], data| NamedArray { name, rows, shape: shape.to_vec(), data };
    let columns =
        |name, data, count: usize| (count > 0).then(|| array(name, Rows::Nodes, &[nodes, count], numbers(data)));
    let flat = |name, rows, data: &'a [T]| array(name, rows, &[data.len()], numbers(data));
    let mut all: Vec<NamedArray<'a>> = [
        columns("heat_kernel", &encoding.heat_kernel, times),
        columns("wave_kernel", &encoding.wave_kernel, encoding.wave_energies),
        columns("pagerank", &encoding.pagerank, restarts),
        columns("electrostatic", &encoding.electrostatic, electrostatic),
        (times > 0).then(|| array("heat_times", Rows::Other, &[times], Data::F64(&encoding.heat_times))),
        (restarts > 0).then(|| array("restarts", Rows::Other, &[restarts], Data::F64(&encoding.restarts))),
    ]
    .into_iter()
    .flatten()
    .collect();
    if encoder.resistances {
        let shape = [2, encoding.edge_index.len() / 2];
        all.push(array("edge_index", Rows::Other, &shape, Data::I64(&encoding.edge_index)));
        all.push(flat("resistance", Rows::Other, &encoding.resistance));
        all.push(flat("commute_time", Rows::Other, &encoding.commute_time));
    }
    if encoder.all_pairs {
        all.push(array("pair_offsets", Rows::Other, &[graphs + 1], Data::I64(&encoding.pair_offsets)));
        all.push(flat("resistance_matrix", Rows::Other, &encoding.resistance_matrix));
    }
    if encoder.invariants {
        all.push(flat("spectral_gap", Rows::Graphs, &encoding.spectral_gap));
        all.push(flat("kirchhoff_index", Rows::Graphs, &encoding.kirchhoff_index));
        all.push(flat("log_spanning_trees", Rows::Graphs, &encoding.log_spanning_trees));
    }
    all.push(array("structural_status", Rows::Graphs, &[graphs], Data::U8(&encoding.status)));
    all.push(array("structural_residual", Rows::Graphs, &[graphs], Data::F32(&encoding.residual)));
    all.push(array("structural_orthogonality", Rows::Graphs, &[graphs], Data::F32(&encoding.orthogonality)));
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
