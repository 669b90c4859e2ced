//! Tests of the command as a user runs it, one module for each part of it.

mod bits;
mod call;
mod calls;
mod encode;
mod experiment;
mod extract;
mod extract_edges;
mod extract_graphs;
mod feature_labels;
mod feature_stores;
mod features;
mod generated;
mod interrupted;
mod matmul;
mod overwriting;
mod policy;
mod profile;
mod readers;
mod row_groups;
mod run;
mod sampling;
mod stored;
mod tables;
mod tournament;
mod train;
mod words;
