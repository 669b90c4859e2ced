//! The null space that a Laplacian is known to have: one vector for each connected component.

use crate::array::Real;
use std::ops::Range;

/// No component: the row has no part in the null space.
pub(in crate::ops) const NONE: u32 = u32::MAX;

/// Entries within this factor of the largest are pivots alike (`encode::canonical`).
const TIE: f64 = 1e-2;

/// Unit vectors with one component of a graph each as their support, over the rows of all problems.
#[derive(Clone, Debug)]
pub struct NullSpace<T> {
    /// The vector that a row is in, counted through all problems; [`NONE`] where it is in none.
    pub(in crate::ops) labels: Vec<u32>,
    /// The row's entry of that vector.
    pub(in crate::ops) values: Vec<T>,
    /// How many vectors each problem has.
    pub(in crate::ops) counts: Vec<usize>,
}

impl<T: Real> NullSpace<T> {
    /// Of no problem.
    pub(super) fn new() -> Self {
        Self { labels: Vec::new(), values: Vec::new(), counts: Vec::new() }
    }

    /// Of one problem, where nothing is known.
    pub(super) fn none(order: usize) -> Self {
        Self { labels: vec![NONE; order], values: vec![T::from_f64(0.0); order], counts: vec![0] }
    }

    /// The same by the name of its type: T is F, one of two precisions.
    pub(super) fn cast<F: Real>(&self) -> NullSpace<F> {
        let Self { labels, values, counts } = self;
        let values = bytemuck::cast_slice(values).to_vec();
        NullSpace { labels: labels.clone(), values, counts: counts.clone() }
    }

    /// Vectors of all problems.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a problem whose rows have these components, and these values before they are scaled to unit norm: 0 throughout a
    /// component that is not in the null space.
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

    /// One problem by itself.
    pub(super) fn problem(&self, problem: usize, rows: Range<usize>) -> Self {
        let first = u32::try_from(self.counts[..problem].iter().sum::<usize>()).unwrap_or(NONE);
        let own = |&label: &u32| if label == NONE { NONE } else { label - first };
        Self {
            labels: self.labels[rows.clone()].iter().map(own).collect(),
            values: self.values[rows].to_vec(),
            counts: vec![self.counts[problem]],
        }
    }

    /// The same in f32.
    pub(super) fn narrowed(&self) -> NullSpace<f32> {
        NullSpace {
            labels: self.labels.clone(),
            values: self.values.iter().map(|x| f32::from_f64(x.to_f64())).collect(),
            counts: self.counts.clone(),
        }
    }

    /// The same in f64; `value` has the entries of a row before they are scaled to unit norm.
    pub(super) fn widened(&self, value: impl Fn(usize) -> f64) -> NullSpace<f64> {
        let mut squares = vec![0.0; self.len()];
        let members = || self.labels.iter().enumerate().filter(|(_, label)| **label != NONE);
        members().for_each(|(row, &label)| squares[label as usize] += value(row) * value(row));
        let mut values = vec![0.0; self.labels.len()];
        members().for_each(|(row, &label)| values[row] = value(row) / squares[label as usize].sqrt());
        NullSpace { labels: self.labels.clone(), values, counts: self.counts.clone() }
    }

    /// The vector of that number among all, over all rows.
    #[must_use]
    pub fn vector(&self, number: usize) -> Vec<f64> {
        let entry = |(&label, value): (&u32, &T)| if label as usize == number { value.to_f64() } else { 0.0 };
        self.labels.iter().zip(&self.values).map(entry).collect()
    }

    /// Takes the part along every vector out of a column over all rows.
    pub(crate) fn deflate(&self, column: &mut [f64]) {
        let mut along = vec![0.0; self.len()];
        let members = || self.labels.iter().zip(&self.values).enumerate().filter(|(_, (label, _))| **label != NONE);
        members().for_each(|(row, (&label, value))| along[label as usize] += value.to_f64() * column[row]);
        members().for_each(|(row, (&label, value))| column[row] -= along[label as usize] * value.to_f64());
    }

    /// The first `count` columns of the pivoted Cholesky factor of the null space's projector, whose pivots are the lowest rows within
    /// 1 % of the largest: what `encode::canonical` makes of any basis. The vectors have no row in common, so each column is
    /// one of them; the order is all that there is to find.
    pub(super) fn canonical(&self, count: usize) -> Vec<f64> {
        // By component, its largest entry; the row that it is taken for is found in each round.
        let mut peaks = vec![0.0_f64; self.len()];
        for (&label, value) in self.labels.iter().zip(&self.values).filter(|(label, _)| **label != NONE) {
            let peak = &mut peaks[label as usize];
            *peak = peak.max(value.to_f64().abs());
        }
        let mut left: Vec<(usize, u32, f64)> = Vec::new();
        // The first row of each component that could be its pivot, whatever the threshold of the round: rows by descending entry.
        for (row, (&label, value)) in self.labels.iter().zip(&self.values).enumerate() {
            if label != NONE && value.to_f64().abs() >= (1.0 - TIE) * peaks[label as usize] {
                left.push((row, label, value.to_f64().abs()));
            }
        }
        let mut columns = vec![0.0; count * self.labels.len()];
        let mut number = vec![usize::MAX; self.len()];
        for column in 0..count {
            let largest = left.iter().map(|x| x.2).fold(0.0, f64::max);
            let Some(&(_, label, _)) = left.iter().find(|x| x.2 >= (1.0 - TIE) * largest) else { break };
            number[label as usize] = column;
            left.retain(|x| x.1 != label);
        }
        let n = self.labels.len();
        for (row, (&label, value)) in self.labels.iter().zip(&self.values).enumerate() {
            if let Some(&column) = number.get(label as usize).filter(|&&column| column != usize::MAX) {
                columns[column * n + row] = value.to_f64();
            }
        }
        columns
    }
}
