//! Reads MatrixMarket files line by line: <https://math.nist.gov/MatrixMarket/formats.html>.

use super::edges::most_nodes;
use super::lines::{Lines, fields, has_digits, natural, quoted};
use super::source::{Source, Terms};
use super::weights::timestamps;
use crate::error::{Error, Result};
use crate::graph::EdgeList;
use std::path::Path;

const BANNER: &str =
    "a banner `%%MatrixMarket matrix <coordinate|array> <real|integer|pattern> <general|symmetric|skew-symmetric>`";

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
/// symmetric file stands for both directions. In a skew-symmetric matrix, the one of two opposite entries that is not
/// negative is an edge. Also returns a notice about weights that may be timestamps.
pub(super) fn read(source: &Source) -> Result<(EdgeList, Option<String>)> {
    let start = |lines: &Lines, (order, width): (usize, usize), entries| {
        if order != width {
            return Err(lines.error("a square matrix", shape(order, width)));
        }
        let mut edges = EdgeList::new(order).map_err(|_| lines.unexpected("a matrix of fewer than 2^32 rows"))?;
        edges.reserve(entries);
        Ok(edges)
    };
    let push = |edges: &mut EdgeList, Entry { row, column, value, negated, .. }| match value {
        _ if negated => {}
        None => edges.push(row, column),
        Some(weight) => edges.push_weighted(row, column, weight),
    };
    let edges = visit(source, start, Lines::weight, push)?;
    let notice = edges.weights().and_then(|weights| timestamps(source.name(), weights));
    Ok((edges, notice))
}

/// Calls `found` with the line, row and column of every entry that is an edge. Rows and columns count from 0.
pub(super) fn visit_edges(source: &Source, found: &mut dyn FnMut(u64, usize, usize)) -> Result<()> {
    visit_entries(source, &mut |entry| {
        if !entry.negated {
            found(entry.line, entry.row as usize, entry.column as usize);
        }
    })
}

/// Passes on every entry without its value.
fn visit_entries(source: &Source, found: &mut dyn FnMut(Entry<()>)) -> Result<()> {
    visit(source, |_, _, _| Ok(()), |_, _| Ok(()), |_: &mut (), entry| found(entry))
}

/// Reads the matrix in a MatrixMarket file of either layout, which may be compressed by gzip or Zstandard. The matrix
/// may have any shape. If an entry is listed more than once, its values are added. In a `pattern` file, each entry has
/// the value 1. In an `array` file, values of 0 are no entries.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse), which names the line and what was expected, if the content violates the format;
/// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub fn read_matrix(path: &Path) -> Result<SparseRows> {
    matrix(&Source::open_file(path, &Terms::default())?)
}

fn matrix(source: &Source) -> Result<SparseRows> {
    type Listed = (u32, u32, f64);
    let start = |_: &Lines, shape: (usize, usize), entries: usize| Ok((shape, Vec::<Listed>::with_capacity(entries)));
    let push = |(_, all): &mut ((usize, usize), Vec<Listed>), Entry { row, column, value, negated, .. }: Entry<f64>| {
        let value = value.unwrap_or(1.0);
        all.push((row, column, if negated { -value } else { value }));
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
                let here = |entry: &Entry<()>| (entry.row as usize, entry.column as usize) == (row, column);
                visit_entries(&source, &mut |entry| line = line.or(here(&entry).then_some(entry.line)))?;
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

/// An entry of a matrix. Rows and columns count from 0.
struct Entry<T> {
    line: u64,
    row: u32,
    column: u32,
    /// `None` in a file of the field `pattern`.
    value: Option<T>,
    /// Whether the entry is the negative of the value. It is not for an entry of a file that is not skew-symmetric.
    negated: bool,
}

/// The first line of a file.
struct Banner {
    /// Whether the file has the values of all entries, column by column.
    dense: bool,
    /// Whether the entries have no values.
    pattern: bool,
    symmetry: Symmetry,
}

#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// Passes every entry of the file to `push`; for a symmetric file, both directions of each entry are passed. `push`
/// also receives the state that `start` creates from the shape and the expected number of entries.
fn visit<S, T: Copy>(
    source: &Source,
    start: impl FnOnce(&Lines, (usize, usize), usize) -> Result<S>,
    parse: impl Fn(&Lines, &[u8]) -> Result<T>,
    mut push: impl FnMut(&mut S, Entry<T>),
) -> Result<S> {
    let mut lines = Lines::open(source)?;
    let Banner { dense, pattern, symmetry } = banner(&mut lines)?;
    let ((rows, width), entries) = size(&mut lines, dense, symmetry)?;
    if symmetry != Symmetry::General && rows != width {
        return Err(lines.error("a square matrix, as symmetric ones are", shape(rows, width)));
    }
    // The number in the size line may be wrong, so it is limited by the length of the file. The shortest entry takes
    // four bytes, or two in an array.
    let shortest = if dense { 2 } else { 4 };
    let twice = if symmetry == Symmetry::General { 1 } else { 2 };
    let mut all = start(&lines, (rows, width), entries.min(lines.bytes() / shortest + 1).saturating_mul(twice))?;
    let skew = symmetry == Symmetry::Skew;
    let mut pass = |lines: &Lines, row: u32, column: u32, field: Option<&[u8]>| -> Result<()> {
        let unsigned = |field: &&[u8]| skew && field.first().is_some_and(|&byte| byte == b'.' || byte.is_ascii_digit());
        let magnitude = field.map(|field| field.strip_prefix(b"-").filter(unsigned).unwrap_or(field));
        let value = magnitude.map(|field| parse(lines, field)).transpose()?;
        let negated = magnitude.map(<[u8]>::len) != field.map(<[u8]>::len);
        let line = lines.at();
        push(&mut all, Entry { line, row, column, value, negated });
        if symmetry != Symmetry::General && row != column {
            push(&mut all, Entry { line, row: column, column: row, value, negated: negated != skew });
        }
        Ok(())
    };
    // The first row of a column of an array, and the entry that the next value is.
    let first = |column: usize| match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric => column,
        Symmetry::Skew => column + 1,
    };
    let (mut next, mut found) = ((first(0), 0), 0);
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
        if dense {
            if parts.next().is_some() {
                return Err(lines.unexpected("one value a line, as an array has them"));
            }
            if has_digits(row) {
                let index = |index| u32::try_from(index).map_err(|_| lines.unexpected("fewer than 2^32 rows"));
                pass(&lines, index(next.0)?, index(next.1)?, Some(row))?;
            } else {
                parse(&lines, row)?;
            }
            next.0 += 1;
            if next.0 == rows {
                next = (first(next.1 + 1), next.1 + 1);
            }
            continue;
        }
        let row = lines.index(row, rows, "an index")?;
        let column = lines.index(parts.next().unwrap_or(b""), width, "an index")?;
        let value = parts.next();
        if parts.next().is_some() || value.is_none() != pattern {
            let expected =
                if pattern { "a row and a column, as a pattern has them" } else { "a row, a column and a value" };
            return Err(lines.unexpected(expected));
        }
        if skew && row == column {
            return Err(lines.unexpected("entries off the diagonal, as skew-symmetric matrices have them"));
        }
        pass(&lines, row, column, value)?;
    }
    if found < entries {
        return Err(
            lines.error(format!("{entries} entries, as the size line has it"), format!("the end after {found}"))
        );
    }
    Ok(all)
}

/// Reads the first line.
fn banner(lines: &mut Lines) -> Result<Banner> {
    if !lines.advance()? {
        return Err(lines.error(BANNER, "an empty file"));
    }
    let text = String::from_utf8_lossy(lines.line()).to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
        return Err(lines.unexpected(BANNER));
    };
    let other = |expected: &str, word: &str| Err(lines.error(expected, quoted(word.as_bytes())));
    let unread = "; complex numbers are not read";
    let dense = match layout {
        "array" => true,
        "coordinate" => false,
        _ => return other("the layout `coordinate` or `array`", layout),
    };
    let pattern = match field {
        "real" | "integer" => false,
        "pattern" if !dense => true,
        "complex" => {
            return Err(lines.error("the field `real`, `integer` or `pattern`", format!("\"complex\"{unread}")));
        }
        _ if dense => return other("the field `real` or `integer`, as an array has it", field),
        _ => return other("the field `real`, `integer` or `pattern`", field),
    };
    let expected = "the symmetry `general`, `symmetric` or `skew-symmetric`";
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if !pattern => Symmetry::Skew,
        "hermitian" => return Err(lines.error(expected, format!("\"hermitian\"{unread}"))),
        _ if pattern => return other("the symmetry `general` or `symmetric`, as a pattern has it", symmetry),
        _ => return other(expected, symmetry),
    };
    Ok(Banner { dense, pattern, symmetry })
}

/// Reads the size line: the number of rows, the number of columns and, unless the matrix is dense, the number of
/// entries that follow. Returns the number of entries of a dense matrix, too.
fn size(lines: &mut Lines, dense: bool, symmetry: Symmetry) -> Result<((usize, usize), usize)> {
    let expected = if dense { "a size line of rows and columns" } else { "a size line of rows, columns and entries" };
    while lines.advance()? {
        let line = lines.line();
        let mut parts = fields(line);
        let Some(first) = parts.next() else { continue };
        if first[0] == b'%' {
            continue;
        }
        let number = |field: Option<&[u8]>| {
            let number = field.and_then(natural).and_then(|number| usize::try_from(number).ok());
            number.ok_or_else(|| lines.unexpected(expected))
        };
        let (rows, columns) = (number(Some(first))?, number(parts.next())?);
        let entries = match (dense, symmetry) {
            (false, _) => number(parts.next())?,
            (true, Symmetry::General) => rows.saturating_mul(columns),
            (true, Symmetry::Symmetric) => rows.saturating_mul(rows.saturating_add(1)) / 2,
            (true, Symmetry::Skew) => rows.saturating_mul(rows.saturating_sub(1)) / 2,
        };
        if parts.next().is_some() {
            return Err(lines.unexpected(expected));
        }
        let most = most_nodes(entries);
        let longest = rows.max(columns);
        if longest > most {
            let expected = format!("at most {most} rows or columns for {entries} entries");
            return Err(lines.error(expected, longest.to_string()));
        }
        return Ok(((rows, columns), entries));
    }
    Err(lines.error(expected, "the end"))
}
