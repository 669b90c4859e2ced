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
//!
//! # From layers to columns
//!
//! 1. [`Layers`](crate::io::Layers) opens a data set: samples that consist of named layers of numbers. `plan.rs`
//!    decides the order of the columns and divides the samples of each layer into blocks. The number of samples in a
//!    block is a power of two that depends on the data alone, so that caches find the same blocks again. `side.rs`
//!    chooses one side for the whole data set.
//! 2. Three threads work at the same time. The first (`read.rs`) reads block after block. It looks up each block in the
//!    caches, and does not read blocks that are found completely. The second (`compute.rs`) computes what was not
//!    found. The caller's thread (`collect.rs`) stores what was computed, and passes on the columns of a chunk of
//!    samples as soon as they are complete. So a file is written ([`RowTable`](crate::io::RowTable)) while the next
//!    blocks are read and computed. A unit (`unit.rs`) has the columns of a block in the form in which caches store
//!    them.
//! 3. A [`Program`](crate::ops::series::Program) computes the measures of all representations together; the
//!    documentation of `ops/series/parts.rs` describes how. Singular values come from [`svdvals`](crate::ops::svdvals),
//!    which `compute.rs` calls.
//! 4. [`Edges`] are the edges of histograms that training samples determine, another range for each layer. Programs and
//!    the keys of caches see this range only. [`Steps`] are fitted to training samples in further passes, and applied
//!    before the file is written.
//!
//! [`GraphExtractor`] computes representations of graphs from their encodings. It shares only the form of
//! representations and of results with the above.
//!
//! # Adding a representation
//!
//! A representation of existing measures needs no code: it is a table in a file. `presets.toml` has those that ship, in
//! the same form, and a test in `presets.rs` has the number of columns of each.
//!
//! A column of an existing measure is added to the file of the measure in `ops/series`: its name and formula to the
//! list of `named!`, and what computes it. As an example, the crest factor of a sample, in `ops/series/moments.rs`, and
//! a preset with this column, in `presets.toml`:
//!
//! ```text
//! Crest: "crest", "abs_max / rms";                                          // in `named!`
//! Moment::Crest => sums.max.max(-sums.min) / (sums.energy / n).sqrt(),      // in `Moments::columns`
//! ```
//!
//! ```toml
//! [crest]
//! about = "the crest factor"
//! kind = "moments"
//! columns = ["crest"]
//! ```
//!
//! By default, `moments` has all columns of its list, so it has this one, too. A measure of another kind needs:
//!
//! 1. A file in `ops/series`, with a struct of the parameters, a list of columns, and the functions that compute them:
//!    `parts` computes what takes time, and `columns` the formulas. `ops/series/histogram.rs` is an example.
//! 2. A variant of [`Measure`](crate::ops::series::Measure). The compiler reports every `match` that has to name it.
//!    `ops/series/gpu/limits.rs` may refuse it, so that the CPU computes it.
//! 3. An entry in [`kinds`], from which `fiedler features --list` and the parser of names take it.
//!
//! In both cases, add tests to `tests/statistics/series.rs` and a line to `docs/features.md`. Increment `NUMERICS`
//! (`stored.rs`) with every change that may alter a bit of an existing column.

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
