//! Sets of lanes.

/// The largest number of lanes that a mask has.
pub(crate) const MAX_LANES: usize = 128;

/// A set of lanes of a team.
pub(crate) type Mask = u128;

/// Returns the set of the first `width` lanes.
pub(crate) fn first(width: usize) -> Mask {
    if width >= MAX_LANES { Mask::MAX } else { (1 << width) - 1 }
}

/// The lanes of a set, in ascending order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes(pub(crate) Mask);

impl Iterator for Lanes {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(lane)
    }
}
