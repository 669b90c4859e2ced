//! Features of data sets: many representations of every sample, computed in one read.
//!
//! A [`Representation`] is data: a name, and the [`Measure`](crate::ops::series::Measure)s that make its columns. It
//! is a preset, a kind with parameters, or read from a file. [`Extractor`] computes all of them for every layer of a
//! data set, and [`GraphExtractor`] for graphs.
//!
//! ```
//! use fiedler::features::{Extractor, Representation};
//! use fiedler::io::Layers;
//! use fiedler::Context;
//!
//! let ctx = Context::cpu();
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("series.csv");
//! std::fs::write(&path, "1,2,3,4\n2,1,2,1\n")?;
//! let data = Layers::open(&[path])?;
//! let found = Extractor::new(Representation::parse_list("moments(columns=['mean', 'sd'])")?).extract(&ctx, &data)?;
//! assert_eq!(found.names(), ["moments.mean", "moments.sd"]);
//! assert_eq!(found.row(0)[0], 2.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod collect;
mod compute;
mod edges;
mod extract;
mod fitted;
pub mod generate;
mod graphs;
mod notation;
mod part;
mod plan;
mod presets;
mod read;
mod representation;
mod side;
mod stored;
mod unit;

pub use edges::Edges;
pub use extract::{Extracted, Extractor, Progress, Report};
pub use fitted::{Step, Steps, TakeColumns};
pub use graphs::{Beyond, GraphColumn, GraphExtractor, Graphs};
pub use part::Part;
pub use plan::Column;
pub use presets::presets;
pub use representation::{Kind, Representation, kinds};

use crate::error::Error;

fn wrong(what: impl Into<String>) -> Error {
    Error::domain("features", what)
}
