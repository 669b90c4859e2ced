//! Which columns an extraction has, and in which pieces a data set is read.

use super::representation::Representation;
use crate::error::{Error, Result};
use crate::io::{Extent, Layers, fits};
use crate::ops::series::SampleShape;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ops::Range;

/// The bytes of a block of samples of one layer, which is the unit that is stored, rounded down to a power of two of
/// samples. A block is large compared with the cost of finding it, and small compared with any memory.
const BLOCK_BYTES: usize = 1 << 20;
/// The most samples of a block.
const BLOCK_SAMPLES: usize = 4096;
/// The bytes of the samples that are read together if every sample is a file.
const FILES_BYTES: usize = 32 << 20;
/// The most files that are read together.
const FILES: usize = 64;

/// The bytes of the columns that wait until they are collected, while others are written.
const AHEAD_BYTES: usize = 16 << 20;
/// The most blocks that wait.
const AHEAD: usize = 64;

/// A column of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name of the representation.
    pub representation: String,
    /// The name of the layer; `graph` for graphs.
    pub layer: String,
    /// The name within the representation.
    pub column: String,
}

/// A layer and what is computed of it.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    /// The place of the layer in the data set.
    pub(super) layer: usize,
    pub(super) extent: Extent,
    /// The columns of each representation in the result.
    pub(super) columns: Vec<Range<usize>>,
    /// The samples of a block, a power of two.
    pub(super) block: usize,
}

/// The columns of an extraction, and its pieces.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) layers: Vec<Planned>,
    pub(super) columns: Vec<Column>,
    /// The samples whose columns are complete at the same time, a power of two.
    pub(super) chunk: usize,
    /// The blocks whose columns wait at most until they are collected.
    pub(super) ahead: usize,
}

impl Plan {
    /// Plans the representations of some layers: the columns of a representation are adjacent, within it those of a
    /// layer.
    pub(super) fn new(
        representations: &[Representation],
        data: &Layers,
        patterns: &[String],
        budget: u64,
    ) -> Result<Self> {
        if let Some(of_graphs) = representations.iter().find(|one| one.is_of_graphs()) {
            let found = of_graphs.name();
            let what = format!("expected representations of numbers, found {found}, for graphs in a `GraphExtractor`");
            return Err(Error::domain("features", what));
        }
        let chosen = chosen(data, patterns)?;
        let mut layers: Vec<Planned> = chosen
            .iter()
            .map(|&layer| {
                let extent = data.layers()[layer].extent;
                Planned { layer, extent, columns: Vec::new(), block: block(data, layer) }
            })
            .collect();
        let mut columns = Vec::new();
        for representation in representations {
            for planned in &mut layers {
                let layer = &data.layers()[planned.layer].name;
                let names = names(representation, planned.extent, layer)?;
                let first = columns.len();
                columns.extend(names.into_iter().map(|column| Column {
                    representation: representation.name().to_owned(),
                    layer: layer.clone(),
                    column,
                }));
                planned.columns.push(first..columns.len());
            }
        }
        let mut chunk = layers.iter().map(|layer| layer.block).max().unwrap_or(1);
        // The columns of a chunk take a quarter of the budget at most.
        let bytes = (4 * columns.len().max(1)) as u64;
        while chunk > 1 && chunk as u64 * bytes > budget / 4 {
            chunk /= 2;
        }
        if bytes > budget / 4 {
            return Err(Error::budget(format!("bytes for {} columns of a sample", columns.len()), 4 * bytes, budget));
        }
        layers.iter_mut().for_each(|layer| layer.block = layer.block.min(chunk));
        let widest = |layer: &Planned| layer.block * layer.columns.iter().map(ExactSizeIterator::len).sum::<usize>();
        let widest = layers.iter().map(widest).max().unwrap_or(0).max(1);
        let ahead = (AHEAD_BYTES / widest.saturating_mul(4)).clamp(1, AHEAD);
        let made = Self { layers, columns, chunk, ahead };
        made.check_names()?;
        Ok(made)
    }

    /// Checks that no two columns have one name. Names may have dots, so `a.b` and `c` look like `a` and `b.c`.
    fn check_names(&self) -> Result<()> {
        let shown = |Column { representation, layer, column }: &Column| {
            format!("`{column}` of the representation `{representation}` and the layer `{layer}`")
        };
        let mut seen: HashMap<String, &Column> = HashMap::new();
        for (name, column) in self.names().into_iter().zip(&self.columns) {
            if let Some(other) = seen.get(&name) {
                let (one, other) = (shown(other), shown(column));
                let what = format!("expected columns with different names, found `{name}` twice: {one}, and {other}");
                return Err(Error::domain("features", what));
            }
            seen.insert(name, column);
        }
        Ok(())
    }

    /// Returns the names of the columns: `representation.layer.column`, without the layer if there is only one.
    pub(super) fn names(&self) -> Vec<String> {
        let one = self.layers.len() == 1;
        let name = |Column { representation, layer, column }: &Column| match one {
            true => format!("{representation}.{column}"),
            false => format!("{representation}.{layer}.{column}"),
        };
        self.columns.iter().map(name).collect()
    }

    /// Describes all columns, and the representations that made them.
    pub(super) fn description(&self, representations: &[Representation]) -> Value {
        describe(&self.columns, &self.names(), representations)
    }
}

/// Describes columns with their names, and the representations that made them.
pub(super) fn describe(columns: &[Column], names: &[String], representations: &[Representation]) -> Value {
    let columns = columns.iter().zip(names).map(|(column, name)| {
        json!({"name": name, "representation": column.representation, "layer": column.layer, "column": column.column})
    });
    let definitions = representations.iter().map(|one| (one.name().to_owned(), one.definition()));
    json!({
        "columns": columns.collect::<Vec<_>>(),
        "representations": definitions.collect::<serde_json::Map<_, _>>(),
    })
}

/// Returns the layers that match any of the patterns, or all if there are no patterns.
fn chosen(data: &Layers, patterns: &[String]) -> Result<Vec<usize>> {
    let names = || data.layers().iter().map(|layer| layer.name.as_str());
    if let Some(pattern) = patterns.iter().find(|pattern| !names().any(|name| fits(pattern, name))) {
        let known: Vec<&str> = names().take(8).collect();
        let more = if data.layers().len() > known.len() { ", ..." } else { "" };
        let found = format!("expected a layer that matches `{pattern}`, found {}{more}", known.join(", "));
        return Err(Error::domain("features", found));
    }
    let chosen = |name: &str| patterns.is_empty() || patterns.iter().any(|pattern| fits(pattern, name));
    Ok(names().enumerate().filter(|(_, name)| chosen(name)).map(|(place, _)| place).collect())
}

/// Returns the samples of a block of a layer: a power of two that depends on the data alone.
fn block(data: &Layers, layer: usize) -> usize {
    let bytes = |layer: usize| {
        let layer = &data.layers()[layer];
        layer.extent.numbers().saturating_mul(if layer.wide { 8 } else { 4 }).max(1)
    };
    let samples = if data.by_sample() {
        let all = (0..data.layers().len()).fold(0_usize, |sum, layer| sum.saturating_add(bytes(layer)));
        (FILES_BYTES / all).clamp(1, FILES)
    } else {
        (BLOCK_BYTES / bytes(layer)).clamp(1, BLOCK_SAMPLES)
    };
    1 << samples.ilog2()
}

/// Returns the names of a representation's columns, of which there must be the same number for every sample.
fn names(representation: &Representation, extent: Extent, layer: &str) -> Result<Vec<String>> {
    let longest = match extent {
        Extent::Vector(n) => return Ok(representation.names(SampleShape::Vector(n))),
        Extent::Matrix { rows, columns } => return Ok(representation.names(SampleShape::Matrix { rows, columns })),
        Extent::Ragged { longest } => longest,
    };
    let names = representation.names(SampleShape::Vector(longest));
    if representation.names(SampleShape::Vector(1)).len() != names.len() {
        let what = format!(
            "expected a representation with as many columns for every length, since the series of {layer} differ in \
             length, found {}",
            representation.name()
        );
        return Err(Error::domain("features", what));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io;

    /// Names are joined by dots, which they may have themselves.
    #[test]
    fn columns_with_one_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npz");
        let array =
            |name| io::NamedArray { name, rows: io::Rows::Other, shape: vec![2, 3], data: io::Data::F32(&[1.0; 6]) };
        io::write(&path, &[array("c"), array("b.c")]).unwrap();
        let data = Layers::open(&[path]).unwrap();
        let of = |names: [&str; 2]| {
            let moments = Representation::parse_list("moments").unwrap()[0].measures().to_vec();
            let representations = names.map(|name| Representation::new(name, moments.clone()));
            Plan::new(&representations, &data, &[], u64::MAX).map(|plan| plan.names())
        };
        assert_eq!(of(["a", "d"]).unwrap()[0], "a.c.count");
        let error = of(["a.b", "a"]).unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Domain { .. }));
        let (one, other) = ("representation `a.b` and the layer `c`", "representation `a` and the layer `b.c`");
        for part in ["found `a.b.c.count` twice", one, other] {
            assert!(error.to_string().contains(part), "`{part}` is not in: {error}");
        }
        assert!(of(["a", "a"]).unwrap_err().to_string().contains("found `a.c.count` twice"));
    }
}
