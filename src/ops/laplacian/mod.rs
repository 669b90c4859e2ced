//! Graph Laplacians, dense and batched.

mod cpu;
pub(crate) mod doubled;
pub(crate) mod entrywise;
pub(crate) mod factor;
mod gpu;
pub(super) mod kernels;
pub(crate) mod magnetic;

pub use cpu::{Laplacian, Normalization};
pub use magnetic::MagneticLaplacian;

use crate::array::{Ragged, Real, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{GraphBatch, GraphRef};
use crate::ops::operation::{Operation, Precision};
use crate::parallel;
use crate::policy::{Choice, Family, Workload};
use crate::shape::{Layout, to_u32};
use std::sync::Arc;

/// Computes the dense Laplacian of every graph, under the conventions of the batch.
///
/// On the device, the Laplacians are built from the edges in f32; on the CPU, they are computed in f64 and rounded to
/// `T`. Weights whose magnitudes leave the range of f32 are divided by a power of two before a normalized Laplacian is
/// built on the device.
///
/// # Shapes
/// The result has one column-major `(n, n)` matrix for each graph of n nodes.
///
/// # Examples
/// ```
/// use fiedler::graph::{Conventions, Graph, GraphBatch};
/// use fiedler::ops::{Normalization, laplacian};
/// use fiedler::Context;
///
/// let ctx = Context::cpu();
/// let path = Graph::from_edges(3, &[(0, 1), (1, 2)], &Conventions::default())?;
/// let l = laplacian::<f32>(&ctx, &GraphBatch::from_graphs(&[path])?, Normalization::Combinatorial)?;
/// assert_eq!(l.to_host(&ctx)?[..], [1.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 1.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if `T` is f32, which does not hold a weight or a degree of a combinatorial Laplacian;
/// with [`Backend::Gpu`](crate::Backend::Gpu), [`crate::ErrorKind::Limit`] if one binding cannot hold the matrices and
/// [`crate::ErrorKind::Domain`] if `T` is not f32, or the weights of a graph span more than f32; device errors.
pub fn laplacian<T: Real>(ctx: &Context, graphs: &GraphBatch, normalization: Normalization) -> Result<Ragged<T>> {
    let layout = Arc::new(layout(graphs)?);
    if T::ON_DEVICE && normalization == Normalization::Combinatorial {
        check_range(graphs, |graph| graph.is_within_f32())?;
    }
    let task = Task {
        precision: Precision::of::<T>(),
        in_range: !T::ON_DEVICE || graphs.iter().all(|graph| graph.levels_to_f32()),
        largest: layout.orders().iter().copied().max().unwrap_or(0),
        graphs: graphs.len(),
        elements: layout.len() as u64,
        entries: graphs.entries() as f64,
    };
    let (storage, choice) = task.run(
        ctx,
        || Ok(Storage::host(on_cpu(&layout, graphs, normalization))),
        |gpu| Ok(Storage::device(gpu::laplacian(gpu, graphs, &layout, normalization)?)),
    )?;
    Ok(Ragged::from_storage(layout, storage, choice))
}

/// Returns where [`laplacian`] would run on a batch of `graphs` graphs, and why. Each graph has `nodes` nodes, and its
/// adjacency matrix has `entries` entries.
#[must_use]
pub fn choose_laplacian<T: Real>(ctx: &Context, nodes: u32, entries: usize, graphs: usize) -> Choice {
    let task = Task {
        precision: Precision::of::<T>(),
        in_range: true,
        largest: nodes,
        graphs,
        elements: (u64::from(nodes) * u64::from(nodes)).saturating_mul(graphs as u64),
        entries: entries as f64 * graphs as f64,
    };
    task.choose(ctx)
}

/// The construction of the Laplacians of a batch of graphs, described for the cost model.
struct Task {
    precision: Precision,
    /// Whether the weights of each graph fit f32, divided by a power of two.
    in_range: bool,
    /// The number of nodes of the largest graph.
    largest: u32,
    graphs: usize,
    /// The number of elements of all matrices together.
    elements: u64,
    entries: f64,
}

impl Operation for Task {
    fn name(&self) -> &'static str {
        "laplacian"
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn workload(&self, _: &Context) -> Workload {
        let elements = self.elements as f64;
        Workload {
            family: Family::Laplacian,
            size: f64::from(self.largest),
            items: self.graphs as f64,
            cpu_flops: 4.0 * elements,
            gpu_flops: elements,
            dispatches: 2.0,
            ..Workload::default()
        }
        .transferring(false, 8.0 * self.entries, 4.0 * elements)
    }

    fn fits(&self, gpu: &Gpu, _: u64) -> bool {
        self.in_range && gpu::fits(gpu, self.largest, self.elements)
    }

    fn waits(&self, _: &Gpu, _: u64) -> bool {
        false
    }
}

fn on_cpu<T: Real>(layout: &Layout, graphs: &GraphBatch, normalization: Normalization) -> Vec<T> {
    let mut data = vec![T::from_f64(0.0); layout.len()];
    let mut parts = Vec::with_capacity(graphs.len());
    let mut rest = data.as_mut_slice();
    for &n in layout.orders() {
        let (own, others) = rest.split_at_mut(n as usize * n as usize);
        rest = others;
        parts.push(own);
    }
    parallel::for_each(parts, |i, out| Laplacian::new(graphs.graph(i), normalization).fill(out));
    data
}

/// Returns an error for the first graph whose weights f32 does not hold.
fn check_range(graphs: &GraphBatch, is_within: impl Fn(GraphRef<'_>) -> bool) -> Result<()> {
    let Some(graph) = graphs.iter().position(|graph| !is_within(graph)) else { return Ok(()) };
    let (least, most) = graphs.graph(graph).extremes().unwrap_or((1.0, 1.0));
    let what = format!(
        "graph {graph} (from 0): expected weights and degrees that f32 holds, found weights from {least:e} to {most:e}"
    );
    Err(Error::domain("laplacian", what))
}

/// Returns the layout of the dense Laplacians of the graphs.
fn layout(graphs: &GraphBatch) -> Result<Layout> {
    let largest = graphs.iter().map(|graph| graph.nodes()).max().unwrap_or(0);
    if u32::try_from(largest).is_err() {
        let what = "nodes of a graph in a dense Laplacian".to_owned();
        return Err(ErrorKind::Limit { what, needed: largest as u64, allowed: u32::MAX.into() }.into());
    }
    Ok(Layout::new(graphs.iter().map(|graph| to_u32(graph.nodes()))))
}
