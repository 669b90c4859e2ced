//! How a call runs: its work on the threads of its context, without the GIL, while the calling thread waits. The
//! calling thread answers signals, hands log records to Python, and tells of progress.

use crate::context::Door;
use crate::errors::{internal, raised};
use crate::{logs, panics};
use fiedler::policy::Choice;
use fiedler::{Context, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// If the predicted time of a call is below this, in seconds, the calling thread does the work itself. Ctrl-C then
/// waits for its end.
const INLINE: f64 = 1e-3;

/// How long a signal waits for an answer.
const STEP: Duration = Duration::from_millis(50);

/// Where the work notes how much of it is done, for the calling thread.
#[derive(Clone, Default)]
pub(crate) struct Tell(Arc<Mutex<Option<(usize, usize)>>>);

impl Tell {
    pub(crate) fn progress(&self, done: usize, total: usize) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((done, total));
    }

    /// Hands on what was noted since the last call.
    fn deliver(&self, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (progress, noted) {
            (Some(progress), Some(noted)) => progress.call1(noted).map(drop),
            _ => Ok(()),
        }
    }
}

/// Runs `work` in a context of `door`, on its threads. `choose` predicts what it takes. `progress` is called with the
/// items that are done and the total.
pub(crate) fn waited<T: Send>(
    py: Python<'_>,
    door: &Door,
    choose: impl Fn(&Context) -> Result<Choice> + Sync,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Context, &Tell) -> Result<T> + Send,
) -> PyResult<T> {
    beside(py, door, choose, progress, |ctx, tell| ctx.install(|| work(ctx, tell)))
}

/// Does the same for work that waits for the threads of the context, and therefore must not run on one of them.
pub(crate) fn beside<T: Send>(
    py: Python<'_>,
    door: &Door,
    choose: impl Fn(&Context) -> Result<Choice> + Sync,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Context, &Tell) -> Result<T> + Send,
) -> PyResult<T> {
    logs::listen(py)?;
    let worker = is_worker(py)?;
    let session = py.detach(|| door.session(worker, &choose)).map_err(|error| raised(py, &error))?;
    let (ctx, tell) = (&session.ctx, Tell::default());
    let run = || panics::caught(|| work(ctx, &tell));
    let outcome = if session.seconds < INLINE && progress.is_none() {
        py.detach(run)
    } else {
        std::thread::scope(|scope| {
            let (done, end) = mpsc::channel();
            // The loop below receives the outcome, so sending it cannot fail.
            scope.spawn(move || drop(done.send(run())));
            let end = Mutex::new(end);
            let next = || end.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(STEP);
            loop {
                let outcome = py.detach(next);
                let told = tell.deliver(progress).and_then(|()| py.check_signals()).and_then(|()| logs::deliver(py));
                match (outcome, told) {
                    (Ok(outcome), Ok(())) => return Ok(outcome),
                    (Ok(_), Err(stop)) => return Err(stop),
                    (Err(_), Ok(())) => {}
                    (Err(_), Err(stop)) => {
                        session.cancel().cancel();
                        py.detach(|| while next().is_err() {});
                        return Err(stop);
                    }
                }
            }
        })?
    };
    drop(session);
    logs::deliver(py)?;
    match outcome {
        Ok(found) => found.map_err(|error| raised(py, &error)),
        Err(told) => Err(internal(py, &told)),
    }
}

/// Returns whether this process is a worker that `multiprocessing` started, such as a `DataLoader`'s. Its siblings use
/// the other cores.
pub(crate) fn is_worker(py: Python<'_>) -> PyResult<bool> {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    static ANSWER: AtomicBool = AtomicBool::new(false);
    let process = std::process::id();
    if ASKED.load(Ordering::Acquire) != process {
        let modules = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
        let parent = match modules.get_item("multiprocessing.process")? {
            Some(module) => !module.call_method0("parent_process")?.is_none(),
            None => false,
        };
        ANSWER.store(parent, Ordering::Relaxed);
        ASKED.store(process, Ordering::Release);
    }
    Ok(ANSWER.load(Ordering::Relaxed))
}
