//! Sorting of the numbers of several samples together, one sample in each lane.

use crate::lanes::Vector;

/// The most numbers that a network sorts. For longer samples, a lane at a time is sorted by the standard library.
const LONGEST: usize = 4096;

/// Sorts the numbers in each lane in ascending order.
///
/// Batcher's merge exchange (Knuth, The Art of Computer Programming 5.2.2, algorithm M) compares the same places
/// whatever the numbers are, so the lanes can be sorted together. It serves every length without padding.
#[inline(always)]
pub(super) fn sort<V: Vector<Scalar = f64>>(x: &mut [V]) {
    let n = x.len();
    if n > LONGEST {
        return by_lanes(x);
    }
    let first = n.next_power_of_two() / 2;
    let mut p = first;
    while p > 0 {
        let (mut q, mut r, mut distance) = (first, 0, p);
        loop {
            // Places i with i & p == r, in stretches of p.
            let end = n.saturating_sub(distance);
            let mut begin = r;
            while begin < end {
                let stretch = p.min(end - begin);
                let (low, high) = x[begin..begin + distance + stretch].split_at_mut(distance);
                for (low, high) in low[..stretch].iter_mut().zip(high) {
                    (*low, *high) = (low.min(*high), low.max(*high));
                }
                begin += 2 * p;
            }
            if q == p {
                break;
            }
            (distance, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
}

#[inline(always)]
fn by_lanes<V: Vector<Scalar = f64>>(x: &mut [V]) {
    let mut one = vec![0.0; x.len()];
    for lane in 0..V::LANES {
        one.iter_mut().zip(&*x).for_each(|(one, x)| *one = x.as_slice()[lane]);
        one.sort_unstable_by(f64::total_cmp);
        x.iter_mut().zip(&one).for_each(|(x, &one)| x.as_mut_slice()[lane] = one);
    }
}
