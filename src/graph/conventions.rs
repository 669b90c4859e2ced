//! What an edge list means. Conventions are explicit values here, because no two libraries share them.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// The entries of the adjacency matrix W that a node's degree sums up. W(i, j) is the weight of the edge from i to j.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DegreeDirection {
    /// The edges that arrive: column sums of W.
    In,
    /// The edges that leave: row sums of W.
    Out,
}

/// How edges that are listed in one direction become an undirected graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetrization {
    /// W stays as listed: the Laplacian is symmetric only if both directions are listed with equal weights.
    Keep,
    /// W + Wᵀ; self-loops are doubled, as in the matrix sum.
    Sum,
    /// (W + Wᵀ) / 2.
    Mean,
    /// The larger of W and Wᵀ, entry by entry.
    Max,
    /// An asymmetric W is an error.
    Error,
}

/// The treatment of an edge from a node to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SelfLoops {
    /// It stays on W's diagonal and counts in the degree.
    Keep,
    /// It is left out.
    Drop,
}

/// The treatment of an edge that is listed more than once in the same direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// The weights add up, as when a sparse matrix is made from triplets.
    Sum,
    /// The largest weight counts, so the order of the lines does not matter.
    Max,
    /// The first listed edge counts.
    First,
    /// The last listed edge counts.
    Last,
    /// An edge that is listed twice is an error.
    Error,
}

/// The diagonal entry of a normalized Laplacian where the degree is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IsolatedDiagonal {
    /// Zero: an isolated node is a component with the eigenvalue 0, like every other component.
    Zero,
    /// One: the identity minus nothing.
    One,
}

/// The entry of D^-1/2 and D^-1 where the degree is zero. It matters only in directed graphs that are kept directed,
/// where a node without a degree in one direction may have edges in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZeroDegreeScale {
    /// Zero: the edges of such a node vanish from the normalized Laplacian.
    Zero,
    /// One: the edges of such a node keep their weight.
    One,
}

/// How a list of edges becomes the matrix W, and W a Laplacian.
///
/// The default is the undirected simple graph that spectral encodings need. An edge listed in either direction, once
/// or more than once, counts once with its largest weight, so neither the order of the lines nor their direction
/// matters. Self-loops are dropped, and an isolated node has the diagonal entry 0.
///
/// The presets reproduce the matrices of other libraries, which take edges as they are listed. They keep directions,
/// so a list of an undirected graph must have both. For a list with one line per edge, change one field:
///
/// ```
/// use fiedler::graph::{Conventions, Symmetrization};
/// let undirected = Conventions { symmetrization: Symmetrization::Max, ..Conventions::networkx() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conventions {
    /// Whether degrees sum rows or columns.
    pub degree: DegreeDirection,
    /// How directed input becomes undirected. This follows the treatment of [`Conventions::duplicates`].
    pub symmetrization: Symmetrization,
    /// The treatment of edges from a node to itself.
    pub self_loops: SelfLoops,
    /// The treatment of edges that are listed more than once.
    pub duplicates: Duplicates,
    /// The diagonal of the normalized Laplacians where the degree is zero.
    pub isolated: IsolatedDiagonal,
    /// The scale of the normalized Laplacians where the degree is zero.
    pub zero_degree_scale: ZeroDegreeScale,
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
        }
    }
}

impl Conventions {
    /// Returns the conventions of `scipy.sparse.csgraph.laplacian` for the sparse matrix that `coo_matrix` makes of
    /// the list: in-degrees, the diagonal ignored, duplicates summed, isolated nodes 0.
    #[must_use]
    pub const fn scipy() -> Self {
        Self {
            degree: DegreeDirection::In,
            symmetrization: Symmetrization::Keep,
            self_loops: SelfLoops::Drop,
            duplicates: Duplicates::Sum,
            isolated: IsolatedDiagonal::Zero,
            zero_degree_scale: ZeroDegreeScale::One,
        }
    }

    /// Returns the conventions of `networkx.laplacian_matrix` and `networkx.normalized_laplacian_matrix` for the
    /// `DiGraph` of the list: out-degrees that count self-loops, the last of duplicates, isolated nodes 0.
    #[must_use]
    pub const fn networkx() -> Self {
        Self {
            degree: DegreeDirection::Out,
            symmetrization: Symmetrization::Keep,
            self_loops: SelfLoops::Keep,
            duplicates: Duplicates::Last,
            isolated: IsolatedDiagonal::Zero,
            zero_degree_scale: ZeroDegreeScale::Zero,
        }
    }

    /// Returns the conventions of `torch_geometric.utils.get_laplacian` with `None`, `'sym'` and `'rw'`: out-degrees,
    /// self-loops removed, duplicates summed, isolated nodes 1.
    #[must_use]
    pub const fn pyg() -> Self {
        Self {
            degree: DegreeDirection::Out,
            symmetrization: Symmetrization::Keep,
            self_loops: SelfLoops::Drop,
            duplicates: Duplicates::Sum,
            isolated: IsolatedDiagonal::One,
            zero_degree_scale: ZeroDegreeScale::Zero,
        }
    }

    /// Returns the conventions of the matrix in `dgl.lap_pe`, I - D^-1/2 W D^-1/2 with in-degrees of at least 1:
    /// self-loops kept, duplicates summed, isolated nodes 1. DGL's matrix knows no weights; if there are any, they
    /// replace its ones.
    #[must_use]
    pub const fn dgl() -> Self {
        Self {
            degree: DegreeDirection::In,
            symmetrization: Symmetrization::Keep,
            self_loops: SelfLoops::Keep,
            duplicates: Duplicates::Sum,
            isolated: IsolatedDiagonal::One,
            zero_degree_scale: ZeroDegreeScale::One,
        }
    }
}

/// A library whose conventions have a name here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// [`Conventions::scipy`].
    Scipy,
    /// [`Conventions::networkx`].
    Networkx,
    /// [`Conventions::pyg`].
    Pyg,
    /// [`Conventions::dgl`].
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

    /// Returns the name on the command line.
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
    /// [`Domain`](crate::ErrorKind::Domain), with a list of the names, for any other.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| Error::domain("preset", format!("expected scipy, networkx, pyg or dgl, found {name:?}")))
    }
}
