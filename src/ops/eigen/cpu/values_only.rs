//! Computes the eigenvalues of tridiagonal matrices without eigenvectors, one matrix per lane. Each step of a QL
//! iteration waits for the step before it, so several matrices are iterated side by side.

use super::implicit_ql::diagonalize;
use super::workspace::Workspace;
use crate::array::Real;
use crate::lanes::{Task, Vector};

/// Symmetric tridiagonal matrices, each given by its diagonal and by its off-diagonal elements followed by a 0.
pub(super) struct Values<'a, T>(pub(super) &'a [(&'a [T], &'a [T])]);

impl<T: Real> Task<T> for Values<'_, T> {
    /// The eigenvalues of each matrix, ascending; `None` if the iteration did not converge.
    type Output = Vec<Option<Vec<T>>>;

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Self::Output {
        let zero = V::splat(token, T::from_f64(0.0));
        let mut out = Vec::with_capacity(self.0.len());
        for group in self.0.chunks(V::LANES) {
            let n = group.iter().map(|(diagonal, _)| diagonal.len()).max().unwrap_or(0);
            let mut work = Workspace::without_matrices(zero, n);
            for (lane, (diagonal, off_diagonal)) in group.iter().enumerate() {
                for i in 0..diagonal.len() {
                    work.diagonal[i].as_mut_slice()[lane] = diagonal[i];
                    work.off_diagonal[i].as_mut_slice()[lane] = off_diagonal[i];
                }
            }
            let done = diagonalize(token, n, &mut work, false);
            for (lane, (diagonal, _)) in group.iter().enumerate() {
                let mut own: Vec<T> = (0..diagonal.len()).map(|i| work.diagonal[i].as_slice()[lane]).collect();
                own.sort_unstable_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
                out.push((done.as_slice()[lane].to_f64() > 0.0).then_some(own));
            }
        }
        out
    }
}
