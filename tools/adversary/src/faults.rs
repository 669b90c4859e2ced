//! Faults of the host side, injected by a schedule: what the device does to the calls of a program that did nothing
//! wrong.

use crate::seed::Seed;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The device is lost during a call to the device, its queue or one of its objects.
    DeviceLost,
    /// [`wgpu::Adapter::request_device`] fails.
    DeviceRefused,
    /// The creation of a buffer runs out of memory.
    OutOfMemory,
    /// A buffer that could be mapped is not mapped: the callback receives an error.
    MapFailed,
    /// A mapping arrives only after [`Faults::delay`], although the device was waited for.
    MapDelayed,
    /// The creation of a pipeline fails with an internal error, as when a driver's compiler gives up.
    PipelineFailed,
    /// A submission completes only after [`Faults::delay`].
    Stalled,
    /// A timestamp is zero, out of range or earlier than the one before it.
    Timestamp,
}

impl Fault {
    /// Every kind of fault.
    pub const ALL: [Self; 8] = [
        Self::DeviceLost,
        Self::DeviceRefused,
        Self::OutOfMemory,
        Self::MapFailed,
        Self::MapDelayed,
        Self::PipelineFailed,
        Self::Stalled,
        Self::Timestamp,
    ];
}

/// The schedule of faults. The default is none.
#[derive(Clone, Debug)]
pub struct Faults {
    rules: Vec<Rule>,
    delay: Duration,
}

#[derive(Clone, Debug)]
enum Rule {
    Nth { fault: Fault, call: u64 },
    Seeded { seed: Seed, rate: f64, kinds: Vec<Fault> },
}

impl Rule {
    fn strikes(&self, fault: Fault, call: u64) -> bool {
        match self {
            Self::Nth { fault: kind, call: nth } => (*kind, *nth) == (fault, call),
            Self::Seeded { seed, rate, kinds } => {
                kinds.contains(&fault) && seed.fork(fault as u64).fraction(call) < *rate
            }
        }
    }
}

impl Default for Faults {
    fn default() -> Self {
        Self { rules: Vec::new(), delay: Duration::from_millis(50) }
    }
}

impl Faults {
    /// Schedules one fault, at the `call`-th call, counted from 1, that this kind of fault may strike.
    #[must_use]
    pub fn nth(fault: Fault, call: u64) -> Self {
        Self { rules: vec![Rule::Nth { fault, call }], ..Self::default() }
    }

    /// Schedules faults of all kinds. Each call fails with the probability `rate`, for each kind that may strike it.
    #[must_use]
    pub fn seeded(seed: u64, rate: f64) -> Self {
        Self::seeded_of(&Fault::ALL, seed, rate)
    }

    /// Schedules faults of some kinds, as [`Faults::seeded`] does for all.
    #[must_use]
    pub fn seeded_of(kinds: &[Fault], seed: u64, rate: f64) -> Self {
        let rule = Rule::Seeded { seed: Seed(seed), rate, kinds: kinds.to_vec() };
        Self { rules: vec![rule], ..Self::default() }
    }

    /// Adds the faults of another schedule. The delay of this one stays.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.rules.extend(other.rules);
        self
    }

    /// Sets how late [`Fault::Stalled`] and [`Fault::MapDelayed`] make things.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}

/// A fault that was injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Injection {
    /// The kind of the fault.
    pub fault: Fault,
    /// The number, from 1, of the call among those that this kind of fault may strike.
    pub call: u64,
    /// The call, such as `Device::create_buffer`.
    pub place: &'static str,
}

/// Counts the calls and says which of them fail.
#[derive(Debug, Default)]
pub(crate) struct Injector {
    faults: Faults,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    calls: BTreeMap<Fault, u64>,
    injected: Vec<Injection>,
}

impl Injector {
    pub(crate) fn new(faults: Faults) -> Self {
        Self { faults, state: Mutex::default() }
    }

    /// Counts a call that `fault` may strike, and returns whether it does.
    pub(crate) fn strikes(&self, fault: Fault, place: &'static str) -> bool {
        let mut state = self.state();
        let calls = state.calls.entry(fault).or_default();
        *calls += 1;
        let call = *calls;
        let strikes = self.faults.rules.iter().any(|rule| rule.strikes(fault, call));
        if strikes {
            state.injected.push(Injection { fault, call, place });
        }
        strikes
    }

    pub(crate) fn delay(&self) -> Duration {
        self.faults.delay
    }

    pub(crate) fn calls(&self, fault: Fault) -> u64 {
        self.state().calls.get(&fault).copied().unwrap_or(0)
    }

    pub(crate) fn injected(&self) -> Vec<Injection> {
        self.state().injected.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Faults, Injector};

    #[test]
    fn the_nth_call_alone_fails() {
        let injector = Injector::new(Faults::nth(Fault::OutOfMemory, 3).and(Faults::nth(Fault::MapFailed, 1)));
        let struck: Vec<_> = (0..5).map(|_| injector.strikes(Fault::OutOfMemory, "here")).collect();
        assert_eq!(struck, [false, false, true, false, false]);
        assert!(injector.strikes(Fault::MapFailed, "there"));
        assert_eq!(injector.calls(Fault::OutOfMemory), 5);
        assert_eq!(injector.injected().iter().map(|i| i.call).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn a_seeded_schedule_strikes_at_its_rate() {
        let injector = Injector::new(Faults::seeded_of(&[Fault::Stalled], 5, 0.25));
        let struck = (0..4000).filter(|_| injector.strikes(Fault::Stalled, "here")).count();
        assert!((900..1100).contains(&struck), "{struck}");
        assert!((0..1000).all(|_| !injector.strikes(Fault::DeviceLost, "here")));
    }
}
