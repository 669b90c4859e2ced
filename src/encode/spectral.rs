//! Laplacian encodings: k eigenpairs of every graph of a batch.

use super::encoding::Encoding;
use super::pairs::{Pairs, needed, pairs};
use super::plan::{Chunk, Plan, choose, plan};
use super::settings::{Method, Settings};
use super::sparse;
use super::stored::{Call, Stores};
use crate::array::Real;
use crate::cache::Cache;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::graph::GraphBatch;
use crate::ops::EigshOptions;
use crate::ops::eigen::{EighRead, HostEigh, Which, eigh_uncertified};
use crate::ops::eigsh::solve_each;
use crate::ops::laplacian::{Normalization, laplacian};
use crate::ops::sparse::Operator;
use crate::policy::{Backend, Choice, Side};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// How far an encoding has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Graphs that are done.
    pub done: usize,
    /// Graphs altogether.
    pub total: usize,
}

/// Where an encoding ran.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The choice for all graphs together, with its reason; each goes where graphs of about its size are faster.
    pub choice: Choice,
    /// Graphs solved on the CPU.
    pub on_cpu: usize,
    /// Graphs solved on the adapter.
    pub on_gpu: usize,
    /// Graphs that were found in a cache.
    pub stored: usize,
    /// Chunks that the rest was cut into.
    pub chunks: usize,
}

/// Computes k eigenpairs of the Laplacian of every graph: the smallest of the symmetric normalised one, zero modes kept, unless told
/// otherwise.
///
/// Vectors are canonical: eigenvalues that the working precision cannot tell apart are one tie group, inside of which the basis
/// is the pivoted Cholesky factor of the group's projector; of any vector the entry of largest magnitude is positive, the lowest
/// index among those within 1 %.
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
    /// An encoder of `k` pairs a graph.
    #[must_use]
    pub fn new(k: usize) -> Self {
        let normalization = Normalization::Symmetric;
        let which = Which::Smallest;
        let method = Method::Auto;
        let settings = Settings { k, normalization, which, drop_trivial: false, walk_steps: 0, method, first_graph: 0 };
        Self(settings, Stores::default())
    }

    /// Which Laplacian. The random walk's is solved through its symmetric similar.
    #[must_use]
    pub fn laplacian(mut self, normalization: Normalization) -> Self {
        self.0.normalization = normalization;
        self
    }

    /// Which end of the spectrum.
    #[must_use]
    pub fn which(mut self, which: Which) -> Self {
        self.0.which = which;
        self
    }

    /// Leave out the zero modes: one for each connected component (none for an isolated node whose diagonal is 1).
    #[must_use]
    pub fn drop_trivial(mut self, yes: bool) -> Self {
        self.0.drop_trivial = yes;
        self
    }

    /// Also the diagonals of the first `steps` powers of D^-1 W.
    #[must_use]
    pub fn walk_steps(mut self, steps: usize) -> Self {
        self.0.walk_steps = steps;
        self
    }

    /// The number that errors give the first graph, 0 unless this is called: 1 for a TUDataset, whose file counts from there.
    #[must_use]
    pub fn first_graph(mut self, number: usize) -> Self {
        self.0.first_graph = number;
        self
    }

    /// How the pairs are found.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.0.method = method;
        self
    }

    /// Looks in `cache` before it computes, and stores there what it computes: pieces of a data set, or single graphs where no cache of
    /// this encoder has a disk. Of several caches the first is asked first, and gets what a later one has. The encoding is the same,
    /// bit by bit, whatever was found.
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

    /// Where [`SpectralEncoder::encode`] would take most of its time, the predicted times of both sides, and why.
    #[must_use]
    pub fn choose(&self, ctx: &Context, graphs: &GraphBatch) -> Choice {
        let sizes: Vec<_> = graphs.iter().map(|graph| (graph.nodes(), graph.entries())).collect();
        choose(ctx, &self.0, &sizes).0
    }

    /// [`SpectralEncoder::choose`] for so many graphs of so many nodes and entries each.
    #[must_use]
    pub fn choose_alike(&self, ctx: &Context, (nodes, entries): (usize, usize), graphs: usize) -> Choice {
        choose(ctx, &self.0, &vec![(nodes, entries); graphs]).0
    }

    /// Encodes every graph.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a graph is directed; [`crate::ErrorKind::Limit`] if a graph is too large for the device that was
    /// insisted upon, or for the byte budget; device errors.
    pub fn encode(&self, ctx: &Context, graphs: &GraphBatch) -> Result<Encoding> {
        self.encode_with(ctx, graphs, |_| ()).map(|(encoding, _)| encoding)
    }

    /// [`SpectralEncoder::encode`], telling how far it has come, and at the end where it ran.
    ///
    /// # Errors
    /// As [`SpectralEncoder::encode`].
    pub fn encode_with(
        &self,
        ctx: &Context,
        graphs: &GraphBatch,
        mut progress: impl FnMut(Progress),
    ) -> Result<(Encoding, Report)> {
        if let Some(directed) = graphs.iter().position(|graph| !graph.is_symmetric()) {
            let number = directed + self.0.first_graph;
            let what = format!("graph {number} is directed; choose a symmetrisation (sum, mean or max)");
            return Err(Error::domain("encode", what));
        }
        let Plan { chunks, choice } = plan(ctx, &self.0, graphs)?;
        let mut run = Run { settings: &self.0, ctx, graphs, encoding: self.empty(graphs)?, done: 0 };
        let left = self.1.find(&self.0, ctx, graphs, chunks, &mut run.encoding);
        let chunks = || left.calls.iter().flat_map(|call| &call.chunks);
        let on_cpu = chunks().filter(|c| c.side == Side::Cpu).map(|c| c.graphs.len()).sum();
        let on_gpu = graphs.len() - left.found - on_cpu;
        let report = Report { choice, on_cpu, on_gpu, stored: left.found, chunks: chunks().count() };
        run.done = left.found;
        for Call { chunks, pieces } in left.calls {
            run.through(chunks, &mut progress)?;
            self.1.keep(&pieces, graphs, &mut run.encoding);
        }
        self.1.call_ended();
        progress(Progress { done: graphs.len(), total: graphs.len() });
        Ok((run.encoding, report))
    }

    /// The encoding of nothing yet: everything masked.
    fn empty(&self, graphs: &GraphBatch) -> Result<Encoding> {
        let Settings { k, walk_steps, .. } = self.0;
        let (count, nodes) = (graphs.len(), graphs.nodes());
        #[expect(clippy::cast_possible_wrap, reason = "counts of nodes that lie in memory")]
        let node_offsets = graphs.node_offsets().iter().map(|&offset| offset as i64).collect();
        Ok(Encoding {
            k,
            walk_steps,
            eigenvalues: filled(count, k, f32::NAN)?,
            eigenvectors: filled(nodes, k, 0.0)?,
            node_offsets,
            residual: vec![0.0; count],
            orthogonality: vec![0.0; count],
            status: vec![0; count],
            components: vec![0; count],
            tie_group: filled(count, k, -1)?,
            mask: filled(count, k, 0)?,
            random_walk: filled(nodes, walk_steps, 0.0)?,
        })
    }
}

/// `rows x columns` numbers, or an error where no memory holds them.
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

/// A chunk on its way.
struct Submitted {
    indices: Vec<usize>,
    graphs: GraphBatch,
    solution: Solution,
}

/// The precision follows the side: the CPU computes in f64.
enum Solution {
    Gpu(EighRead<f32>),
    Cpu(EighRead<f64>),
    Sparse(Vec<Pairs>),
}

struct Run<'a> {
    settings: &'a Settings,
    ctx: &'a Context,
    graphs: &'a GraphBatch,
    encoding: Encoding,
    done: usize,
}

impl Run<'_> {
    /// Computes these chunks, and waits for them.
    fn through(&mut self, chunks: Vec<Chunk>, progress: &mut impl FnMut(Progress)) -> Result<()> {
        let mut queue = VecDeque::from(chunks);
        let mut in_flight: Option<Submitted> = None;
        while let Some(chunk) = queue.pop_front() {
            match self.submit(chunk) {
                Ok(submitted) => {
                    // The device works on this chunk while the host finishes the one before.
                    if let Some(before) = in_flight.replace(submitted) {
                        self.collect(before)?;
                        progress(Progress { done: self.done, total: self.graphs.len() });
                    }
                }
                Err((chunk, error)) if error.is_out_of_memory() => {
                    if let Some(before) = in_flight.take() {
                        self.collect(before)?;
                        queue.push_front(chunk);
                    } else if chunk.graphs.len() > 1 {
                        log::info!("{error}; {} graphs go on in halves", chunk.graphs.len());
                        let (left, right) = chunk.graphs.split_at(chunk.graphs.len() / 2);
                        queue.push_front(Chunk { graphs: right.to_vec(), ..chunk });
                        queue.push_front(Chunk { graphs: left.to_vec(), ..chunk });
                    } else {
                        return Err(error);
                    }
                    self.ctx.trim();
                }
                Err((_, error)) => return Err(error),
            }
        }
        match in_flight {
            Some(last) => self.collect(last),
            None => Ok(()),
        }
    }

    /// Begins a chunk; hands it back with the error if that fails.
    fn submit(&self, chunk: Chunk) -> Result<Submitted, (Chunk, Error)> {
        let graphs = self.graphs.select(&chunk.graphs);
        let solution = match chunk.side {
            Side::Gpu if chunk.sparse => self.iterate::<f32>(&graphs, Backend::Gpu).map(Solution::Sparse),
            Side::Cpu if chunk.sparse => self.iterate::<f64>(&graphs, Backend::Cpu).map(Solution::Sparse),
            Side::Gpu => self.solve(&graphs, Backend::Gpu).map(Solution::Gpu),
            Side::Cpu => self.solve(&graphs, Backend::Cpu).map(Solution::Cpu),
        };
        match solution {
            Ok(solution) => Ok(Submitted { indices: chunk.graphs, graphs, solution }),
            Err(error) => Err((chunk, error)),
        }
    }

    fn solve<T: Real>(&self, graphs: &GraphBatch, backend: Backend) -> Result<EighRead<T>> {
        let ctx = self.ctx.with_backend(backend);
        let solved = sparse::solved(self.settings.normalization);
        let needed = |i: usize, values: &[f64]| needed(self.settings, graphs.graph(i), values);
        eigh_uncertified(&ctx, &laplacian::<T>(&ctx, graphs, solved)?, &needed)?.read(&ctx)
    }

    /// Iterates on the sparse Laplacians of a chunk.
    fn iterate<T: Real>(&self, graphs: &GraphBatch, backend: Backend) -> Result<Vec<Pairs>> {
        let operators = Operator::<T>::laplacians(graphs, sparse::solved(self.settings.normalization))?;
        let problems = 0..operators.problems();
        let wanted: Vec<_> = problems
            .clone()
            .map(|i| sparse::wanted(self.settings, operators.null_vectors_of(i), operators.order(i)))
            .collect();
        let options = EigshOptions::default().tolerance(sparse::TOLERANCE);
        let solved = solve_each(&self.ctx.with_backend(backend), &operators, &wanted, &options)?;
        let one = |i: usize| sparse::pairs(self.settings, graphs.graph(i), &operators.problem(i), &solved[i]);
        Ok(problems.into_par_iter().with_max_len(16).map(one).collect())
    }

    /// Waits for a chunk and writes its graphs' encodings where they belong.
    fn collect(&mut self, submitted: Submitted) -> Result<()> {
        let Submitted { indices, graphs, solution } = submitted;
        let found = match solution {
            Solution::Gpu(read) => self.finish(&graphs, &read.wait()?),
            Solution::Cpu(read) => self.finish(&graphs, &read.wait()?),
            Solution::Sparse(pairs) => pairs,
        };
        for (&graph, pairs) in indices.iter().zip(&found) {
            self.write(graph, pairs);
        }
        self.done += indices.len();
        Ok(())
    }

    fn finish<T: Real>(&self, graphs: &GraphBatch, solved: &HostEigh<T>) -> Vec<Pairs> {
        let one = |i: usize| {
            let (values, vectors) = (&solved.values[solved.layout.rows(i)], &solved.vectors[solved.layout.elements(i)]);
            pairs(self.settings, graphs.graph(i), values, vectors, solved.certificates[i])
        };
        (0..graphs.len()).into_par_iter().with_max_len(16).map(one).collect()
    }

    fn write(&mut self, graph: usize, pairs: &Pairs) {
        let (k, steps, out) = (self.settings.k, self.settings.walk_steps, &mut self.encoding);
        let rows = self.graphs.node_offsets()[graph]..self.graphs.node_offsets()[graph + 1];
        let (n, found) = (rows.len(), pairs.values.len());
        let columns = graph * k..graph * k + found;
        out.eigenvalues[columns.clone()].copy_from_slice(&pairs.values);
        out.tie_group[columns.clone()].copy_from_slice(&pairs.tie_group);
        out.mask[columns].fill(1);
        for (i, row) in out.eigenvectors[rows.start * k..rows.end * k].chunks_exact_mut(k.max(1)).enumerate() {
            row.iter_mut().zip(0..found).for_each(|(x, j)| *x = pairs.vectors[j * n + i]);
        }
        out.random_walk[rows.start * steps..rows.end * steps].copy_from_slice(&pairs.random_walk);
        out.residual[graph] = f32::from_f64(pairs.certificate.residual);
        out.orthogonality[graph] = f32::from_f64(pairs.certificate.orthogonality);
        out.status[graph] = pairs.certificate.status as u8;
        out.components[graph] = i64::try_from(pairs.components).unwrap_or(i64::MAX);
    }
}
