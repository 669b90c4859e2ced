//! Parallel work on the threads of the current pool.
//!
//! For every closure that is passed to a rayon iterator, the compiler generates a separate copy of rayon's
//! task-splitting code. These copies were a quarter of this library's compiled code (2026-11-23). With the functions of
//! this module, the threads take one item after another from a list, so only the closure itself is compiled again for
//! each use.

use crate::error::{Error, Result};
use faer::Par;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

thread_local! {
    /// Whether this thread does everything itself ([`alone`]).
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` as outside of [`alone`].
pub(crate) fn together<R>(work: impl FnOnce() -> R) -> R {
    set_alone(false, work)
}

/// Runs `work` on the calling thread alone: what it would do in parallel is done one after the other. A thread that is
/// in no pool would otherwise wait for rayon's global pool, whose threads a forked process does not have.
pub(crate) fn alone<R>(work: impl FnOnce() -> R) -> R {
    set_alone(true, work)
}

fn set_alone<R>(alone: bool, work: impl FnOnce() -> R) -> R {
    struct Restored(bool);
    impl Drop for Restored {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _restored = Restored(ALONE.replace(alone));
    work()
}

/// Returns the parallelism that is passed to faer's routines. faer splits sums according to this value, so the value is
/// a constant: the bits of a result must not depend on the number of threads. If there are fewer than eight threads,
/// each thread computes several of the partial sums. What runs on the calling thread alone is too small to be split,
/// and does not call this function.
pub(crate) fn in_eight() -> Par {
    debug_assert!(!ALONE.get(), "brief work is computed by one thread");
    // WebAssembly has one thread, so faer's routines are compiled without threads.
    #[cfg(not(target_arch = "wasm32"))]
    return if ALONE.get() { Par::Seq } else { Par::rayon(8) };
    #[cfg(target_arch = "wasm32")]
    Par::Seq
}

/// Runs `work` in parallel on a thread of a pool, and elsewhere on the calling thread [`alone`], so that it does not
/// wake the threads of rayon's global pool. This is for functions that are also called outside of an operation.
pub(crate) fn in_own_pool<R>(work: impl FnOnce() -> R) -> R {
    if rayon::current_thread_index().is_some() { work() } else { alone(work) }
}

/// Returns an error if `operation` cannot start threads, because it runs in a browser.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) in a browser.
pub(crate) fn needs_threads(operation: &'static str) -> Result<()> {
    if cfg!(target_arch = "wasm32") {
        return Err(Error::domain(operation, "expected a system with threads, found a browser, which has one"));
    }
    Ok(())
}

/// Calls `work` once with every index below `count`. A thread that becomes free takes the next index, in ascending
/// order.
///
/// # Panics
/// If `work` panics, after all threads have ended.
pub(crate) fn each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                break;
            }
            work(i);
        }
    };
    let others = threads().min(count).saturating_sub(1);
    if others == 0 {
        return run();
    }
    rayon::scope(|scope| {
        for _ in 0..others {
            scope.spawn(|_| run());
        }
        run();
    });
}

/// Calls both closures, in parallel if another thread is free, and returns their results.
pub(crate) fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut of_a, mut of_b) = (None, None);
    join(&mut || of_a = a.take().map(|a| a()), &mut || of_b = b.take().map(|b| b()));
    match (of_a, of_b) {
        (Some(a), Some(b)) => (a, b),
        _ => unreachable!("each was called once"),
    }
}

fn join(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    if ALONE.get() {
        a();
        b();
    } else {
        rayon::join(a, b);
    }
}

/// Returns the number of threads in the current pool, or 1 within [`alone`].
pub(crate) fn threads() -> usize {
    if ALONE.get() { 1 } else { rayon::current_num_threads() }
}

/// Calls `work` with every item and its index.
pub(crate) fn for_each<X: Send>(items: impl IntoIterator<Item = X>, work: impl Fn(usize, X) + Sync) {
    let items: Vec<Mutex<Option<X>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    each(items.len(), &|i| {
        if let Some(item) = taken(&items[i]) {
            work(i, item);
        }
    });
}

/// Returns the results of `work` for every item and its index, in the order of the items.
pub(crate) fn map<X: Send, R: Send>(items: impl IntoIterator<Item = X>, work: impl Fn(usize, X) -> R + Sync) -> Vec<R> {
    let items: Vec<Mutex<Option<X>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let made: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    each(items.len(), &|i| {
        let result = taken(&items[i]).map(|item| work(i, item));
        *made[i].lock().unwrap_or_else(PoisonError::into_inner) = result;
    });
    made.iter().filter_map(taken).collect()
}

/// Returns the results of `work` for every index below `count`, in order. A thread takes `run` consecutive indices at a
/// time, which is efficient if the work for one index takes less than a microsecond.
pub(crate) fn map_runs<R: Send>(count: usize, run: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let of_run = |_, first: usize| (first..(first + run).min(count)).map(&work).collect();
    let made: Vec<Vec<R>> = map((0..count).step_by(run), of_run);
    made.into_iter().flatten().collect()
}

/// Calls `work` with every item and its index, as [`for_each`] does, and with a value such as scratch memory, which
/// `make` creates at most once per thread.
pub(crate) fn for_each_with<X: Send, S: Send>(
    items: impl IntoIterator<Item = X>,
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, X) + Sync,
) {
    let idle = Mutex::new(Vec::new());
    for_each(items, |i, item| {
        let last = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = last.unwrap_or_else(&make);
        work(&mut scratch, i, item);
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
    });
}

fn taken<X>(place: &Mutex<Option<X>>) -> Option<X> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use super::{alone, both, each, for_each, for_each_with, map, map_runs};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn on(threads: usize, work: impl FnOnce() + Send) {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work);
    }

    #[test]
    fn every_item_once_and_in_its_place() {
        for threads in [1, 2, 7] {
            on(threads, || {
                for count in [0, 1, 2, 5, 1000] {
                    assert_eq!(map(0..count, |i, x| (i, 3 * x)), (0..count).map(|i| (i, 3 * i)).collect::<Vec<_>>());
                    assert_eq!(map_runs(count, 7, |i| 3 * i), (0..count).map(|i| 3 * i).collect::<Vec<_>>());
                    let mut data = vec![0; 3 * count];
                    for_each(data.chunks_mut(3), |i, chunk| chunk.fill(i + 1));
                    assert!(data.iter().enumerate().all(|(i, &x)| x == i / 3 + 1));
                }
            });
        }
    }

    #[test]
    fn scratch_is_made_once_a_thread_at_most() {
        on(3, || {
            let made = AtomicUsize::new(0);
            let make = || made.fetch_add(1, Ordering::Relaxed);
            for_each_with(0..500, make, |_, _, _| std::thread::yield_now());
            assert!((1..=3).contains(&made.into_inner()));
        });
    }

    #[test]
    fn both_return() {
        for threads in [1, 2] {
            on(threads, || assert_eq!(both(|| 1, || both(|| "two", || 3.0)), (1, ("two", 3.0))));
        }
    }

    /// Nested parallel work runs on the same threads.
    #[test]
    fn nested() {
        on(2, || {
            let done = AtomicUsize::new(0);
            each(20, &|_| {
                each(30, &|_| {
                    done.fetch_add(1, Ordering::Relaxed);
                });
            });
            assert_eq!(done.into_inner(), 600);
        });
    }

    #[test]
    fn alone_on_the_calling_thread() {
        let here = || std::thread::current().id();
        let caller = here();
        on(3, || {
            // Of several items that wait for one another, threads would take one each.
            let all = |ids: Vec<_>, one| assert!(ids.iter().all(|&id| id == one));
            let one = here();
            alone(|| all(map(0..9, |_, _| here()), one));
            alone(|| all(vec![both(here, here).0, both(here, here).1], one));
            assert_ne!(one, caller);
        });
        let panicked = std::panic::catch_unwind(|| alone(|| assert_eq!(1, 2, "within")));
        assert!(panicked.is_err());
        on(2, || assert_eq!(super::threads(), 2, "what was set within is set no more"));
        assert_eq!(alone(super::threads), 1);
        on(2, || assert_eq!(alone(|| super::together(super::threads)), 2));
    }

    #[test]
    fn a_panic_comes_out() {
        on(2, || {
            let panicked = std::panic::catch_unwind(|| each(100, &|i| assert!(i != 57, "this one")));
            assert!(panicked.is_err());
        });
    }
}
