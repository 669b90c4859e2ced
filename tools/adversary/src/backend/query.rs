//! Query sets of timestamps. Others need rendering.

use super::errors::{Outcome, ensure, invalid};
use super::shared::Shared;
use crate::faults::Fault;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgpu::custom::QuerySetInterface;

/// A query set, as commands use it.
#[derive(Debug)]
pub(crate) struct QueryInner {
    label: String,
    /// The values. A query that was never written resolves to 0.
    values: Mutex<Vec<u64>>,
    destroyed: AtomicBool,
    shared: Arc<Shared>,
}

/// What [`wgpu::QuerySet`] holds. An invalid set has nothing within.
#[derive(Debug)]
pub(crate) struct QuerySet(Option<Arc<QueryInner>>);

impl QuerySet {
    pub(crate) fn create(shared: &Arc<Shared>, descriptor: &wgpu::QuerySetDescriptor<'_>) -> Self {
        Self(shared.call("Device::create_query_set", descriptor.label, || {
            let count = descriptor.count;
            if !matches!(descriptor.ty, wgpu::QueryType::Timestamp) {
                return invalid("this adapter computes only: its queries are timestamps");
            }
            shared.require(wgpu::Features::TIMESTAMP_QUERY)?;
            let most = wgpu::QUERY_SET_MAX_QUERIES;
            ensure!(count > 0 && count <= most, "{count} queries are not between 1 and {most}");
            Ok(Arc::new(QueryInner {
                label: descriptor.label.unwrap_or_default().to_owned(),
                values: Mutex::new(vec![0; count as usize]),
                destroyed: AtomicBool::new(false),
                shared: Arc::clone(shared),
            }))
        }))
    }

    /// Returns the set, if it is valid, of this device, and has the queries.
    pub(crate) fn get<'a>(
        shared: &Arc<Shared>,
        set: Option<&'a Self>,
        first: u32,
        count: u32,
    ) -> Outcome<&'a Arc<QueryInner>> {
        let Some(inner) = set.and_then(|set| set.0.as_ref()).filter(|inner| Arc::ptr_eq(&inner.shared, shared)) else {
            return invalid("a query set is invalid, or of another device");
        };
        let own = inner.values().len() as u64;
        let end = u64::from(first) + u64::from(count);
        ensure!(end <= own, "the queries up to {end} are not all in a set of {own}");
        Ok(inner)
    }
}

impl QuerySetInterface for QuerySet {
    fn destroy(&self) {
        if let Some(inner) = &self.0 {
            inner.destroyed.store(true, Ordering::Release);
        }
    }
}

impl QueryInner {
    fn values(&self) -> MutexGuard<'_, Vec<u64>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn check_submittable(&self) -> Outcome<()> {
        ensure!(!self.destroyed.load(Ordering::Acquire), "query set `{}` is destroyed", self.label);
        Ok(())
    }

    /// Writes the time into a query.
    pub(crate) fn stamp(&self, index: u32) {
        let ticks = self.shared.opened.elapsed().as_nanos() as f64 / f64::from(self.shared.timestamp_period());
        // Truncated: 64 bits of ticks are centuries.
        let mut time = ticks as u64 + 1;
        if self.shared.injector.strikes(Fault::Timestamp, "a timestamp") {
            time = [0, time / 2, u64::MAX, 1 << 63][self.shared.seed().below(0, 4) as usize];
        }
        if let Some(value) = self.values().get_mut(index as usize) {
            *value = time;
        }
    }

    /// Returns the bytes to which the queries resolve.
    pub(crate) fn resolve(&self, first: u32, count: u32) -> Vec<u8> {
        let values = self.values();
        values.iter().skip(first as usize).take(count as usize).flat_map(|value| value.to_le_bytes()).collect()
    }
}

impl Shared {
    /// Returns the nanoseconds of a tick: those of one of several makers.
    pub(crate) fn timestamp_period(&self) -> f32 {
        [1.0, 10.0, 52.083_332, 83.333_336][(self.settings.seed % 4) as usize]
    }
}
