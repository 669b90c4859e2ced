//! File input and output: reads data sets of graphs and arrays, and writes graphs and arrays. Every parse error names
//! the file, the line if there is one, and what was expected there.

mod adjacency_list;
mod archive;
mod array_file;
mod array_roles;
mod atomic;
mod csv;
mod data_set;
mod detect;
mod dimacs;
mod edge_arrays;
mod edge_data;
mod edge_list;
mod edges;
mod encoded;
mod field;
mod files;
mod gml;
mod graph;
mod graph6;
mod header;
mod ids;
mod layers;
mod lines;
mod magic;
mod matrix_market;
mod metis;
mod named;
mod node_link;
mod nodes;
mod npy;
mod npz;
mod ogb;
mod opening;
mod pajek;
mod plain;
mod refused;
mod roles;
mod row_table;
mod rows;
mod safetensors;
mod sample_rows;
mod samples;
mod separator;
mod several;
mod source;
mod stored;
mod stream;
mod syncing;
mod table;
mod tensors;
mod tudataset;
mod weights;
mod write;
mod xml;

#[cfg(feature = "arrow")]
pub(crate) use atomic::write_whole;
pub use atomic::{abandon, fill_folder};
pub use data_set::{DataSet, Format, NodeIds, ReadOptions, read, read_from, read_with};
pub use encoded::{encoding_arrays, structural_arrays};
pub use graph::write_graph;
#[cfg(feature = "arrow")]
pub(crate) use header::{
    NAMED_ENDS, NO_COLUMN, are_ends, check_order, edge_columns, ignored, is_index, is_named_weight, may_be_index,
    weight_column,
};
#[cfg(feature = "arrow")]
pub(crate) use ids::{distinct, numbering};
pub(crate) use layers::fits;
pub use layers::{Extent, Layer, LayerRows, Layers, Numbers};
pub use matrix_market::{SparseRows, read_matrix, read_symmetric_matrix};
pub use named::{Data, NamedArray, Rows};
pub use npy::{Npy, NpyData, NpyFile, read_npy};
#[cfg(feature = "arrow")]
pub(crate) use opening::integer;
pub use roles::{Findings, LabelColumn, LeftOut, Roles, Suspicion, TargetOrigin, no_inputs};
pub use row_table::{RowTable, TakeRows};
pub(crate) use safetensors::checksum;
pub use sample_rows::SampleRows;
pub use samples::{KnownInputs, SampleTable, TableTargets, Wanted, no_label, read_samples, seem_values, unlearnable};
pub(crate) use stream::{SampleFolder, StreamedArray, StreamedData, write_blocks, write_streamed};
pub use tensors::{StoredArray, Tensors, read_arrays, read_shapes};
pub use tudataset::write_tudataset;
#[cfg(feature = "arrow")]
pub(crate) use weights::TIMESTAMP_BOUND;
pub use write::{to_bytes, write, write_text, write_texts};
