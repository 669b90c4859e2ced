//! Encodings of graphs: which operations make one, and in which order.

mod canonical;
mod encoding;
mod pairs;
mod plan;
mod spectral;
mod walks;

pub use encoding::{Encoding, RowMajor};
pub use spectral::{Progress, Report, SpectralEncoder, Which};
