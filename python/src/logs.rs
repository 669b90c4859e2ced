//! Log records of the library, for Python's `logging`. Threads of the library put them into a queue; the calling thread
//! hands them on, because only it may hold the GIL.

use crate::processes::PerProcess;
use log::{Level, LevelFilter, Log, Metadata, Record};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// The maximum number of records that wait. Beyond it, the oldest are lost.
const MOST: usize = 10_000;

type Records = VecDeque<(Level, String)>;

struct Queue(PerProcess<Mutex<Records>>);

static QUEUE: Queue = Queue(PerProcess::new());
static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.here().lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log for Queue {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("fiedler")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let mut waiting = self.lock();
            if waiting.len() == MOST {
                waiting.pop_front();
            }
            waiting.push_back((record.level(), record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

fn logger(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    let made = || Ok::<_, PyErr>(py.import("logging")?.getattr("getLogger")?.call1(("fiedler",))?.unbind());
    Ok(LOGGER.get_or_try_init(py, made)?.bind(py))
}

/// Collects the records that Python's logger `fiedler` wants. A call begins with this, since the level may change.
pub(crate) fn listen(py: Python<'_>) -> PyResult<()> {
    static ONCE: Once = Once::new();
    // It fails only if there is a logger, which then is the same one.
    ONCE.call_once(|| drop(log::set_logger(&QUEUE)));
    let level: u32 = logger(py)?.call_method0("getEffectiveLevel")?.extract()?;
    log::set_max_level(match level {
        0..=10 => LevelFilter::Debug,
        11..=20 => LevelFilter::Info,
        21..=30 => LevelFilter::Warn,
        31..=50 => LevelFilter::Error,
        _ => LevelFilter::Off,
    });
    Ok(())
}

/// Hands the waiting records to Python's logger.
pub(crate) fn deliver(py: Python<'_>) -> PyResult<()> {
    let records = std::mem::take(&mut *QUEUE.lock());
    for (level, words) in records {
        let level = match level {
            Level::Error => 40,
            Level::Warn => 30,
            Level::Info => 20,
            Level::Debug | Level::Trace => 10,
        };
        logger(py)?.call_method1("log", (level, "%s", words))?;
    }
    Ok(())
}
