//! Sparse matrices: sprs and faer.

use super::{assert_close, assert_refused, dense, is_domain, is_shape, random_edges, spectrum};
use common::random::SplitMix64;
use faer::sparse::{SparseColMat, SparseRowMatRef, SymbolicSparseRowMatRef, Triplet};
use fiedler::array::Real;
use fiedler::graph::{Conventions, Graph, GraphBatch, Symmetrization};
use fiedler::ops::eigen::Which;
use fiedler::ops::sparse::{Operator, SparseMatrix};
use fiedler::ops::{EigshOptions, eigsh, spmm};
use fiedler::{Array, Context, Shape};
use nalgebra::DMatrix;
use sprs::{CsMat, CsMatI, CsMatView, TriMat};

fn sparse(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> CsMat<f64> {
    let mut triplets = TriMat::new((rows, cols));
    entries.iter().for_each(|&(row, column, value)| triplets.add_triplet(row, column, value));
    triplets.to_csr()
}

fn dense_of(matrix: CsMatView<'_, f64>) -> DMatrix<f64> {
    DMatrix::from_fn(matrix.rows(), matrix.cols(), |row, column| matrix.get(row, column).copied().unwrap_or(0.0))
}

/// Returns the same matrix of faer.
fn faer_of(matrix: &CsMat<f64>) -> SparseColMat<usize, f64> {
    let entries: Vec<_> = matrix.iter().map(|(&value, (row, column))| Triplet::new(row, column, value)).collect();
    SparseColMat::try_new_from_triplets(matrix.rows(), matrix.cols(), &entries).unwrap()
}

/// Returns a random symmetric matrix with some empty rows.
fn symmetric(random: &mut SplitMix64) -> CsMat<f64> {
    let (nodes, edges) = random_edges(random);
    let both: Vec<_> = edges.iter().flat_map(|&(a, b, w)| [(a, b, w), (b, a, w)]).collect();
    sparse(nodes, nodes, &both)
}

/// Returns the product with a matrix `(cols, 3)`, by `times`, which takes and returns transposes.
fn product<T: Real>(
    (rows, x): (usize, &DMatrix<f64>),
    times: impl Fn(&Context, &Array<T>) -> fiedler::Result<Array<T>>,
) -> DMatrix<f64> {
    let ctx = Context::cpu();
    let data = x.transpose().iter().map(|&value| T::from_f64(value)).collect();
    let y = times(&ctx, &Array::from_vec(Shape::new(3, x.nrows(), 1), data).unwrap()).unwrap();
    assert_eq!(y.shape(), Shape::new(3, rows, 1));
    let y = y.to_host(&ctx).unwrap();
    DMatrix::from_fn(rows, 3, |row, column| y.matrix(0)[(column, row)].to_f64())
}

#[test]
fn operators_multiply_as_the_matrices_of_sprs_and_faer() {
    let mut random = SplitMix64::new(5);
    for _ in 0..100 {
        let matrix = symmetric(&mut random);
        let n = matrix.rows();
        let x = DMatrix::from_fn(n, 3, |_, _| random.signed());
        let wanted = dense_of(matrix.view()) * &x;
        let narrow: CsMatI<f64, u32, usize> = matrix.to_other_types();
        let signed: CsMatI<f64, i32, u64> = matrix.to_other_types();
        let (columns, theirs) = (matrix.to_csc(), faer_of(&matrix));
        let rows = theirs.to_row_major().unwrap();
        for operator in [
            Operator::try_from(matrix.view()),
            Operator::try_from(columns.view()),
            Operator::try_from(narrow.view()),
            Operator::try_from(signed.view()),
            Operator::try_from(theirs.as_ref()),
            Operator::try_from(rows.as_ref()),
        ] {
            let operator = operator.unwrap();
            let found = product((n, &x), |ctx, x| spmm(ctx, &operator, x));
            assert_close(found.as_slice(), wanted.as_slice());
        }
    }
}

#[test]
fn matrices_of_any_shape_multiply() {
    let mut random = SplitMix64::new(6);
    for _ in 0..100 {
        let (rows, cols) = (1 + random.below(8), 1 + random.below(8));
        let entries: Vec<_> =
            (0..random.below(20)).map(|_| (random.below(rows), random.below(cols), random.signed())).collect();
        let matrix = sparse(rows, cols, &entries);
        let x = DMatrix::from_fn(cols, 3, |_, _| random.signed());
        let wanted = dense_of(matrix.view()) * &x;
        let (columns, theirs) = (matrix.to_csc(), faer_of(&matrix));
        let by_rows = theirs.to_row_major().unwrap();
        for made in [
            SparseMatrix::try_from(matrix.view()),
            SparseMatrix::try_from(columns.view()),
            SparseMatrix::try_from(theirs.as_ref()),
            SparseMatrix::try_from(by_rows.as_ref()),
        ] {
            let made = made.unwrap();
            assert_eq!((made.rows(), made.cols(), made.entries()), (rows, cols, matrix.nnz()));
            assert_close(product((rows, &x), |ctx, x| made.times(ctx, x)).as_slice(), wanted.as_slice());
        }
        // The middle rows, whose offsets do not begin with 0.
        if rows > 2 {
            let made = SparseMatrix::try_from(matrix.slice_outer(1..rows - 1)).unwrap();
            let found = product((rows - 2, &x), |ctx, x| made.times(ctx, x));
            assert_close(found.as_slice(), wanted.rows(1, rows - 2).into_owned().as_slice());
        }
    }
}

/// Rows of faer may have room for more entries than they have.
#[test]
fn gaps_between_rows_are_skipped() {
    let (starts, lengths, columns) = ([0_usize, 3, 5], [1_usize, 2], [1_usize, 9, 9, 0, 1]);
    let values = [2.0_f32, f32::NAN, f32::NAN, 2.0, 5.0];
    let symbolic = SymbolicSparseRowMatRef::new_checked(2, 2, &starts, Some(&lengths), &columns);
    let operator = Operator::try_from(SparseRowMatRef::new(symbolic, &values)).unwrap();
    let found = product((2, &DMatrix::identity(2, 3)), |ctx, x| spmm(ctx, &operator, x));
    assert_eq!(found, DMatrix::from_row_slice(2, 3, &[0.0, 2.0, 0.0, 2.0, 5.0, 0.0]));
}

#[test]
fn eigenvalues_are_those_of_the_matrix() {
    let mut random = SplitMix64::new(7);
    for _ in 0..30 {
        let matrix = symmetric(&mut random);
        let (n, ctx) = (matrix.rows(), Context::cpu());
        let mut wanted: Vec<f64> = dense_of(matrix.view()).symmetric_eigenvalues().iter().copied().collect();
        wanted.sort_by(f64::total_cmp);
        let operator = Operator::try_from(matrix.view()).unwrap();
        let found = eigsh(&ctx, &operator, n, Which::Smallest, &EigshOptions::default()).unwrap();
        assert_close(&found.values, &wanted);
    }
}

#[test]
fn graphs_come_back_and_keep_their_spectrum() {
    let mut random = SplitMix64::new(8);
    for round in 0..200 {
        let (nodes, edges) = random_edges(&mut random);
        let edges: Vec<(u32, u32, f64)> = edges.iter().map(|&(a, b, w)| (a as u32, b as u32, w)).collect();
        let conventions = match round % 3 {
            0 => Conventions::default(),
            1 => Conventions { symmetrization: Symmetrization::Mean, ..Conventions::networkx() },
            _ => Conventions::networkx(), // directed
        };
        let graph = Graph::from_weighted_edges(nodes, &edges, &conventions).unwrap();
        let (theirs, columns) = (graph.view().to_sprs(), graph.view().to_faer().unwrap());
        assert_eq!(dense_of(theirs.view()), dense(&graph));
        assert_eq!(Graph::from_sprs(theirs.view(), &conventions).unwrap(), graph);
        assert_eq!(Graph::from_sprs(theirs.to_csc().view(), &conventions).unwrap(), graph);
        assert_eq!(Graph::from_faer(columns.as_ref(), &conventions).unwrap(), graph);
        if conventions.symmetrization != Symmetrization::Keep {
            assert_close(&spectrum(&dense_of(theirs.view())), &spectrum(&dense(&graph)));
        }
        // Without a copy, from within a batch.
        let batch = GraphBatch::from_graphs(&[graph.clone(), graph.clone()]).unwrap();
        let second = batch.graph(1);
        let (narrow, wide) = (second.as_sprs::<f32>(), second.as_sprs::<f64>());
        assert_eq!(usize::from(narrow.is_some()) + usize::from(wide.is_some()), batch.weights().iter().len());
        if let Some(view) = narrow {
            assert_eq!(Graph::from_sprs(view, &conventions).unwrap(), graph);
        }
        if let Some(view) = wide {
            assert!(std::ptr::eq(view.indices(), second.columns()));
            assert_eq!(Graph::from_sprs(view, &conventions).unwrap(), graph);
        }
    }
}

#[test]
fn matrices_that_do_not_fit_are_refused() {
    let conventions = Conventions::default();
    let wide = sparse(2, 3, &[(0, 2, 1.0)]);
    let part = "expected a square matrix, found (2, 3)";
    assert_refused(Operator::try_from(wide.view()), is_shape, part);
    assert_refused(Operator::try_from(faer_of(&wide).as_ref()), is_shape, part);
    assert_refused(Graph::from_sprs(wide.view(), &conventions), is_shape, part);
    assert_refused(Graph::from_faer(faer_of(&wide).as_ref(), &conventions), is_shape, part);
    let triangle = sparse(2, 2, &[(0, 1, 1.0)]);
    let part = "entry (0, 1) is 1, its equal across the diagonal is not there";
    assert_refused(Operator::try_from(triangle.view()), is_domain, part);
    assert_refused(Operator::try_from(faer_of(&triangle).to_row_major().unwrap().as_ref()), is_domain, part);
    let part = "of the transpose: entry (1, 0) is 1";
    assert_refused(Operator::try_from(triangle.to_csc().view()), is_domain, part);
    assert_refused(Operator::try_from(faer_of(&triangle).as_ref()), is_domain, part);
    for (value, found) in [(-1.0, "found -1 at entry (0, 1)"), (f64::INFINITY, "found inf at entry (0, 1)")] {
        let matrix = sparse(2, 2, &[(0, 1, value)]);
        assert_refused(Graph::from_sprs(matrix.view(), &conventions), is_domain, found);
        assert_refused(Graph::from_faer(faer_of(&matrix).as_ref(), &conventions), is_domain, found);
    }
    let infinite = sparse(1, 1, &[(0, 0, f64::INFINITY)]);
    assert_refused(SparseMatrix::try_from(infinite.view()), is_domain, "not finite");
    // A stored 0 is no edge.
    let zero = sparse(2, 2, &[(0, 1, 0.0)]);
    assert_eq!(Graph::from_sprs(zero.view(), &conventions).unwrap().view().entries(), 0);
}
