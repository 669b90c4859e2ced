//! The conventions that define what an edge list means. They are explicit values, because the conventions of any two
//! libraries differ.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Whether the degree of a node is a row sum or a column sum of the adjacency matrix W. W(i, j) is the weight of the
/// edge from i to j.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DegreeDirection {
    /// The degree is the sum over the incoming edges: a column sum of W.
    In,
    /// The degree is the sum over the outgoing edges: a row sum of W.
    Out,
}

/// How W is made symmetric, so that directed edges become undirected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetrization {
    /// W stays as listed. The Laplacian is symmetric only if both directions of every edge are listed with equal
    /// weights.
    Keep,
    /// W becomes W + Wᵀ. This doubles the weights of self-loops.
    Sum,
    /// W becomes (W + Wᵀ) / 2.
    Mean,
    /// W becomes the elementwise maximum of W and Wᵀ. In a signed graph, the weight of larger magnitude is used, and of
    /// w and -w the positive one.
    Max,
    /// An asymmetric W is an error.
    Error,
}

/// The treatment of an edge from a node to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelfLoops {
    /// The edge stays on the diagonal of W and contributes to the degree.
    Keep,
    /// The edge is removed.
    Drop,
}

/// The treatment of an edge that is listed more than once in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// The weights are added, as in a sparse matrix that is built from triplets.
    Sum,
    /// The largest weight is used, so the order of the edges does not matter. In a signed graph, the weight of largest
    /// magnitude is used, and of w and -w the positive one.
    Max,
    /// The weight of the edge that is listed first is used.
    First,
    /// The weight of the edge that is listed last is used.
    Last,
    /// An edge that is listed twice is an error.
    Error,
}

/// The diagonal entry of a normalized Laplacian for a node of degree zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IsolatedDiagonal {
    /// The entry is 0. An isolated node then has the eigenvalue 0, as every other component does.
    Zero,
    /// The entry is 1, as in the identity matrix.
    One,
}

/// The diagonal entry of D^-1/2 and D^-1 for a node of degree zero. It matters only for graphs that stay directed, in
/// which a node with degree zero in one direction may have edges in the other direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZeroDegreeScale {
    /// The entry is 0. The normalized Laplacian then contains none of the edges of such a node.
    Zero,
    /// The entry is 1. The node then does not scale the weights of its edges.
    One,
}

/// How a list of edges becomes the matrix W, and how W becomes a Laplacian.
///
/// The default is the undirected simple graph that spectral encodings need. An edge that is listed in either or both
/// directions, any number of times, is one edge with the largest of its listed weights, so neither the order of the
/// edges nor their direction matters. Self-loops are dropped, and the diagonal entry of an isolated node is 0.
///
/// The presets reproduce the matrices of other libraries, which use edges as they are listed. The presets keep the
/// direction of edges, so the list of an undirected graph must contain both directions. If the list contains only one
/// direction of each edge, change one field:
///
/// ```
/// use fiedler::graph::{Conventions, Symmetrization};
/// let undirected = Conventions { symmetrization: Symmetrization::Max, ..Conventions::networkx() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conventions {
    /// Whether degrees are row sums or column sums.
    pub degree: DegreeDirection,
    /// How W is made symmetric. [`Conventions::duplicates`] is applied first.
    pub symmetrization: Symmetrization,
    /// The treatment of edges from a node to itself.
    pub self_loops: SelfLoops,
    /// The treatment of edges that are listed more than once.
    pub duplicates: Duplicates,
    /// The diagonal entry of normalized Laplacians for a node of degree zero.
    pub isolated: IsolatedDiagonal,
    /// The diagonal entry of D^-1/2 and D^-1 for a node of degree zero.
    pub zero_degree_scale: ZeroDegreeScale,
    /// Whether weights may be negative. Degrees are then sums of the magnitudes of weights, which makes every Laplacian
    /// the signed Laplacian (Kunegis et al., Spectral analysis of signed graphs, SDM 2010). Its eigenvalues are not
    /// negative, and 0 is one of them for each balanced component: one whose nodes have two sides, with positive
    /// weights within a side and negative weights between the sides. A graph without negative weights is the same
    /// either way.
    pub signed: bool,
    /// Whether a graph keeps the net flow `W(i, j) - W(j, i)` of each edge, before W is made symmetric: what is left of
    /// the directions of edges in an undirected graph. The magnetic Laplacian needs them
    /// ([`SpectralEncoder::magnetic`](crate::encode::SpectralEncoder::magnetic)). The symmetrization has to be
    /// [`Mean`](Symmetrization::Mean), [`Max`](Symmetrization::Max) or [`Error`](Symmetrization::Error).
    pub flows: bool,
}

impl Default for Conventions {
    fn default() -> Self {
        Self {
            degree: DegreeDirection::Out,
            symmetrization: Symmetrization::Max,
            self_loops: SelfLoops::Drop,
            duplicates: Duplicates::Max,
            isolated: IsolatedDiagonal::Zero,
            zero_degree_scale: ZeroDegreeScale::One,
            signed: false,
            flows: false,
        }
    }
}

impl Conventions {
    /// Returns the conventions of `scipy.sparse.csgraph.laplacian`, applied to the `coo_matrix` of the list: degrees
    /// are in-degrees, the diagonal is ignored, duplicates are summed, and the diagonal entry of isolated nodes is 0.
    #[must_use]
    pub const fn scipy() -> Self {
        Self {
            degree: DegreeDirection::In,
            symmetrization: Symmetrization::Keep,
            self_loops: SelfLoops::Drop,
            duplicates: Duplicates::Sum,
            isolated: IsolatedDiagonal::Zero,
            zero_degree_scale: ZeroDegreeScale::One,
            signed: false,
            flows: false,
        }
    }

    /// Returns the conventions of `networkx.laplacian_matrix` and `networkx.normalized_laplacian_matrix`, applied to
    /// the `DiGraph` of the list: degrees are out-degrees and include self-loops, the last of several duplicates is
    /// used, and the diagonal entry of isolated nodes is 0.
    #[must_use]
    pub const fn networkx() -> Self {
        Self {
            degree: DegreeDirection::Out,
            symmetrization: Symmetrization::Keep,
            self_loops: SelfLoops::Keep,
            duplicates: Duplicates::Last,
            isolated: IsolatedDiagonal::Zero,
            zero_degree_scale: ZeroDegreeScale::Zero,
            signed: false,
            flows: false,
        }
    }

    /// Returns the conventions of `torch_geometric.utils.get_laplacian` with the normalization `None`, `'sym'` or
    /// `'rw'`: degrees are out-degrees, self-loops are removed, duplicates are summed, and the diagonal entry of
    /// isolated nodes is 1.
    #[must_use]
    pub const fn pyg() -> Self {
        Self {
            degree: DegreeDirection::Out,
            symmetrization: Symmetrization::Keep,
            self_loops: SelfLoops::Drop,
            duplicates: Duplicates::Sum,
            isolated: IsolatedDiagonal::One,
            zero_degree_scale: ZeroDegreeScale::Zero,
            signed: false,
            flows: false,
        }
    }

    /// Returns the conventions of `dgl.lap_pe`, which uses the matrix I - D^-1/2 W D^-1/2: degrees are in-degrees, and
    /// D contains 1 in place of a degree of 0; self-loops are kept, duplicates are summed, and the diagonal entry of
    /// isolated nodes is 1. DGL ignores weights and counts every edge as 1. Here, the weights of the edges are used.
    #[must_use]
    pub const fn dgl() -> Self {
        Self {
            degree: DegreeDirection::In,
            symmetrization: Symmetrization::Keep,
            self_loops: SelfLoops::Keep,
            duplicates: Duplicates::Sum,
            isolated: IsolatedDiagonal::One,
            zero_degree_scale: ZeroDegreeScale::One,
            signed: false,
            flows: false,
        }
    }
}

/// A library whose conventions have a named preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// The preset of [`Conventions::scipy`].
    Scipy,
    /// The preset of [`Conventions::networkx`].
    Networkx,
    /// The preset of [`Conventions::pyg`].
    Pyg,
    /// The preset of [`Conventions::dgl`].
    Dgl,
}

impl Preset {
    /// Every preset, in the order in which help texts list them.
    pub const ALL: [Self; 4] = [Self::Scipy, Self::Networkx, Self::Pyg, Self::Dgl];

    /// Returns the conventions of this library.
    #[must_use]
    pub const fn conventions(self) -> Conventions {
        match self {
            Self::Scipy => Conventions::scipy(),
            Self::Networkx => Conventions::networkx(),
            Self::Pyg => Conventions::pyg(),
            Self::Dgl => Conventions::dgl(),
        }
    }

    /// Returns the name of the preset on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scipy => "scipy",
            Self::Networkx => "networkx",
            Self::Pyg => "pyg",
            Self::Dgl => "dgl",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = Error;

    /// Parses a name: `scipy`, `networkx`, `pyg` or `dgl`.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain), with a list of the names, for any other name.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| Error::domain("preset", format!("expected scipy, networkx, pyg or dgl, found {name:?}")))
    }
}
