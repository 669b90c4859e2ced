//! What calls keep for later calls of the same context, one value of each type: plans, tables. Nothing that moves a result.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by their types.
#[derive(Default)]
pub(crate) struct Kept(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Kept {
    /// The value of that type, made by the first call.
    pub(crate) fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // A value is stored under its own type.
        Arc::clone(found).downcast().unwrap_or_default()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Kept").field("values", &kept.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    #[test]
    fn one_of_each_type() {
        let kept = Kept::default();
        kept.get::<AtomicU8>().store(7, Ordering::Relaxed);
        assert_eq!(kept.get::<AtomicU8>().load(Ordering::Relaxed), 7);
        assert!(Arc::ptr_eq(&kept.get::<String>(), &kept.get::<String>()));
        assert_eq!(format!("{kept:?}"), "Kept { values: 2 }");
    }
}
