//! The null space that a Laplacian is known to have: one vector for each connected component or, of a signed graph, for
//! each balanced one.

use crate::array::Real;
use std::ops::Range;

/// The label of a row that has no part in the null space.
pub(in crate::ops) const NONE: u32 = u32::MAX;

/// Entries whose relative distance from the largest entry is at most this number count as equally large when a pivot is
/// chosen, as in `encode::canonical`.
const TIE: f64 = 1e-2;

/// The known null vectors of all problems. Each is a unit vector that is nonzero on a single connected component.
#[derive(Clone, Debug)]
pub struct NullSpace<T> {
    /// The index of the vector to which each row belongs, or [`NONE`]. Vectors are numbered consecutively through all
    /// problems.
    pub(in crate::ops) labels: Vec<u32>,
    /// The entry of each row in the vector to which the row belongs.
    pub(in crate::ops) values: Vec<T>,
    /// The number of vectors of each problem.
    pub(in crate::ops) counts: Vec<usize>,
}

impl<T: Real> NullSpace<T> {
    /// Returns the null space of an empty batch of problems.
    pub(super) fn new() -> Self {
        Self { labels: Vec::new(), values: Vec::new(), counts: Vec::new() }
    }

    /// Returns the null space of one problem without known null vectors.
    pub(in crate::ops) fn none(order: usize) -> Self {
        Self { labels: vec![NONE; order], values: vec![T::from_f64(0.0); order], counts: vec![0] }
    }

    /// Returns the same null space with F in place of T as the scalar type. T and F must be the same type.
    pub(super) fn cast<F: Real>(&self) -> NullSpace<F> {
        let Self { labels, values, counts } = self;
        let values = bytemuck::cast_slice(values).to_vec();
        NullSpace { labels: labels.clone(), values, counts: counts.clone() }
    }

    /// Returns the number of vectors of all problems together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Returns whether no null vector is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a problem. `components` has the connected component of each row. `value` returns the entry of a row
    /// before the vectors are scaled to unit norm; it returns 0 for all rows of a component without a null vector.
    pub(super) fn push(&mut self, components: &[u32], value: impl Fn(usize) -> f64) {
        let known = components.iter().max().map_or(0, |&last| last as usize + 1);
        let mut squares = vec![0.0; known];
        for (node, &component) in components.iter().enumerate() {
            squares[component as usize] += value(node) * value(node);
        }
        let first = self.len();
        let mut names = vec![NONE; known];
        let mut count = 0;
        for (name, _) in names.iter_mut().zip(&squares).filter(|(_, square)| **square > 0.0) {
            *name = u32::try_from(first + count).unwrap_or(NONE);
            count += 1;
        }
        for (node, &component) in components.iter().enumerate() {
            let square = squares[component as usize];
            self.labels.push(names[component as usize]);
            self.values.push(T::from_f64(if square > 0.0 { value(node) / square.sqrt() } else { 0.0 }));
        }
        self.counts.push(count);
    }

    /// Returns the null space of two problems that are one: vectors of the first, then the same of the second.
    pub(super) fn twice(&self) -> Self {
        let count = u32::try_from(self.len()).unwrap_or(NONE);
        let second = |&label: &u32| if label == NONE { NONE } else { label + count };
        Self {
            labels: self.labels.iter().copied().chain(self.labels.iter().map(second)).collect(),
            values: self.values.repeat(2),
            counts: vec![2 * self.len()],
        }
    }

    /// Returns the null space of one problem.
    pub(super) fn problem(&self, problem: usize, rows: Range<usize>) -> Self {
        let first = u32::try_from(self.counts[..problem].iter().sum::<usize>()).unwrap_or(NONE);
        let own = |&label: &u32| if label == NONE { NONE } else { label - first };
        Self {
            labels: self.labels[rows.clone()].iter().map(own).collect(),
            values: self.values[rows].to_vec(),
            counts: vec![self.counts[problem]],
        }
    }

    /// Converts to f32.
    pub(super) fn narrowed(&self) -> NullSpace<f32> {
        NullSpace {
            labels: self.labels.clone(),
            values: self.values.iter().map(|x| f32::from_f64(x.to_f64())).collect(),
            counts: self.counts.clone(),
        }
    }

    /// Converts to f64; `value` gives the magnitude of the entry of a row before the vectors are scaled to unit norm.
    pub(super) fn widened(&self, value: impl Fn(usize) -> f64) -> NullSpace<f64> {
        let mut squares = vec![0.0; self.len()];
        let members = || self.labels.iter().enumerate().filter(|(_, label)| **label != NONE);
        members().for_each(|(row, &label)| squares[label as usize] += value(row) * value(row));
        let mut values = vec![0.0; self.labels.len()];
        members().for_each(|(row, &label)| {
            values[row] = (value(row) / squares[label as usize].sqrt()).copysign(self.values[row].to_f64())
        });
        NullSpace { labels: self.labels.clone(), values, counts: self.counts.clone() }
    }

    /// Returns the vector with index `number`, over the rows of all problems.
    #[must_use]
    pub fn vector(&self, number: usize) -> Vec<f64> {
        let entry = |(&label, value): (&u32, &T)| if label as usize == number { value.to_f64() } else { 0.0 };
        self.labels.iter().zip(&self.values).map(entry).collect()
    }

    /// Returns the diagonal of the projector onto the null space, over the rows of all problems.
    pub(crate) fn projector_diagonal(&self) -> Vec<f64> {
        self.values.iter().map(|value| value.to_f64() * value.to_f64()).collect()
    }

    /// Projects a column, which has the rows of all problems, onto the orthogonal complement of the null space.
    pub(crate) fn deflate(&self, column: &mut [f64]) {
        let mut along = vec![0.0; self.len()];
        let members = || self.labels.iter().zip(&self.values).enumerate().filter(|(_, (label, _))| **label != NONE);
        members().for_each(|(row, (&label, value))| along[label as usize] += value.to_f64() * column[row]);
        members().for_each(|(row, (&label, value))| column[row] -= along[label as usize] * value.to_f64());
    }

    /// Returns the first `count` columns of the pivoted Cholesky factor of the projector onto the null space. For any
    /// basis of the null space, `encode::canonical` returns the same columns. Each pivot is the first row whose entry
    /// has a magnitude within 1 % of the largest magnitude in the vectors that have no pivot yet. No row is nonzero in
    /// two of the null vectors, so each column is one of the vectors, and only the order of the vectors has to be
    /// found.
    pub(crate) fn canonical(&self, count: usize) -> Vec<f64> {
        // The largest magnitude in each null vector.
        let mut peaks = vec![0.0_f64; self.len()];
        for (&label, value) in self.labels.iter().zip(&self.values).filter(|(label, _)| **label != NONE) {
            let peak = &mut peaks[label as usize];
            *peak = peak.max(value.to_f64().abs());
        }
        let mut left: Vec<(usize, u32, f64)> = Vec::new();
        // The candidates for pivots, in ascending order of rows. The entry of a pivot is within 1 % of the largest
        // entry of all remaining components. A row whose entry is not even within 1 % of the largest entry of its own
        // component is therefore no candidate.
        for (row, (&label, value)) in self.labels.iter().zip(&self.values).enumerate() {
            if label != NONE && value.to_f64().abs() >= (1.0 - TIE) * peaks[label as usize] {
                left.push((row, label, value.to_f64().abs()));
            }
        }
        let mut columns = vec![0.0; count * self.labels.len()];
        // The column of each null vector, and the factor that makes the entry of its pivot positive.
        let mut chosen = vec![None; self.len()];
        for column in 0..count {
            let largest = left.iter().map(|x| x.2).fold(0.0, f64::max);
            let Some(&(pivot, label, _)) = left.iter().find(|x| x.2 >= (1.0 - TIE) * largest) else { break };
            chosen[label as usize] = Some((column, 1.0_f64.copysign(self.values[pivot].to_f64())));
            left.retain(|x| x.1 != label);
        }
        let n = self.labels.len();
        for (row, (&label, value)) in self.labels.iter().zip(&self.values).enumerate() {
            if let Some(&Some((column, sign))) = chosen.get(label as usize) {
                columns[column * n + row] = sign * value.to_f64();
            }
        }
        columns
    }
}
