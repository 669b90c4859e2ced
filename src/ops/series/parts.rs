//! The two steps in which columns are computed.
//!
//! The *parts* of a measure are what takes time: sums over the numbers of a sample, numbers at places in ascending
//! order, counts. Each side computes them in its own way. The formulas that make columns of the parts are the same on
//! both sides, and run on the CPU in f64. On the device, the numbers of a sample are scaled by a power of two, 2^-e, so
//! that the greatest magnitude is at least 1 and less than 2. A part with the unit k is therefore multiplied by 2^(k
//! e).

use super::SampleShape;
use super::moments::Sums;
use super::transform::Transform;
use crate::lanes::Vector;

/// What the formulas know of a sample besides the parts of their measure.
#[derive(Clone, Copy)]
pub(super) struct Known<'a, V: Vector> {
    pub(super) token: V::Token,
    pub(super) shape: SampleShape,
    pub(super) sums: &'a Sums<V>,
    pub(super) transform: Option<&'a Transform>,
    /// The singular values in descending order; none for vectors.
    pub(super) singular: &'a [V],
    /// The singular values after the mean of each column is subtracted; none for vectors.
    pub(super) centered: &'a [V],
}
