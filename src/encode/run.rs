//! Executes one call: submits chunks to their sides, finishes the results and writes them to the encoding.

use super::encoding::Encoding;
use super::pairs::{Pairs, Selection, not_finite, pairs};
use super::plan::Chunk;
use super::separate::Limits;
use super::settings::Settings;
use super::spectral::Progress;
use super::{dense, magnetic, sparse};
use crate::array::Real;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::graph::{GraphBatch, GraphRef};
use crate::ops::eigen::{EighRead, HostEigh, eigh_uncertified};
use crate::ops::eigsh::{Solved, solve_each};
use crate::ops::laplacian::{Laplacian, Normalization, laplacian};
use crate::ops::sparse::Operator;
use crate::ops::{EigshOptions, ITERATED, Status};
use crate::parallel;
use crate::policy::{Backend, Side};
use std::collections::VecDeque;

/// A chunk of graphs whose decomposition has been submitted to the CPU or to the device.
struct Submitted<T> {
    indices: Vec<usize>,
    graphs: GraphBatch,
    /// The exponents of the powers of two by which the weights of the graphs were divided; empty if none were.
    levels: Vec<i32>,
    solution: Solution<T>,
}

/// The solution of a chunk. A dense decomposition is in f32 on the device and in f64 on the CPU.
enum Solution<T> {
    Gpu(EighRead<f32>),
    Cpu(EighRead<f64>),
    /// The pairs that an iteration found, and whether the iteration ran in f64.
    Sparse(Vec<Solved>, bool),
    /// The finished pairs of magnetic Laplacians.
    Magnetic(Vec<Pairs<T>>),
}

/// How the device is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Waiting {
    /// The thread blocks, so that the futures of this module are never pending.
    Blocking,
    /// The caller's executor awaits.
    Async,
}

impl Waiting {
    async fn bring<T: Real>(self, read: EighRead<T>) -> Result<HostEigh<T>> {
        match self {
            Self::Blocking => read.wait(),
            Self::Async => read.arrive().await,
        }
    }
}

/// The result for a graph: its pairs, or `None` if the error of f32 may change a decision, such as whether two
/// eigenvalues are tied. The graph is then solved again in f64.
type Finished<T> = Result<Option<Pairs<T>>>;

pub(super) struct Run<'a, T> {
    pub(super) settings: &'a Settings,
    pub(super) ctx: &'a Context,
    pub(super) graphs: &'a GraphBatch,
    pub(super) encoding: Encoding<T>,
    pub(super) waiting: Waiting,
    pub(super) done: usize,
    /// The number of graphs that the CPU solved again in f64.
    pub(super) solved_again: usize,
}

impl<T: Real> Run<'_, T> {
    /// Solves the chunks and waits until they are finished.
    pub(super) async fn through(&mut self, chunks: Vec<Chunk>, progress: &mut impl FnMut(Progress)) -> Result<()> {
        let mut queue = VecDeque::from(chunks);
        let mut in_flight: Option<Submitted<T>> = None;
        while let Some(chunk) = queue.pop_front() {
            match self.submit(chunk) {
                Ok(submitted) => {
                    // The device works on this chunk while the host finishes the previous chunk.
                    if let Some(before) = in_flight.replace(submitted) {
                        self.collect(before).await?;
                        progress(Progress { done: self.done, total: self.graphs.len() });
                    }
                }
                Err((chunk, error)) if error.is_out_of_memory() => {
                    if let Some(before) = in_flight.take() {
                        self.collect(before).await?;
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
            Some(last) => self.collect(last).await,
            None => Ok(()),
        }
    }

    /// Submits a chunk. If this fails, returns the chunk together with the error.
    fn submit(&self, chunk: Chunk) -> Result<Submitted<T>, (Chunk, Error)> {
        let (graphs, levels) = self.ctx.stopwatch().time("gather", || {
            let graphs = self.graphs.select(&chunk.graphs);
            graphs.leveled().unwrap_or((graphs, Vec::new()))
        });
        let solution = match chunk.side {
            _ if chunk.magnetic => {
                magnetic::encode(self.settings, self.ctx, &graphs, chunk.sparse).map(Solution::Magnetic)
            }
            Side::Gpu if chunk.sparse => {
                self.iterate::<f32>(&graphs, Backend::Gpu, &[]).map(|found| Solution::Sparse(found, false))
            }
            Side::Cpu if chunk.sparse => {
                self.iterate::<f64>(&graphs, Backend::Cpu, &[]).map(|found| Solution::Sparse(found, true))
            }
            Side::Gpu => self.solve(&graphs, Backend::Gpu).map(Solution::Gpu),
            Side::Cpu => self.solve(&graphs, Backend::Cpu).map(Solution::Cpu),
        };
        match solution {
            Ok(solution) => Ok(Submitted { indices: chunk.graphs, graphs, levels, solution }),
            Err(error) => Err((chunk, error)),
        }
    }

    fn solve<U: Real>(&self, graphs: &GraphBatch, backend: Backend) -> Result<EighRead<U>> {
        let ctx = self.ctx.with_backend(backend);
        let solved = sparse::solved_normalization(self.settings.normalization);
        let needed = |i: usize, values: &[f64]| dense::needed::<T>(self.settings, graphs.graph(i), values);
        let laplacians = self.timed("laplacian", backend, || laplacian::<U>(&ctx, graphs, solved))?;
        self.timed("solve", backend, || eigh_uncertified(&ctx, &laplacians, &needed)?.read(&ctx))
    }

    /// Runs `work` and records its time as a stage if it runs on the CPU. On the device, `work` consists of other
    /// stages.
    fn timed<R>(&self, stage: &'static str, backend: Backend, work: impl FnOnce() -> R) -> R {
        if backend == Backend::Cpu { self.ctx.stopwatch().time(stage, work) } else { work() }
    }

    /// Solves the graphs of a chunk by iteration on their sparse Laplacians.
    fn iterate<U: Real>(&self, graphs: &GraphBatch, backend: Backend, starts: &[Solved]) -> Result<Vec<Solved>> {
        let operators = Operator::<U>::laplacians(graphs, sparse::solved_normalization(self.settings.normalization))?;
        let wanted: Vec<_> = (0..operators.problems())
            .map(|i| sparse::wanted(self.settings, operators.null_vectors_of(i), operators.order(i)))
            .collect();
        // The tolerance depends on the precision of the encoding and not on the precision of the iteration.
        let options = EigshOptions::default().tolerance(ITERATED.residual::<T>());
        let ctx = self.ctx.with_backend(backend);
        Ok(self.timed("solve", backend, || solve_each(&ctx, &operators, &wanted, &options, starts))?.0)
    }

    /// Waits for a chunk and writes the encodings of its graphs. Graphs for which the f32 results leave a decision
    /// uncertain are solved again in f64.
    async fn collect(&mut self, submitted: Submitted<T>) -> Result<()> {
        let Submitted { indices, graphs, levels, solution } = submitted;
        let decompose = |run: &Self, chosen: &GraphBatch, _: &[usize]| {
            let found = run.solve::<f64>(chosen, Backend::Cpu)?.wait()?;
            each(run.ctx, chosen, |i| run.decomposed(chosen.graph(i), &found, i))
        };
        match solution {
            Solution::Gpu(read) => {
                let found = self.waiting.bring(read).await?;
                let finished = each(self.ctx, &graphs, |i| self.decomposed(graphs.graph(i), &found, i))?;
                self.write_all((&indices, &levels), &graphs, finished, decompose)
            }
            Solution::Cpu(read) => {
                let found = read.wait()?;
                let finished = each(self.ctx, &graphs, |i| self.decomposed(graphs.graph(i), &found, i))?;
                self.write_all((&indices, &levels), &graphs, finished, decompose)
            }
            Solution::Magnetic(finished) => {
                let finished = finished.into_iter().map(Some).collect();
                self.write_all((&indices, &levels), &graphs, finished, decompose)
            }
            Solution::Sparse(found, in_f64) => {
                let finished = each(self.ctx, &graphs, |i| self.iterated(graphs.graph(i), &found[i], in_f64))?;
                self.write_all((&indices, &levels), &graphs, finished, |run, chosen, open| {
                    let starts: Vec<Solved> = open.iter().map(|&i| found[i].clone()).collect();
                    let found = run.iterate::<f64>(chosen, Backend::Cpu, &starts)?;
                    each(run.ctx, chosen, |i| run.iterated(chosen.graph(i), &found[i], true))
                })
            }
        }
    }

    /// Writes the results of all graphs, whose `levels` are those of [`Submitted`]. If the entry of a graph in
    /// `finished` is `None`, its result is computed by a call of `again`, which receives all such graphs together with
    /// their indices in the chunk.
    fn write_all(
        &mut self,
        (indices, levels): (&[usize], &[i32]),
        graphs: &GraphBatch,
        mut finished: Vec<Option<Pairs<T>>>,
        again: impl FnOnce(&Self, &GraphBatch, &[usize]) -> Result<Vec<Option<Pairs<T>>>>,
    ) -> Result<()> {
        let open: Vec<usize> = (0..finished.len()).filter(|&i| finished[i].is_none()).collect();
        if !open.is_empty() {
            log::debug!("{} of {} graphs are decided in f64", open.len(), finished.len());
            self.solved_again += open.len();
            for (&i, pairs) in open.iter().zip(again(self, &graphs.select(&open), &open)?) {
                finished[i] = pairs;
            }
        }
        if self.settings.normalization == Normalization::Combinatorial {
            let leveled = finished.iter_mut().zip(levels).filter(|&(_, &level)| level != 0);
            leveled.for_each(|(pairs, &level)| pairs.iter_mut().for_each(|pairs| pairs.scale(level)));
        }
        let watch = self.ctx.stopwatch().clone();
        watch.time("arrange", || self.arrange(indices, finished))?;
        self.done += indices.len();
        Ok(())
    }

    /// Returns the pairs of a graph from the decomposition of its Laplacian, or `None` if the error of f32 may change a
    /// decision. `i` is the index of the graph in `solved`.
    fn decomposed<U: Real>(&self, graph: GraphRef<'_>, solved: &HostEigh<U>, i: usize) -> Finished<T> {
        let (values, vectors) = (&solved.values[solved.layout.rows(i)], &solved.vectors[solved.layout.elements(i)]);
        let certificate = solved.certificates[i];
        let operator = self.operator(graph)?;
        let selection = Selection::new(self.settings, operator.null_vectors(), graph.nodes());
        if !values.iter().all(|x| x.to_f64().is_finite()) {
            let count = selection.known + selection.others.len();
            return Ok(Some(not_finite(self.settings, graph, count, certificate)));
        }
        let similarity = self.similarity(graph);
        let matrix = (graph, sparse::solved_normalization(self.settings.normalization));
        let candidates = if U::ON_DEVICE {
            dense::decided(&selection, matrix, &operator, similarity.as_deref(), (values, vectors), certificate)
        } else {
            let (values, vectors) = (U::all_to_f64(values), U::all_to_f64(vectors));
            let (weighted, similarity) = (graph.is_weighted(), similarity.as_deref());
            let limits = Limits::of::<T>(graph.nodes());
            let own = || dense::candidates(&selection, &operator, (&values, &vectors), limits, certificate);
            Some(if dense::must_be_factored::<T>(&selection, &operator, &values, weighted, similarity) {
                let mut found = own();
                let resolved = dense::is_resolved::<T>(matrix, &operator, &mut found, similarity);
                if resolved { found } else { dense::factored::<T>(&selection, matrix, similarity) }
            } else {
                own()
            })
        };
        let finish = |found| pairs(self.settings, graph, &operator, selection.known, found);
        let Some(candidates) = candidates else { return Ok(None) };
        let relative = candidates.relative;
        let found = finish(candidates);
        // Combinations of tied vectors that D^-1/2 amplifies are refined if the values are accurate.
        if relative || similarity.is_none() || found.certificate.status != Status::NotConverged {
            return Ok(Some(found));
        }
        Ok((!U::ON_DEVICE).then(|| finish(dense::factored::<T>(&selection, matrix, similarity.as_deref()))))
    }

    /// Returns the pairs of a graph from an iteration on its Laplacian, or `None` if the error of f32 may change a
    /// decision.
    fn iterated(&self, graph: GraphRef<'_>, found: &Solved, in_f64: bool) -> Finished<T> {
        let operator = self.operator(graph)?;
        let selection = Selection::new(self.settings, operator.null_vectors(), graph.nodes());
        let candidates = sparse::candidates(self.settings, &selection, graph.nodes(), found);
        let open = !in_f64 && sparse::is_doubtful(&candidates, found, &operator, self.similarity(graph).as_deref());
        Ok((!open).then(|| pairs(self.settings, graph, &operator, selection.known, candidates)))
    }

    /// Returns, in f64, the Laplacian whose pairs are computed.
    fn operator<'g>(&self, graph: GraphRef<'g>) -> Result<Operator<'g, f64>> {
        Operator::laplacian(graph, sparse::solved_normalization(self.settings.normalization))
    }

    /// Returns the factors by which the rows of an eigenvector of the symmetric Laplacian are multiplied to convert it
    /// to an eigenvector of the random-walk Laplacian. Returns `None` if a different Laplacian is requested.
    fn similarity(&self, graph: GraphRef<'_>) -> Option<Vec<f64>> {
        let normalization = self.settings.normalization;
        (normalization == Normalization::RandomWalk).then(|| Laplacian::new(graph, normalization).similarity_scale())
    }

    /// Writes the pairs of the given graphs to the encoding.
    fn arrange(&mut self, indices: &[usize], finished: Vec<Option<Pairs<T>>>) -> Result<()> {
        let mut all: Vec<(usize, Pairs<T>)> = indices.iter().copied().zip(finished.into_iter().flatten()).collect();
        all.sort_unstable_by_key(|&(graph, _)| graph);
        let places = self.encoding.places(all.iter().map(|&(graph, _)| graph));
        let work = places.into_iter().zip(all);
        self.ctx.on_host(|| {
            parallel::for_each(work, |_, (place, (_, pairs))| place.write(&pairs));
            Ok(())
        })
    }
}

/// Applies `one` to all graphs in parallel. Returns an error if the context is cancelled.
fn each<P: Send>(ctx: &Context, graphs: &GraphBatch, one: impl Fn(usize) -> Result<P> + Sync + Send) -> Result<Vec<P>> {
    let unless_cancelled = |graph| ctx.cancel().check().and_then(|()| one(graph));
    let all = || parallel::map(0..graphs.len(), |_, graph| unless_cancelled(graph)).into_iter().collect();
    ctx.stopwatch().time("finish", || ctx.on_host(all))
}
