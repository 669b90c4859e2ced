//! Graph Laplacians, dense and batched.

mod cpu;
mod gpu;
mod kernels;

pub use cpu::{Laplacian, Normalization};

use crate::array::{Ragged, Real, Storage};
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::GraphBatch;
use crate::policy::{Choice, Family, Side, Workload};
use crate::shape::Layout;
use rayon::prelude::*;
use std::sync::Arc;

/// The dense Laplacian of every graph, under the conventions that the batch was made with.
///
/// On the device it is built from the edges in f32; on the CPU it is computed in f64 and rounded to `T`.
///
/// # Shapes
/// One `(n, n)` for each graph of n nodes, column-major.
///
/// # Errors
/// [`crate::ErrorKind::Limit`] if the device was insisted upon and one binding cannot hold the matrices,
/// [`crate::ErrorKind::Domain`] if it was and `T` is not f32; device errors.
pub fn laplacian<T: Real>(ctx: &Context, graphs: &GraphBatch, normalization: Normalization) -> Result<Ragged<T>> {
    let layout = Arc::new(layout(graphs)?);
    let elements = layout.len() as f64;
    let (largest, edges) = (layout.orders().iter().copied().max().unwrap_or(0), graphs.entries() as f64);
    let fits = T::ON_DEVICE && ctx.gpu().is_ok_and(|gpu| gpu::fits(gpu, largest, layout.len() as u64));
    let choice = ctx.explain(&workload(largest, graphs.len() as f64, elements, edges), fits);
    if choice.side == Side::Cpu {
        let mut data = vec![T::from_f64(0.0); layout.len()];
        let mut parts = Vec::with_capacity(graphs.len());
        let mut rest = data.as_mut_slice();
        for &n in layout.orders() {
            let (own, others) = rest.split_at_mut(n as usize * n as usize);
            rest = others;
            parts.push(own);
        }
        parts.into_par_iter().enumerate().for_each(|(i, out)| Laplacian::new(graphs.graph(i), normalization).fill(out));
        return Ok(Ragged::from_storage(layout, Storage::host(data)));
    }
    if !T::ON_DEVICE {
        let what = format!("the device's kernels compute in f32, {} was asked for; use the CPU", T::NAME);
        return Err(Error::domain("laplacian", what));
    }
    let buffer = gpu::laplacian(ctx.gpu()?, graphs, &layout, normalization)?;
    Ok(Ragged::from_storage(layout, Storage::Device(buffer)))
}

/// Where [`laplacian`] of so many graphs of so many nodes and entries each would run, and why.
#[must_use]
pub fn choose_laplacian<T: Real>(ctx: &Context, nodes: u32, entries: usize, graphs: usize) -> Choice {
    let count = graphs as f64;
    let elements = f64::from(nodes) * f64::from(nodes) * count;
    let total = (u64::from(nodes) * u64::from(nodes)).saturating_mul(graphs as u64);
    let fits = T::ON_DEVICE && ctx.gpu().is_ok_and(|gpu| gpu::fits(gpu, nodes, total));
    ctx.explain(&workload(nodes, count, elements, entries as f64 * count), fits)
}

fn workload(largest: u32, graphs: f64, elements: f64, entries: f64) -> Workload {
    Workload {
        family: Family::Laplacian,
        size: f64::from(largest),
        items: graphs,
        cpu_flops: 4.0 * elements,
        gpu_flops: elements,
        upload: 8.0 * entries,
        download: 4.0 * elements,
        dispatches: 2.0,
        ..Workload::default()
    }
}

/// Where the dense matrices of these graphs lie.
fn layout(graphs: &GraphBatch) -> Result<Layout> {
    let largest = graphs.iter().map(|graph| graph.nodes()).max().unwrap_or(0);
    if u32::try_from(largest).is_err() {
        let what = "nodes of a graph in a dense Laplacian".to_owned();
        return Err(ErrorKind::Limit { what, needed: largest as u64, allowed: u32::MAX.into() }.into());
    }
    Ok(Layout::new(graphs.iter().map(|graph| u32::try_from(graph.nodes()).unwrap_or(u32::MAX))))
}
