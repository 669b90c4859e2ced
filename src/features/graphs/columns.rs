//! The columns of a graph.

use super::super::wrong;
use crate::encode::{Encoding, SpectralEncoder, Which};
use crate::error::Result;
use crate::graph::GraphRef;
use crate::ops::series::Named;
use crate::ops::{Normalization, Status as Certified};
use serde::{Deserialize, Serialize};

/// The most eigenvalues and the most steps of a walk.
const MOST: usize = 1 << 20;

/// A column, or several, of [`Graphs`]. A graph has n nodes, the adjacency matrix W with the entries `w_ij`, and the
/// diagonal matrix D of its degrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphColumn {
    /// n.
    Nodes,
    /// The number of edges, each undirected edge once.
    Edges,
    /// The number of connected components. An isolated node is one.
    Components,
    /// Eigenvalues of the Laplacian, from the chosen end of the spectrum on.
    Eigenvalues,
    /// The mean over all nodes of the probability that a random walk is back at its start.
    Returns,
}

impl Named for GraphColumn {
    const ALL: &'static [Self] = &[Self::Nodes, Self::Edges, Self::Components, Self::Eigenvalues, Self::Returns];

    fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Edges => "edges",
            Self::Components => "components",
            Self::Eigenvalues => "eigenvalues",
            Self::Returns => "returns",
        }
    }

    fn formula(self) -> &'static str {
        match self {
            Self::Nodes => "n",
            Self::Edges => "the number of i <= j with w_ij > 0",
            Self::Components => "the number of connected components; an isolated node is one",
            Self::Eigenvalues => {
                "l_1 <= ... <= l_top (smallest) or l_n >= ... >= l_(n-top+1) (largest) of the Laplacian: D - W \
                 (combinatorial), I - D^-1/2 W D^-1/2 (symmetric) or I - D^-1 W (random-walk)"
            }
            Self::Returns => "sum_i ((D^-1 W)^t)_ii / n for t = 1, ..., walks; isolated nodes add 0",
        }
    }
}

/// What stands in place of eigenvalues that a graph does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// 0, as in graph classification by spectra (de Lara & Pineau, A Simple Baseline Algorithm for Graph
    /// Classification, 2018). The column `nodes` tells how many eigenvalues there are.
    #[default]
    Zero,
    /// NaN, with the status [`Undefined`](crate::ops::series::Status::Undefined).
    Undefined,
}

/// Columns of a graph: its size, the ends of its Laplacian's spectrum, and the returns of a random walk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Graphs {
    /// The columns, in order.
    pub columns: Vec<GraphColumn>,
    /// The number of eigenvalues.
    pub top: usize,
    /// The end of the spectrum that they come from.
    #[serde(with = "End")]
    pub which: Which,
    /// The Laplacian.
    #[serde(with = "Laplacian")]
    pub laplacian: Normalization,
    /// Whether to leave out the zero modes, one for each connected component.
    pub drop_trivial: bool,
    /// What stands in place of eigenvalues that a graph does not have.
    pub beyond: Beyond,
    /// The number of steps of the random walk.
    pub walks: usize,
}

/// The names of the ends of the spectrum.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Which", rename_all = "snake_case")]
enum End {
    Smallest,
    Largest,
}

/// The names of the Laplacians, as `fiedler encode` has them.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Normalization", rename_all = "kebab-case")]
enum Laplacian {
    Combinatorial,
    Symmetric,
    RandomWalk,
}

impl Default for Graphs {
    fn default() -> Self {
        Self {
            columns: GraphColumn::ALL.to_vec(),
            top: 8,
            which: Which::Smallest,
            laplacian: Normalization::Symmetric,
            drop_trivial: false,
            beyond: Beyond::Zero,
            walks: 4,
        }
    }
}

impl Graphs {
    /// Returns the names of the columns.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let names = self.columns.iter().flat_map(|column| match column {
            GraphColumn::Eigenvalues => (1..=self.top).map(|j| format!("eigenvalue_{j}")).collect(),
            GraphColumn::Returns => (1..=self.walks).map(|step| format!("return_{step}")).collect(),
            one => vec![one.name().to_owned()],
        });
        names.collect()
    }

    /// Checks the parameters.
    pub(in crate::features) fn check(&self) -> Result<()> {
        for (wanted, count) in [("a top of 1 to 2^20 eigenvalues", self.top), ("walks of 1 to 2^20 steps", self.walks)]
        {
            if !(1..=MOST).contains(&count) {
                return Err(wrong(format!("expected {wanted}, found {count}")));
            }
        }
        Ok(())
    }

    /// Returns the encoder of what the columns need beside the graphs; `None` if they need nothing else.
    pub(super) fn encoder(&self) -> Option<SpectralEncoder> {
        let wanted = |column, count| if self.columns.contains(&column) { count } else { 0 };
        let (k, steps) = (wanted(GraphColumn::Eigenvalues, self.top), wanted(GraphColumn::Returns, self.walks));
        let encoder = || {
            let encoder = SpectralEncoder::new(k).laplacian(self.laplacian).which(self.which);
            encoder.drop_trivial(self.drop_trivial).walk_steps(steps)
        };
        (k + steps > 0).then(encoder)
    }

    /// Appends the columns of graph `i`, whose encoding is in `encoding`.
    #[expect(clippy::cast_possible_truncation, reason = "columns are in f32")]
    pub(super) fn row(&self, graph: GraphRef<'_>, i: usize, encoding: Option<&Encoding>, out: &mut Vec<f32>) {
        for column in &self.columns {
            match (column, encoding) {
                (GraphColumn::Nodes, _) => out.push(graph.nodes() as f32),
                (GraphColumn::Edges, _) => out.push(edges(graph) as f32),
                (GraphColumn::Components, _) => out.push(graph.components().count as f32),
                (GraphColumn::Eigenvalues, Some(encoding)) => self.eigenvalues(encoding, i, out),
                (GraphColumn::Returns, Some(encoding)) => {
                    let (walks, n) = (encoding.random_walk(i), graph.nodes() as f64);
                    let mean = |step| walks.column(step).iter().map(|&p| f64::from(p)).sum::<f64>() / n;
                    out.extend((0..self.walks).map(|step| mean(step) as f32));
                }
                (GraphColumn::Eigenvalues | GraphColumn::Returns, None) => {}
            }
        }
    }

    /// Appends the eigenvalues of graph `i`, from the chosen end on. Those of pairs that did not converge are NaN.
    fn eigenvalues(&self, encoding: &Encoding, i: usize, out: &mut Vec<f32>) {
        let converged = encoding.certificate(i).status == Certified::Converged;
        let mut found: Vec<f32> = encoding.eigenvalues(i).iter().copied().filter(|value| !value.is_nan()).collect();
        if self.which == Which::Largest {
            found.reverse();
        }
        let beyond = match self.beyond {
            Beyond::Zero if converged => 0.0,
            _ => f32::NAN,
        };
        if !converged {
            found.clear();
        }
        found.resize(self.top, beyond);
        out.append(&mut found);
    }
}

/// Returns the number of edges, each undirected edge once.
fn edges(graph: GraphRef<'_>) -> usize {
    let upper = |row: usize| graph.neighbors(row).iter().filter(|&&column| column as usize >= row).count();
    (0..graph.nodes()).map(upper).sum()
}
