//! Decomposes pictures, which are matrices of pixels. The singular values say how well a few columns and rows can
//! approximate a picture. The example compares the product of the factors with the matrix.

use fiedler::ops::svd::{TruncatedOptions, Vectors, svd_truncated};
use fiedler::{Array, Context, ErrorKind, svd};
use nalgebra::DMatrix;

fn main() -> fiedler::Result<()> {
    let ctx = Context::new()?;
    // The picture shows waves and rings. A tall, a wide and a square part of it are decomposed, in one call each.
    let pixel = |i: usize, j: usize| {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let (x, y) = (i as f32 / 40.0, j as f32 / 40.0);
        (7.0 * x).sin() * (3.0 * y).cos() + 0.5 * (5.0 * (x * x + y * y)).sin()
    };
    for (rows, cols) in [(90, 60), (60, 90), (64, 64)] {
        let picture = DMatrix::from_fn(rows, cols, pixel);
        let found = svd(&ctx, &Array::from_matrices(std::slice::from_ref(&picture))?, Vectors::Thin)?.ok(&ctx)?;
        let (u, s, vh) = (found.u.to_host(&ctx)?, found.s.to_host(&ctx)?, found.vh.to_host(&ctx)?);
        let certificate = found.certificates(&ctx)?[0];
        let again = u.matrix(0) * DMatrix::from_diagonal(&s.matrix(0).column(0).into_owned()) * vh.matrix(0);
        println!(
            "{rows} x {cols}: residual {:.1e}, orthogonality {:.1e}, off by {:.1e} at most",
            certificate.residual,
            certificate.orthogonality,
            (&again - &picture).amax()
        );
        assert!((again - &picture).amax() < 1e-4 * s.as_slice()[0]);
        assert!(s.as_slice().windows(2).all(|pair| pair[0] >= pair[1]));

        // Approximates the picture by four columns and rows. `residual` is the share of the picture that they omit,
        // which is close to the smallest share that any four columns and rows can omit.
        let cpu = Context::cpu();
        let few = svd_truncated(&cpu, &Array::from_matrices(&[picture])?, 4, TruncatedOptions::default())?;
        let left = few.residual.to_host(&cpu)?.as_slice()[0];
        let square = |values: &[f32]| values.iter().map(|x| x * x).sum::<f32>();
        let least = (square(&s.as_slice()[4..]) / square(s.as_slice())).sqrt();
        println!(
            "    4 of {} singular values leave {:.3} %, at best {:.3} %",
            s.as_slice().len(),
            100.0 * left,
            100.0 * least
        );
        assert!(left <= 1.05 * least + 1e-5);
    }
    // A matrix with a NaN is reported, and does not affect the other matrix of the batch.
    let nan = DMatrix::from_element(3, 2, f32::NAN);
    let found = svd(&ctx, &Array::from_matrices(&[nan, DMatrix::identity(3, 2)])?, Vectors::Full)?;
    let error = found.ok(&ctx).map(drop).expect_err("one of two is no matrix");
    assert!(matches!(error.kind(), ErrorKind::Uncertified { count: 1, of: 2, first: 0, .. }));
    println!("{error}");
    Ok(())
}
