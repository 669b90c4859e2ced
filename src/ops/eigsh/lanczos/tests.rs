use super::{End, Pairs, Request, lanczos};
use crate::cancel::Cancel;
use crate::error::ErrorKind;
use crate::graph::spectra::Family;
use crate::graph::{Conventions, Graph};
use crate::ops::Normalization;
use crate::ops::sparse::Operator;
use crate::ops::sparse::cpu::{Combination, Rows};
use nalgebra::DMatrix;

/// A tolerance that leaves only rounding errors in the values, because the error of a value is quadratic in its
/// residual.
const TOLERANCE: f64 = 1e-10;

fn request(end: End, wanted: usize) -> Request {
    Request {
        end,
        wanted,
        most: wanted,
        resolution: 0.0,
        absolute: 0.0,
        relative: 0.0,
        block: 1,
        basis: None,
        most_products: 20_000,
        seed: 1,
    }
}

/// Computes pairs of an operator that has a known null space. The tolerance is relative to the norm.
fn pairs_of(operator: &Operator<'_, f64>, mut request: Request) -> Pairs {
    let n = operator.rows();
    request.absolute = TOLERANCE * operator.bounds(0).norm;
    let rows = Rows::new(operator);
    let mut map = |x: &[f64], y: &mut [f64]| {
        x.chunks_exact(n).zip(y.chunks_exact_mut(n)).for_each(|(x, y)| rows.combine(1, x, y, Combination::PRODUCT));
        Ok(())
    };
    let pairs = lanczos(&mut map, &operator.null, request, &Cancel::new()).unwrap();
    check(operator, &pairs);
    pairs
}

/// Checks that the vectors are orthonormal, and orthogonal to the null vectors, up to rounding errors. Gram-Schmidt in
/// two passes leaves dot products of a few eps for each vector of a basis, and 1e-13 is several hundred eps. The search
/// computes the residuals of the pairs from the Lanczos relation. Also checks that no residual computed with the
/// operator exceeds the residual from the search by more than 1%, plus 1e-12 of the norm for rounding errors.
fn check(operator: &Operator<'_, f64>, pairs: &Pairs) {
    let n = operator.rows();
    let column = |j: usize| &pairs.vectors[j * n..(j + 1) * n];
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let rows = Rows::new(operator);
    let mut product = vec![0.0; n];
    for j in 0..pairs.values.len() {
        for i in 0..=j {
            let expected = if i == j { 1.0 } else { 0.0 };
            let found = dot(column(i), column(j));
            assert!((found - expected).abs() < 1e-13, "vectors {i} and {j}: {found}");
        }
        for label in 0..operator.null.len() {
            let along = (0..n).filter(|&i| operator.null.labels[i] as usize == label);
            let along: f64 = along.map(|i| operator.null.values[i] * column(j)[i]).sum();
            assert!(along.abs() < 1e-13, "vector {j} has {along} of null vector {label}");
        }
        rows.combine(1, column(j), &mut product, Combination::PRODUCT);
        let away = product.iter().zip(column(j)).map(|(y, x)| (y - pairs.values[j] * x).powi(2)).sum::<f64>().sqrt();
        let allowed = pairs.residuals[j] * 1.01 + 1e-12 * operator.bounds(0).norm;
        assert!(away <= allowed, "pair {j}: residual {away}, said to be {}", pairs.residuals[j]);
    }
}

/// Compares values. If r is the residual of a value and g is its gap, the error of the value is r^2 / g plus rounding
/// errors. Every gap is at least a thousandth of the norm, so 1e-12 of the norm exceeds the sum of these errors.
fn compare(found: &[f64], expected: &[f64], norm: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= 1e-12 * norm, "value {i}: {x}, expected {y}");
    }
}

fn family(family: Family, wanted: usize, block: usize) -> Pairs {
    let graph = family.graph().unwrap();
    let operator = Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap();
    let norm = operator.bounds(0).norm;
    let smallest = pairs_of(&operator, Request { block, ..request(End::Smallest, wanted) });
    compare(&smallest.values, &family.combinatorial().smallest(wanted + 1)[1..], norm);
    let largest = pairs_of(&operator, Request { block, ..request(End::Largest, wanted) });
    let mut expected = family.combinatorial().largest(wanted);
    expected.reverse();
    compare(&largest.values, &expected, norm);
    assert_eq!([smallest.converged, largest.converged], [wanted; 2]);
    smallest
}

/// The multiplicities of the first hypercube are 1, 7, 21, ... Small blocks need more than one search; a block of
/// twelve vectors may need only one.
#[test]
fn hypercube_has_its_multiplicities() {
    for block in [1, 2, 4, 12] {
        let found = family(Family::Hypercube { dimension: 7 }, 10, block);
        assert!(block == 12 || found.searches >= 2, "{}", found.searches);
    }
    family(Family::Hypercube { dimension: 10 }, 16, 4);
}

/// The torus has groups of four and of eight equal eigenvalues.
#[test]
fn torus_has_its_multiplicities() {
    for block in [1, 4] {
        family(Family::Torus { rows: 20, columns: 20 }, 13, block);
    }
}

/// If a Laplacian has few distinct eigenvalues, a Krylov space stops growing after as many steps as there are
/// distinct eigenvalues, long before it contains the wanted pairs.
#[test]
fn invariant_subspaces_are_left() {
    for block in [1, 3] {
        let complete = family(Family::Complete { nodes: 60 }, 20, block);
        assert_eq!(complete.restarts, 0);
        family(Family::Star { nodes: 60 }, 12, block);
    }
}

/// All eigenvalues of a path are simple. A block of two vectors needs one search; a single vector needs a second
/// search to be sure.
#[test]
fn simple_values_need_no_second_look() {
    assert_eq!(family(Family::Path { nodes: 300 }, 6, 2).searches, 1);
    assert_eq!(family(Family::Path { nodes: 300 }, 6, 1).searches, 2);
}

/// The graph has three components of different sizes, one of them a single node. So three null vectors are known,
/// and none of them is found again.
#[test]
fn components_are_left_out() {
    let (path, ring) = ((0..29).map(|i| (i, i + 1)), (0..20).map(|i| (30 + i, 30 + (i + 1) % 20)));
    let edges: Vec<(u32, u32)> = path.chain(ring).collect();
    let graph = Graph::from_edges(51, &edges, &Conventions::default()).unwrap();
    let operator = Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap();
    assert_eq!(operator.null.len(), 3);
    let smallest = |family: Family| family.combinatorial().smallest(8)[1..].to_vec();
    let mut expected = [smallest(Family::Path { nodes: 30 }), smallest(Family::Cycle { nodes: 20 })].concat();
    expected.sort_by(f64::total_cmp);
    for block in [1, 2, 4] {
        let found = pairs_of(&operator, Request { block, ..request(End::Smallest, 6) });
        compare(&found.values, &expected[..6], operator.bounds(0).norm);
    }
}

/// Compares the values of a dense symmetric matrix, which have both signs, with those of nalgebra's QR iteration.
#[test]
fn indefinite_matrices_at_both_ends() {
    for n in [1, 2, 3, 10, 47, 150] {
        let entry = |i: usize, j: usize| f64::from(u16::try_from((i * i + j * j + 3 * i * j) % 101).unwrap()) - 50.0;
        let matrix = DMatrix::from_fn(n, n, |i, j| entry(i, j) + entry(j, i));
        let rows = (0..=n).map(|i| i * n).collect();
        let columns = (0..n).flat_map(|_| 0..u32::try_from(n).unwrap()).collect();
        let operator = Operator::from_csr(rows, columns, matrix.transpose().as_slice().to_vec()).unwrap();
        let mut values = matrix.symmetric_eigenvalues().as_slice().to_vec();
        values.sort_by(f64::total_cmp);
        let norm = operator.bounds(0).norm;
        for block in [1, 2, 4] {
            for wanted in [1, 2, 7, n] {
                let found = pairs_of(&operator, Request { block, ..request(End::Smallest, wanted) });
                let count = wanted.min(n);
                compare(&found.values, &values[..count], norm);
                let found = pairs_of(&operator, Request { block, ..request(End::Largest, wanted) });
                values.reverse();
                compare(&found.values, &values[..count], norm);
                values.reverse();
            }
        }
    }
}

/// Half of the eigenvalues are 3 and half are -3. So each end of the spectrum is one eigenvalue with many more
/// eigenvectors than the basis can hold.
#[test]
fn a_group_larger_than_the_basis() {
    let n = 200_u32;
    let rows = (0..=n as usize).collect();
    let values = (0..n).map(|i| if i % 2 == 0 { 3.0 } else { -3.0 }).collect();
    let operator = Operator::from_csr(rows, (0..n).collect(), values).unwrap();
    for end in [End::Smallest, End::Largest] {
        let found = pairs_of(&operator, Request { basis: Some(12), block: 2, ..request(end, 30) });
        compare(&found.values, &[if end == End::Smallest { -3.0 } else { 3.0 }; 30], 3.0);
    }
}

/// Pairs that are tied with the last wanted one are found if `most` leaves room for them. The hypercube has 7 tied
/// pairs: all 7 of them are found if `most` is 20, but only 6 or 3 if `most` is 6 or 3.
#[test]
fn ties_come_along() {
    let graph = Family::Hypercube { dimension: 7 }.graph().unwrap();
    let operator = Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap();
    for (most, expected) in [(20, 7), (6, 6), (3, 3)] {
        for block in [1, 4] {
            let target = Request { most, resolution: 1e-3, block, ..request(End::Smallest, 3) };
            compare(&pairs_of(&operator, target).values, &vec![2.0; expected], operator.bounds(0).norm);
        }
    }
}

/// The result has the same bits for any number of threads.
#[test]
fn threads_do_not_matter() {
    let graph = Family::Grid { rows: 50, columns: 41 }.graph().unwrap();
    let operator = Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pairs_of(&operator, Request { block: 4, ..request(End::Largest, 5) }).vectors)
    };
    assert_eq!(run(1), run(3));
}

/// A search that reaches the maximum number of products returns the pairs that it has and the number of pairs that
/// have converged.
#[test]
fn products_run_out() {
    let graph = Family::Path { nodes: 2000 }.graph().unwrap();
    let operator = Operator::laplacian(graph.view(), Normalization::Combinatorial).unwrap();
    let found = pairs_of(&operator, Request { most_products: 60, ..request(End::Smallest, 4) });
    assert_eq!((found.values.len(), found.products), (4, 60));
    assert!(found.converged < 4 && found.residuals[3] > 1e-10);
}

#[test]
fn maps_that_are_not_finite_are_errors() {
    let operator = Operator::<f64>::from_csr(vec![0, 1, 2, 3], vec![0, 1, 2], vec![1.0; 3]).unwrap();
    let mut map = |_: &[f64], y: &mut [f64]| {
        y.fill(f64::NAN);
        Ok(())
    };
    let error = lanczos(&mut map, &operator.null, request(End::Smallest, 1), &Cancel::new()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
}
