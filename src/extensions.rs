//! Values, such as plans and tables, that a call stores for later calls on the same context. A context stores one value
//! of each type. No result depends on whether a value is already stored.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Values, keyed by their types.
#[derive(Default)]
pub(crate) struct Extensions(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Extensions {
    /// Returns the value of type `T`. The first call for `T` creates the value.
    pub(crate) fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut extensions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = extensions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The downcast always succeeds, because every value is stored under its own type.
        Arc::clone(found).downcast().unwrap_or_default()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extensions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Extensions").field("values", &extensions.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Extensions;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU8, Ordering};

    #[test]
    fn one_of_each_type() {
        let extensions = Extensions::default();
        extensions.get::<AtomicU8>().store(7, Ordering::Relaxed);
        assert_eq!(extensions.get::<AtomicU8>().load(Ordering::Relaxed), 7);
        assert!(Arc::ptr_eq(&extensions.get::<String>(), &extensions.get::<String>()));
        assert_eq!(format!("{extensions:?}"), "Extensions { values: 2 }");
    }
}
