//! Pairs by magnitude and at both ends, of matrices of any scale, and of maps that are known by their products.

use common::referee;
use common::solve::Checked;
use common::sparse::Sparse;
use fiedler::graph::spectra::Family;
use fiedler::graph::{Conventions, Graph};
use fiedler::ops::eigsh::{Selection, eigsh_map};
use fiedler::ops::sparse::Operator;
use fiedler::ops::{EigshMethod, EigshOptions, Normalization, Status, Which, eigsh};
use fiedler::{Context, ErrorKind};

const ALL: [Selection; 5] = [
    Selection::Smallest,
    Selection::Largest,
    Selection::SmallestMagnitude,
    Selection::LargestMagnitude,
    Selection::BothEnds,
];

/// Returns the k selected of ascending eigenvalues.
fn selected(values: &[f64], k: usize, selection: Selection) -> Vec<f64> {
    let n = values.len();
    let by_magnitude = |sign: f64| {
        let mut values = values.to_vec();
        values.sort_by(|x, y| (sign * x.abs()).total_cmp(&(sign * y.abs())));
        values.truncate(k);
        values.sort_by(f64::total_cmp);
        values
    };
    match selection {
        Selection::Smallest => values[..k].to_vec(),
        Selection::Largest => values[n - k..].to_vec(),
        Selection::SmallestMagnitude => by_magnitude(1.0),
        Selection::LargestMagnitude => by_magnitude(-1.0),
        _ => [&values[..k / 2], &values[n - (k - k / 2)..]].concat(),
    }
}

/// Checks values, in any order within `slack`, residuals and the orthogonality of vectors.
fn check(matrix: &Sparse, found: &fiedler::ops::Eigsh<f64>, want: &[f64], what: &str) {
    let slack = 1e-9 * matrix.norm;
    assert_eq!(found.values.len(), want.len(), "{what}");
    assert!(found.values.is_sorted_by(|x, y| x <= y || x - y <= slack), "{what}: {:?}", found.values);
    for (j, (value, want)) in found.values.iter().zip(want).enumerate() {
        let residual = matrix.residual(*value, found.vectors.column(j).as_slice());
        assert!((value - want).abs() <= slack && residual <= slack, "{what}, {j}: {value}, not {want}; {residual:e}");
    }
    assert!(found.certificate.orthogonality <= 1e-8, "{what}: {:?}", found.certificate);
}

pub fn random(ctx: &Context) -> Checked {
    for n in [7, 90, 260] {
        for seed in 0..2 {
            let matrix = Sparse::random(n, 4, 1.0, seed);
            let (offsets, columns, entries) = matrix.csr::<f64>();
            let operator = Operator::from_csr(offsets, columns, entries)?;
            let values = referee::eigenvalues(&matrix.dense(), n)?;
            for selection in ALL {
                for k in [0, 1, 2, 5, n.min(60), n] {
                    if n > 100 && k == n && selection == Selection::SmallestMagnitude {
                        continue; // all pairs by a factorization
                    }
                    let found = eigsh(ctx, &operator, k.min(n), selection, &EigshOptions::default())?;
                    check(
                        &matrix,
                        &found,
                        &selected(&values, k.min(n), selection),
                        &format!("{selection:?}, {k} of {n}"),
                    );
                }
            }
        }
    }
    Ok(())
}

/// The ends of the spectrum meet in an eigenvalue with many copies, whose vectors must not be taken from both.
pub fn copies(ctx: &Context) -> Checked {
    let n = 400;
    let leaves = std::iter::once((1..n).map(|i| (i, 1.0)).collect());
    let star = Sparse::new(leaves.chain((1..n).map(|_| vec![(0, 1.0)])).collect(), None);
    let diagonal = |x: f64| Sparse::new((0..n).map(|i| vec![(i, x)]).collect(), None);
    for matrix in [star, diagonal(3.0), diagonal(0.0)] {
        let (offsets, columns, entries) = matrix.csr::<f64>();
        let operator = Operator::from_csr(offsets, columns, entries)?;
        let values = referee::eigenvalues(&matrix.dense(), n)?;
        for selection in [Selection::LargestMagnitude, Selection::BothEnds] {
            for k in [1, 4, 7] {
                let found = eigsh(ctx, &operator, k, selection, &EigshOptions::default())?;
                check(&matrix, &found, &selected(&values, k, selection), &format!("{selection:?}, {k} copies"));
            }
        }
    }
    // The null space of a graph with few edges reaches both ends.
    let few = Graph::from_edges(n, &[(0, 1)], &Conventions::default())?;
    let operator = Operator::<f64>::laplacian(few.view(), Normalization::Combinatorial)?;
    let found = eigsh(ctx, &operator, 5, Selection::BothEnds, &EigshOptions::default())?;
    assert!(found.values[..4].iter().all(|x| *x == 0.0) && (found.values[4] - 2.0).abs() < 1e-12, "{:?}", found.values);
    assert!(found.certificate.orthogonality < 1e-12, "{:?}", found.certificate);
    Ok(())
}

pub fn scales_and_maps(ctx: &Context) -> Checked {
    scales(ctx)?;
    maps(ctx)
}

/// A power of two as a factor changes the eigenvalues by that factor, and no bit of the vectors.
fn scales(ctx: &Context) -> Checked {
    let matrix = Sparse::random(150, 4, 1.0, 5);
    let (offsets, columns, entries) = matrix.csr::<f64>();
    for (k, selection) in
        [(3, Selection::Smallest), (4, Selection::LargestMagnitude), (3, Selection::SmallestMagnitude)]
    {
        for method in [EigshMethod::Auto, EigshMethod::Lanczos] {
            if method == EigshMethod::Lanczos && selection != Selection::Smallest {
                continue;
            }
            let options = EigshOptions::default().method(method);
            let of = |power: i32| {
                let scaled = entries.iter().map(|x| x * 2_f64.powi(power)).collect();
                let operator = Operator::from_csr(offsets.clone(), columns.clone(), scaled)?;
                eigsh(ctx, &operator, k, selection, &options)
            };
            let (plain, near) = (of(40)?, of(0)?);
            for power in [-1000, -532, 664, 1000] {
                let found = of(power)?;
                assert!(found.statuses == plain.statuses && found.vectors == plain.vectors, "2^{power}, {selection:?}");
                let equal =
                    found.values.iter().zip(&plain.values).all(|(x, y)| *x == y * 2_f64.powi(-40) * 2_f64.powi(power));
                assert!(equal, "2^{power}: {:?}, {:?}", found.values, plain.values);
            }
            let away = |(x, y): (&f64, &f64)| (x - y * 2_f64.powi(40)).abs() <= 1e-9 * 2_f64.powi(40) * matrix.norm;
            assert!(plain.values.iter().zip(&near.values).all(away));
        }
    }
    // The sum of a row exceeds the range of f64.
    let huge = Operator::<f64>::from_csr(vec![0, 2, 4], vec![0, 1, 0, 1], vec![1e308, 9e307, 9e307, 1e308])?;
    let found = eigsh(ctx, &huge, 1, Which::Smallest, &EigshOptions::default())?;
    assert!((found.values[0] / 1e307 - 1.0).abs() < 1e-12, "{:?}", found.values);
    // f32, near the ends of its range.
    for power in [-140, 110] {
        let scaled = entries.iter().map(|x| (*x * 2_f64.powi(power)) as f32).collect();
        let operator = Operator::<f32>::from_csr(offsets.clone(), columns.clone(), scaled)?;
        let found = eigsh(ctx, &operator, 3, Which::Largest, &EigshOptions::default())?;
        let values = referee::eigenvalues(&matrix.dense(), 150)?;
        // Entries near 2^-140 have a few bits, with errors of up to 2^-150.
        let slack = 1e-5 * matrix.norm + 2_f64.powi(-150 - power) * 150.0;
        for (value, want) in found.values.iter().zip(&values[147..]) {
            assert!((f64::from(*value) * 2_f64.powi(-power) - want).abs() <= slack, "2^{power}: {value}, {want}");
        }
    }
    Ok(())
}

fn maps(ctx: &Context) -> Checked {
    let options = EigshOptions::default();
    for (matrix, factor) in [(Sparse::random(260, 4, 1.0, 1), 1.0), (Sparse::random(260, 4, 1.0, 2), 1e-200)] {
        let n = matrix.order();
        let values = referee::eigenvalues(&matrix.dense(), n)?;
        let dense = matrix.dense();
        let mut map = |x: &[f64], y: &mut [f64]| {
            y.iter_mut()
                .enumerate()
                .for_each(|(i, y)| *y = factor * (0..n).map(|j| dense[j * n + i] * x[j]).sum::<f64>());
            Ok(())
        };
        for selection in [Selection::Smallest, Selection::Largest, Selection::LargestMagnitude, Selection::BothEnds] {
            for k in [0, 1, 5, 30] {
                let mut found = eigsh_map(ctx, n, &mut map, k, selection, &options, f64::EPSILON)?;
                found.values.iter_mut().for_each(|value| *value /= factor);
                check(
                    &matrix,
                    &found,
                    &selected(&values, k, selection),
                    &format!("map, {selection:?}, {k}, {factor:e}"),
                );
                assert!(found.residuals.iter().all(|r| *r <= 1e-10) && found.method == EigshMethod::Lanczos);
            }
        }
        let refused = eigsh_map(ctx, n, &mut map, 2, Selection::SmallestMagnitude, &options, f64::EPSILON);
        assert!(matches!(refused.expect_err("by products").kind(), ErrorKind::Domain { .. }));
        let refused = eigsh_map(ctx, n, &mut map, n + 1, Which::Smallest, &options, f64::EPSILON);
        assert!(matches!(refused.expect_err("too many").kind(), ErrorKind::Shape { .. }));
    }
    // Every vector is an eigenvector of 0, without more products than vectors.
    let mut zero = |_: &[f64], y: &mut [f64]| {
        y.fill(0.0);
        Ok(())
    };
    let found = eigsh_map(ctx, 700, &mut zero, 5, Which::Smallest, &options, f64::EPSILON)?;
    assert!(found.values == [0.0; 5] && found.products <= 700 && found.certificate.status == Status::Converged);
    // A search finds one copy of a multiple eigenvalue. If it is the last one that the products suffice for, none of
    // the pairs is known to be among the wanted ones.
    let value = |i: usize| if i.is_multiple_of(3) { 0.0 } else { 0.01 + i as f64 / 700.0 };
    let mut multiple = |x: &[f64], y: &mut [f64]| {
        y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = value(i) * x);
        Ok(())
    };
    for (products, complete) in [(300, false), (30_000, true)] {
        let options = options.most_products(products);
        let found = eigsh_map(ctx, 700, &mut multiple, 8, Which::Smallest, &options, f64::EPSILON)?;
        let right = found.values.iter().all(|value| value.abs() <= 1e-9);
        assert_eq!(right, complete, "{products} products: {:?}", found.values);
        let converged = found.statuses.iter().filter(|status| **status != Status::NotConverged).count();
        assert_eq!(converged, if complete { 8 } else { 0 }, "{products} products: {:?}", found.statuses);
    }
    let mut bad = |_: &[f64], y: &mut [f64]| {
        y.fill(f64::NAN);
        Ok(())
    };
    let refused = eigsh_map(ctx, 30, &mut bad, 2, Which::Smallest, &options, f64::EPSILON);
    assert!(matches!(refused.expect_err("not finite").kind(), ErrorKind::Domain { .. }));
    // A family with a closed form, whose ends are dense.
    let path = Family::Path { nodes: 900 }.graph()?;
    let laplacian = Operator::<f64>::laplacian(path.view(), Normalization::Combinatorial)?;
    assert_eq!(laplacian.null_vectors(), 1);
    let found = eigsh(ctx, &laplacian, 2, Selection::SmallestMagnitude, &options)?;
    assert!(found.values[0] == 0.0 && found.null_space == 1, "{:?}", found.values);
    Ok(())
}
