//! The operations: mathematics on batches, each with a device and a CPU half and one choice between them.

pub(crate) mod certificate;
pub mod eigen;

pub use certificate::{Certificate, Status};
