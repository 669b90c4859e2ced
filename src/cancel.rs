//! A switch to stop work that has begun.

use crate::error::{ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A switch that ends the operations of every [`Context`](crate::Context) that was given a clone of it, and the reading
/// and building of graphs ([`ReadOptions::cancel`](crate::io::ReadOptions::cancel),
/// [`GraphBatch::from_edge_list_with`](crate::GraphBatch::from_edge_list_with)).
///
/// An operation checks the switch at its start. On a device, it also checks before every dispatch, and on the CPU
/// between matrices, chunks and iterations. Once the switch is set, the operation ends with [`ErrorKind::Cancelled`].
/// The unfinished results of the operation are dropped. Results that were stored earlier are kept.
///
/// ```
/// use fiedler::{Backend, Cancel, Context, ErrorKind, ops};
///
/// let cancel = Cancel::new();
/// let ctx = Context::builder().backend(Backend::Cpu).cancel(cancel.clone()).build()?;
/// cancel.cancel(); // from another thread, or a signal's handler
/// let ones = fiedler::array::Array::from_vec(fiedler::Shape::new(2, 2, 1), vec![1.0_f32; 4])?;
/// let error = ops::eigh(&ctx, &ones).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::Cancelled));
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Creates a switch that lets work run.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests that all work under this switch end. Returns without waiting for the work to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Clears the request, so that new work can run. Call this only after all canceled work has ended, because work
    /// that has not yet noticed the request would continue.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Returns whether a request to stop has been made.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails if work was requested to end. Loops over many items pass the number of the present item, and the switch is
    /// looked at once for every 2^20 items.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`].
    #[inline]
    pub(crate) fn check_at(&self, item: usize) -> Result<()> {
        if item.is_multiple_of(1 << 20) { self.check() } else { Ok(()) }
    }

    /// Fails if work was requested to end.
    ///
    /// # Errors
    /// [`ErrorKind::Cancelled`].
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }
}
