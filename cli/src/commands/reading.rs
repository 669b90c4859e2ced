//! Reads the graphs of a command, and prints the reader's notices.

use super::Failure;
use super::values::counted;
use clap::Args;
use fiedler::arrow::{Columns, Kind, Role, Shard, TableReader};
use fiedler::graph::Conventions;
use fiedler::io::{DataSet, ReadOptions, read_from, read_with};
use fiedler::{ErrorKind, bytes_from};
use std::path::Path;

/// The memory, in bytes, that reading a table assumes if nothing is said.
const DEFAULT_BUDGET: u64 = 2 << 30;

/// The options for reading a data set.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Reading {
    /// Use column N of DS_edge_attributes.txt as the edge weights of a TUDataset. The first column is 1.
    #[arg(long, value_name = "N", value_parser = counted)]
    pub(super) edge_weight_column: Option<usize>,
}

impl Reading {
    /// Reads the data set. An option that does not apply to the format of the input is reported as a wrong call.
    pub(super) fn read(self, input: &Path, conventions: &Conventions) -> Result<DataSet, Failure> {
        self.read_with(ReadOptions::default(), input, conventions)
    }

    /// Reads the data set as [`Reading::read`] does, with the classes of its graphs.
    pub(super) fn read_labeled(self, input: &Path, conventions: &Conventions) -> Result<DataSet, Failure> {
        self.read_with(ReadOptions::default().graph_labels(), input, conventions)
    }

    fn read_with(self, mut options: ReadOptions, input: &Path, conventions: &Conventions) -> Result<DataSet, Failure> {
        options.edge_weight_column = self.edge_weight_column;
        // A context checks the variable, too, but it may be opened only after a large file was read.
        if let Some(text) = std::env::var("FIEDLER_MEMORY_BUDGET").ok().filter(|text| !text.is_empty()) {
            options.memory_budget = bytes_from(&text);
        }
        let read = if is_standard_input(input) {
            read_from("standard input", std::io::stdin().lock(), conventions, &options)
        } else if Kind::of_file(input).is_some() {
            if self.edge_weight_column.is_some() {
                let what = format!("--edge-weight-column: expected a TUDataset, found a table, {}", input.display());
                return Err(Failure::Call(what));
            }
            let budget = options.memory_budget.unwrap_or(DEFAULT_BUDGET);
            TableReader::open(input, Shard::WHOLE, budget)
                .and_then(|table| fiedler::arrow::read(input, &table.schema(), table, &Columns::default(), conventions))
        } else {
            read_with(input, conventions, &options)
        };
        read.map_err(|error| match error.kind() {
            ErrorKind::Domain { what, .. } if self.edge_weight_column.is_some() => {
                Failure::Call(format!("--edge-weight-column: {what}"))
            }
            ErrorKind::Domain { what, .. } => Failure::Said(format!("{}: {what}", input.display())),
            _ => error.into(),
        })
    }
}

/// Returns whether an input stands for standard input, or an output for standard output.
pub(super) fn is_standard_input(input: &Path) -> bool {
    input.as_os_str() == "-"
}

/// Returns whether an input can be read only once.
pub(super) fn is_stream(input: &Path) -> bool {
    is_standard_input(input) || input.metadata().is_ok_and(|own| !own.is_file() && !own.is_dir())
}

/// Returns the names of columns that a call gives.
pub(super) fn columns(said: &[(Role, String)]) -> Columns {
    said.iter().fold(Columns::default(), |columns, (role, name)| columns.named(*role, name))
}

/// Prints the reader's notices to standard error.
pub(super) fn notify(data: &DataSet) {
    for notice in data.all_notices() {
        super::complain(&notice);
    }
}
