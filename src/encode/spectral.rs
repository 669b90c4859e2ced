//! Laplacian encodings: k eigenpairs of the Laplacian of every graph in a batch.

use super::encoding::Encoding;
use super::magnetic::charge_of;
#[cfg(feature = "arrow")]
use super::plan::sparse_bytes;
use super::plan::{Plan, choose, plan};
use super::run::{Run, Waiting};
use super::settings::{Method, Settings};
use super::stored::{Call, Stores};
use crate::array::Real;
use crate::cache::Cache;
use crate::context::Context;
use crate::error::{Error, Result};
#[cfg(feature = "arrow")]
use crate::graph::Conventions;
use crate::graph::{GraphBatch, GraphRef};
use crate::ops::eigen::Which;
use crate::ops::laplacian::Normalization;
use crate::ops::laplacian::magnetic::check_charge;
use crate::policy::{Backend, Choice, Side};
use num_complex::Complex;
use std::pin::pin;
use std::sync::Arc;
use std::task;

/// The progress of an encoding.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The number of graphs that have been encoded.
    pub done: usize,
    /// The total number of graphs.
    pub total: usize,
}

/// A report of where an encoding ran.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The choice for all graphs together, with its reason. The side of each graph is the side that is faster for
    /// graphs of about the same size.
    pub choice: Choice,
    /// The number of graphs that were solved on the CPU.
    pub on_cpu: usize,
    /// The number of graphs that were solved on the device.
    pub on_gpu: usize,
    /// The number of graphs that were solved on the device and then again on the CPU in f64, because a decision, such
    /// as whether two eigenvalues are tied, was within the error of f32.
    pub solved_again: usize,
    /// The number of graphs whose encodings were found in a cache.
    pub stored: usize,
    /// The number of chunks into which the graphs that were not found in a cache were divided.
    pub chunks: usize,
}

/// An encoder that computes k eigenpairs of the Laplacian of every graph. By default, it computes the pairs with the
/// smallest eigenvalues of the symmetric normalized Laplacian, including its zero modes, which are the eigenvectors
/// with the eigenvalue 0.
///
/// Eigenvectors are canonical: up to rounding, they do not depend on the solver. Eigenvalues that f64 cannot separate
/// form a tie group, whose basis is the pivoted Cholesky factor of the group's projector. In every eigenvector, the
/// entry of largest magnitude is positive; among entries within 1 % of the largest, the one with the lowest index
/// counts. The null space is known in advance. It has one vector for each connected component, and is a separate tie
/// group. If the f32 results of a device leave a decision uncertain, the graph is solved again in f64 on the host; see
/// [`Report::solved_again`].
///
/// ```
/// use fiedler::{Context, encode::SpectralEncoder, graph::{Conventions, Graph}};
/// let path = Graph::from_edges(3, &[(0, 1), (1, 2)], &Conventions::default())?;
/// let encoding = SpectralEncoder::new(2).encode(&Context::cpu(), &path.into())?;
/// assert!((encoding.eigenvalues(0)[1] - 1.0).abs() < 1e-6);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SpectralEncoder(Settings, Stores);

impl SpectralEncoder {
    /// Returns an encoder that computes `k` pairs per graph.
    #[must_use]
    pub fn new(k: usize) -> Self {
        let normalization = Normalization::Symmetric;
        let which = Which::Smallest;
        let method = Method::Auto;
        let (drop_trivial, walk_steps, by_graph, first_graph) = (false, 0, false, 0);
        let charge = None;
        let settings =
            Settings { k, normalization, charge, which, drop_trivial, walk_steps, method, by_graph, first_graph };
        Self(settings, Stores::default())
    }

    /// Selects the Laplacian. The pairs of the random-walk Laplacian are computed from the similar symmetric Laplacian.
    #[must_use]
    pub fn laplacian(mut self, normalization: Normalization) -> Self {
        self.0.normalization = normalization;
        self
    }

    /// Computes the complex eigenpairs of the magnetic Laplacian ([`MagneticLaplacian`](crate::ops::MagneticLaplacian))
    /// of the selected normalization, which is Hermitian. The graphs have to keep their
    /// [flows](crate::graph::Conventions::flows). The `charge` is from 0 to 1/2; Geisler et al. (2023) use charges of
    /// about one over the number of directed edges. The eigenvectors are in
    /// [`Encoding::complex_eigenvectors()`], and the entry of largest magnitude of each is real and positive; ties,
    /// the null space and certificates are as for real vectors. Graphs whose flows are all 0, and all graphs at the
    /// charge 0, have the bits of their real encoding. Others are solved on the CPU, and their small eigenvalues have
    /// an error of a few eps of the largest.
    ///
    /// ```
    /// use fiedler::{Context, encode::SpectralEncoder, graph::{Conventions, Graph}, ops::Normalization};
    /// // The eigenvalues of a directed cycle of n nodes are 2 - 2 cos(2 pi (k / n + q)).
    /// let conventions = Conventions { flows: true, ..Conventions::default() };
    /// let cycle = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)], &conventions)?;
    /// let encoder = SpectralEncoder::new(2).laplacian(Normalization::Combinatorial).magnetic(0.125);
    /// let encoding = encoder.encode(&Context::cpu(), &cycle.into())?;
    /// assert!((encoding.eigenvalues(0)[0] - (2.0 - 2.0_f32.sqrt())).abs() < 1e-6);
    /// assert!(encoding.complex_eigenvectors(0).is_some());
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    #[must_use]
    pub fn magnetic(mut self, charge: f64) -> Self {
        self.0.charge = Some(charge);
        self
    }

    /// Selects the end of the spectrum from which pairs are computed.
    #[must_use]
    pub fn which(mut self, which: Which) -> Self {
        self.0.which = which;
        self
    }

    /// Sets whether to omit the zero modes. There is one zero mode for each connected component, except isolated nodes
    /// whose diagonal entry is 1.
    #[must_use]
    pub fn drop_trivial(mut self, yes: bool) -> Self {
        self.0.drop_trivial = yes;
        self
    }

    /// Also computes the return probabilities of a random walk: the diagonals of the first `steps` powers of D^-1 W,
    /// where W is the adjacency matrix and D is the diagonal matrix of the degrees.
    #[must_use]
    pub fn walk_steps(mut self, steps: usize) -> Self {
        self.0.walk_steps = steps;
        self
    }

    /// Sets the number by which error messages refer to the first graph. The default is 0. For a TUDataset, use 1,
    /// because its files count graphs from 1.
    #[must_use]
    pub fn first_graph(mut self, number: usize) -> Self {
        self.0.first_graph = number;
        self
    }

    /// Selects the method by which the pairs are computed.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.0.method = method;
        self
    }

    /// Chooses the side of each graph for the graph alone instead of for the whole batch. The encoding of a graph then
    /// has the same bits in every batch, so that a data set can be divided among processes and machines.
    ///
    /// A graph gets the side that is predicted to be faster for 4096 graphs alike, or for a single graph if it is
    /// solved by iteration. The prediction uses the numbers of nodes and entries, each rounded to four binary digits,
    /// and the rates of the context. By default, the rates depend on the number of threads. Processes that shall choose
    /// alike therefore need contexts with the same rates ([`Rates::to_json`](crate::policy::Rates::to_json)), the same
    /// backend, and the same kind of adapter. A context that opens no adapter
    /// ([`ContextBuilder::device`](crate::ContextBuilder::device)) chooses the CPU for every graph.
    ///
    /// ```
    /// use fiedler::{Context, encode::SpectralEncoder, graph::molecules};
    /// let (ctx, graphs) = (Context::cpu(), molecules(100, 1)?);
    /// let encoder = SpectralEncoder::new(4).by_graph();
    /// let whole = encoder.encode(&ctx, &graphs)?;
    /// let part = encoder.encode(&ctx, &graphs.select(&[70, 3]))?;
    /// assert_eq!(part.eigenvectors(0), whole.eigenvectors(70));
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    #[must_use]
    pub fn by_graph(mut self) -> Self {
        self.0.by_graph = true;
        self
    }

    /// Adds a cache. An encoding is looked up in `cache` before it is computed, and computed encodings are stored in
    /// it. The encodings of several consecutive graphs are stored together as a cache block, whose ends the content of
    /// the graphs decides, so that most blocks are also found in parts of the data set. If no cache of this encoder has
    /// a disk, the encoding of each graph is stored separately. Several caches are searched in the order in
    /// which they were added. If an encoding is found in one of them, it is also stored in the caches that were
    /// searched before. Every bit of the result is the same whether or not encodings are found.
    ///
    /// ```
    /// use fiedler::{Context, cache::Cache, encode::SpectralEncoder, graph::molecules};
    /// use std::sync::Arc;
    /// let folder = tempfile::tempdir().map_err(|_| "no temporary folder")?;
    /// let cache = Arc::new(Cache::new().disk(folder.path(), 1 << 30));
    /// let encoder = SpectralEncoder::new(4).cache(cache);
    /// let (ctx, graphs) = (Context::cpu(), molecules(100, 1)?);
    /// let (_, cold) = encoder.encode_with(&ctx, &graphs, |_| ())?;
    /// let (_, warm) = encoder.encode_with(&ctx, &graphs, |_| ())?;
    /// assert_eq!((cold.stored, warm.stored), (0, 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cache(mut self, cache: Arc<Cache>) -> Self {
        self.1.add(cache);
        self
    }

    /// Returns the side on which [`SpectralEncoder::encode`] would spend most of its time, the predicted times for both
    /// sides, and the reason for the choice.
    #[must_use]
    pub fn choose(&self, ctx: &Context, graphs: &GraphBatch) -> Choice {
        let sizes: Vec<_> = graphs.iter().map(|graph| (graph.nodes(), graph.entries())).collect();
        choose(ctx, &self.0, &sizes).0
    }

    /// Returns the choice that [`SpectralEncoder::choose`] would make for `graphs` graphs that each have `nodes` nodes
    /// and `entries` entries.
    #[must_use]
    pub fn choose_alike(&self, ctx: &Context, (nodes, entries): (usize, usize), graphs: usize) -> Choice {
        choose(ctx, &self.0, &vec![(nodes, entries); graphs]).0
    }

    /// Encodes every graph.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a graph is directed, if the charge of a magnetic Laplacian is not from 0 to 1/2,
    /// the graphs do not keep flows, or the context asks for the GPU; if f32 does not hold its largest weight or twice
    /// a degree, which bound the eigenvalues of a combinatorial Laplacian, or if there is not enough memory for the
    /// encoding; [`crate::ErrorKind::Limit`] if a graph is too large for the memory budget or, with [`Backend::Gpu`],
    /// for the device; device errors.
    pub fn encode(&self, ctx: &Context, graphs: &GraphBatch) -> Result<Encoding> {
        self.encode_with(ctx, graphs, |_| ()).map(|(encoding, _)| encoding)
    }

    /// Encodes every graph as [`SpectralEncoder::encode`] does, reports the progress, and also returns where the
    /// encoding ran.
    ///
    /// # Errors
    /// The same as for [`SpectralEncoder::encode`].
    pub fn encode_with(
        &self,
        ctx: &Context,
        graphs: &GraphBatch,
        progress: impl FnMut(Progress),
    ) -> Result<(Encoding, Report)> {
        now(self.run(ctx, graphs, progress, Waiting::Blocking))
    }

    /// Encodes every graph as [`SpectralEncoder::encode_with`] does, for use where blocking is impossible, such as in a
    /// browser. The work on the CPU still runs on the thread that awaits the future; only the device is awaited.
    ///
    /// # Errors
    /// The same as for [`SpectralEncoder::encode`].
    pub async fn encode_async(
        &self,
        ctx: &Context,
        graphs: &GraphBatch,
        progress: impl FnMut(Progress),
    ) -> Result<(Encoding, Report)> {
        self.run(ctx, graphs, progress, Waiting::Async).await
    }

    /// Encodes every graph as [`SpectralEncoder::encode_with`] does, but in f64 on the CPU: eigenvalues and
    /// eigenvectors are not rounded to f32. If a graph is solved by iteration, the tolerance of the residuals is 1e-10
    /// instead of 2e-6.
    ///
    /// # Errors
    /// The same as for [`SpectralEncoder::encode`], and [`crate::ErrorKind::Domain`] with [`Backend::Gpu`].
    ///
    /// ```
    /// use fiedler::{Context, encode::SpectralEncoder, graph::generate::path};
    /// let (encoding, _) = SpectralEncoder::new(2).encode_f64(&Context::cpu(), &path(3)?.into(), |_| ())?;
    /// assert!((encoding.eigenvalues(0)[1] - 1.0_f64).abs() < 1e-14);
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    pub fn encode_f64(
        &self,
        ctx: &Context,
        graphs: &GraphBatch,
        progress: impl FnMut(Progress),
    ) -> Result<(Encoding<f64>, Report)> {
        if ctx.explain(&Default::default(), false).side == Side::Gpu {
            return Err(Error::domain(
                "encode",
                "f64 is computed on the CPU only, found a context that asks for the GPU",
            ));
        }
        now(self.run(&ctx.with_backend(Backend::Cpu), graphs, progress, Waiting::Blocking))
    }

    /// Returns the numbers that the encoding has for each node: k, and the steps of the random walk.
    #[cfg(feature = "arrow")]
    pub(crate) fn widths(&self) -> (usize, usize) {
        (self.0.k, self.0.walk_steps)
    }

    /// Returns whether the eigenvectors are complex.
    #[cfg(feature = "arrow")]
    pub(crate) fn is_complex(&self) -> bool {
        self.0.charge.is_some()
    }

    /// Returns the bytes for each node that the encoding of a large graph takes at least.
    #[cfg(feature = "arrow")]
    pub(crate) fn bytes_per_node(&self) -> u64 {
        sparse_bytes(&self.0, 1)
    }

    /// Returns the settings as a JSON object, with the conventions of the graphs.
    #[cfg(feature = "arrow")]
    pub(crate) fn described(&self, conventions: Conventions, in_f64: bool) -> String {
        self.0.described(conventions, in_f64)
    }

    async fn run<T: Real>(
        &self,
        ctx: &Context,
        graphs: &GraphBatch,
        mut progress: impl FnMut(Progress),
        waiting: Waiting,
    ) -> Result<(Encoding<T>, Report)> {
        let watch = ctx.stopwatch();
        let began = watch.begin();
        if let Some(directed) = graphs.iter().position(|graph| !graph.is_symmetric()) {
            let number = directed + self.0.first_graph;
            let what = format!("graph {number} is directed; choose a symmetrization (sum, mean or max)");
            return Err(Error::domain("encode", what));
        }
        self.check_charge(ctx, graphs)?;
        for (number, graph) in (self.0.first_graph..).zip(graphs.iter()) {
            self.check_range::<T>(graph).map_err(|what| Error::domain("encode", format!("graph {number}: {what}")))?;
        }
        let Plan { chunks, choice } = plan(ctx, &self.0, graphs)?;
        let encoding = self.empty(graphs)?;
        let mut run = Run { settings: &self.0, ctx, graphs, encoding, waiting, done: 0, solved_again: 0 };
        watch.end("plan", "", began);
        let left = watch.time("look up", || self.1.find(&self.0, ctx, graphs, chunks, &mut run.encoding));
        let chunks = || left.calls.iter().flat_map(|call| &call.chunks);
        let on_cpu: usize = chunks().filter(|c| c.side == Side::Cpu).map(|c| c.graphs.len()).sum();
        let (stored, chunks) = (left.found, chunks().count());
        run.done = stored;
        for Call { chunks, blocks } in left.calls {
            run.through(chunks, &mut progress).await?;
            watch.time("keep", || self.1.keep(&blocks, graphs, &mut run.encoding));
        }
        self.1.call_ended();
        progress(Progress { done: graphs.len(), total: graphs.len() });
        let on_gpu = graphs.len() - stored - on_cpu;
        Ok((run.encoding, Report { choice, on_cpu, on_gpu, solved_again: run.solved_again, stored, chunks }))
    }

    /// Checks that graphs have what a magnetic Laplacian needs.
    fn check_charge(&self, ctx: &Context, graphs: &GraphBatch) -> Result<()> {
        let Some(charge) = self.0.charge else { return Ok(()) };
        check_charge("encode", charge)?;
        let what = if charge > 0.0 && !graphs.conventions().flows {
            "a magnetic Laplacian needs the flows of edges, which the conventions of these graphs do not keep (flows)"
        } else if graphs.iter().any(|graph| charge_of(&self.0, graph).is_some())
            && ctx.explain(&Default::default(), false).side == Side::Gpu
        {
            "magnetic Laplacians are solved on the CPU only, found a context that asks for the GPU"
        } else {
            return Ok(());
        };
        Err(Error::domain("encode", what))
    }

    /// Checks that T holds the largest weight of a graph, and the bound of the eigenvalues of D - W if they are wanted.
    /// The error says what is wrong with the graph.
    pub(crate) fn check_range<T: Real>(&self, graph: GraphRef<'_>) -> Result<(), String> {
        if !T::ON_DEVICE || self.0.normalization != Normalization::Combinatorial {
            return Ok(());
        }
        match graph.extremes() {
            Some((_, most)) if most < f32::MIN_POSITIVE.into() || !graph.degrees_are_within_f32() => {
                Err(format!("its largest weight is {most:e}, expected eigenvalues that f32 holds; f64 holds them"))
            }
            _ => Ok(()),
        }
    }

    /// Returns an encoding in which all pairs of all graphs are masked.
    fn empty<T: Real>(&self, graphs: &GraphBatch) -> Result<Encoding<T>> {
        let Settings { k, walk_steps, .. } = self.0;
        let (count, nodes) = (graphs.len(), graphs.nodes());
        let (complex, zero) = (self.0.charge.is_some(), T::from_f64(0.0));
        #[expect(clippy::cast_possible_wrap, reason = "counts of nodes in memory")]
        let node_offsets = graphs.node_offsets().iter().map(|&offset| offset as i64).collect();
        Ok(Encoding {
            k,
            walk_steps,
            eigenvalues: filled(count, k, T::from_f64(f64::NAN))?,
            eigenvectors: filled(if complex { 0 } else { nodes }, k, T::from_f64(0.0))?,
            complex_eigenvectors: filled(if complex { nodes } else { 0 }, k, Complex::new(zero, zero))?,
            node_offsets,
            residual: vec![0.0; count],
            orthogonality: vec![0.0; count],
            status: vec![0; count],
            components: vec![0; count],
            tie_group: filled(count, k, -1)?,
            tie_cut: vec![0; count],
            mask: filled(count, k, 0)?,
            random_walk: filled(nodes, walk_steps, 0.0)?,
        })
    }
}

/// Returns the result of a future that is never pending, because all that it waits for blocks.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut task::Context::from_waker(task::Waker::noop())) {
        task::Poll::Ready(result) => result,
        task::Poll::Pending => unreachable!("nothing is awaited"),
    }
}

/// Returns `rows * columns` copies of `value`, or an error if there is not enough memory.
fn filled<T: Copy>(rows: usize, columns: usize, value: T) -> Result<Vec<T>> {
    let length = rows.saturating_mul(columns);
    let mut all = Vec::new();
    if all.try_reserve_exact(length).is_err() {
        let needed = (length as u64).saturating_mul(size_of::<T>() as u64);
        let what = format!("{needed} bytes for {rows} x {columns} numbers of the encoding: more than the system gives");
        return Err(Error::domain("encode", what));
    }
    all.resize(length, value);
    Ok(all)
}
