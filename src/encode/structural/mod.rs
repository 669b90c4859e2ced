//! Structural encodings: what the whole spectrum of a graph's Laplacian says about its nodes, its edges and itself.

mod diagonals;
mod encoding;
mod resistances;
mod series;
mod spectrum;

pub use encoding::StructuralEncoding;

use super::sparse::solved_normalization;
use super::spectral::Progress;
use crate::array::Real;
use crate::context::{Context, DEFAULT_BUDGET};
use crate::error::{Error, Result};
use crate::graph::{GraphBatch, GraphRef};
use crate::ops::Normalization;
use crate::ops::eigen::{HostEigh, eigh_ragged};
use crate::ops::laplacian::laplacian;
use crate::ops::sparse::Operator;
use crate::parallel;
use crate::policy::{Backend, Side};
use encoding::Own;
use resistances::Grounded;
use series::{DECOMPOSED_UP_TO, Series};
use spectrum::Spectrum;
use std::ops::Range;

const NAME: &str = "structural encoding";

/// An encoder that computes structural encodings of every graph: any subset of them from the same decompositions.
///
/// Everything is computed in f64 on the CPU from all eigenpairs of dense Laplacians, and rounded once. Heat kernels,
/// wave kernels, resistances and what follows from them keep their digits where the weights of a graph span many
/// decades: the smallest eigenvalues are computed relative to themselves. If only heat kernels and PageRank are
/// computed, the return probabilities of walks serve large sparse graphs instead, whose error is that of the rounding,
/// too.
///
/// The names that GraphGPS gives to the same numbers are in the documentation of [`StructuralEncoding`]'s fields.
///
/// ```
/// use fiedler::{Context, encode::StructuralEncoder, graph::generate::path};
/// let encoder = StructuralEncoder::new().heat_kernel(&[1.0]).resistances(true);
/// let found = encoder.encode(&Context::cpu(), &path(3)?.into())?;
/// assert_eq!(found.resistance, [1.0; 4]); // both directions of two edges in series
/// assert!(found.heat_kernel[1] < found.heat_kernel[0]); // more heat leaves the middle
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StructuralEncoder {
    heat_times: Vec<f64>,
    wave_energies: usize,
    restarts: Vec<f64>,
    pub(crate) electrostatic: bool,
    pub(crate) resistances: bool,
    pub(crate) all_pairs: bool,
    pub(crate) invariants: bool,
    normalization: Normalization,
    drop_trivial: bool,
    first_graph: usize,
}

/// Consecutive graphs whose Laplacians are decomposed together, or one graph that is encoded by walks.
struct Chunk {
    graphs: Range<usize>,
    walks: Option<Series>,
}

impl Default for StructuralEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl StructuralEncoder {
    /// Returns an encoder that computes nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            heat_times: Vec::new(),
            wave_energies: 0,
            restarts: Vec::new(),
            electrostatic: false,
            resistances: false,
            all_pairs: false,
            invariants: false,
            normalization: Normalization::Combinatorial,
            drop_trivial: false,
            first_graph: 0,
        }
    }

    /// Computes the diagonals of the heat kernels `exp(-t L)` for these times ([`StructuralEncoding::heat_kernel`]).
    #[must_use]
    pub fn heat_kernel(mut self, times: &[f64]) -> Self {
        self.heat_times = times.to_vec();
        self
    }

    /// Computes the wave kernel signatures at this number of energies ([`StructuralEncoding::wave_kernel`]).
    #[must_use]
    pub fn wave_kernel(mut self, energies: usize) -> Self {
        self.wave_energies = energies;
        self
    }

    /// Computes the diagonals of the personalized PageRank matrices for these restart probabilities, which are above 0
    /// and at most 1 ([`StructuralEncoding::pagerank`]).
    #[must_use]
    pub fn pagerank(mut self, restarts: &[f64]) -> Self {
        self.restarts = restarts.to_vec();
        self
    }

    /// Sets whether to compute the electrostatic encoding of each node ([`StructuralEncoding::electrostatic`]).
    #[must_use]
    pub fn electrostatic(mut self, yes: bool) -> Self {
        self.electrostatic = yes;
        self
    }

    /// Sets whether to compute the effective resistances and the commute times of the edges
    /// ([`StructuralEncoding::resistance`]).
    #[must_use]
    pub fn resistances(mut self, yes: bool) -> Self {
        self.resistances = yes;
        self
    }

    /// Sets whether to compute the effective resistances between all pairs of nodes
    /// ([`StructuralEncoding::resistance_matrix`]).
    #[must_use]
    pub fn all_pairs(mut self, yes: bool) -> Self {
        self.all_pairs = yes;
        self
    }

    /// Sets whether to compute the spectral gap, the Kirchhoff index and the number of spanning trees of each graph
    /// ([`StructuralEncoding::spectral_gap`]).
    #[must_use]
    pub fn invariants(mut self, yes: bool) -> Self {
        self.invariants = yes;
        self
    }

    /// Selects the Laplacian of the heat kernels and the wave kernels. The default is the combinatorial one. The
    /// diagonals are the same for the symmetric and the random-walk Laplacian, which are similar.
    #[must_use]
    pub fn laplacian(mut self, normalization: Normalization) -> Self {
        self.normalization = normalization;
        self
    }

    /// Sets whether to leave the null space out of the heat kernels, as GraphGPS does. Its part does not depend on the
    /// time: for the combinatorial Laplacian, it is one over the number of nodes of the component.
    #[must_use]
    pub fn drop_trivial(mut self, yes: bool) -> Self {
        self.drop_trivial = yes;
        self
    }

    /// Sets the number by which error messages refer to the first graph. The default is 0.
    #[must_use]
    pub fn first_graph(mut self, number: usize) -> Self {
        self.first_graph = number;
        self
    }

    /// Encodes every graph.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if a time is negative or not finite, if a restart probability is not above 0 and at
    /// most 1, if a graph is directed, or with [`Backend::Gpu`]; [`crate::ErrorKind::Limit`] if a graph is too large
    /// for the memory budget.
    pub fn encode(&self, ctx: &Context, graphs: &GraphBatch) -> Result<StructuralEncoding> {
        self.encode_with(ctx, graphs, |_| ())
    }

    /// Encodes every graph as [`StructuralEncoder::encode`] does, in `T`, which is f32 or f64, and reports the
    /// progress.
    ///
    /// # Errors
    /// The same as for [`StructuralEncoder::encode`].
    pub fn encode_with<T: Real>(
        &self,
        ctx: &Context,
        graphs: &GraphBatch,
        mut progress: impl FnMut(Progress),
    ) -> Result<StructuralEncoding<T>> {
        self.check(ctx, graphs)?;
        let ctx = ctx.with_backend(Backend::Cpu);
        let mut encoding = StructuralEncoding::new(self, graphs);
        for Chunk { graphs: chunk, walks } in self.chunks::<T>(&ctx, graphs)? {
            ctx.cancel().check()?;
            let done = chunk.end;
            match walks {
                Some(series) => {
                    let graph = graphs.graph(chunk.start);
                    series.check(graph, chunk.start + self.first_graph)?;
                    encoding.append(ctx.on_host(|| self.walked(graph, &series))?);
                }
                None => self.encode_chunk(&ctx, &graphs.select(&chunk.collect::<Vec<_>>()), &mut encoding)?,
            }
            progress(Progress { done, total: graphs.len() });
        }
        Ok(encoding)
    }

    /// Encodes a graph by walks.
    fn walked<T: Real>(&self, graph: GraphRef<'_>, series: &Series) -> Result<Own<T>> {
        let mut own = Own::new(graph.components().count);
        let kernels = solved_normalization(self.normalization);
        let null = match self.drop_trivial {
            true => Some(Operator::<f64>::laplacian(graph, kernels)?.null.projector_diagonal()),
            false => None,
        };
        series.encode(graph, null.as_deref(), &mut own);
        Ok(own)
    }

    fn check(&self, ctx: &Context, graphs: &GraphBatch) -> Result<()> {
        let wrong = |what: String| Err(Error::domain(NAME, what));
        if let Some(time) = self.heat_times.iter().find(|time| !(time.is_finite() && **time >= 0.0)) {
            return wrong(format!("expected times of at least 0 for the heat kernel, found {time}"));
        }
        if let Some(restart) = self.restarts.iter().find(|restart| !(**restart > 0.0 && **restart <= 1.0)) {
            return wrong(format!("expected restart probabilities above 0 and at most 1, found {restart}"));
        }
        if ctx.explain(&Default::default(), false).side == Side::Gpu {
            return wrong("it is computed on the CPU only, found a context that asks for the GPU".to_owned());
        }
        let negative =
            |graph: GraphRef<'_>| graph.all_weights().is_some_and(|all| all.iter().any(|weight| weight < 0.0));
        if let Some(graph) = graphs.iter().position(negative) {
            let number = graph + self.first_graph;
            return wrong(format!("expected weights that are not negative, found a negative one in graph {number}"));
        }
        match graphs.iter().position(|graph| !graph.is_symmetric()) {
            Some(graph) => {
                let number = graph + self.first_graph;
                wrong(format!("graph {number} is directed; choose a symmetrization (sum, mean or max)"))
            }
            None => Ok(()),
        }
    }

    /// Returns the Laplacians that are decomposed.
    fn decomposed(&self) -> Vec<Normalization> {
        let kernels = !self.heat_times.is_empty() || self.wave_energies > 0;
        let own = solved_normalization(self.normalization);
        [Normalization::Combinatorial, Normalization::Symmetric]
            .into_iter()
            .filter(|&normalization| match normalization {
                Normalization::Combinatorial => self.grounded() || kernels && own == normalization,
                _ => !self.restarts.is_empty() || kernels && own == normalization,
            })
            .collect()
    }

    /// Returns whether the pseudoinverse of the combinatorial Laplacian is needed.
    fn grounded(&self) -> bool {
        self.electrostatic || self.resistances || self.all_pairs || self.invariants
    }

    /// Returns the series for a graph, or `None` if it has to be decomposed, or is decomposed in less time.
    fn series<T: Real>(&self, graph: GraphRef<'_>) -> Option<Series> {
        let laplacians = self.decomposed().len();
        let eigenpairs = self.grounded() || self.wave_energies > 0;
        if eigenpairs || laplacians == 0 || graph.nodes() <= DECOMPOSED_UP_TO {
            return None;
        }
        let kernels = solved_normalization(self.normalization);
        let series = Series::new::<T>(graph, kernels, (&self.heat_times, &self.restarts));
        series.is_faster(graph, laplacians).then_some(series)
    }

    /// Divides the graphs into runs whose working memory fits an eighth of the budget, or single graphs that fit it.
    fn chunks<T: Real>(&self, ctx: &Context, graphs: &GraphBatch) -> Result<Vec<Chunk>> {
        let most = ctx.memory_budget().min(DEFAULT_BUDGET) / 8;
        let (mut chunks, mut filled): (Vec<Chunk>, u64) = (Vec::new(), u64::MAX);
        for (i, graph) in graphs.iter().enumerate() {
            if let Some(series) = self.series::<T>(graph) {
                chunks.push(Chunk { graphs: i..i + 1, walks: Some(series) });
                filled = u64::MAX;
                continue;
            }
            // n^2 numbers for each of: the matrix, its scaled copy, the basis, the solver's scratch memory, the
            // vectors, their scaled copy and rows, two matrices of pairs.
            let square = (graph.nodes() as u64).saturating_mul(graph.nodes() as u64);
            let bytes = square.saturating_mul(72 + 40 * (self.decomposed().len() as u64).saturating_sub(1));
            if bytes > ctx.memory_budget() {
                let (number, nodes) = (i + self.first_graph, graph.nodes());
                let what = format!("bytes for the dense matrices of graph {number} ({nodes} nodes)");
                return Err(Error::budget(what, bytes, ctx.memory_budget()));
            }
            match chunks.last_mut() {
                Some(chunk) if filled.saturating_add(bytes) <= most => {
                    (chunk.graphs.end, filled) = (i + 1, filled + bytes);
                }
                _ => {
                    chunks.push(Chunk { graphs: i..i + 1, walks: None });
                    filled = bytes;
                }
            }
        }
        Ok(chunks)
    }

    fn encode_chunk<T: Real>(
        &self,
        ctx: &Context,
        graphs: &GraphBatch,
        encoding: &mut StructuralEncoding<T>,
    ) -> Result<()> {
        let mut solved = Vec::new();
        for normalization in self.decomposed() {
            let laplacians = laplacian::<f64>(ctx, graphs, normalization)?;
            solved.push((normalization, eigh_ragged(ctx, &laplacians)?.to_host(ctx)?));
        }
        let one = |i: usize| ctx.cancel().check().and_then(|()| self.encode_graph::<T>(graphs.graph(i), &solved, i));
        let made: Result<Vec<Own<T>>> =
            ctx.on_host(|| parallel::map(0..graphs.len(), |_, i| one(i)).into_iter().collect());
        made?.into_iter().for_each(|own| encoding.append(own));
        Ok(())
    }

    /// Encodes a graph. `solved` has the decompositions of its chunk, in which it has the index `i`.
    fn encode_graph<T: Real>(
        &self,
        graph: GraphRef<'_>,
        solved: &[(Normalization, HostEigh<f64>)],
        i: usize,
    ) -> Result<Own<T>> {
        let mut own = Own::new(graph.components().count);
        let kernels = solved_normalization(self.normalization);
        for (normalization, found) in solved {
            let pairs = (&found.values[found.layout.rows(i)], &found.vectors[found.layout.elements(i)]);
            let spectrum = Spectrum::new::<T>((graph, *normalization), pairs, found.certificates[i])?;
            own.certify(spectrum.certificate);
            if *normalization == kernels {
                own.heat_kernel = own.rounded(diagonals::heat_kernel(&spectrum, &self.heat_times, self.drop_trivial));
                own.wave_kernel = own.rounded(diagonals::wave_kernel(&spectrum, self.wave_energies));
            }
            if *normalization == Normalization::Symmetric {
                own.pagerank = own.rounded(diagonals::pagerank(&spectrum, graph, &self.restarts));
            } else if self.grounded() {
                self.encode_grounded(&Grounded::new(graph, &spectrum), &mut own);
            }
        }
        Ok(own)
    }

    fn encode_grounded<T: Real>(&self, grounded: &Grounded<'_>, own: &mut Own<T>) {
        if self.electrostatic {
            own.electrostatic = own.rounded(grounded.electrostatic());
        }
        if self.resistances {
            let resistance = grounded.of_entries();
            let times = resistance.iter().zip(grounded.volumes()).map(|(resistance, volume)| resistance * volume);
            own.commute_time = own.rounded(times.collect());
            own.resistance = own.rounded(resistance);
        }
        if self.all_pairs {
            own.resistance_matrix = own.rounded(grounded.of_all_pairs());
        }
        if self.invariants {
            let all = [grounded.spectral_gap(), grounded.kirchhoff_index(), grounded.log_spanning_trees()];
            own.invariants = own.rounded(all.to_vec());
        }
    }
}
