//! The diagonals of heat kernels and personalized PageRank of large graphs, without eigenpairs.
//!
//! Both are sums over the powers of a symmetric matrix M without negative entries. With the Poisson probabilities p_k
//! of mean `t rate`, `exp(-t L)` is the sum of p_k M^k for `M = I - L / rate` (Grassmann, Transient solutions in
//! Markovian queueing systems, Comput. Oper. Res. 4, 1977: uniformization), and PageRank is the sum of `a (1 - a)^k
//! S^k`. Nothing cancels. The diagonal entries of even powers do not grow, and an odd power's is at most that of the
//! even one before, so the terms that are left out are at most their coefficients relative to the result, twice.

use super::encoding::Own;
use crate::array::Real;
use crate::encode::walks::Walks;
use crate::error::{ErrorKind, Result};
use crate::graph::{GraphRef, IsolatedDiagonal};
use crate::ops::Normalization;

/// Graphs with at most this number of nodes are decomposed, many at once.
pub(super) const DECOMPOSED_UP_TO: usize = 256;
/// The number of nodes whose walks are followed to predict the work of all.
const SAMPLED: usize = 16;
/// The most entries that the walks of a graph may visit, which takes about an hour on two cores.
const MOST_VISITS: f64 = 4e12;
/// The time that a decomposition takes for each n^3, in visits of an entry.
const DECOMPOSITION: f64 = 5.0;

/// The coefficients of the powers in each diagonal.
pub(super) struct Series {
    /// The sums over the powers of the lazy walk or of S for the heat kernels, each from the power 0 on.
    heat: Vec<Vec<f64>>,
    pagerank: Vec<Vec<f64>>,
    normalization: Normalization,
    /// The rate of the heat kernels.
    rate: f64,
}

impl Series {
    /// `normalization` is combinatorial or symmetric. The coefficients that are left out add up to at most an eighth of
    /// the rounding error of T.
    pub(super) fn new<T: Real>(
        graph: GraphRef<'_>,
        normalization: Normalization,
        (times, restarts): (&[f64], &[f64]),
    ) -> Self {
        let rate = match normalization {
            Normalization::Combinatorial => graph.degrees().into_iter().fold(0.0, f64::max),
            _ => 1.0,
        };
        let tail = T::EPSILON / 8.0;
        Self {
            heat: times.iter().map(|time| poisson(time * rate, tail)).collect(),
            pagerank: restarts.iter().map(|&restart| geometric(restart, tail)).collect(),
            normalization,
            rate,
        }
    }

    /// Returns the walks of the heat kernels, if there are any.
    fn of_heat<'g>(&self, graph: GraphRef<'g>) -> Option<Walks<'g>> {
        let walks = || match self.normalization {
            Normalization::Combinatorial if self.rate > 0.0 => Walks::lazy(graph, self.rate),
            _ => Walks::similar(graph), // of a graph without edges, every power beyond 0 is 0
        };
        (!self.heat.is_empty()).then(walks)
    }

    /// Returns how many entries the walks visit, as far as a sample of the nodes tells.
    fn visits(&self, graph: GraphRef<'_>) -> f64 {
        let n = graph.nodes();
        let sampled = |walks: &Walks<'_>, series: &[Vec<f64>]| {
            let steps = steps(series);
            let visits: usize = (0..SAMPLED).map(|i| walks.visits(i * n / SAMPLED, steps)).sum();
            visits as f64 / SAMPLED as f64 * n as f64
        };
        let heat = self.of_heat(graph).map_or(0.0, |walks| sampled(&walks, &self.heat));
        let similar = (!self.pagerank.is_empty()).then(|| Walks::similar(graph));
        heat + similar.map_or(0.0, |walks| sampled(&walks, &self.pagerank))
    }

    /// Returns whether the walks take less time than the decomposition of the Laplacians, whose number is `laplacians`.
    pub(super) fn is_faster(&self, graph: GraphRef<'_>, laplacians: usize) -> bool {
        let cube = (graph.nodes() as f64).powi(3) * laplacians as f64;
        self.visits(graph) < DECOMPOSITION * cube
    }

    /// Refuses a graph whose walks would take hours. `number` is that of the graph in error messages.
    pub(super) fn check(&self, graph: GraphRef<'_>, number: usize) -> Result<()> {
        let visits = self.visits(graph);
        if visits <= MOST_VISITS {
            return Ok(());
        }
        let what = format!(
            "entries that the walks of graph {number} ({} nodes) visit for heat kernels and PageRank; shorter times and \
             larger restart probabilities need fewer",
            graph.nodes()
        );
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts, which saturate")]
        let [needed, allowed] = [visits as u64, MOST_VISITS as u64];
        Err(ErrorKind::Limit { what, needed, allowed }.into())
    }

    /// Computes the diagonals. `null` is the diagonal of the projector onto the null space if it is to be left out of
    /// the heat kernels.
    pub(super) fn encode<T: Real>(&self, graph: GraphRef<'_>, null: Option<&[f64]>, own: &mut Own<T>) {
        let degrees = graph.degrees();
        if let Some(walks) = self.of_heat(graph) {
            let mut heat = diagonals(&walks, &self.heat);
            let zero = self.normalization != Normalization::Combinatorial
                && graph.conventions().isolated == IsolatedDiagonal::Zero;
            for (node, row) in heat.chunks_exact_mut(self.heat.len()).enumerate() {
                if degrees[node] == 0.0 && (zero || self.normalization == Normalization::Combinatorial) {
                    row.fill(1.0);
                }
                row.iter_mut().for_each(|x| *x -= null.map_or(0.0, |null| null[node]));
            }
            own.heat_kernel = own.rounded(heat);
        }
        if !self.pagerank.is_empty() {
            let mut all = diagonals(&Walks::similar(graph), &self.pagerank);
            let rows = all.chunks_exact_mut(self.pagerank.len()).zip(&degrees);
            rows.filter(|(_, degree)| **degree == 0.0).for_each(|(row, _)| row.fill(1.0));
            own.pagerank = own.rounded(all);
        }
    }
}

/// Returns the number of powers of all series.
fn steps(series: &[Vec<f64>]) -> usize {
    series.iter().map(|own| own.len() - 1).max().unwrap_or(0).max(1)
}

/// Returns the sums of the diagonals of the powers, times the coefficients: (n, series).
fn diagonals(walks: &Walks<'_>, series: &[Vec<f64>]) -> Vec<f64> {
    walks.moments(steps(series), series.len(), |moments, out| {
        for (out, coefficients) in out.iter_mut().zip(series) {
            // The smallest terms first.
            let powers = coefficients[1..].iter().zip(moments).rev();
            *out = powers.map(|(coefficient, moment)| coefficient * moment).sum::<f64>() + coefficients[0];
        }
    })
}

/// Returns the Poisson probabilities of a mean, up to where the others add up to at most `tail`.
fn poisson(mean: f64, tail: f64) -> Vec<f64> {
    let mut all = Vec::new();
    let mut log = -mean;
    loop {
        let own = log.exp();
        all.push(own);
        let next = all.len() as f64;
        // Beyond the mean, each is at most this much of the one before.
        let ratio = mean / next;
        if ratio < 1.0 && own * ratio / (1.0 - ratio) <= tail {
            return all;
        }
        log += ratio.ln();
    }
}

/// Returns `a (1 - a)^k`, up to where the others add up to at most `tail`.
fn geometric(restart: f64, tail: f64) -> Vec<f64> {
    let (mut all, mut left) = (Vec::new(), 1.0);
    while left > tail {
        all.push(restart * left);
        left *= 1.0 - restart;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{geometric, poisson};

    #[test]
    fn what_is_left_out() {
        for mean in [0.0, 1e-9, 0.3, 1.0, 40.0, 3000.0] {
            for tail in [1e-8, 1e-17] {
                let sum: f64 = poisson(mean, tail).iter().sum();
                // The logarithms of the probabilities are sums of as many terms.
                assert!((sum - 1.0).abs() <= tail + 1e-12 * f64::max(mean, 1.0), "{mean}: {sum}");
            }
        }
        assert_eq!(poisson(0.0, 1e-8), [1.0]);
        for restart in [0.05, 0.5, 1.0] {
            let sum: f64 = geometric(restart, 1e-8).iter().sum();
            assert!((1.0 - 1e-8 - 1e-14..=1.0 + 1e-14).contains(&sum), "{restart}: {sum}");
        }
    }
}
