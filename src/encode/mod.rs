//! Encodings of graphs. An encoder combines several operations into one call.

mod blocks;
mod canonical;
mod dense;
mod encoding;
mod magnetic;
mod pairs;
mod place;
mod plan;
mod run;
mod separate;
mod settings;
mod sparse;
mod spectral;
mod stored;
mod structural;
mod walks;

pub use crate::ops::eigen::Which;
pub use encoding::{ComplexRowMajor, Encoding, RowMajor};
pub use settings::Method;
pub use spectral::{Progress, Report, SpectralEncoder};
pub use structural::{StructuralEncoder, StructuralEncoding};

/// Returns the version of the numerical results.
#[cfg(feature = "arrow")]
pub(crate) fn numerics() -> u64 {
    blocks::NUMERICS
}
