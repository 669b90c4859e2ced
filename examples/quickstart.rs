//! Eigenvalues and eigenvectors of a batch of nalgebra matrices, on any device of this machine, each with its
//! certificate.

use fiedler::{Array, Context, eigh};
use nalgebra::{DMatrix, dmatrix};

fn main() -> fiedler::Result<()> {
    let ctx = Context::new()?;
    let batch: [DMatrix<f32>; 2] = [
        dmatrix![2.0, -1.0, 0.0; -1.0, 2.0, -1.0; 0.0, -1.0, 2.0],
        dmatrix![1.0, 0.5, 0.0; 0.5, 1.0, 0.5; 0.0, 0.5, 1.0],
    ];
    let a = Array::from_matrices(&batch)?;

    // `eigh` returns immediately; the program waits for a device only when it reads a result. `ok` reads the
    // certificates and returns an error if a matrix did not converge.
    let found = eigh(&ctx, &a)?.ok(&ctx)?;
    // Both reads start before the program waits for one of them.
    let (values, vectors) = (found.values.read(&ctx)?, found.vectors.read(&ctx)?);
    let (values, vectors) = (values.wait()?, vectors.wait()?);

    for (i, (matrix, certificate)) in batch.iter().zip(found.certificates(&ctx)?.iter()).enumerate() {
        println!("matrix {i}: eigenvalues {}", values.matrix(i).transpose());
        println!("residual {:.1e}, orthogonality {:.1e}", certificate.residual, certificate.orthogonality);
        // The product V diag(w) V' of the eigenvectors V and the eigenvalues w is the matrix.
        let v = vectors.matrix(i);
        let again = v * DMatrix::from_diagonal(&values.matrix(i).column(0).into_owned()) * v.transpose();
        assert!((again - matrix).amax() < 1e-5);
    }
    Ok(())
}
