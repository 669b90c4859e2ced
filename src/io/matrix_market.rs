//! Reads MatrixMarket coordinate files line by line: <https://math.nist.gov/MatrixMarket/formats.html>.

use super::lines::{Lines, fields, natural, quoted};
use super::source::{Source, Terms};
use super::weights::timestamps;
use crate::error::{Error, Result};
use crate::graph::EdgeList;
use std::path::Path;

const BANNER: &str = "a banner `%%MatrixMarket matrix coordinate <real|integer|pattern> <general|symmetric>`";

/// A sparse matrix in compressed sparse row form, in f64.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseRows {
    /// The number of columns.
    pub width: usize,
    /// The offset of the first entry of each row, followed by the total number of entries. The length is (number of
    /// rows + 1), and the first offset is 0.
    pub row_offsets: Vec<usize>,
    /// The column of each entry, ascending within a row.
    pub columns: Vec<u32>,
    /// The value of each entry, parallel to `columns`.
    pub values: Vec<f64>,
}

/// Reads a square matrix as a list of edges. The entry in row i and column j is the edge from i to j; an entry of a
/// symmetric file stands for both directions. Also returns a notice about weights that may be timestamps.
pub(super) fn read(source: &Source) -> Result<(EdgeList, Option<String>)> {
    let start = |lines: &Lines, (order, width): (usize, usize), entries| {
        if order != width {
            return Err(lines.error("a square matrix", shape(order, width)));
        }
        let mut edges = EdgeList::new(order).map_err(|_| lines.unexpected("a matrix of fewer than 2^32 rows"))?;
        edges.reserve(entries);
        Ok(edges)
    };
    let push = |edges: &mut EdgeList, _, source, target, weight| match weight {
        None => edges.push(source, target),
        Some(weight) => edges.push_weighted(source, target, weight),
    };
    let edges = visit(source, start, Lines::weight, push)?;
    let notice = edges.weights().and_then(|weights| timestamps(source.name(), weights));
    Ok((edges, notice))
}

/// Calls `entry` with the line, row and column of every entry. Rows and columns count from 0. For a symmetric file,
/// both directions of each entry are passed.
pub(super) fn visit_entries(source: &Source, entry: &mut dyn FnMut(u64, usize, usize)) -> Result<()> {
    let push = |_: &mut (), line, row: u32, column: u32, _: Option<()>| entry(line, row as usize, column as usize);
    visit(source, |_, _, _| Ok(()), |_, _| Ok(()), push)
}

/// Reads the matrix in a MatrixMarket coordinate file, which may be compressed by gzip or Zstandard. The matrix may
/// have any shape. If an entry is listed more than once, its values are added. In a `pattern` file, each entry has the
/// value 1.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse), which names the line and what was expected, if the content violates the format;
/// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub fn read_matrix(path: &Path) -> Result<SparseRows> {
    matrix(&Source::open_file(path, &Terms::default())?)
}

fn matrix(source: &Source) -> Result<SparseRows> {
    type Entry = (u32, u32, f64);
    let start = |_: &Lines, shape: (usize, usize), entries: usize| Ok((shape, Vec::<Entry>::with_capacity(entries)));
    let push = |(_, all): &mut ((usize, usize), Vec<Entry>), _, row, column, value: Option<f64>| {
        all.push((row, column, value.unwrap_or(1.0)));
    };
    let ((rows, width), mut entries) = visit(source, start, |lines, value| lines.number(value), push)?;
    // The sort is stable, so the values of an entry that is listed more than once are added in the order of the file.
    entries.sort_by_key(|&(row, column, _)| (row, column));
    let mut matrix = SparseRows { width, row_offsets: vec![0; rows + 1], columns: Vec::new(), values: Vec::new() };
    let mut last = None;
    for (row, column, value) in entries {
        match matrix.values.last_mut() {
            Some(sum) if last == Some((row, column)) => *sum += value,
            _ => {
                matrix.columns.push(column);
                matrix.values.push(value);
                matrix.row_offsets[row as usize + 1] += 1;
            }
        }
        last = Some((row, column));
    }
    for row in 0..rows {
        matrix.row_offsets[row + 1] += matrix.row_offsets[row];
    }
    Ok(matrix)
}

/// Reads a symmetric matrix as [`read_matrix`] does. The magnitude of each entry must be at most `largest`.
///
/// # Errors
/// The same as for [`read_matrix`], and [`Parse`](crate::ErrorKind::Parse) for a matrix that is not square, for an
/// entry that differs from its mirror image across the diagonal, or for an entry whose magnitude exceeds `largest`. The
/// error for an entry names its line; rows and columns are counted from 1, as in the file.
pub fn read_symmetric_matrix(path: &Path, largest: f64) -> Result<SparseRows> {
    let source = Source::open_file(path, &Terms::default())?;
    let matrix = matrix(&source)?;
    let rows = matrix.row_offsets.len() - 1;
    if matrix.width != rows {
        return Err(Error::parse(path, None, "a square matrix", shape(rows, matrix.width)));
    }
    let span = |row: usize| matrix.row_offsets[row]..matrix.row_offsets[row + 1];
    for row in 0..rows {
        for place in span(row) {
            let (column, value) = (matrix.columns[place] as usize, matrix.values[place]);
            let across = span(column);
            let reverse = matrix.columns[across.clone()].binary_search_by(|&c| (c as usize).cmp(&row));
            let reverse = reverse.ok().map(|place| matrix.values[across.start + place]);
            let entry = || format!("the entry of row {} and column {}", row + 1, column + 1);
            let wrong = if reverse != Some(value) {
                let found = match reverse {
                    Some(reverse) => format!("{}, {value}, and across the diagonal {reverse}", entry()),
                    None => format!("{}, {value}, and none across the diagonal", entry()),
                };
                Some(("a symmetric matrix".to_owned(), found))
            } else {
                let large = value.abs() > largest;
                large.then(|| {
                    (format!("entries of a magnitude of at most {largest:e}"), format!("{}, {value:e}", entry()))
                })
            };
            if let Some((expected, found)) = wrong {
                let mut line = None;
                visit_entries(&source, &mut |at, r, c| line = line.or(((r, c) == (row, column)).then_some(at)))?;
                return Err(Error::parse(path, line, expected, found));
            }
        }
    }
    Ok(matrix)
}

/// Formats a shape for an error.
fn shape(rows: usize, columns: usize) -> String {
    format!("{rows} rows and {columns} columns")
}

/// Passes every entry of the file to `push`; for a symmetric file, both directions of each entry are passed. `push`
/// also receives the state that `start` creates from the shape and the expected number of entries.
fn visit<S, T: Copy>(
    source: &Source,
    start: impl FnOnce(&Lines, (usize, usize), usize) -> Result<S>,
    parse: impl Fn(&Lines, &[u8]) -> Result<T>,
    mut push: impl FnMut(&mut S, u64, u32, u32, Option<T>),
) -> Result<S> {
    let mut lines = Lines::open(source)?;
    let (pattern, symmetric) = banner(&mut lines)?;
    let ((rows, width), entries) = size(&mut lines)?;
    if symmetric && rows != width {
        return Err(lines.error("a square matrix, as symmetric ones are", shape(rows, width)));
    }
    // The number in the size line may be wrong, so it is limited by the length of the file. The shortest entry takes
    // four bytes.
    let room = entries.min(lines.bytes() / 4 + 1).saturating_mul(if symmetric { 2 } else { 1 });
    let mut all = start(&lines, (rows, width), room)?;
    let mut found = 0;
    while lines.advance()? {
        let mut parts = fields(lines.line());
        let Some(row) = parts.next() else { continue };
        if row[0] == b'%' {
            continue;
        }
        if found == entries {
            return Err(lines.unexpected(format!("no more than the {entries} entries that the size line has")));
        }
        found += 1;
        let row = index(&lines, row, rows)?;
        let column = index(&lines, parts.next().unwrap_or(b""), width)?;
        let value = match parts.next() {
            None if pattern => None,
            Some(value) if !pattern => Some(parse(&lines, value)?),
            _ if pattern => return Err(lines.unexpected("a row and a column, as a pattern has them")),
            _ => return Err(lines.unexpected("a row, a column and a value")),
        };
        if parts.next().is_some() {
            return Err(lines.unexpected("a row, a column and a value"));
        }
        push(&mut all, lines.at(), row, column, value);
        if symmetric && row != column {
            push(&mut all, lines.at(), column, row, value);
        }
    }
    if found < entries {
        return Err(
            lines.error(format!("{entries} entries, as the size line has it"), format!("the end after {found}"))
        );
    }
    Ok(all)
}

/// Reads the first line. Returns whether the entries have no values (`pattern`), and whether each entry stands for both
/// directions (`symmetric`).
fn banner(lines: &mut Lines) -> Result<(bool, bool)> {
    if !lines.advance()? {
        return Err(lines.error(BANNER, "an empty file"));
    }
    let text = String::from_utf8_lossy(lines.line()).to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
        return Err(lines.unexpected(BANNER));
    };
    if layout != "coordinate" {
        return Err(lines.error("the layout `coordinate`", quoted(layout.as_bytes())));
    }
    let pattern = match field {
        "pattern" => true,
        "real" | "integer" => false,
        other => return Err(lines.error("the field `real`, `integer` or `pattern`", quoted(other.as_bytes()))),
    };
    match symmetry {
        "general" => Ok((pattern, false)),
        "symmetric" => Ok((pattern, true)),
        other => Err(lines.error("the symmetry `general` or `symmetric`", quoted(other.as_bytes()))),
    }
}

/// Reads the size line: the number of rows, the number of columns and the number of entries that follow.
fn size(lines: &mut Lines) -> Result<((usize, usize), usize)> {
    const EXPECTED: &str = "a size line of rows, columns and entries";
    while lines.advance()? {
        let line = lines.line();
        let mut parts = fields(line);
        let Some(first) = parts.next() else { continue };
        if first[0] == b'%' {
            continue;
        }
        let number = |field: Option<&[u8]>| {
            let number = field.and_then(natural).and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| lines.unexpected(EXPECTED))
        };
        let (rows, columns, entries) = (number(Some(first))?, number(parts.next())?, number(parts.next())?);
        if parts.next().is_some() {
            return Err(lines.unexpected(EXPECTED));
        }
        let most = entries.saturating_mul(64).saturating_add(1 << 24);
        let longest = rows.max(columns);
        if longest > most {
            let expected = format!("at most {most} rows or columns for {entries} entries");
            return Err(lines.error(expected, longest.to_string()));
        }
        return Ok(((rows, columns), entries));
    }
    Err(lines.error(EXPECTED, "the end"))
}

/// Converts an index that counts from 1 to an index that counts from 0.
fn index(lines: &Lines, field: &[u8], order: usize) -> Result<u32> {
    let number = natural(field).filter(|&number| (1..=order as u64).contains(&number));
    let index = number.and_then(|number| u32::try_from(number - 1).ok());
    index.ok_or_else(|| lines.error(format!("an index from 1 to {order}"), quoted(field)))
}
