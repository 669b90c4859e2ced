//! A cache of plans. It is useful because making the sine tables of a plan takes as long as transforming a few lines.

use super::Working;
use super::cosine::roots_of;
use super::in_lanes::Plan;
use super::line::LinePlan;
use super::real::RealLine;
use super::reals::RealPlan;
use num_complex::Complex;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of plans of one kind in the cache. pocketfft has the same limit.
const MOST: usize = 16;
/// The maximum total number of points of the cached plans of one kind, which is 32 MiB of tables in f32. The latest
/// plan is cached even if it exceeds this limit.
const POINTS: usize = 1 << 22;

/// The plans of one kind in order of use, the latest at the end.
struct Last<P: ?Sized>(Mutex<Vec<(usize, Arc<P>)>>);

impl<P: ?Sized> Default for Last<P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<P: ?Sized> Last<P> {
    /// Returns the plan for `n` points, making it if it is not in the cache.
    fn get(&self, n: usize, make: impl FnOnce() -> Arc<P>) -> Arc<P> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut kept = lock();
            if let Some(at) = kept.iter().position(|(length, _)| *length == n) {
                kept[at..].rotate_left(1);
                return Arc::clone(&kept[kept.len() - 1].1);
            }
        }
        // The lock is released, so that making a long plan blocks no other thread.
        let plan = make();
        let mut kept = lock();
        kept.retain(|(length, _)| *length != n);
        kept.push((n, Arc::clone(&plan)));
        let points =
            |kept: &[(usize, Arc<P>)]| kept.iter().fold(0, |sum: usize, (length, _)| sum.saturating_add(*length));
        while kept.len() > 1 && (kept.len() > MOST || points(&kept) > POINTS) {
            kept.remove(0);
        }
        plan
    }
}

/// The cached plans of one precision, which a context owns.
pub(in super::super) struct Plans<F> {
    forward: Last<dyn LinePlan<F>>,
    inverse: Last<dyn LinePlan<F>>,
    real_forward: Last<RealLine<F>>,
    real_inverse: Last<RealLine<F>>,
    in_lanes: Last<Plan<F>>,
    real_in_lanes: Last<RealPlan<F>>,
    quarters: Last<Vec<Complex<F>>>,
    eighths: Last<Vec<Complex<F>>>,
}

impl<F: Working> Plans<F> {
    pub(super) fn forward(&self, n: usize) -> Arc<dyn LinePlan<F>> {
        self.forward.get(n, || F::plan(n, false))
    }

    pub(super) fn inverse(&self, n: usize) -> Arc<dyn LinePlan<F>> {
        self.inverse.get(n, || F::plan(n, true))
    }

    pub(super) fn real_forward(&self, n: usize) -> Arc<RealLine<F>> {
        self.real_forward.get(n, || Arc::new(RealLine::new(n, false)))
    }

    pub(super) fn real_inverse(&self, n: usize) -> Arc<RealLine<F>> {
        self.real_inverse.get(n, || Arc::new(RealLine::new(n, true)))
    }

    pub(super) fn in_lanes(&self, n: usize) -> Arc<Plan<F>> {
        self.in_lanes.get(n, || Arc::new(Plan::new(n)))
    }

    pub(super) fn real_in_lanes(&self, n: usize) -> Arc<RealPlan<F>> {
        self.real_in_lanes.get(n, || Arc::new(RealPlan::new(n)))
    }

    /// Returns the roots of unity of cosine transforms of types 2 and 3.
    pub(super) fn quarters(&self, n: usize) -> Arc<Vec<Complex<F>>> {
        self.quarters.get(n, || Arc::new(roots_of(n, false)))
    }

    /// Returns the roots of unity of cosine transforms of type 4.
    pub(super) fn eighths(&self, n: usize) -> Arc<Vec<Complex<F>>> {
        self.eighths.get(n, || Arc::new(roots_of(n, true)))
    }
}

impl<F> Default for Plans<F> {
    fn default() -> Self {
        Self {
            forward: Last::default(),
            inverse: Last::default(),
            real_forward: Last::default(),
            real_inverse: Last::default(),
            in_lanes: Last::default(),
            real_in_lanes: Last::default(),
            quarters: Last::default(),
            eighths: Last::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_plans_are_kept_within_bounds() {
        let kept = Last::<usize>::default();
        let lengths = |kept: &Last<usize>| kept.0.lock().unwrap().iter().map(|(n, _)| *n).collect::<Vec<_>>();
        let first = kept.get(1, || Arc::new(1));
        for n in 2..=MOST {
            kept.get(n, || Arc::new(n));
        }
        // The plan is reused and becomes the latest; the next insertion evicts plan 2.
        assert!(Arc::ptr_eq(&first, &kept.get(1, || Arc::new(0))));
        kept.get(100, || Arc::new(100));
        assert_eq!(lengths(&kept).len(), MOST);
        assert!(lengths(&kept).ends_with(&[1, 100]) && !lengths(&kept).contains(&2));
        // A plan above the limit on points evicts all others and stays alone.
        kept.get(POINTS + 1, || Arc::new(0));
        assert_eq!(lengths(&kept), [POINTS + 1]);
        kept.get(7, || Arc::new(7));
        assert_eq!(lengths(&kept), [7]);
    }
}
