//! Tests that need no device: one suite per file.

mod arrays;
mod cache;
mod checkpoints;
mod features;
mod features_edges;
mod features_graphs;
mod features_stored;
mod gan;
mod generate;
mod generators;
mod graph;
mod groups;
mod io;
mod io_foreign;
mod io_layers;
mod io_plain;
mod io_readers;
mod layers;
mod mixed;
mod packs;
mod policy;
mod sgld;
mod train;
mod tuning;
mod unrolled;
mod words;
