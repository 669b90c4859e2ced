//! Writes a CSV table with one row per node. A value that belongs to a whole graph is repeated in the row of each of
//! the graph's nodes.

use super::named::{Data, NamedArray, Rows};
use crate::error::{Error, Result};
use std::fmt::Write as _;
use std::io::{self, Write};

const OPERATION: &str = "write csv";

/// The validated arrays as the columns of a table.
pub(super) struct Table<'a> {
    offsets: &'a [i64],
    columns: Vec<Column<'a>>,
}

struct Column<'a> {
    title: String,
    array: &'a NamedArray<'a>,
    /// The number of array elements from one row to the next. `place` is the offset of this column within a row.
    stride: usize,
    place: usize,
    /// Whether it has the imaginary parts of complex numbers, whose real parts are another column.
    imaginary: bool,
}

impl<'a> Table<'a> {
    /// Arranges the columns in this order: `graph`, `node`, `node_id` if there are ids, then the arrays with one axis,
    /// then the arrays with two axes. Arrays with the same number of axes keep the order in which they are given.
    pub(super) fn new(arrays: &'a [NamedArray<'a>]) -> Result<Self> {
        let offsets = arrays.iter().find_map(|array| match array.data {
            Data::I64(offsets) if array.name == "node_offsets" => Some(offsets),
            _ => None,
        });
        let Some(offsets) = offsets.filter(|offsets| offsets.first() == Some(&0) && offsets.is_sorted()) else {
            let what = "a table needs the array node_offsets, 64-bit integers that ascend from 0: \
                        it has a row for each node of the graphs; .npz and .safetensors hold any array";
            return Err(Error::domain(OPERATION, what));
        };
        let graphs = offsets.len() - 1;
        let nodes = usize::try_from(offsets[graphs]).unwrap_or(usize::MAX);
        let mut columns: Vec<(u8, Column<'a>)> = Vec::new();
        for array in arrays.iter().filter(|array| array.name != "node_offsets") {
            let rows = match array.rows {
                Rows::Graphs => graphs,
                Rows::Nodes => nodes,
                Rows::Other => {
                    let what =
                        format!("{} has no row for each node or graph, so a table has no place for it", array.name);
                    return Err(Error::domain(OPERATION, what));
                }
            };
            if array.shape.first() != Some(&rows) || array.shape.len() > 2 {
                let expected = format!("{rows} rows of {}, with one axis or two", array.name);
                return Err(Error::shape(OPERATION, expected, format!("{:?}", array.shape)));
            }
            let column = |title, stride, place| Column { title, array, stride, place, imaginary: false };
            let is_complex = matches!(array.data, Data::C64(_) | Data::C128(_));
            // CSV has no complex numbers, so their parts are two columns.
            let parts = |name: String, stride, place| {
                let imaginary = column(format!("{name}_imaginary"), stride, place);
                [column(format!("{name}_real"), stride, place), Column { imaginary: true, ..imaginary }]
            };
            match array.shape.get(1) {
                None if array.name == "node_ids" => columns.push((0, column("node_id".into(), 1, 0))),
                None if is_complex => columns.extend(parts(array.name.into(), 1, 0).map(|column| (1, column))),
                None => columns.push((1, column(array.name.into(), 1, 0))),
                Some(&width) => {
                    let name = array.name.strip_suffix('s').unwrap_or(array.name);
                    for (i, title) in (0..width).map(|i| (i, format!("{name}_{}", i + 1))) {
                        match is_complex {
                            true => columns.extend(parts(title, width, i).map(|column| (2, column))),
                            false => columns.push((2, column(title, width, i))),
                        }
                    }
                }
            }
        }
        columns.sort_by_key(|&(rank, _)| rank);
        Ok(Self { offsets, columns: columns.into_iter().map(|(_, column)| column).collect() })
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        let titles = ["graph", "node"].into_iter().chain(self.columns.iter().map(|column| column.title.as_str()));
        table.write_record(titles)?;
        let mut row = 0;
        let mut cell = String::new();
        for (graph, pair) in self.offsets.windows(2).enumerate() {
            for node in 0..pair[1] - pair[0] {
                write_cell(&mut table, &mut cell, graph)?;
                write_cell(&mut table, &mut cell, node)?;
                for column in &self.columns {
                    let row = if column.array.rows == Rows::Graphs { graph } else { row };
                    let place = row * column.stride + column.place;
                    match column.array.data {
                        // `{:?}` writes the shortest text that parses to the same number, with an exponent for very
                        // large and very small numbers.
                        Data::F32(data) => write_cell(&mut table, &mut cell, format_args!("{:?}", data[place]))?,
                        Data::F64(data) => write_cell(&mut table, &mut cell, format_args!("{:?}", data[place]))?,
                        Data::F16(data) => write_cell(&mut table, &mut cell, data[place])?,
                        Data::C64(data) => {
                            let part = if column.imaginary { data[place].im } else { data[place].re };
                            write_cell(&mut table, &mut cell, format_args!("{part:?}"))?;
                        }
                        Data::C128(data) => {
                            let part = if column.imaginary { data[place].im } else { data[place].re };
                            write_cell(&mut table, &mut cell, format_args!("{part:?}"))?;
                        }
                        Data::I64(data) => write_cell(&mut table, &mut cell, data[place])?,
                        Data::U8(data) => write_cell(&mut table, &mut cell, data[place])?,
                        Data::Text(data) => table.write_field(&data[place])?,
                    }
                }
                table.write_record(None::<&[u8]>)?;
                row += 1;
            }
        }
        table.flush()
    }
}

fn write_cell(table: &mut csv::Writer<impl Write>, cell: &mut String, value: impl std::fmt::Display) -> io::Result<()> {
    cell.clear();
    write!(cell, "{value}").map_err(io::Error::other)?;
    table.write_field(&cell)?;
    Ok(())
}
