//! The dense decomposition. It is used if a matrix is too small for an iteration, or if too many pairs are wanted
//! for one.

use super::solved::Wanted;
use crate::array::{Array, Real, both_to_host};
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigen::{Which, eigh};
use crate::ops::sparse::Operator;
use crate::shape::Shape;

/// Computes all pairs except the known null space, ordered from the wanted end of the spectrum. Returns the
/// eigenvalues, and the column-major eigenvectors.
pub(super) fn pairs<T: Real>(ctx: &Context, a: &Operator<'_, T>, wanted: &Wanted) -> Result<(Vec<f64>, Vec<f64>)> {
    let n = a.rows();
    let mut dense = a.dense();
    // The null space is known exactly. So its eigenvalues are shifted beyond the unwanted end of the spectrum, and
    // its pairs are left out of the result.
    let bounds = a.bounds(0);
    let away = match wanted.which {
        Which::Smallest => 2.0 * bounds.upper + 1.0,
        Which::Largest => -2.0 * bounds.upper - 1.0,
    };
    let known = a.null.len();
    for component in 0..known {
        let u = a.null.vector(component);
        let support: Vec<usize> = (0..n).filter(|&i| u[i] != 0.0).collect();
        for &j in &support {
            for &i in &support {
                dense[j * n + i] += away * u[i] * u[j];
            }
        }
    }
    let found = eigh(ctx, &Array::from_vec(Shape::new(n, n, 1), dense)?)?;
    let (values, vectors) = both_to_host(ctx, &found.values, &found.vectors)?;
    let (values, vectors) = (values.as_slice(), vectors.as_slice());
    let count = n - known;
    Ok(match wanted.which {
        Which::Smallest => (values[..count].to_vec(), vectors[..count * n].to_vec()),
        Which::Largest => {
            let columns = vectors[known * n..].chunks_exact(n.max(1)).rev();
            (values[known..].iter().rev().copied().collect(), columns.flatten().copied().collect())
        }
    })
}
