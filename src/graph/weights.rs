//! Weights of edges, in 4 bytes each as long as every one is exactly an f32, and in 8 bytes otherwise.

use std::borrow::Cow;
use std::ops::Range;

/// The weights of edges. They are kept in f32 until a weight is added that is not exactly an f32, and in f64 from then
/// on.
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// Weights that are exactly f32.
    F32(Vec<f32>),
    /// Weights of which some are not exactly f32.
    F64(Vec<f64>),
}

/// Borrowed [`Weights`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeightsRef<'a> {
    /// Weights that are exactly f32.
    F32(&'a [f32]),
    /// Weights of which some are not exactly f32.
    F64(&'a [f64]),
}

/// Returns the weight as f32 if that is exact.
#[expect(clippy::cast_possible_truncation, clippy::float_cmp, reason = "it is tested whether the conversion is exact")]
fn exact(weight: f64) -> Option<f32> {
    let narrow = weight as f32;
    (f64::from(narrow) == weight).then_some(narrow)
}

impl Weights {
    /// Returns `count` weights of 1.
    pub(crate) fn ones(count: usize) -> Self {
        Self::F32(vec![1.0; count])
    }

    /// Adds a weight.
    pub(crate) fn push(&mut self, weight: f64) {
        match self {
            Self::F64(all) => all.push(weight),
            Self::F32(all) => match exact(weight) {
                Some(narrow) => all.push(narrow),
                None => self.wide().push(weight),
            },
        }
    }

    /// Adds copies of other weights.
    pub(super) fn extend(&mut self, others: WeightsRef<'_>) {
        match (self, others) {
            (Self::F32(all), WeightsRef::F32(own)) => all.extend_from_slice(own),
            (all, WeightsRef::F64(own)) => all.wide().extend_from_slice(own),
            (Self::F64(all), WeightsRef::F32(own)) => all.extend(own.iter().map(|&weight| f64::from(weight))),
        }
    }

    /// Converts the weights to f64.
    pub(super) fn wide(&mut self) -> &mut Vec<f64> {
        if let Self::F32(all) = self {
            // The list grows to as many edges as it had reserved memory for.
            let mut wide = Vec::with_capacity(all.capacity());
            wide.extend(all.iter().map(|&weight| f64::from(weight)));
            *self = Self::F64(wide);
        }
        match self {
            Self::F64(all) => all,
            Self::F32(_) => unreachable!("the weights were made f64"),
        }
    }

    /// Returns the weights in f32 if each is exactly one, without memory to spare.
    pub(super) fn narrowed(self) -> Self {
        let mut all = match self {
            Self::F64(all) if all.iter().any(|&weight| exact(weight).is_none()) => Self::F64(all),
            Self::F64(all) => Self::F32(all.into_iter().filter_map(exact).collect()),
            narrow => narrow,
        };
        match &mut all {
            Self::F32(all) => all.shrink_to_fit(),
            Self::F64(all) => all.shrink_to_fit(),
        }
        all
    }

    /// Returns what a graph stores: nothing if every weight is 1, so that the graph and its matrices are the same as
    /// without weights, and f32 if each weight is exactly one.
    pub(super) fn stored(self) -> Option<Self> {
        (!self.view().are_ones()).then(|| self.narrowed())
    }

    /// Borrows the weights.
    #[must_use]
    pub fn view(&self) -> WeightsRef<'_> {
        match self {
            Self::F32(all) => WeightsRef::F32(all),
            Self::F64(all) => WeightsRef::F64(all),
        }
    }

    pub(crate) fn reserve(&mut self, additional: usize) {
        match self {
            Self::F32(all) => all.reserve(additional),
            Self::F64(all) => all.reserve(additional),
        }
    }

    pub(crate) fn truncate(&mut self, count: usize) {
        match self {
            Self::F32(all) => all.truncate(count),
            Self::F64(all) => all.truncate(count),
        }
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self::F32(Vec::new())
    }
}

impl From<Vec<f32>> for Weights {
    fn from(all: Vec<f32>) -> Self {
        Self::F32(all)
    }
}

/// The weights stay in f64 even if each is exactly an f32.
impl From<Vec<f64>> for Weights {
    fn from(all: Vec<f64>) -> Self {
        Self::F64(all)
    }
}

impl<'a> WeightsRef<'a> {
    /// Returns the number of weights.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Self::F32(all) => all.len(),
            Self::F64(all) => all.len(),
        }
    }

    /// Returns whether there is no weight.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the weight at `index`.
    ///
    /// # Panics
    /// If `index` is not less than [`WeightsRef::len`].
    #[must_use]
    #[inline]
    pub fn at(self, index: usize) -> f64 {
        match self {
            Self::F32(all) => all[index].into(),
            Self::F64(all) => all[index],
        }
    }

    /// Returns the weights in a range of indices.
    ///
    /// # Panics
    /// If the range exceeds [`WeightsRef::len`].
    #[must_use]
    pub fn range(self, range: Range<usize>) -> Self {
        match self {
            Self::F32(all) => Self::F32(&all[range]),
            Self::F64(all) => Self::F64(&all[range]),
        }
    }

    /// Iterates over the weights.
    pub fn iter(self) -> impl ExactSizeIterator<Item = f64> + Clone + use<'a> {
        (0..self.len()).map(move |index| self.at(index))
    }

    /// Returns the weights in f32, to which they are rounded.
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    pub(crate) fn in_f32(self) -> Cow<'a, [f32]> {
        match self {
            Self::F32(all) => all.into(),
            Self::F64(all) => all.iter().map(|&weight| weight as f32).collect(),
        }
    }

    /// Returns the weights in f64.
    #[must_use]
    pub fn in_f64(self) -> Cow<'a, [f64]> {
        match self {
            Self::F32(all) => all.iter().map(|&weight| f64::from(weight)).collect(),
            Self::F64(all) => all.into(),
        }
    }

    /// Returns a copy of the weights.
    #[must_use]
    pub fn to_weights(self) -> Weights {
        match self {
            Self::F32(all) => Weights::F32(all.to_vec()),
            Self::F64(all) => Weights::F64(all.to_vec()),
        }
    }

    /// Returns whether every weight is exactly an f32.
    pub(crate) fn are_exact(self) -> bool {
        match self {
            Self::F32(_) => true,
            Self::F64(all) => all.iter().all(|&weight| exact(weight).is_some()),
        }
    }

    /// Returns whether every weight is 1.
    #[expect(clippy::float_cmp, reason = "exactly 1 is what an unweighted edge has")]
    pub(crate) fn are_ones(self) -> bool {
        match self {
            Self::F32(all) => all.iter().all(|&weight| weight == 1.0),
            Self::F64(all) => all.iter().all(|&weight| weight == 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Weights, WeightsRef};
    use crate::graph::{Conventions, EdgeList, Graph, GraphBatch, Symmetrization};

    /// 0.1 as an f32, and the f64 that is nearest to 0.1.
    const TENTHS: (f32, f64) = (0.1, 0.1);

    #[test]
    fn a_list_is_widened_at_the_first_weight_that_is_not_an_f32() {
        let mut list = EdgeList::new(3).unwrap();
        list.push(0, 1);
        list.push_weighted(0, 2, TENTHS.0);
        assert_eq!(list.weights(), Some(WeightsRef::F32(&[1.0, TENTHS.0])));
        list.push_weighted(1, 2, TENTHS.1);
        list.push(2, 2);
        list.push_weighted(2, 1, 2.0);
        assert_eq!(list.weights(), Some(WeightsRef::F64(&[1.0, TENTHS.0.into(), TENTHS.1, 1.0, 2.0])));
    }

    #[test]
    fn a_graph_keeps_four_bytes_for_each_weight_that_is_an_f32() {
        let directed = Conventions { symmetrization: Symmetrization::Keep, ..Conventions::default() };
        let made = |edges: &[(u32, u32, f64)], conventions: &Conventions| -> GraphBatch {
            Graph::from_weighted_edges(3, edges, conventions).unwrap().into()
        };
        let narrow = made(&[(0, 1, TENTHS.0.into()), (1, 2, 3.0)], &directed);
        assert_eq!(narrow.weights(), Some(WeightsRef::F32(&[TENTHS.0, 3.0])));
        let wide = made(&[(0, 1, TENTHS.1), (1, 2, 3.0)], &directed);
        assert_eq!(wide.weights(), Some(WeightsRef::F64(&[TENTHS.1, 3.0])));
        // The larger weight of both directions is kept, so no f64 remains.
        let larger = made(&[(0, 1, TENTHS.1), (1, 0, 2.0)], &Conventions::default());
        assert_eq!(larger.weights(), Some(WeightsRef::F32(&[2.0, 2.0])));
        let both: GraphBatch = GraphBatch::from_graphs(&[
            Graph::from_weighted_edges(2, &[(0, 1, 2.0)], &directed).unwrap(),
            Graph::from_edges(2, &[(0, 1)], &directed).unwrap(),
            Graph::from_weighted_edges(2, &[(0, 1, TENTHS.1)], &directed).unwrap(),
        ])
        .unwrap();
        assert_eq!(both.weights(), Some(WeightsRef::F64(&[2.0, 1.0, TENTHS.1])));
        assert_eq!(both.select(&[0, 1]).weights(), Some(WeightsRef::F32(&[2.0, 1.0])));
        assert_eq!(both.select(&[1]).weights(), None);
        let (nodes, rows, columns) = (vec![0, 2], vec![0, 1, 1], vec![1]);
        let restored = |weights| GraphBatch::from_csr(nodes.clone(), rows.clone(), columns.clone(), weights, directed);
        let narrow = restored(Some(Weights::F64(vec![2.0]))).unwrap();
        assert_eq!(narrow.weights(), Some(WeightsRef::F32(&[2.0])));
    }
}
