//! Tests of Laplacians, eigenpairs and singular values of dense matrices.

use super::{EPS, Measured, Trial, apart, larger, narrow, real, wide};
use fiedler::Context;
use fiedler::Result;
use fiedler::Shape;
use fiedler::array::Array;
use fiedler::graph::{Conventions, Graph, GraphBatch};
use fiedler::ops::{self, Normalization, Vectors};

/// One matrix order for each form of the eigh kernels. The forms hold a matrix in the registers of an invocation, of a
/// subgroup or of a workgroup, hold it in workgroup memory, or work on blocks of columns.
const ORDERS: [usize; 5] = [5, 24, 48, 100, 140];
/// Tall and wide shapes that together use both forms of the singular value decomposition.
const RECTANGLES: [(usize, usize); 3] = [(24, 10), (10, 24), (150, 120)];
/// The number of matrices in a batch.
const BATCH: usize = 3;

pub(super) fn trials() -> Vec<Trial> {
    let laplacian = Trial::new("laplacian", "a ring, a path and a complete graph", laplacian);
    let eigh = ORDERS
        .into_iter()
        .map(|n| Trial::new("eigh", format!("{BATCH} matrices of order {n}, known values"), move |ctx| eigh(ctx, n)));
    let svd = RECTANGLES.into_iter().map(|(m, n)| {
        Trial::new("svd", format!("{BATCH} matrices of {m} x {n}, known values"), move |ctx| svd(ctx, m, n))
    });
    std::iter::once(laplacian).chain(eigh).chain(svd).collect()
}

/// Checks the entries of normalized Laplacians. They are 1 on the diagonal and -1/sqrt(d_i d_j) for linked nodes i and
/// j, where d_i is the degree of node i. An entry has the rounding errors of a division, a square root and a product.
fn laplacian(ctx: &Context) -> Result<Measured> {
    let lists: [(usize, Vec<(u32, u32)>); 3] = [
        (6, (0..6).map(|i| (i, (i + 1) % 6)).collect()),
        (3, vec![(0, 1), (1, 2)]),
        (4, (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).collect()),
    ];
    let graphs: Vec<Graph> = lists
        .iter()
        .map(|(nodes, edges)| Graph::from_edges(*nodes, edges, &Conventions::default()))
        .collect::<Result<_>>()?;
    let mut truth = Vec::new();
    for (nodes, edges) in &lists {
        let linked =
            |i: usize, j: usize| edges.iter().any(|&(a, b)| [(i, j), (j, i)].contains(&(a as usize, b as usize)));
        let degree = |i: usize| real((0..*nodes).filter(|&j| linked(i, j)).count());
        truth.extend((0..nodes * nodes).map(|at| {
            let (i, j) = (at % nodes, at / nodes);
            f64::from(u8::from(i == j)) - f64::from(u8::from(linked(i, j))) / (degree(i) * degree(j)).sqrt()
        }));
    }
    let found =
        ops::laplacian::<f32>(ctx, &GraphBatch::from_graphs(&graphs)?, Normalization::Symmetric)?.to_host(ctx)?;
    Ok(Measured { found: apart(wide(&found), truth), allowed: 4.0 * EPS })
}

/// Applies the reflection I - 2 v v' / v'v to every column of an m x n matrix.
fn reflect(a: &mut [f64], m: usize, v: impl Fn(usize) -> f64) {
    let v: Vec<f64> = (0..m).map(v).collect();
    let length: f64 = v.iter().map(|x| x * x).sum();
    for column in a.chunks_exact_mut(m) {
        let by = 2.0 * column.iter().zip(&v).map(|(x, y)| x * y).sum::<f64>() / length;
        column.iter_mut().zip(&v).for_each(|(x, y)| *x -= by * y);
    }
}

fn transposed(a: &[f64], m: usize) -> Vec<f64> {
    let n = a.len() / m.max(1);
    (0..a.len()).map(|at| a[at / n + m * (at % n)]).collect()
}

/// Returns an m x n matrix with a known decomposition: a diagonal matrix, multiplied by a reflection from the left and
/// another from the right.
fn reflected(m: usize, n: usize, diagonal: impl Fn(usize) -> f64, seed: usize) -> Vec<f64> {
    let vector = |i: usize| 1.0 + 0.5 * ((real(i) + 1.0) * (1.7 + real(seed))).sin();
    let mut a = vec![0.0; m * n];
    (0..m.min(n)).for_each(|i| a[i + m * i] = diagonal(i));
    reflect(&mut a, m, vector);
    let mut turned = transposed(&a, m);
    reflect(&mut turned, n, vector);
    transposed(&turned, n)
}

/// Returns the 1-norm: the largest sum of magnitudes in a column.
fn norm(a: &[f64], m: usize) -> f64 {
    a.chunks_exact(m).map(|column| column.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

/// Returns the departure of the columns from orthonormality, max |V'V - I|.
fn orthogonality(v: &[f64], m: usize) -> f64 {
    let columns: Vec<&[f64]> = v.chunks_exact(m).collect();
    let mut worst = 0.0;
    for (i, x) in columns.iter().enumerate() {
        for (j, y) in columns[..=i].iter().enumerate() {
            let product: f64 = x.iter().zip(*y).map(|(a, b)| a * b).sum();
            worst = larger(worst, (product - f64::from(u8::from(i == j))).abs());
        }
    }
    worst
}

/// Returns the product of a matrix with m rows and the vector `x`.
fn times(a: &[f64], m: usize, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; m];
    for (column, &by) in a.chunks_exact(m).zip(x) {
        y.iter_mut().zip(column).for_each(|(y, a)| *y += a * by);
    }
    y
}

/// Returns `max_j |A v_j - s_j u_j|_2`, where A is the matrix rounded to f32, and v_j and u_j are columns of `v` and
/// `u`.
fn residual(a: &[f64], m: usize, v: &[f64], s: &[f64], u: &[f64]) -> f64 {
    let n = a.len() / m;
    let pairs = v.chunks_exact(n).zip(u.chunks_exact(m)).zip(s);
    pairs.fold(0.0, |worst, ((v, u), s)| {
        let away: f64 = times(a, m, v).iter().zip(u).map(|(x, u)| (x - s * u).powi(2)).sum();
        larger(worst, away.sqrt())
    })
}

/// Checks eigenpairs of matrices with the eigenvalues 1, 2, ..., n. Three errors are computed here in f64: the largest
/// error of an eigenvalue, the residual, and the departure from orthogonality. The certificate contains two more
/// errors. The largest of all five is compared with the certificate's bound, 10 n eps.
fn eigh(ctx: &Context, n: usize) -> Result<Measured> {
    let matrices: Vec<Vec<f64>> = (0..BATCH).map(|seed| reflected(n, n, |i| real(i + 1), seed)).collect();
    let data: Vec<f32> = matrices.concat().into_iter().map(narrow).collect();
    let a = Array::from_vec(Shape::new(n, n, BATCH), data.clone())?;
    let solved = ops::eigh(ctx, &a)?;
    let (values, vectors) = (solved.values.to_host(ctx)?, solved.vectors.to_host(ctx)?);
    let mut worst = 0.0;
    for (i, certificate) in solved.certificates(ctx)?.iter().enumerate() {
        let own = |data: &[f32], len: usize| wide(&data[i * len..(i + 1) * len]).collect::<Vec<f64>>();
        // The solver reads only the lower triangle of the rounded matrix. The upper triangle is equal to it up to one
        // rounding error.
        let (a, w, v) = (own(&data, n * n), own(values.as_slice(), n), own(vectors.as_slice(), n * n));
        let size = norm(&a, n);
        worst = larger(worst, apart(w.iter().copied(), (1..=n).map(real)) / size);
        worst = larger(worst, residual(&a, n, &v, &w, &v) / size);
        worst = larger(worst, larger(orthogonality(&v, n), larger(certificate.residual, certificate.orthogonality)));
    }
    Ok(Measured { found: worst, allowed: 10.0 * real(n) * EPS })
}

/// Checks singular value decompositions of m x n matrices in the same way as [`eigh`] checks eigenpairs. The singular
/// values are k, k - 1, ..., 1, where k = min(m, n). The bound is 15 max(m, n) eps.
fn svd(ctx: &Context, m: usize, n: usize) -> Result<Measured> {
    let k = m.min(n);
    let matrices: Vec<Vec<f64>> = (0..BATCH).map(|seed| reflected(m, n, |i| real(k - i), seed)).collect();
    let data: Vec<f32> = matrices.concat().into_iter().map(narrow).collect();
    let a = Array::from_vec(Shape::new(m, n, BATCH), data.clone())?;
    let solved = ops::svd(ctx, &a, Vectors::Thin)?;
    let (u, s, vh) = (solved.u.to_host(ctx)?, solved.s.to_host(ctx)?, solved.vh.to_host(ctx)?);
    let mut worst = 0.0;
    for (i, certificate) in solved.certificates(ctx)?.iter().enumerate() {
        let own = |data: &[f32], len: usize| wide(&data[i * len..(i + 1) * len]).collect::<Vec<f64>>();
        let (a, s) = (own(&data, m * n), own(s.as_slice(), k));
        let (u, v) = (own(u.as_slice(), m * k), transposed(&own(vh.as_slice(), k * n), k));
        // Errors are divided by the larger of the 1-norms of A and A'. The certificate divides by the 1-norm of A if
        // m >= n, and by the 1-norm of A' otherwise.
        let size = norm(&a, m).max(norm(&transposed(&a, m), n));
        worst = larger(worst, apart(s.iter().copied(), (1..=k).rev().map(real)) / size);
        worst = larger(worst, residual(&a, m, &v, &s, &u) / size);
        worst = larger(worst, larger(orthogonality(&u, m), orthogonality(&v, n)));
        worst = larger(worst, larger(certificate.residual, certificate.orthogonality));
    }
    Ok(Measured { found: worst, allowed: 15.0 * real(m.max(n)) * EPS })
}
