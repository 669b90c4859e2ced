//! Encodings and features of graphs in Arrow tables: functions from one record batch to another, without state.
//! Frameworks that divide a data set over machines, such as Ray, Spark and Dask, call them for every part (feature
//! `arrow`).
//!
//! A table has a graph in each row, or an edge. [`Encoder`] says which columns and types it takes, and which columns it
//! adds. The row of a graph has the same bytes in whatever batch it is, in whatever order and on however many threads,
//! because everything about a graph is decided by the graph alone
//! ([`by_graph`](crate::encode::SpectralEncoder::by_graph)). A graph that cannot be encoded is no error of the call:
//! its row says why in the columns `status` and `error`.
//!
//! [`TableReader`] and [`TableWriter`] stream files in Arrow's IPC formats and, with the feature `parquet`, in Parquet.
//!
//! ```
//! use arrow_array::{RecordBatch, builder::{Int32Builder, ListBuilder}, cast::AsArray};
//! use fiedler::{Context, arrow::Encoder, encode::SpectralEncoder};
//! use std::sync::Arc;
//!
//! // A path of three nodes, and a single edge.
//! let (mut src, mut dst) = (ListBuilder::new(Int32Builder::new()), ListBuilder::new(Int32Builder::new()));
//! for edges in [&[(0, 1), (1, 2)][..], &[(0, 1)]] {
//!     src.append_value(edges.iter().map(|edge| Some(edge.0)));
//!     dst.append_value(edges.iter().map(|edge| Some(edge.1)));
//! }
//! let columns = [("src", Arc::new(src.finish()) as _), ("dst", Arc::new(dst.finish()) as _)];
//! let table = RecordBatch::try_from_iter(columns)?;
//! let encoded = Encoder::new(SpectralEncoder::new(2)).encode_batch(&Context::cpu(), &table)?;
//! assert_eq!(encoded["status"].as_string::<i32>().value(0), "converged");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod encoder;
mod features;
mod file;
mod graphs;
mod ids;
mod listed;
mod made;
mod rows;
mod runs;
mod values;

pub use columns::{Columns, Role};
pub use encoder::Encoder;
pub use features::FeatureEncoder;
pub use file::{Kind, Shard, TableReader, TableWriter, panics_are_errors};
pub use graphs::{batches_of, read};
pub use runs::Runs;

use crate::error::Error;
use arrow_schema::ArrowError;

const TABLE: &str = "table";

/// Returns an error about a table: what was expected of it, and what was found.
fn wrong(what: impl Into<String>) -> Error {
    Error::domain(TABLE, what)
}

/// Returns the error for what Arrow refuses about arrays that this crate made.
fn refused(error: &ArrowError) -> Error {
    wrong(error.to_string())
}
