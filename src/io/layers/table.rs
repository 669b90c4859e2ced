//! Tables and strings of bits as one layer.

use super::{Extent, Layer, LayerRows, Layers, Numbers, Source};
use crate::error::Result;
use crate::io::roles::Roles;
use crate::io::table::{self, Ask, Rows};
use std::ops::Range;
use std::path::Path;

/// The numbers of all samples.
#[derive(Debug)]
pub(super) struct Table {
    numbers: Numbers,
    rows: Rows,
}

impl Table {
    pub(super) fn read(&self, rows: Range<usize>, made: &mut LayerRows) {
        match &self.rows {
            Rows::Even(length) => {
                made.numbers.copy(&self.numbers, rows.start * length..rows.end * length);
                made.lengths = None;
            }
            Rows::Ragged(offsets) => {
                made.numbers.copy(&self.numbers, offsets[rows.start]..offsets[rows.end]);
                made.lengths = Some(offsets[rows.start..=rows.end].windows(2).map(|pair| pair[1] - pair[0]).collect());
            }
        }
    }
}

pub(super) fn open(path: &Path, roles: Roles<'_>, values: Option<bool>) -> Result<Layers> {
    let found = table::open(path, &Ask { roles, values, finite: false, known: None })?;
    let (extent, len) = match &found.rows {
        Rows::Even(length) => (Extent::Vector(*length), found.numbers.len() / length),
        Rows::Ragged(offsets) => {
            let longest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
            (Extent::Ragged { longest }, offsets.len() - 1)
        }
    };
    let name = if found.bits { "bits" } else { "values" };
    let layers = vec![Layer { name: name.to_owned(), extent, wide: matches!(found.numbers, Numbers::F64(_)) }];
    let source = Source::Table(Table { numbers: found.numbers, rows: found.rows });
    Ok(Layers { source, layers, len, targets: found.targets, findings: found.findings, ids: found.ids })
}
