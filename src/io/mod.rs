//! File input and output: reads data sets of graphs and arrays, and writes graphs and arrays. Every parse error names
//! the file, the line if there is one, and what was expected there.

mod atomic;
mod csv;
mod data_set;
mod edge_data;
mod edge_list;
mod graph;
mod header;
mod layers;
mod lines;
mod magic;
mod matrix_market;
mod metis;
mod named;
mod npy;
mod npz;
mod opening;
mod plain;
mod refused;
mod row_table;
mod rows;
mod safetensors;
mod sample_rows;
mod samples;
mod separator;
mod stored;
mod stream;
mod tensors;
mod tudataset;
mod weights;
mod write;

pub use atomic::abandon;
pub use data_set::{DataSet, Format, NodeIds, ReadOptions, read, read_with};
pub use graph::write_graph;
pub use layers::{Extent, LabelColumn, Layer, LayerRows, Layers, Numbers};
pub use matrix_market::{SparseRows, read_matrix, read_symmetric_matrix};
pub use named::{Data, NamedArray, Rows};
pub use npy::{Npy, NpyData, NpyFile, read_npy};
pub use row_table::{RowTable, TakeRows};
pub(crate) use safetensors::checksum;
pub use sample_rows::SampleRows;
pub use samples::{SampleTable, TableTargets, Wanted, read_samples};
pub(crate) use stream::{SampleFolder, StreamedArray, StreamedData, write_blocks, write_streamed};
pub use tensors::{StoredArray, Tensors, read_arrays};
pub use tudataset::write_tudataset;
pub use write::{write, write_text};
