//! Code that the test binaries share: the harness, cases, and the measures that judge them.
#![allow(missing_docs, missing_debug_implementations, reason = "it is read by this workspace's tests alone")]

pub mod adversary;
pub mod batches;
pub mod chromium;
pub mod divergences;
mod dump;
pub mod families;
pub mod fourier;
pub mod gates;
pub mod gradients;
pub mod graphs;
mod harness;
pub mod lapack;
pub mod products;
pub mod random;
pub mod rectangles;
pub mod referee;
pub mod samples;
pub mod solve;
pub mod source;
pub mod sparse;
pub mod statistics;
mod workers;

use std::path::Path;

pub use harness::{Outcome, Test, device_free, on_cpu, on_each, on_gpus, on_gpus_with, run, run_trial, sample, suite};

/// The repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
