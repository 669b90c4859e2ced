//! Eigenvalues and eigenvectors of a batch of nalgebra matrices, on whatever this machine has, each with its certificate.

use fiedler::{Array, Context, eigh};
use nalgebra::{DMatrix, dmatrix};

fn main() -> fiedler::Result<()> {
    let ctx = Context::new()?;
    let batch: [DMatrix<f32>; 2] = [
        dmatrix![2.0, -1.0, 0.0; -1.0, 2.0, -1.0; 0.0, -1.0, 2.0],
        dmatrix![1.0, 0.5, 0.0; 0.5, 1.0, 0.5; 0.0, 0.5, 1.0],
    ];
    let a = Array::from_matrices(&batch)?;

    // Recorded at once; nothing waits for a device until something is read. `ok` makes an unconverged matrix an error.
    let found = eigh(&ctx, &a)?.ok(&ctx)?;
    // Both are on their way before either is waited for.
    let (values, vectors) = (found.values.read(&ctx)?, found.vectors.read(&ctx)?);
    let (values, vectors) = (values.wait()?, vectors.wait()?);

    for (i, (matrix, certificate)) in batch.iter().zip(found.certificates(&ctx)?.iter()).enumerate() {
        println!("matrix {i}: eigenvalues {}", values.matrix(i).transpose());
        println!("residual {:.1e}, orthogonality {:.1e}", certificate.residual, certificate.orthogonality);
        // V diag(w) V' is the matrix again.
        let v = vectors.matrix(i);
        let again = v * DMatrix::from_diagonal(&values.matrix(i).column(0).into_owned()) * v.transpose();
        assert!((again - matrix).amax() < 1e-5);
    }
    Ok(())
}
