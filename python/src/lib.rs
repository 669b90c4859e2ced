//! The native half of the Python package `fiedler`, the module `fiedler._fiedler`. Names, defaults, shapes, kinds of
//! input and the library of the result are decided in `fiedler/*.py`, which is the public half. It tells the kinds of
//! graphs, arrays and tables apart without importing other libraries (`_graphs.py`, `_edges.py`, `_arrays.py`,
//! `_tables.py`).
//!
//! A call takes this way:
//!
//! 1. `arrays.rs` borrows arrays of NumPy (`Array::from_owner`), or an operation copies them in the order of the
//!    library (`Array::from_row_major`). Results become NumPy arrays without a copy.
//! 2. `context.rs` opens threads, and a device once a call is worth it, in each process (`processes.rs`).
//!    Each call takes a context of its own from it, with a `Cancel`.
//! 3. `wait.rs` runs the call without the GIL, on the threads of the context. Work that waits for these threads, such
//!    as the extraction of features, runs beside them, and calls of less than a millisecond run on the calling thread.
//!    Otherwise the calling thread answers signals, reports progress and hands log records to `logging` (`logs.rs`).
//! 4. Some calls have steps that cannot be divided, such as the factorization of a large graph. They own everything
//!    that they read (`released`). If one does not end in time after a signal, it is left behind with its threads, and
//!    the next call opens others (`Session::leave`).
//! 5. Errors become exceptions (`errors.rs`, `_errors.py`), and so do panics (`panics.rs`).

#![warn(unreachable_pub)]

mod arrays;
mod context;
mod eigsh;
mod encode;
mod errors;
mod features;
mod fft;
mod gradients;
mod graphs;
mod linalg;
mod logs;
mod panics;
mod processes;
mod random;
mod stats;
mod structural;
mod tables;
mod train;
mod wait;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `fiedler` and returns its exit status.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| fiedler_cli::main(arguments))
}

/// Panics, for the tests of what happens then.
#[pyfunction]
fn panic(context: &Bound<'_, context::Door>) -> PyResult<()> {
    let choose = |ctx: &fiedler::Context| Ok(ctx.explain(&Default::default(), false));
    wait::waited(context.py(), context.get(), choose, None, |_, _| -> fiedler::Result<()> { panic!("as asked") })
}

#[pyfunction]
fn is_worker(py: Python<'_>) -> PyResult<bool> {
    wait::is_worker(py)
}

#[pymodule(gil_used = false)]
fn _fiedler(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<context::Door>()?;
    module.add_class::<graphs::Graphs>()?;
    module.add_class::<random::Numbers>()?;
    module.add_class::<features::Samples>()?;
    module.add_class::<tables::Table>()?;
    module.add_class::<train::Trained>()?;
    module.add_class::<train::chains::Sampled>()?;
    module.add_class::<train::model::Predictor>()?;
    for function in [
        wrap_pyfunction!(main, module)?,
        wrap_pyfunction!(panic, module)?,
        wrap_pyfunction!(is_worker, module)?,
        wrap_pyfunction!(context::set_threads, module)?,
        wrap_pyfunction!(context::threads, module)?,
        wrap_pyfunction!(encode::encode, module)?,
        wrap_pyfunction!(structural::structural, module)?,
        wrap_pyfunction!(features::extract, module)?,
        wrap_pyfunction!(linalg::eigh, module)?,
        wrap_pyfunction!(linalg::svd, module)?,
        wrap_pyfunction!(linalg::svd_truncated, module)?,
        wrap_pyfunction!(gradients::eigh_vjp, module)?,
        wrap_pyfunction!(gradients::svd_vjp, module)?,
        wrap_pyfunction!(gradients::eigh_ragged, module)?,
        wrap_pyfunction!(gradients::eigh_ragged_vjp, module)?,
        wrap_pyfunction!(gradients::eigsh_vjp, module)?,
        wrap_pyfunction!(linalg::matmul, module)?,
        wrap_pyfunction!(eigsh::eigsh, module)?,
        wrap_pyfunction!(eigsh::eigsh_laplacian, module)?,
        wrap_pyfunction!(eigsh::eigsh_products, module)?,
        wrap_pyfunction!(fft::transform, module)?,
        wrap_pyfunction!(fft::real, module)?,
        wrap_pyfunction!(fft::inverse_real, module)?,
        wrap_pyfunction!(fft::trigonometric, module)?,
        wrap_pyfunction!(fft::power_spectrum, module)?,
        wrap_pyfunction!(stats::describe, module)?,
        wrap_pyfunction!(stats::quantiles, module)?,
        wrap_pyfunction!(stats::histogram, module)?,
        wrap_pyfunction!(stats::cov, module)?,
        wrap_pyfunction!(stats::divergence, module)?,
        wrap_pyfunction!(stats::pca, module)?,
        wrap_pyfunction!(tables::encode_table, module)?,
        wrap_pyfunction!(tables::features_table, module)?,
        wrap_pyfunction!(train::fit, module)?,
        wrap_pyfunction!(train::chains::sample, module)?,
        wrap_pyfunction!(train::suspects, module)?,
        wrap_pyfunction!(train::no_inputs, module)?,
        wrap_pyfunction!(train::no_label, module)?,
        wrap_pyfunction!(train::write_tensors, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
