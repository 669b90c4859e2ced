//! Sparse symmetric matrices in f64, made by the tests themselves, and the checks of eigenpairs computed from them.

use super::random::SplitMix64;
use fiedler::array::Real;
use fiedler::graph::{Conventions, Graph, GraphRef, IsolatedDiagonal, SelfLoops};
use fiedler::ops::{Eigsh, Normalization, Status, Which};
use nalgebra::DMatrix;
use std::collections::BTreeMap;

/// A symmetric matrix by rows, each entry once, and its 1-norm.
#[derive(Clone, Debug)]
pub struct Sparse {
    pub rows: Vec<Vec<(usize, f64)>>,
    pub norm: f64,
    /// The dimension of its null space, if it is a Laplacian.
    pub null: Option<usize>,
}

impl Sparse {
    pub fn new(mut rows: Vec<Vec<(usize, f64)>>, null: Option<usize>) -> Self {
        for row in &mut rows {
            row.sort_by_key(|entry| entry.0);
            row.dedup_by(|later, first| {
                let same = later.0 == first.0;
                first.1 += if same { later.1 } else { 0.0 };
                same
            });
        }
        let norm = rows.iter().map(|row| row.iter().map(|(_, x)| x.abs()).sum()).fold(0.0, f64::max);
        Self { rows, norm, null }
    }

    /// Builds the Laplacian from its definition and the graph's entries alone. For the random-walk Laplacian it builds
    /// the symmetric Laplacian, which has the same eigenvalues.
    pub fn laplacian(graph: GraphRef<'_>, normalization: Normalization) -> Self {
        let n = graph.nodes();
        let normalized = normalization != Normalization::Combinatorial;
        let degree: Vec<f64> = (0..n).map(|i| graph.row(i).map(|(_, w)| w).sum()).collect();
        let alone = if graph.conventions().isolated == IsolatedDiagonal::One { 1.0 } else { 0.0 };
        let row = |i: usize| {
            let own = match normalized {
                false => degree[i],
                true if degree[i] > 0.0 => 1.0,
                true => alone,
            };
            let scaled = |(j, w): (usize, f64)| (j, if normalized { -w / (degree[i] * degree[j]).sqrt() } else { -w });
            std::iter::once((i, own)).chain(graph.row(i).map(scaled)).collect()
        };
        let ones = (0..n).filter(|&i| normalized && alone == 1.0 && degree[i] == 0.0).count();
        Self::new((0..n).map(row).collect(), Some(components(graph) - ones))
    }

    /// Builds a random matrix with about `2 * per_row` entries per row. f32 holds every entry exactly, so the matrix is
    /// the same in f32 and in f64.
    pub fn random(n: usize, per_row: usize, scale: f64, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for i in 0..n {
            for _ in 0..per_row {
                let (j, x) = (random.below(n), f64::from((random.signed() * scale) as f32));
                // A position that is drawn twice is stored once.
                if !rows[i].iter().any(|&(column, _)| column == j) {
                    rows[i].push((j, x));
                    if i != j {
                        rows[j].push((i, x));
                    }
                }
            }
        }
        Self::new(rows, None)
    }

    /// Returns `B B'` of a random B with about `per_row` entries in each row, of rank less than its order.
    pub fn singular(n: usize, per_row: usize, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut columns: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        for _ in 0..n * per_row {
            let (i, j) = (random.below(n), random.below(n));
            columns[j].push((i, random.signed()));
        }
        let mut rows = vec![BTreeMap::new(); n];
        for column in columns {
            for &(i, x) in &column {
                column.iter().for_each(|&(j, y)| *rows[i].entry(j).or_insert(0.0) += x * y);
            }
        }
        Self::new(rows.into_iter().map(|row| row.into_iter().collect()).collect(), None)
    }

    pub fn order(&self) -> usize {
        self.rows.len()
    }

    /// Returns the matrix as a column-major dense array.
    pub fn dense(&self) -> Vec<f64> {
        let n = self.order();
        let mut dense = vec![0.0; n * n];
        for (i, row) in self.rows.iter().enumerate() {
            row.iter().for_each(|&(j, x)| dense[j * n + i] = x);
        }
        dense
    }

    /// Returns the arrays that `Operator::from_csr` takes.
    pub fn csr<T: Real>(&self) -> (Vec<usize>, Vec<u32>, Vec<T>) {
        let entries = || self.rows.iter().flatten();
        let mut offsets = vec![0];
        self.rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
        (offsets, entries().map(|e| e.0 as u32).collect(), entries().map(|e| T::from_f64(e.1)).collect())
    }

    /// Computes `|A v - l v|_2`, scaled so that squares of tiny values stay in range.
    pub fn residual(&self, value: f64, vector: &[f64]) -> f64 {
        let unit = if self.norm > 0.0 { self.norm } else { 1.0 };
        let of = |(i, row): (usize, &Vec<(usize, f64)>)| {
            let product: f64 = row.iter().map(|&(j, x)| x / unit * vector[j]).sum();
            (product - value / unit * vector[i]).powi(2)
        };
        unit * self.rows.iter().enumerate().map(of).sum::<f64>().sqrt()
    }
}

/// Counts connected components by flood fill.
pub fn components(graph: GraphRef<'_>) -> usize {
    let mut seen = vec![false; graph.nodes()];
    let mut count = 0;
    for start in 0..graph.nodes() {
        let mut stack = vec![start];
        count += usize::from(!seen[start]);
        while let Some(i) = stack.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                stack.extend(graph.neighbors(i).iter().map(|&j| j as usize));
            }
        }
    }
    count
}

/// What the checks know about the true solution.
#[derive(Clone, Copy, Debug)]
pub struct Truth<'a> {
    pub matrix: &'a Sparse,
    /// The k requested eigenvalues, ascending.
    pub values: &'a [f64],
    pub which: Which,
    /// The largest allowed residual of a converged eigenpair, divided by |A|_1.
    pub tolerance: f64,
    /// Whether every eigenpair has to have converged.
    pub all: bool,
}

/// Returns the default bound on the residual of a converged eigenpair divided by |A|_1, as in `EigshOptions`.
pub fn tolerance<T: Real>() -> f64 {
    if T::EPSILON > 1e-10 { 2e-6 } else { 1e-10 }
}

/// Returns how close to orthonormal the columns of X stay. In f32, the columns are recombined by a rotation in f32,
/// whose rounding errors are a few eps relative to a column. (An encoding promises the same bound.) In f64, an
/// iteration stops if the condition number of X'X reached 1e-8 / eps.
pub fn allowed_orthogonality<T: Real>() -> f64 {
    if T::EPSILON > 1e-10 { 1e-5 } else { 1e-8 }
}

/// Checks eigenpairs against the truth.
///
/// For k orthonormal approximate eigenvectors, a symmetric matrix has k eigenvalues that differ from the approximate
/// eigenvalues by at most the residuals (Parlett, The Symmetric Eigenvalue Problem, 11.5). So an eigenvalue may be off
/// by its residual. Three errors are added to this: the rounding of the operator's scales and diagonal in T, the
/// rounding of the eigenvalue itself, and the error of the truth. A backward stable dense decomposition in f64 is off
/// by up to about n eps |A| (LAPACK Users' Guide, 4.7), and a closed form is off by less.
pub fn check<T: Real>(found: &Eigsh<T>, truth: Truth<'_>) -> Result<(), String> {
    let Truth { matrix, which, tolerance, .. } = truth;
    let (n, k) = (matrix.order(), truth.values.len());
    let shapes = (found.values.len(), found.vectors.shape(), found.residuals.len(), found.statuses.len());
    if shapes != (k, (n, k), k, k) {
        return Err(format!("wanted {k} pairs of order {n}, found shapes {shapes:?}"));
    }
    let norm = if matrix.norm > 0.0 { matrix.norm } else { 1.0 };
    // The sum over the longest row is computed in f64, here as in the library, and its rounding errors are added.
    let longest = matrix.rows.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let rounding = 4.0 * T::EPSILON + longest * f64::EPSILON;
    let values: Vec<f64> = found.values.iter().map(|x| x.to_f64()).collect();
    let vectors = found.vectors.map(Real::to_f64);
    let null = matrix.null.unwrap_or(0);
    if found.null_space != null {
        return Err(format!("{} known null vectors, in truth {null}", found.null_space));
    }
    let known = match which {
        Which::Smallest => null.min(k),
        Which::Largest => k.saturating_sub(n - null),
    };
    let mut worst = 0.0_f64;
    for j in 0..k {
        let (value, want, said) = (values[j], truth.values[j], found.residuals[j]);
        let truly = matrix.residual(value, vectors.column(j).as_slice()) / norm;
        worst = worst.max(truly);
        // Compares the reported residual, for the operator whose entries are in T, with the residual for the exact
        // matrix.
        let honest = (said - truly).abs() <= rounding + 1e-9 * truly;
        if !honest {
            return Err(format!("pair {j}: residual said {said:e}, in truth {truly:e}"));
        }
        let status = found.statuses[j];
        if j < known && !(value == 0.0 && status == Status::Converged) {
            return Err(format!("pair {j} is of the null space, its value {value:e}, {status:?}"));
        }
        if (status == Status::Converged) && truly > tolerance + rounding {
            return Err(format!("pair {j} said to have converged: residual {truly:e}, tolerance {tolerance:e}"));
        }
        if status == Status::NotConverged && said <= tolerance {
            return Err(format!("pair {j} said not to have converged: residual {said:e}, tolerance {tolerance:e}"));
        }
        // An eigenpair is unresolved if and only if its residual or the rounding error is so large that the eigenvalue
        // may be 0.
        let told = value.abs() > said.max(16.0 * T::EPSILON) * norm || said == 0.0 || j < known;
        if status != Status::NotConverged && told != (status == Status::Converged) {
            return Err(format!("pair {j}, {value:e}: {status:?}, residual {said:e}"));
        }
        if truth.all && status == Status::NotConverged {
            return Err(format!("pair {j}, {value:e}: {status:?}, residual {truly:e}"));
        }
        let near = (value - want).abs() <= (truly + rounding + n as f64 * f64::EPSILON) * norm;
        if status != Status::NotConverged && !near {
            let away = (value - want) / norm;
            return Err(format!("value {j}: {value:e}, in truth {want:e}, off by {away:e} |A|, residual {truly:e}"));
        }
        let ascending = j == 0 || values[j - 1] <= value;
        if !ascending {
            return Err(format!("values {} and {j} do not ascend: {values:?}", j - 1));
        }
        let length = vectors.column(j).norm();
        let unit = (length - 1.0).abs() <= allowed_orthogonality::<T>();
        if !unit {
            return Err(format!("vector {j} has the length {length}"));
        }
    }
    let gram = vectors.tr_mul(&vectors) - DMatrix::identity(k, k);
    let away = gram.iter().fold(0.0, |m: f64, x| if x.is_nan() || x.abs() > m { x.abs() } else { m });
    let orthogonal = away <= allowed_orthogonality::<T>();
    if !orthogonal {
        return Err(format!("vectors are {away:e} away from orthonormal"));
    }
    let certificate = found.certificate;
    // Two sums of n products are computed in different orders, and their rounding errors add up as a random walk does.
    let summing = 4.0 * (vectors.nrows() as f64).sqrt() * f64::EPSILON;
    let same = |a: f64, b: f64| (a - b).abs() <= rounding + summing + 1e-6 * b;
    if !same(certificate.residual, worst) || !same(certificate.orthogonality, away) {
        return Err(format!("{certificate:?}; in truth {worst:e} and {away:e}"));
    }
    let all = found.statuses.iter().all(|&status| status == Status::Converged);
    if (certificate.status == Status::Converged) != all {
        return Err(format!("{certificate:?} of {:?}", found.statuses));
    }
    Ok(())
}

/// Checks how far each eigenvector is outside the true eigenspace of the eigenvalues near its own eigenvalue. The part
/// outside is at most the residual divided by the gap to the nearest eigenvalue that is not near (Davis and Kahan
/// 1970). The first eigenvalue that is not near is at least a thousandth of the norm away, and at least twice as far
/// away as the last near one.
pub fn check_spaces<T: Real>(found: &Eigsh<T>, matrix: &Sparse, values: &[f64], vectors: &[f64]) -> Result<(), String> {
    let n = matrix.order();
    for (j, value) in found.values.iter().map(|x| x.to_f64()).enumerate() {
        // The cluster is widened until the next value is well beyond it.
        let mut distances: Vec<f64> = values.iter().map(|x| (x - value).abs()).collect();
        distances.sort_by(f64::total_cmp);
        let clear = |pair: &&[f64]| pair[1] >= 2.0 * pair[0] && pair[1] >= 1e-3 * matrix.norm;
        let Some(pair) = distances.windows(2).find(clear) else { continue };
        let (inner, gap) = (pair[0], pair[1]);
        let vector = found.vectors.column(j).map(Real::to_f64);
        let mut rest: Vec<f64> = vector.iter().copied().collect();
        let inside = values.iter().zip(vectors.chunks_exact(n)).filter(|(x, _)| (*x - value).abs() <= inner);
        for (_, column) in inside {
            let along: f64 = column.iter().zip(vector.iter()).map(|(a, b)| a * b).sum();
            rest.iter_mut().zip(column).for_each(|(r, c)| *r -= along * c);
        }
        let outside = rest.iter().map(|x| x * x).sum::<f64>().sqrt();
        let residual = matrix.residual(value, vector.as_slice());
        // The eigenvectors of the referee are off by n eps64 |A| / gap, and the eigenvectors under test are off by
        // their departure from unit length.
        let slack = (n as f64 * f64::EPSILON * matrix.norm) / gap + allowed_orthogonality::<T>() * 1e-2;
        let within = outside <= residual / gap + slack;
        if !within {
            return Err(format!("vector {j} of {value:e}: {outside:e} outside its space, gap {gap:e}, {residual:e}"));
        }
    }
    Ok(())
}

/// The parameters of the random graphs of these tests.
#[derive(Clone, Copy, Debug)]
pub struct Weighted {
    pub conventions: Conventions,
    /// The range of the weights: they are between 10^-spread and 10^spread.
    pub spread: f64,
    /// The number of nodes per self-loop, or 0 for no self-loops.
    pub loops: usize,
    /// The number of isolated nodes that are added after the other nodes.
    pub isolated: usize,
}

/// Returns the graph with the same edges, and with random weights, self-loops and isolated nodes.
pub fn weighted(graph: GraphRef<'_>, how: Weighted, seed: u64) -> fiedler::Result<Graph> {
    let mut random = SplitMix64::new(seed);
    let mut edges = Vec::new();
    for i in 0..graph.nodes() {
        for &j in graph.neighbors(i).iter().filter(|&&j| (j as usize) > i) {
            edges.push((i as u32, j, 10_f64.powf(how.spread * random.signed()) as f32));
        }
        if how.loops > 0 && i % how.loops == 0 {
            edges.push((i as u32, i as u32, (0.5 + random.unit()) as f32));
        }
    }
    let keep = if how.loops > 0 { SelfLoops::Keep } else { how.conventions.self_loops };
    Graph::from_weighted_edges(
        graph.nodes() + how.isolated,
        &edges,
        &Conventions { self_loops: keep, ..how.conventions },
    )
}
