//! `fiedler.random`: streams of random numbers.

use crate::arrays::result;
use crate::context::Door;
use crate::errors::raised;
use crate::wait::waited;
use fiedler::ops::random::{self, Stream, choose_random};
use fiedler::{Context, Error, Shape};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A stream of random numbers (Philox4x32-10). Created by `fiedler.random.Stream`.
#[pyclass(frozen, module = "fiedler._fiedler", name = "Stream")]
pub(crate) struct Numbers(Mutex<Stream>);

#[pymethods]
impl Numbers {
    #[new]
    fn new(seed: u64, name: &str) -> Self {
        Self(Mutex::new(Stream::new(seed, name)))
    }

    /// The number of 32-bit words that were drawn or skipped.
    #[getter]
    fn position(&self, py: Python<'_>) -> u128 {
        self.locked(py).position()
    }

    /// Skips words.
    fn skip(&self, py: Python<'_>, words: u128) {
        self.locked(py).skip(words);
    }

    /// Returns an independent stream, which depends on the seed, the name and the number alone.
    fn substream(&self, py: Python<'_>, number: u64) -> Self {
        Self(Mutex::new(self.locked(py).substream(number)))
    }

    /// Draws an array: uniform in [a, b), normal with mean a and standard deviation b, bernoulli with probability a, or
    /// words.
    fn draw<'py>(
        &self,
        context: &Bound<'py, Door>,
        law: &str,
        numbers: (f64, f64),
        shape: Vec<usize>,
        wide: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, door, (a, b)) = (context.py(), context.get(), numbers);
        let Some(len) = shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length)) else {
            let what = format!("expected a number of elements that memory can hold, found the shape {shape:?}");
            return Err(raised(py, &Error::domain("random", what)));
        };
        let flat = Shape::new(len, 1, 1);
        let choose = |ctx: &Context| Ok(choose_random::<f32>(ctx, flat));
        // Another thread that draws at the same time waits for the end of this call. The lock is taken here: a thread of
        // the context that waits for others with the lock could begin the other call meanwhile, and never end it.
        let mut locked = self.locked(py);
        let stream = &mut *locked;
        macro_rules! drawn {
            ($made:expr) => {
                result(py, waited(py, door, choose, None, $made)?, shape)
            };
        }
        match (law, wide) {
            ("words", _) => drawn!(|ctx, _| random::words(ctx, stream, flat)?.to_host(ctx)),
            ("uniform", false) => {
                drawn!(|ctx, _| random::uniform::<f32>(ctx, stream, flat, a..b)?.to_host(ctx))
            }
            ("uniform", true) => drawn!(|ctx, _| random::uniform::<f64>(ctx, stream, flat, a..b)?.to_host(ctx)),
            ("normal", false) => drawn!(|ctx, _| random::normal::<f32>(ctx, stream, flat, a, b)?.to_host(ctx)),
            ("normal", true) => drawn!(|ctx, _| random::normal::<f64>(ctx, stream, flat, a, b)?.to_host(ctx)),
            ("bernoulli", false) => {
                drawn!(|ctx, _| random::bernoulli::<f32>(ctx, stream, flat, a)?.to_host(ctx))
            }
            ("bernoulli", true) => {
                drawn!(|ctx, _| random::bernoulli::<f64>(ctx, stream, flat, a)?.to_host(ctx))
            }
            _ => {
                let what = format!("expected uniform, normal, bernoulli or words, found {law:?}");
                Err(raised(py, &Error::domain("random", what)))
            }
        }
    }
}

impl Numbers {
    /// Locks the stream. Others may hold the GIL meanwhile, so that they can unlock it.
    fn locked(&self, py: Python<'_>) -> MutexGuard<'_, Stream> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}
