//! Sparse symmetric matrices that are never formed: `diag(d) + c S W S`, with W in compressed sparse row form.

use super::null::NullSpace;
use crate::array::Real;
use crate::error::{Error, Result};
use crate::graph::{GraphBatch, GraphRef, IsolatedDiagonal, WeightsRef};
use crate::ops::Normalization;
use crate::parallel;
use std::borrow::Cow;
use std::ops::Range;

/// A batch of sparse symmetric matrices `diag(d) + c S W S`, called problems, each with its own order.
///
/// In a Laplacian, W is the matrix of the weights of the edges, and c is -1. S is `D^-1/2` for the normalized
/// Laplacians, where D is the diagonal matrix of the degrees; otherwise, S is absent. In an operator from a matrix in
/// compressed sparse row form, W is that matrix, c is 1, and d is 0. W is borrowed from the graph if possible. The
/// weights of an unweighted graph are not stored, because each is 1.
#[derive(Clone, Debug)]
pub struct Operator<'a, T: Real = f32> {
    /// The first row of each problem: problems + 1 offsets, starting at 0.
    pub(in crate::ops) node_offsets: Vec<usize>,
    /// The first entry of each row: rows + 1 offsets, of which the first need not be 0.
    pub(in crate::ops) row_offsets: Cow<'a, [usize]>,
    /// The column index of each entry, counted from 0 within the problem and ascending in each row. Element 0 belongs
    /// to the entry at offset `row_offsets[0]`.
    pub(in crate::ops) columns: Cow<'a, [u32]>,
    /// The value of each entry; `None` if every value is 1.
    pub(in crate::ops) weights: Option<Cow<'a, [T]>>,
    /// The factor c.
    pub(in crate::ops) coupling: f64,
    /// The diagonal d.
    pub(in crate::ops) diagonal: Cow<'a, [T]>,
    /// The diagonal of S; `None` if S is absent.
    pub(in crate::ops) scale: Option<Cow<'a, [T]>>,
    /// The bounds of each problem.
    pub(in crate::ops) bounds: Vec<Bounds>,
    /// The null vectors that are known in advance.
    pub(crate) null: NullSpace<T>,
}

/// Bounds on the spectrum of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// A lower bound on the eigenvalues.
    pub lower: f64,
    /// An upper bound on the eigenvalues.
    pub upper: f64,
    /// The 1-norm.
    pub norm: f64,
}

impl<'a, T: Real> Operator<'a, T> {
    /// Creates the Laplacian of a graph. The random-walk Laplacian is represented by the similar symmetric matrix, the
    /// Laplacian of [`Normalization::Symmetric`].
    ///
    /// If the largest weight is outside of 2^-32 to 2^32, a normalized Laplacian is made of weights that are divided by
    /// a power of two, so that their magnitude fits `T`. The Laplacian does not change by that.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the graph is directed, or its weights or degrees leave the range of `T`.
    pub fn laplacian(graph: GraphRef<'a>, normalization: Normalization) -> Result<Self> {
        let arrays = (graph.row_offsets(), graph.columns(), graph.all_weights());
        Self::of(vec![0, graph.nodes()], arrays, &[graph], normalization)
    }

    /// Creates the Laplacians of all graphs of a batch, like [`Operator::laplacian`].
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a graph is directed, or its weights or degrees leave the range of `T`.
    pub fn laplacians(graphs: &'a GraphBatch, normalization: Normalization) -> Result<Self> {
        let arrays = (graphs.row_offsets(), graphs.columns(), graphs.weights());
        Self::of(graphs.node_offsets().to_vec(), arrays, &graphs.iter().collect::<Vec<_>>(), normalization)
    }

    fn of(
        node_offsets: Vec<usize>,
        (row_offsets, columns, weights): (&'a [usize], &'a [u32], Option<WeightsRef<'a>>),
        graphs: &[GraphRef<'a>],
        normalization: Normalization,
    ) -> Result<Self> {
        if let Some(directed) = graphs.iter().position(|graph| !graph.is_symmetric()) {
            let what = format!("graph {directed} (from 0) is directed; choose a symmetrization (sum, mean or max)");
            return Err(Error::domain("sparse Laplacian", what));
        }
        let normalized = normalization != Normalization::Combinatorial;
        let nodes = row_offsets.len() - 1;
        let (mut diagonal, mut scale) = (Vec::with_capacity(nodes), Vec::new());
        let mut bounds = Vec::with_capacity(graphs.len());
        let mut null = NullSpace::new();
        let levels: Vec<i32> = graphs.iter().map(|graph| if normalized { graph.level() } else { 0 }).collect();
        let weights = weights.map(|weights| scaled(weights, graphs, &levels));
        for (number, (graph, &level)) in graphs.iter().zip(&levels).enumerate() {
            let mut degrees = graph.degrees();
            degrees.iter_mut().for_each(|degree| *degree *= 2_f64.powi(-level));
            check_range::<T>(number, graph, &degrees, level)?;
            let isolated = match graph.conventions().isolated {
                IsolatedDiagonal::One if normalized => 1.0,
                _ => 0.0,
            };
            bounds.push(if normalized {
                // Without self-loops, the norm of I - D^-1/2 W D^-1/2 is at most 1 + sqrt(maximum number of neighbors),
                // and at least 1 if there is an edge.
                Bounds { lower: 0.0, upper: 2.0, norm: normalized_norm(graph, &degrees, isolated, level) }
            } else {
                combinatorial_bounds(graph, &degrees)
            });
            let connected = |d: f64| d > 0.0;
            let of_degree = |d: f64| {
                if normalized && connected(d) {
                    1.0
                } else if normalized {
                    isolated
                } else {
                    d
                }
            };
            diagonal.extend(degrees.iter().map(|&d| T::from_f64(of_degree(d))));
            if normalized {
                scale.extend(degrees.iter().map(|&d| T::from_f64(if connected(d) { 1.0 / d.sqrt() } else { 0.0 })));
            }
            let (components, signs) = graph.balance();
            null.push(&components.labels, |node| {
                let d = degrees[node];
                let size = match (connected(d), normalized) {
                    (true, true) => d.sqrt(),
                    (false, true) if isolated > 0.0 => 0.0,
                    _ => 1.0,
                };
                signs[node] * size
            });
        }
        Ok(Self {
            node_offsets,
            row_offsets: row_offsets.into(),
            columns: columns.into(),
            weights,
            coupling: -1.0,
            diagonal: diagonal.into(),
            scale: normalized.then_some(scale.into()),
            bounds,
            null,
        })
    }

    /// Returns the number of matrices.
    #[must_use]
    pub fn problems(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Returns the number of rows of all problems together.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.row_offsets.len() - 1
    }

    /// Returns the number of stored entries of all problems together.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Returns the order of one problem.
    ///
    /// # Panics
    /// If `problem` is not below [`Operator::problems`], like indexing a slice.
    #[must_use]
    pub fn order(&self, problem: usize) -> usize {
        self.node_offsets[problem + 1] - self.node_offsets[problem]
    }

    /// Returns bounds on the spectrum of one problem.
    ///
    /// # Panics
    /// If `problem` is not below [`Operator::problems`], like indexing a slice.
    #[must_use]
    pub fn bounds(&self, problem: usize) -> Bounds {
        self.bounds[problem]
    }

    /// Returns the number of null vectors that are known in advance, for all problems together.
    #[must_use]
    pub fn null_vectors(&self) -> usize {
        self.null.len()
    }

    /// Returns the number of known null vectors of one problem.
    pub(crate) fn null_vectors_of(&self, problem: usize) -> usize {
        self.null.counts[problem]
    }

    /// Returns the first `count` vectors of the null space's canonical basis as the columns of a column-major matrix.
    /// The matrix has one row for each row of all problems.
    pub(crate) fn canonical_null(&self, count: usize) -> Vec<f64> {
        self.null.canonical(count)
    }

    /// Returns one problem as a separate operator.
    pub(crate) fn problem(&self, problem: usize) -> Operator<'_, T> {
        let rows = self.span(problem);
        let row_offsets = &self.row_offsets[rows.start..=rows.end];
        let first = self.row_offsets[0];
        let entries = row_offsets[0] - first..row_offsets[rows.len()] - first;
        Operator {
            node_offsets: vec![0, rows.len()],
            row_offsets: row_offsets.into(),
            columns: self.columns[entries.clone()].into(),
            weights: self.weights.as_ref().map(|weights| weights[entries].into()),
            coupling: self.coupling,
            diagonal: self.diagonal[rows.clone()].into(),
            scale: self.scale.as_ref().map(|scale| scale[rows.clone()].into()),
            bounds: vec![self.bounds[problem]],
            null: self.null.problem(problem, rows),
        }
    }

    /// Returns the same operator without its null space, with F in place of T as the scalar type. T and F must be the
    /// same type.
    pub(super) fn for_products<F: Real>(&self) -> Operator<'_, F> {
        let numbers = |numbers| Cow::Borrowed(bytemuck::cast_slice::<T, F>(numbers));
        Operator {
            node_offsets: self.node_offsets.clone(),
            row_offsets: Cow::Borrowed(&self.row_offsets),
            columns: Cow::Borrowed(&self.columns),
            weights: self.weights.as_deref().map(numbers),
            coupling: self.coupling,
            diagonal: numbers(&self.diagonal),
            scale: self.scale.as_deref().map(numbers),
            bounds: self.bounds.clone(),
            null: NullSpace::new(),
        }
    }

    /// Returns the same operator with F in place of T as the scalar type. T and F must be the same type.
    pub(in crate::ops) fn cast<F: Real>(&self) -> Operator<'_, F> {
        Operator { null: self.null.cast(), ..self.for_products() }
    }

    /// Converts to f32; integer arrays are borrowed. Returns `None` if a nonzero norm is outside of 1e-30 to
    /// 1e30.
    #[must_use]
    pub fn in_f32(&self) -> Option<Operator<'_, f32>> {
        self.narrowed()
    }

    /// Converts to f32, as described in [`Operator::in_f32`].
    pub(in crate::ops) fn narrowed(&self) -> Option<Operator<'_, f32>> {
        let narrow = |x: &T| f32::from_f64(x.to_f64());
        let fits = |bounds: &Bounds| bounds.norm == 0.0 || (1e-30..=1e30).contains(&bounds.norm);
        self.bounds.iter().all(fits).then(|| Operator {
            node_offsets: self.node_offsets.clone(),
            row_offsets: Cow::Borrowed(&self.row_offsets),
            columns: Cow::Borrowed(&self.columns),
            weights: self.weights.as_ref().map(|weights| weights.iter().map(narrow).collect()),
            coupling: self.coupling,
            diagonal: self.diagonal.iter().map(narrow).collect(),
            scale: self.scale.as_ref().map(|scale| scale.iter().map(narrow).collect()),
            bounds: self.bounds.clone(),
            null: self.null.narrowed(),
        })
    }

    /// Converts to f64. D^-1/2 and the null space are computed again, because `I - D^-1/2 W D^-1/2` with a rounded D
    /// has no null space and may have eigenvalues below 0.
    pub(in crate::ops) fn widened(&self) -> Operator<'_, f64> {
        let wide = |numbers: &[T]| numbers.iter().map(|x| x.to_f64()).collect();
        let weight = |place: usize| self.weights.as_ref().map_or(1.0, |weights| weights[place].to_f64());
        let degree = |row: usize| self.entries_of(row).map(|place| weight(place).abs()).sum::<f64>();
        let degrees: Option<Vec<f64>> = self.scale.as_ref().map(|_| (0..self.rows()).map(degree).collect());
        let inverse_root = |d: &f64| if *d > 0.0 { 1.0 / d.sqrt() } else { 0.0 };
        let of_row = |row: usize| match &degrees {
            Some(degrees) if degrees[row] > 0.0 => degrees[row].sqrt(),
            _ => 1.0,
        };
        Operator {
            node_offsets: self.node_offsets.clone(),
            row_offsets: Cow::Borrowed(&self.row_offsets),
            columns: Cow::Borrowed(&self.columns),
            weights: self.weights.as_ref().map(|weights| T::all_to_f64(weights)),
            coupling: self.coupling,
            diagonal: wide(&self.diagonal),
            scale: degrees.as_ref().map(|degrees| degrees.iter().map(inverse_root).collect()),
            bounds: self.bounds.clone(),
            null: self.null.widened(of_row),
        }
    }

    /// Returns the entries of a row as `(column within the problem, value)`. The first item is the diagonal entry that
    /// comes from d. A diagonal entry of `c S W S` is a separate item, so the column of the diagonal may occur twice.
    pub(super) fn row(&self, problem_start: usize, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let scale = move |i: usize| self.scale.as_ref().map_or(1.0, |scale| scale[i].to_f64());
        let here = self.coupling * scale(row);
        let entries = self.entries_of(row).map(move |place| {
            let column = self.columns[place] as usize;
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[place].to_f64());
            (column, here * weight * scale(problem_start + column))
        });
        std::iter::once((row - problem_start, self.diagonal[row].to_f64())).chain(entries)
    }

    /// Returns the only problem as a dense column-major matrix.
    pub(in crate::ops) fn dense(&self) -> Vec<f64> {
        let n = self.rows();
        let mut dense = vec![0.0; n * n];
        for row in 0..n {
            self.row(0, row).for_each(|(column, value)| dense[column * n + row] += value);
        }
        dense
    }

    /// Computes the residual `|A v_j - l_j v_j|_2` of each eigenpair (l_j, v_j) of the only problem, in f64. The
    /// eigenvectors are the columns of a column-major matrix.
    pub(crate) fn residuals(&self, values: &[T], vectors: &[T]) -> Vec<f64> {
        let n = self.rows();
        let of = |value: &T, vector: &[T]| {
            let square: f64 = (0..n)
                .map(|row| {
                    let product: f64 = self.row(0, row).map(|(column, x)| x * vector[column].to_f64()).sum();
                    (product - value.to_f64() * vector[row].to_f64()).powi(2)
                })
                .sum();
            square.sqrt()
        };
        parallel::map(values.iter().zip(vectors.chunks(n.max(1))), |_, (value, vector)| of(value, vector))
    }

    /// Returns the range of one problem's rows among the rows of all problems.
    pub(in crate::ops) fn span(&self, problem: usize) -> Range<usize> {
        self.node_offsets[problem]..self.node_offsets[problem + 1]
    }

    /// Returns the range of a row's entries in `columns` and `weights`.
    pub(in crate::ops) fn entries_of(&self, row: usize) -> Range<usize> {
        let first = self.row_offsets[0];
        self.row_offsets[row] - first..self.row_offsets[row + 1] - first
    }
}

/// Returns the weights of all graphs in T, those of each graph divided by a power of two. Without any scaling, they are
/// borrowed if they have this type.
fn scaled<'a, T: Real>(weights: WeightsRef<'a>, graphs: &[GraphRef<'a>], levels: &[i32]) -> Cow<'a, [T]> {
    if levels.iter().any(|&level| level != 0) {
        let own = |(graph, &level): (&GraphRef<'a>, &i32)| {
            let factor = 2_f64.powi(-level);
            graph.all_weights().into_iter().flat_map(WeightsRef::iter).map(move |weight| T::from_f64(weight * factor))
        };
        return graphs.iter().zip(levels).flat_map(own).collect();
    }
    match weights {
        WeightsRef::F32(all) => T::widened(all),
        WeightsRef::F64(all) => T::rounded(all),
    }
}

/// Checks that f32, if it is T, holds every positive weight as a normal number, and that twice the degrees, which bound
/// the eigenvalues of D - W, are finite in T. `level` is the exponent of the power of two by which the weights are
/// divided; `degrees` have been divided.
fn check_range<T: Real>(number: usize, graph: &GraphRef<'_>, degrees: &[f64], level: i32) -> Result<()> {
    let Some((least, _)) = graph.extremes() else { return Ok(()) };
    let largest = degrees.iter().fold(0.0, |most: f64, &degree| most.max(degree));
    let expected = if T::ON_DEVICE && least * 2_f64.powi(-level) < T::SMALLEST {
        format!("weights of at least {:e}, found {least:e}", T::SMALLEST)
    } else if !T::from_f64(2.0 * largest).to_f64().is_finite() {
        format!("degrees whose double is finite, found {largest:e}")
    } else {
        return Ok(());
    };
    Err(Error::domain("sparse Laplacian", format!("graph {number} (from 0): in {}, expected {expected}", T::NAME)))
}

/// Computes bounds by Anderson and Morley (1985): no eigenvalue of D - W exceeds the largest sum of the degrees
/// of two neighbors.
fn combinatorial_bounds(graph: &GraphRef<'_>, degrees: &[f64]) -> Bounds {
    let mut bounds = Bounds::default();
    for (row, &degree) in degrees.iter().enumerate() {
        let own = graph.weight(row, row);
        bounds.norm = bounds.norm.max((degree - own.abs()) + (degree - own));
        let neighbors = graph.neighbors(row).iter();
        bounds.upper = neighbors.fold(bounds.upper, |upper, &column| upper.max(degree + degrees[column as usize]));
    }
    bounds.upper = bounds.upper.min(bounds.norm);
    bounds
}

/// Computes the 1-norm of I - D^-1/2 W D^-1/2. The degrees have been divided by a power of two, whose exponent is
/// `level`.
fn normalized_norm(graph: &GraphRef<'_>, degrees: &[f64], isolated: f64, level: i32) -> f64 {
    let factor = 2_f64.powi(-level);
    let root_of_product = |a: f64, b: f64| {
        let product = a * b;
        if product.is_normal() { product.sqrt() } else { a.sqrt() * b.sqrt() }
    };
    let of_row = |(row, &degree): (usize, &f64)| {
        if degree == 0.0 {
            return isolated;
        }
        let mut sum = 1.0;
        for (column, weight) in graph.row(row) {
            sum += match column == row {
                true => -weight * factor / degree,
                false => weight.abs() * factor / root_of_product(degree, degrees[column]),
            };
        }
        sum
    };
    degrees.iter().enumerate().map(of_row).fold(0.0, f64::max)
}
