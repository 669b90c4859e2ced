//! How a call runs: its work on the threads of its context, without the GIL, while the calling thread waits. The
//! calling thread answers signals, hands log records to Python, and tells of progress.

use crate::context::{Door, Session};
use crate::errors::{internal, raised};
use crate::{logs, panics};
use fiedler::policy::Choice;
use fiedler::{Cancel, Context, Result};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// If the predicted time of a call is below this, in seconds, the calling thread does the work itself. Ctrl-C then
/// waits for its end.
const INLINE: f64 = 1e-3;

/// How long a signal waits for an answer.
const STEP: Duration = Duration::from_millis(50);

/// How long stopped work is waited for that may be left behind.
const PATIENCE: Duration = Duration::from_millis(600);

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
    ran(py, door, choose, progress, |ctx, choice, tell| ctx.install_for(choice, || work(ctx, tell)))
}

/// Does the same for work that waits for the threads of the context, and therefore must not run on one of them.
pub(crate) fn beside<T: Send>(
    py: Python<'_>,
    door: &Door,
    choose: impl Fn(&Context) -> Result<Choice> + Sync,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Context, &Tell) -> Result<T> + Send,
) -> PyResult<T> {
    ran(py, door, choose, progress, |ctx, _, tell| work(ctx, tell))
}

fn ran<T: Send>(
    py: Python<'_>,
    door: &Door,
    choose: impl Fn(&Context) -> Result<Choice> + Sync,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Context, &Choice, &Tell) -> Result<T> + Send,
) -> PyResult<T> {
    let session = opened(py, door, choose)?;
    let (ctx, tell) = (&session.ctx, Tell::default());
    let run = || panics::caught(|| work(ctx, &session.choice, &tell));
    let outcome = match session.seconds() < INLINE && progress.is_none() {
        true => py.detach(run),
        false => joined(&Watch { py, cancel: session.cancel(), tell: &tell, progress }, run)?,
    };
    drop(session);
    given(py, outcome)
}

/// Does the same as [`waited`] for work that owns what it needs. It may then be left behind: once a signal has asked it
/// to end, the calling thread waits for it for [`PATIENCE`] only. Some of its steps, such as the factorization of a
/// large graph, cannot be divided.
pub(crate) fn released<T: Send + 'static>(
    py: Python<'_>,
    door: &Door,
    choose: impl Fn(&Context) -> Result<Choice> + Sync,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Context, &Tell) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let session = opened(py, door, choose)?;
    let tell = Tell::default();
    let run = {
        let (ctx, choice, tell) = (session.ctx.clone(), session.choice, tell.clone());
        move || panics::caught(|| ctx.install_for(&choice, || work(&ctx, &tell)))
    };
    let outcome = if session.seconds() < INLINE && progress.is_none() {
        py.detach(run)
    } else {
        let watch = Watch { py, cancel: session.cancel(), tell: &tell, progress };
        match watch.until(started(run), Some(PATIENCE)) {
            Ok(outcome) => outcome,
            Err(Stopped { error, ended }) => {
                if !ended {
                    session.leave();
                }
                return Err(error);
            }
        }
    };
    drop(session);
    given(py, outcome)
}

/// Does the same for work that needs no context, such as the reading of a file.
pub(crate) fn alone<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Cancel) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    logs::listen(py)?;
    let (cancel, tell) = (Cancel::new(), Tell::default());
    let own = cancel.clone();
    let end = started(move || panics::caught(|| work(&own)));
    let watch = Watch { py, cancel: &cancel, tell: &tell, progress: None };
    given(py, watch.until(end, Some(PATIENCE)).map_err(|stopped| stopped.error)?)
}

/// Runs `run` on a thread of its own, which is not waited for, and returns where its outcome is received.
fn started<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> mpsc::Receiver<T> {
    let (done, end) = mpsc::channel();
    // The outcome of work that was left behind is not received.
    std::thread::spawn(move || drop(done.send(run())));
    end
}

/// Returns a context for a call.
fn opened<'a>(
    py: Python<'_>,
    door: &'a Door,
    choose: impl Fn(&Context) -> Result<Choice> + Sync,
) -> PyResult<Session<'a>> {
    logs::listen(py)?;
    let worker = is_worker(py)?;
    py.detach(|| door.session(worker, &choose)).map_err(|error| raised(py, &error))
}

/// Returns what a call has computed, after its log records.
fn given<T>(py: Python<'_>, outcome: Caught<T>) -> PyResult<T> {
    logs::deliver(py)?;
    match outcome {
        Ok(found) => found.map_err(|error| raised(py, &error)),
        Err(told) => Err(internal(py, &told)),
    }
}

/// What work returns, or the text of its panic.
type Caught<T> = std::result::Result<Result<T>, String>;

/// Runs `run` on a thread of its own and waits until it has ended.
fn joined<T: Send>(watch: &Watch<'_, '_>, run: impl FnOnce() -> Caught<T> + Send) -> PyResult<Caught<T>> {
    std::thread::scope(|scope| {
        let (done, end) = mpsc::channel();
        // The outcome is received below, so sending it cannot fail.
        scope.spawn(move || drop(done.send(run())));
        watch.until(end, None).map_err(|stopped| stopped.error)
    })
}

/// What the calling thread does while the work runs on another.
struct Watch<'a, 'py> {
    py: Python<'py>,
    cancel: &'a Cancel,
    tell: &'a Tell,
    progress: Option<&'a Bound<'py, PyAny>>,
}

/// Why a call stops: what a signal's handler or the callback of the progress raised, and whether the work has ended.
struct Stopped {
    error: PyErr,
    ended: bool,
}

impl Watch<'_, '_> {
    /// Returns what the work sends to `end`. If it is stopped before, waits for its end, but no longer than `patience`.
    fn until<T: Send>(&self, end: mpsc::Receiver<T>, patience: Option<Duration>) -> std::result::Result<T, Stopped> {
        let py = self.py;
        let end = Mutex::new(end);
        let next = || end.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(STEP);
        loop {
            let outcome = py.detach(next);
            let told = self.tell.deliver(self.progress);
            match (outcome, told.and_then(|()| py.check_signals()).and_then(|()| logs::deliver(py))) {
                (Ok(outcome), Ok(())) => return Ok(outcome),
                (Ok(_), Err(error)) => return Err(Stopped { error, ended: true }),
                (Err(_), Ok(())) => {}
                (Err(_), Err(error)) => {
                    self.cancel.cancel();
                    let since = Instant::now();
                    let waits = || patience.is_none_or(|patience| since.elapsed() < patience);
                    let ended = py.detach(|| {
                        loop {
                            match next() {
                                Ok(_) => return true,
                                Err(_) if waits() => {}
                                Err(_) => return false,
                            }
                        }
                    });
                    return Err(Stopped { error, ended });
                }
            }
        }
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
