//! The null space that a Laplacian is known to have: one vector for each connected component.

use crate::array::Real;

/// No component: the row has no part in the null space.
pub(in crate::ops) const NONE: u32 = u32::MAX;

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
}
