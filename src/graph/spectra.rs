//! Spectra in closed form: graphs whose Laplacian eigenvalues are known exactly, so that computed results can be
//! checked.
//!
//! The spectra of the path, cycle, complete graph, star and hypercube are from Brouwer and Haemers, Spectra of Graphs,
//! 2012, section 1.4. The spectra of Cartesian products are from section 1.4.6: the eigenvalues are all sums of one
//! eigenvalue of each factor. The spectra of the normalized Laplacians are from Chung, Spectral Graph Theory, 1997,
//! section 1.2.
//!
//! ```
//! use fiedler::graph::spectra::Family;
//! let grid = Family::Grid { rows: 1000, columns: 1000 };
//! let smallest = grid.combinatorial().smallest(3);
//! assert_eq!(smallest[0], 0.0);
//! assert!((smallest[1] - 4.0 * (std::f64::consts::PI / 2000.0).sin().powi(2)).abs() < 1e-20);
//! assert_eq!(smallest[1], smallest[2]);
//! ```

use super::{Graph, generate};
use crate::error::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::f64::consts::PI;

/// A graph whose spectrum has a closed form. The function in [`generate`] with the same name builds the graph; its
/// documentation states which sizes are errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A line of nodes.
    Path {
        /// The number of nodes.
        nodes: usize,
    },
    /// A ring of nodes.
    Cycle {
        /// The number of nodes, at least three.
        nodes: usize,
    },
    /// The Cartesian product of two paths.
    Grid {
        /// The number of nodes in a column.
        rows: usize,
        /// The number of nodes in a row.
        columns: usize,
    },
    /// The Cartesian product of two rings.
    Torus {
        /// The number of nodes in a column, at least three.
        rows: usize,
        /// The number of nodes in a row, at least three.
        columns: usize,
    },
    /// A hypercube: all words of `dimension` bits, where two words are joined if they differ in exactly one bit.
    Hypercube {
        /// The number of bits.
        dimension: u32,
    },
    /// A graph in which every node is joined to every other node.
    Complete {
        /// The number of nodes.
        nodes: usize,
    },
    /// A graph in which node 0 is joined to every other node.
    Star {
        /// The number of nodes.
        nodes: usize,
    },
}

impl Family {
    /// Builds the graph.
    ///
    /// # Errors
    /// The same as for the function in [`generate`] that builds the graph.
    pub fn graph(self) -> Result<Graph> {
        match self {
            Self::Path { nodes } => generate::path(nodes),
            Self::Cycle { nodes } => generate::cycle(nodes),
            Self::Grid { rows, columns } => generate::grid(rows, columns),
            Self::Torus { rows, columns } => generate::torus(rows, columns),
            Self::Hypercube { dimension } => generate::hypercube(dimension),
            Self::Complete { nodes } => generate::complete(nodes),
            Self::Star { nodes } => generate::star(nodes),
        }
    }

    /// Returns the spectrum of D - W.
    #[must_use]
    pub fn combinatorial(self) -> Spectrum {
        match self {
            Self::Path { nodes } => Spectrum::sums(Line::Path(nodes), Line::Path(1), 1.0),
            Self::Cycle { nodes } => Spectrum::sums(Line::Ring(nodes), Line::Path(1), 1.0),
            Self::Grid { rows, columns } => Spectrum::sums(Line::Path(rows), Line::Path(columns), 1.0),
            Self::Torus { rows, columns } => Spectrum::sums(Line::Ring(rows), Line::Ring(columns), 1.0),
            Self::Hypercube { dimension } => Spectrum::cube(dimension, 1.0),
            Self::Complete { nodes } => Spectrum::levels([(0.0, 1), (number(nodes), nodes.saturating_sub(1))]),
            Self::Star { nodes: 0 | 1 } => Spectrum::levels([(0.0, 1)]),
            Self::Star { nodes } => Spectrum::levels([(0.0, 1), (1.0, nodes - 2), (number(nodes), 1)]),
        }
    }

    /// Returns the spectrum of I - D^-1/2 W D^-1/2, which is also the spectrum of I - D^-1 W. The eigenvalue of a
    /// single node is 0. Returns `None` for a grid with at least two rows and two columns. The degrees of its
    /// nodes generally differ, so its normalized spectrum does not follow from the spectra of the two paths.
    #[must_use]
    pub fn normalized(self) -> Option<Spectrum> {
        Some(match self {
            Self::Grid { rows: 1, columns: nodes } | Self::Grid { rows: nodes, columns: 1 } | Self::Path { nodes } => {
                Spectrum::sums(Line::NormalizedPath(nodes), Line::Path(1), 0.5)
            }
            Self::Grid { .. } => return None,
            Self::Cycle { nodes } => Spectrum::sums(Line::Ring(nodes), Line::Path(1), 0.5),
            Self::Torus { rows, columns } => Spectrum::sums(Line::Ring(rows), Line::Ring(columns), 0.25),
            Self::Hypercube { dimension } => Spectrum::cube(dimension, 1.0 / f64::from(dimension.max(1))),
            Self::Complete { nodes: 0 | 1 } | Self::Star { nodes: 0 | 1 } => Spectrum::levels([(0.0, 1)]),
            Self::Complete { nodes } => Spectrum::levels([(0.0, 1), (number(nodes) / number(nodes - 1), nodes - 1)]),
            Self::Star { nodes } => Spectrum::levels([(0.0, 1), (1.0, nodes - 2), (2.0, 1)]),
        })
    }
}

/// All eigenvalues of one matrix. [`Spectrum::smallest`] and [`Spectrum::largest`] return eigenvalues from one end.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum(Form);

#[derive(Clone, Debug, PartialEq)]
enum Form {
    /// The ascending distinct eigenvalues with their multiplicities.
    Levels(Vec<(f64, usize)>),
    /// All sums of an eigenvalue of `one` and an eigenvalue of `other`, multiplied by `scale`.
    Sums { one: Line, other: Line, scale: f64 },
}

impl Spectrum {
    fn levels<const N: usize>(levels: [(f64, usize); N]) -> Self {
        Self(Form::Levels(levels.into()))
    }

    fn sums(one: Line, other: Line, scale: f64) -> Self {
        Self(Form::Sums { one, other, scale })
    }

    /// Returns the spectrum of a hypercube: the eigenvalues 2 i `scale` for i from 0 to `dimension`. The multiplicity
    /// of an eigenvalue is the number of words of `dimension` bits in which exactly i bits are set.
    fn cube(dimension: u32, scale: f64) -> Self {
        let mut words = 1_u128;
        let levels = (0..=dimension).map(|i| {
            let level = (2.0 * f64::from(i) * scale, usize::try_from(words).unwrap_or(usize::MAX));
            words = words.saturating_mul(u128::from(dimension - i)) / u128::from(i + 1);
            level
        });
        Self(Form::Levels(levels.collect()))
    }

    /// Returns the `k` smallest eigenvalues in ascending order, or all eigenvalues if there are fewer than `k`. The
    /// work is of order k log k.
    #[must_use]
    pub fn smallest(&self, k: usize) -> Vec<f64> {
        match &self.0 {
            Form::Levels(levels) => repeated(levels.iter(), k),
            Form::Sums { one, other, scale } => {
                let sums = least_sums(k, one.len(), other.len(), |i, j| one.value(i) + other.value(j));
                sums.into_iter().map(|sum| sum * scale).collect()
            }
        }
    }

    /// Returns the `k` largest eigenvalues in ascending order, or all eigenvalues if there are fewer than `k`. The work
    /// is of order k log k.
    #[must_use]
    pub fn largest(&self, k: usize) -> Vec<f64> {
        let mut values = match &self.0 {
            Form::Levels(levels) => repeated(levels.iter().rev(), k),
            Form::Sums { one, other, scale } => {
                let (n, m) = (one.len(), other.len());
                let sums = least_sums(k, n, m, |i, j| -(one.value(n - 1 - i) + other.value(m - 1 - j)));
                sums.into_iter().map(|sum| -sum * scale).collect()
            }
        };
        values.reverse();
        values
    }
}

fn repeated<'a>(levels: impl Iterator<Item = &'a (f64, usize)>, k: usize) -> Vec<f64> {
    levels.flat_map(|&(value, times)| std::iter::repeat_n(value, times)).take(k).collect()
}

/// Returns the `k` smallest values of `sum(i, j)` for i < n and j < m. `sum` must be nondecreasing in i and in j.
fn least_sums(k: usize, n: usize, m: usize, sum: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    /// A value of `sum` with its indices. The values are finite, so their order is total.
    #[derive(PartialEq)]
    struct Sum(f64, usize, usize);
    impl Eq for Sum {}
    impl PartialOrd for Sum {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Sum {
        fn cmp(&self, other: &Self) -> std::cmp::Ordering {
            self.0.total_cmp(&other.0).then((self.1, self.2).cmp(&(other.1, other.2)))
        }
    }
    let mut found = Vec::new();
    if n == 0 || m == 0 {
        return found;
    }
    // The heap contains the next sum of each row that has been started. Row i + 1 is started when the first sum of row
    // i is removed.
    let mut next = BinaryHeap::from([Reverse(Sum(sum(0, 0), 0, 0))]);
    while found.len() < k
        && let Some(Reverse(Sum(value, i, j))) = next.pop()
    {
        found.push(value);
        if j + 1 < m {
            next.push(Reverse(Sum(sum(i, j + 1), i, j + 1)));
        }
        if j == 0 && i + 1 < n {
            next.push(Reverse(Sum(sum(i + 1, 0), i + 1, 0)));
        }
    }
    found
}

/// The ascending eigenvalues 2 - 2 cos x of a path or a ring, where x is the frequency of an eigenvector. They are
/// computed in a form that keeps small eigenvalues accurate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    Path(usize),
    Ring(usize),
    /// Twice the eigenvalues of I - D^-1/2 W D^-1/2 of a path.
    NormalizedPath(usize),
}

impl Line {
    fn len(self) -> usize {
        match self {
            Self::Path(nodes) | Self::Ring(nodes) | Self::NormalizedPath(nodes) => nodes,
        }
    }

    fn value(self, i: usize) -> f64 {
        // For a path of n nodes, eigenvalue i has the frequency x = pi i / n. A ring has every frequency twice, except
        // the frequency 0 and, if n is even, the highest frequency. The normalized path has each distinct frequency of
        // a ring of 2 (n - 1) nodes once.
        let (numerator, denominator) = match self {
            Self::Path(nodes) => (i, nodes),
            Self::Ring(nodes) => (2 * i.div_ceil(2), nodes),
            Self::NormalizedPath(nodes) => (i, nodes.max(2) - 1),
        };
        4.0 * (PI * number(numerator) / (2.0 * number(denominator))).sin().powi(2)
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of nodes, below 2^53")]
fn number(count: usize) -> f64 {
    count as f64
}
