//! State of a process. A process that was forked has its own, because what it inherits is of no use to it: threads that
//! do not exist here, a device that is its parent's, and locks that are never released if another thread held them.

use once_cell::race::OnceBox;

/// A value for each process: `T::default()` when it first asks. Values of the processes from which this one was forked
/// stay as they are, and are never dropped here.
///
/// Nothing waits here: of threads that ask at the same time, each makes a value, and one of them stays.
pub(crate) struct PerProcess<T: Default>(OnceBox<State<T>>);

struct State<T: Default> {
    process: u32,
    value: T,
    /// That of a process that was forked from this one.
    next: PerProcess<T>,
}

impl<T: Default> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(OnceBox::new())
    }

    /// Returns the value of this process.
    pub(crate) fn here(&self) -> &T {
        let process = std::process::id();
        let mut state = self.own(process);
        while state.process != process {
            state = state.next.own(process);
        }
        &state.value
    }

    fn own(&self, process: u32) -> &State<T> {
        self.0.get_or_init(|| Box::new(State { process, value: T::default(), next: Self::new() }))
    }

    /// Returns the values of the processes from which this one was forked, the first one first.
    pub(crate) fn inherited(&self) -> impl Iterator<Item = &T> {
        let process = std::process::id();
        let states = std::iter::successors(self.0.get(), |state| state.next.0.get());
        states.take_while(move |state| state.process != process).map(|state| &state.value)
    }
}

impl<T: Default> Drop for State<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(std::mem::take(&mut self.value));
        }
    }
}
