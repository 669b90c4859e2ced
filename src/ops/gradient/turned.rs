//! Other bases of tie groups.

use super::{Degeneracy, Rule};
use crate::array::Real;
use crate::error::{Error, Result};
use crate::ops::random::normal_at;
use crate::shape::{Layout, to_u32};
use std::ops::Range;

/// The largest number of reflections by which a basis is turned.
const REFLECTIONS: usize = 8;

/// Turns the eigenvectors of each tie group to another basis of their space, one without any relation to the matrix.
/// The same values give the same basis.
///
/// A loss that depends on the basis is reported by a certificate only if what ought to vanish is not 0 by coincidence,
/// as it often is in the basis that a solver chooses, such as the unit vectors for the identity. Call this before the
/// loss is computed if its cotangents are not known to respect the tie groups.
///
/// # Examples
/// ```
/// use fiedler::ops::gradient::turn_tie_groups;
/// use fiedler::Layout;
///
/// let mut vectors = [1.0_f64, 0.0, 0.0, 1.0];
/// turn_tie_groups(&Layout::new([2]), &[3.0, 3.0], &mut vectors)?;
/// assert!(vectors.iter().all(|x| x.abs() > 0.01));
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the lengths do not match the layout.
pub fn turn_tie_groups<T: Real>(layout: &Layout, values: &[T], vectors: &mut [T]) -> Result<()> {
    if (values.len(), vectors.len()) != (layout.row_count(), layout.len()) {
        let expected = format!("{} eigenvalues and {} elements of eigenvectors", layout.row_count(), layout.len());
        return Err(Error::shape("turn_tie_groups", expected, format!("{} and {}", values.len(), vectors.len())));
    }
    for i in 0..layout.batch() {
        let (n, values) = (layout.orders()[i] as usize, &values[layout.rows(i)]);
        let vectors = &mut vectors[layout.elements(i)];
        groups(values, |group| turn(n, &mut vectors[group.start * n..group.end * n]));
    }
    Ok(())
}

/// Calls `work` with the range of each tie group of several values.
fn groups<T: Real>(values: &[T], mut work: impl FnMut(Range<usize>)) {
    let n = values.len();
    let ends = [values.first(), values.last()].map(|end| end.map_or(0.0, |end| end.to_f64().abs()));
    let allowed = Rule::of::<T>(Degeneracy::Exact, n).tolerance * ends[0].max(ends[1]);
    let mut first = 0;
    for i in 1..=n {
        if i == n || values[i].to_f64() - values[i - 1].to_f64() > allowed {
            if i - first > 1 {
                work(first..i);
            }
            first = i;
        }
    }
}

/// Multiplies a group of columns by reflections `I - 2 u u' / u'u`.
fn turn<T: Real>(n: usize, columns: &mut [T]) {
    let count = columns.len() / n;
    for reflection in 0..to_u32(count.min(REFLECTIONS)) {
        let u: Vec<f64> = (0..to_u32(count)).map(|j| normal_at(j, reflection, count as u64)).collect();
        let square: f64 = u.iter().map(|u| u * u).sum();
        for row in 0..n {
            let inner: f64 = u.iter().enumerate().map(|(j, u)| u * columns[j * n + row].to_f64()).sum();
            for (j, u) in u.iter().enumerate() {
                let turned = columns[j * n + row].to_f64() - 2.0 * inner / square * u;
                columns[j * n + row] = T::from_f64(turned);
            }
        }
    }
}
