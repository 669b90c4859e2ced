//! How a command reads graphs, and what it says of them.

use super::Failure;
use super::values::counted;
use clap::Args;
use fiedler::ErrorKind;
use fiedler::graph::Conventions;
use fiedler::io::{DataSet, ReadOptions, read_with};
use std::path::Path;

/// What a data set is read with.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Reading {
    /// Weigh the edges of a TUDataset by column N, from 1, of DS_edge_attributes.txt.
    #[arg(long, value_name = "N", value_parser = counted)]
    pub(super) edge_weight_column: Option<usize>,
}

impl Reading {
    /// The data set; an option that its format has no use for is a wrong call.
    pub(super) fn read(self, input: &Path, conventions: &Conventions) -> Result<DataSet, Failure> {
        let mut options = ReadOptions::default();
        options.edge_weight_column = self.edge_weight_column;
        read_with(input, conventions, &options).map_err(|error| match error.kind() {
            ErrorKind::Domain { what, .. } => Failure::Call(format!("--edge-weight-column: {what}")),
            _ => error.into(),
        })
    }
}

/// Says on standard error what the reader has to say.
pub(super) fn notify(data: &DataSet) {
    for notice in &data.notices {
        super::complain(notice);
    }
}
