//! Tests of the laws, of closed forms, and of matrices that are refused.

use super::*;

const EPS: f64 = f32::EPSILON as f64;

/// Returns numbers in (-1, 1).
fn noise(count: usize) -> Vec<f64> {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Checks the pairs by their laws: `T z = x z`, orthonormal vectors, ascending values. The vectors are rounded to
/// f32, which changes each by at most eps / 2, and T by the norm of T.
fn solved(name: &str, diagonal: &[f64], off_diagonal: &[f64], wanted: Range<usize>) -> Vec<f64> {
    let n = diagonal.len();
    let mut z = vec![0_f32; n * wanted.len()];
    let t = Tridiagonal { diagonal, off_diagonal };
    let values = eigenpairs(t, wanted.clone(), &mut z).unwrap_or_else(|| panic!("{name}: not distinct"));
    assert_eq!(values.len(), wanted.len(), "{name}");
    assert!(values.is_sorted(), "{name}");
    let norm = t.norm();
    let columns: Vec<Vec<f64>> = z.chunks_exact(n).map(|z| z.iter().map(|x| f64::from(*x)).collect()).collect();
    for (j, (value, z)) in values.iter().zip(&columns).enumerate() {
        let residual = t.residual(*value, z);
        assert!(residual <= EPS * norm, "{name}: pair {j} has the residual {residual:e}");
        for (k, other) in columns[..=j].iter().enumerate() {
            let product: f64 = z.iter().zip(other).map(|(a, b)| a * b).sum();
            let apart = (product - if j == k { 1.0 } else { 0.0 }).abs();
            assert!(apart <= EPS, "{name}: the product of vectors {j} and {k} is off by {apart:e}");
        }
    }
    values
}

/// The values must agree with a spectrum in closed form to within a few rounding errors of f64.
fn agree(name: &str, values: &[f64], truth: impl Fn(usize) -> f64, norm: f64) {
    for (j, value) in values.iter().enumerate() {
        assert!((value - truth(j)).abs() <= 32.0 * f64::EPSILON * norm, "{name}: {value} instead of {}", truth(j));
    }
}

/// The Laplacian of a path has the eigenvalues `4 sin^2(pi j / 2 n)`. The pivots of some are exactly 0.
#[test]
fn paths_have_their_closed_form() {
    for n in [2, 3, 5, 16, 17, 95, 300] {
        let mut diagonal = vec![2.0; n];
        (diagonal[0], diagonal[n - 1]) = (1.0, 1.0);
        let truth = |j: usize| 4.0 * (std::f64::consts::FRAC_PI_2 * j as f64 / n as f64).sin().powi(2);
        let name = format!("path {n}");
        agree(&name, &solved(&name, &diagonal, &vec![-1.0; n - 1], 0..n), truth, 4.0);
        let part = n / 3..n - n / 4;
        let values = solved(&name, &diagonal, &vec![-1.0; n - 1], part.clone());
        agree(&name, &values, |j| truth(part.start + j), 4.0);
    }
    agree("one", &solved("one", &[3.0], &[], 0..1), |_| 3.0, 3.0);
}

#[test]
fn random_matrices_of_all_scales() {
    for (n, scale) in [(33, 1.0), (200, 1e-30), (257, 1e30)] {
        let numbers: Vec<f64> = noise(2 * n).iter().map(|x| x * scale).collect();
        let values = solved(&format!("random {n}"), &numbers[..n], &numbers[n..2 * n - 1], 0..n);
        let trace: f64 = numbers[..n].iter().sum();
        assert!((values.iter().sum::<f64>() - trace).abs() <= 1e-12 * scale * n as f64);
    }
}

/// Wilkinson's matrices have pairs of eigenvalues that agree to 1e-9 (order 17) and to 7e-12 (order 19). Their
/// vectors must be orthogonalized.
#[test]
fn close_pairs_are_orthogonalized() {
    for half in [8, 9] {
        let diagonal: Vec<f64> = (0..=2 * half).map(|i| (i as f64 - half as f64).abs()).collect();
        let values = solved(&format!("Wilkinson {half}"), &diagonal, &vec![1.0; 2 * half], 0..2 * half + 1);
        assert!(values[2 * half] - values[2 * half - 1] < 1e-8);
    }
}

/// The Golub-Kahan form of a bidiagonal matrix: each positive eigenvalue has a negative twin.
#[test]
fn positive_halves() {
    let n = 40;
    let numbers: Vec<f64> = noise(2 * n).iter().map(|x| 2.0 + x).collect();
    let all = solved("all", &vec![0.0; 2 * n], &numbers[..2 * n - 1], 0..2 * n);
    let half = solved("half", &vec![0.0; 2 * n], &numbers[..2 * n - 1], n..2 * n);
    for j in 0..n {
        assert!((all[n - 1 - j] + half[j]).abs() <= 1e-14 && (all[n + j] - half[j]).abs() <= 1e-14);
    }
}

/// A diagonal of negative zeros counts as zeros. The path's adjacency matrix has the eigenvalues 2 cos(pi j / (n + 1)).
#[test]
fn negative_zeros_are_zeros() {
    for n in [7, 64] {
        let truth = |j: usize| -2.0 * (std::f64::consts::PI * (j + 1) as f64 / (n + 1) as f64).cos();
        agree("negative zeros", &solved("negative zeros", &vec![-0.0; n], &vec![1.0; n - 1], 0..n), truth, 2.0);
    }
}

#[test]
fn counts_are_numbers_of_eigenvalues() {
    let (diagonal, off_diagonal) = ([2.0, -0.0, 2.0, 1.0], [-1.0, 0.5, 0.0]);
    let t = Tridiagonal { diagonal: &diagonal, off_diagonal: &off_diagonal };
    let values = solved("four", &diagonal, &off_diagonal, 0..4);
    for (j, value) in values.iter().enumerate() {
        assert_eq!((t.count_below(value - 1e-9), t.count_below(value + 1e-9)), (j, j + 1), "{values:?}");
    }
}

/// Matrices with equal eigenvalues are left to other methods.
#[test]
fn ties_are_refused() {
    let refused = |diagonal: &[f64], off_diagonal: &[f64]| {
        let n = diagonal.len();
        let t = Tridiagonal { diagonal, off_diagonal };
        eigenpairs(t, 0..n, &mut vec![0_f32; n * n]).is_none()
    };
    assert!(refused(&[1.0; 8], &[0.0; 7]), "identity");
    assert!(refused(&[0.0; 8], &[0.0; 7]), "zero");
    assert!(refused(&[2.0, 2.0, 2.0, 2.0], &[1.0, 0.0, 1.0]), "two equal blocks");
    assert!(refused(&[f64::NAN, 1.0], &[1.0]), "NaN");
    assert!(refused(&[1.0, f64::INFINITY], &[1.0]), "infinity");
    assert!(refused(&[], &[]), "empty");
    // The largest eigenvalues of this Wilkinson matrix agree to all digits.
    let diagonal: Vec<f64> = (0..61).map(|i| (f64::from(i) - 30.0).abs()).collect();
    assert!(refused(&diagonal, &[1.0; 60]), "Wilkinson 61");
}
