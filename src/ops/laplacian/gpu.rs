//! Dense Laplacians on the device: only the edges are transferred, not the matrices.

use super::kernels::{
    Assemble, COMBINATORIAL, Degree, First, Nodes, RANDOM_WALK, SYMMETRIC, assemble_variant, degree_variant,
};
use super::{Normalization, check_range};
use crate::device::{Buffer, Gpu, Grid};
use crate::error::{Result, within_limits};
use crate::graph::{DegreeDirection, GraphBatch, IsolatedDiagonal, Symmetrization, ZeroDegreeScale};
use crate::shape::{Layout, to_u32};
use std::borrow::Cow;

/// Records the Laplacians of all graphs into one array, one after the other, each column-major.
///
/// # Errors
/// [`crate::ErrorKind::Limit`] if the matrices exceed a binding or one matrix exceeds the adapter's loop budget;
/// [`crate::ErrorKind::Domain`] if the weights of a graph span more than f32; device errors.
pub(super) fn laplacian(
    gpu: &Gpu,
    graphs: &GraphBatch,
    layout: &Layout,
    normalization: Normalization,
) -> Result<Buffer<f32>> {
    check(gpu, layout.largest(), layout.len() as u64)?;
    check_range(graphs, |graph| graph.levels_to_f32())?;
    // The entries of D - W have the magnitude of the weights; those of normalized Laplacians do not depend on it.
    let leveled = if normalization == Normalization::Combinatorial { None } else { graphs.leveled() };
    let graphs = leveled.as_ref().map_or(graphs, |(leveled, _)| leveled);
    let conventions = graphs.conventions();
    let table: Vec<[u32; 4]> = (0..layout.batch())
        .map(|i| [layout.orders()[i], to_u32(layout.elements(i).start), to_u32(layout.rows(i).start), to_u32(i)])
        .collect();
    let offsets: Vec<u32> = graphs.row_offsets().iter().map(|&offset| to_u32(offset)).collect();
    let mut rec = gpu.record();
    let table = rec.upload(&table)?;
    let row_offsets = rec.upload(&offsets)?;
    let columns = rec.upload(graphs.columns())?;
    // If every weight is 1, the weights are not uploaded. The binding must not be empty, so a single number is bound.
    let weights = rec.upload(&graphs.weights().map_or(Cow::Borrowed(&[1.0][..]), |weights| weights.in_f32()))?;
    let weighted = graphs.weights().is_some();
    let by_columns = conventions.degree == DegreeDirection::In && conventions.symmetrization == Symmetrization::Keep;
    let degree = if by_columns {
        // Here, the degrees are the column sums of W, for which a kernel would need the transpose of W. The host
        // computes the degrees in one pass and uploads 4 bytes per node.
        #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
        let sums: Vec<f32> = graphs.iter().flat_map(|graph| graph.degrees()).map(|d| d as f32).collect();
        rec.upload(&sums)?
    } else {
        let mut degree = rec.array(layout.row_count())?;
        let nodes = to_u32(layout.row_count());
        let kernel =
            Degree { params: Nodes { nodes }, row_offsets: &row_offsets, weights: &weights, degree: &mut degree };
        rec.dispatch(&kernel, &degree_variant(weighted), Grid::Invocations(nodes), graphs.entries() as f64)?;
        degree
    };
    let variant = assemble_variant(
        match normalization {
            Normalization::Combinatorial => COMBINATORIAL,
            Normalization::Symmetric => SYMMETRIC,
            Normalization::RandomWalk => RANDOM_WALK,
        },
        weighted,
        u8::from(conventions.isolated == IsolatedDiagonal::One),
        u8::from(conventions.zero_degree_scale == ZeroDegreeScale::One),
    );
    let mut laplacian = rec.array(layout.len())?;
    let work = layout.len() as f64 / layout.batch().max(1) as f64;
    for range in rec.ranges(to_u32(layout.batch()), work) {
        let kernel = Assemble {
            params: First { first: range.first },
            table: &table,
            row_offsets: &row_offsets,
            columns: &columns,
            weights: &weights,
            degree: &degree,
            laplacian: &mut laplacian,
        };
        rec.dispatch(&kernel, &variant, range.grid(), range.flops)?;
    }
    Ok(laplacian)
}

/// Returns whether the kernels can process graphs of up to `largest` nodes whose matrices have `elements` elements in
/// total.
pub(super) fn fits(gpu: &Gpu, largest: u32, elements: u64) -> bool {
    check(gpu, largest, elements).is_ok()
}

/// Checks that the matrices fit a binding, and that the loops of an [`Assemble`] invocation fit the adapter's loop
/// budget. An invocation builds every 64th row and visits the columns of each row twice.
fn check(gpu: &Gpu, largest: u32, elements: u64) -> Result<()> {
    let adapter = gpu.adapter();
    let largest = u64::from(largest);
    let loops = largest.div_ceil(64) * 2 * largest;
    let limits = [
        ("bytes of one binding", 4 * elements, adapter.limits.storage_binding),
        ("loop iterations of an invocation", loops, adapter.loop_budget.into()),
    ];
    within_limits(format_args!("dense Laplacians on {}", adapter.name), limits)
}
