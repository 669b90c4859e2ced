//! Values that calls keep for later calls of the same context, one of each type: plans, tables. None
//! of them changes a result.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Values, keyed by their types.
#[derive(Default)]
pub(crate) struct Extensions(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Extensions {
    /// Returns the value of that type, which the first call creates.
    pub(crate) fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut extensions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = extensions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // A value is stored under its own type.
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
