//! The eigenpairs nearest to a given number, sigma, anywhere in the spectrum.

use common::referee;
use common::solve::Checked;
use common::sparse::Sparse;
use fiedler::Context;
use fiedler::graph::spectra::Family;
use fiedler::ops::eigsh::Selection;
use fiedler::ops::sparse::Operator;
use fiedler::ops::{EigshMethod, EigshOptions, Normalization, Which, eigsh};

/// Uses numbers sigma inside the spectrum and beyond both of its ends, for a Laplacian with a null space and for an
/// indefinite matrix. One sigma is itself an eigenvalue.
pub fn nearest(ctx: &Context) -> Checked {
    let grid = Family::Grid { rows: 13, columns: 17 }.graph()?;
    let laplacian = Sparse::laplacian(grid.view(), Normalization::Combinatorial);
    let indefinite = Sparse::random(220, 4, 1.0, 3);
    let operators = [
        (&laplacian, Operator::<f64>::laplacian(grid.view(), Normalization::Combinatorial)?),
        (&indefinite, {
            let (offsets, columns, entries) = indefinite.csr::<f64>();
            Operator::from_csr(offsets, columns, entries)?
        }),
    ];
    for (matrix, operator) in &operators {
        let n = matrix.order();
        let values = referee::eigenvalues(&matrix.dense(), n)?;
        for sigma in [-0.7, 0.02, 1.234, values[n / 2], 30.0] {
            for k in [1, 9] {
                let found = eigsh(ctx, operator, k, Which::Smallest, &EigshOptions::default().sigma(sigma))?;
                let mut wanted = values.clone();
                wanted.sort_by(|x, y| (x - sigma).abs().total_cmp(&(y - sigma).abs()));
                // Two eigenvalues, one below and one above sigma, may be equally near.
                let farthest = (wanted[k - 1] - sigma).abs();
                assert_eq!(found.method, EigshMethod::ShiftInvert);
                // If sigma is an eigenvalue, its eigenvector dominates the inverse until it is deflated. Without
                // deflation, the iteration would take ten thousand products.
                assert!(found.products <= 1000, "sigma {sigma}, k = {k}: {} products", found.products);
                for (j, value) in found.values.iter().enumerate() {
                    // The errors of a Rayleigh quotient in f64, and of the referee, which is 16 n eps.
                    let slack = 1e-12 * matrix.norm;
                    let near = (value - sigma).abs() <= farthest + slack;
                    let own = values.iter().any(|x| (x - value).abs() <= slack);
                    let residual = matrix.residual(*value, found.vectors.column(j).as_slice()) / matrix.norm;
                    assert!(near && own && residual <= 1e-10, "sigma {sigma}, k = {k}: {value}, {residual:e}");
                }
                assert!(found.certificate.orthogonality <= 1e-8 && found.values.is_sorted());
            }
        }
    }
    many_zeros(ctx)?;
    let wrong = |options: EigshOptions| {
        eigsh(ctx, &operators[0].1, 2, Which::Smallest, &options).expect_err("refused").to_string()
    };
    assert!(wrong(EigshOptions::default().sigma(f64::NAN)).contains("finite sigma"));
    assert!(wrong(EigshOptions::default().sigma(1.0).method(EigshMethod::Chebyshev)).contains("chebyshev"));
    Ok(())
}

/// Singular matrices whose smallest eigenvalues are many zeros, and values that are hardly more.
fn many_zeros(ctx: &Context) -> Checked {
    for (n, seed) in [(60, 1), (200, 2), (200, 3), (330, 4)] {
        let matrix = Sparse::singular(n, 2, seed);
        let (offsets, columns, entries) = matrix.csr::<f64>();
        let operator = Operator::from_csr(offsets, columns, entries)?;
        let values = referee::eigenvalues(&matrix.dense(), n)?;
        let zeros = values.iter().filter(|value| value.abs() <= 1e-12 * matrix.norm).count();
        assert!(zeros > n / 10, "order {n}: {zeros} zeros");
        for k in [1, 7, zeros + 3] {
            let found = eigsh(ctx, &operator, k, Selection::SmallestMagnitude, &EigshOptions::default())?;
            let mut sizes: Vec<f64> = found.values.iter().map(|value| value.abs()).collect();
            sizes.sort_by(f64::total_cmp);
            for (size, value) in sizes.iter().zip(&values) {
                assert!((size - value).abs() <= 1e-12 * matrix.norm, "order {n}, k = {k}: {size:e}, not {value:e}");
            }
        }
    }
    Ok(())
}
