//! Edge lists: two ids a line, parted by white space or a comma, and perhaps a weight; `#` and `%` begin comments.

use super::NodeIds;
use super::lines::{Lines, natural};
use crate::error::{Error, Result};
use crate::graph::EdgeList;
use std::collections::HashMap;
use std::path::Path;

/// Header lines of two columns that are told from an edge by their words alone.
const HEADERS: [(&str, &str); 4] = [("source", "target"), ("src", "dst"), ("from", "to"), ("fromnodeid", "tonodeid")];

/// The one graph of a file. Where all ids are natural numbers the nodes are in their order, otherwise in the order in
/// which they appear; the ids come back unless they are 0, 1, 2 and so on.
pub(super) fn read(path: &Path) -> Result<(EdgeList, Option<NodeIds>)> {
    match read_integers(path)? {
        Some(found) => Ok(found),
        None => read_text(path),
    }
}

/// None where an id is no natural number: then the file is read again, as text.
fn read_integers(path: &Path) -> Result<Option<(EdgeList, Option<NodeIds>)>> {
    let mut rows = Rows::open(path)?;
    let mut ids: Vec<u64> = Vec::with_capacity(rows.lines.bytes() / 4);
    let mut weights = Vec::new();
    let mut passed_over = false;
    while let Some(row) = rows.next()? {
        let (Some(source), Some(target)) = (integer(row.source), integer(row.target)) else {
            // A first line of two words over numbers is a header; an odd number is an id like any other.
            let word = |field: &str| field.parse::<f64>().is_err();
            if row.first && word(row.source) && word(row.target) {
                passed_over = true;
                continue;
            }
            return Ok(None);
        };
        ids.extend([source, target]);
        weights.extend(row.weight);
    }
    if ids.is_empty() {
        return if passed_over { Ok(None) } else { Err(rows.nothing()) };
    }
    let names = distinct(&ids);
    let mut edges = new_list(&rows.lines, names.len())?;
    let node = numbering(&names, ids.len());
    edges.reserve(ids.len() / 2);
    let mut weights = weights.into_iter();
    for pair in ids.chunks_exact(2) {
        let (source, target) = (node(pair[0]), node(pair[1]));
        match weights.next() {
            Some(weight) => edges.push_weighted(source, target, weight),
            None => edges.push(source, target),
        }
    }
    let counting = names.iter().zip(0..).all(|(&name, index)| name == index);
    let node_ids = (!counting).then(|| NodeIds::Integers(names.iter().map(|&name| name.cast_signed()).collect()));
    Ok(Some((edges, node_ids)))
}

/// A natural number as people write it; `007` is a word, for it is not the same as `7`.
fn integer(field: &str) -> Option<u64> {
    let number = natural(field.as_bytes())?;
    (number <= i64::MAX.cast_unsigned() && (!field.starts_with('0') || field.len() == 1)).then_some(number)
}

/// The length of a table over all ids, where that is not much more than the list itself.
fn table_length(most: u64, listed: usize) -> Option<usize> {
    usize::try_from(most).ok().filter(|&most| most < 4 * listed + 1024).map(|most| most + 1)
}

/// The ids, ascending, each once.
#[expect(clippy::cast_possible_truncation, reason = "ids are below the table's length, a usize")]
fn distinct(ids: &[u64]) -> Vec<u64> {
    let most = ids.iter().copied().max().unwrap_or(0);
    if let Some(length) = table_length(most, ids.len()) {
        let mut present = vec![false; length];
        for &id in ids {
            present[id as usize] = true;
        }
        (0..).zip(present).filter_map(|(id, present)| present.then_some(id)).collect()
    } else {
        let mut names = ids.to_vec();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// From an id to its place among the ascending names, of which there are at most `listed`, and fewer than
/// 2^32.
#[expect(clippy::cast_possible_truncation, reason = "ids are below the table's length, places below 2^32")]
fn numbering(names: &[u64], listed: usize) -> impl Fn(u64) -> u32 {
    let most = names.last().copied().unwrap_or(0);
    let table = table_length(most, listed).map(|length| {
        let mut table = vec![0; length];
        for (index, &name) in (0..).zip(names) {
            table[name as usize] = index;
        }
        table
    });
    move |id| match &table {
        Some(table) => table[id as usize],
        None => names.partition_point(|&name| name < id) as u32,
    }
}

fn read_text(path: &Path) -> Result<(EdgeList, Option<NodeIds>)> {
    let mut rows = Rows::open(path)?;
    let mut nodes: HashMap<String, u32> = HashMap::new();
    let mut pairs = Vec::new();
    let mut weights = Vec::new();
    while let Some(row) = rows.next()? {
        let mut node = |name: &str| -> Result<u32> {
            if let Some(&node) = nodes.get(name) {
                return Ok(node);
            }
            let too_many = |_| Error::parse(path, None, "fewer than 2^32 nodes", "more");
            let node = u32::try_from(nodes.len()).map_err(too_many)?;
            nodes.insert(name.to_owned(), node);
            Ok(node)
        };
        pairs.push((node(row.source)?, node(row.target)?));
        weights.extend(row.weight);
    }
    if pairs.is_empty() {
        return Err(rows.nothing());
    }
    let mut edges = new_list(&rows.lines, nodes.len())?;
    edges.reserve(pairs.len());
    let mut weights = weights.into_iter();
    for (source, target) in pairs {
        match weights.next() {
            Some(weight) => edges.push_weighted(source, target, weight),
            None => edges.push(source, target),
        }
    }
    let mut names = vec![String::new(); nodes.len()];
    for (name, node) in nodes {
        names[node as usize] = name;
    }
    Ok((edges, Some(NodeIds::Text(names))))
}

fn new_list(lines: &Lines, nodes: usize) -> Result<EdgeList> {
    EdgeList::new(nodes).map_err(|_| lines.error("fewer than 2^32 nodes", nodes.to_string()))
}

/// The lines that are edges.
struct Rows {
    lines: Lines,
    comma: bool,
    /// 2 or 3; 0 before the first edge.
    columns: usize,
    header: bool,
    /// Fields of a line with quotes, without them.
    unquoted: csv::StringRecord,
}

struct Row<'a> {
    source: &'a str,
    target: &'a str,
    weight: Option<f32>,
    /// Whether it is the first, and no header came before.
    first: bool,
}

impl Rows {
    fn open(path: &Path) -> Result<Self> {
        let lines = Lines::open(path)?;
        Ok(Self { lines, comma: false, columns: 0, header: false, unquoted: csv::StringRecord::new() })
    }

    fn next(&mut self) -> Result<Option<Row<'_>>> {
        loop {
            if !self.lines.advance()? {
                return Ok(None);
            }
            let line = self.lines.text()?.trim();
            if line.is_empty() || line.starts_with(['#', '%']) {
                continue;
            }
            if self.columns == 0 {
                self.comma = line.contains(',');
                let (parts, count) = split(line, self.comma, &mut self.unquoted);
                if !self.header && is_header(parts, count, self.comma) {
                    self.header = true;
                    continue;
                }
            }
            break;
        }
        let first = self.columns == 0 && !self.header;
        let (parts, count) = split(self.lines.text()?.trim(), self.comma, &mut self.unquoted);
        let fits = if self.columns == 0 { (2..=3).contains(&count) } else { count == self.columns };
        if !fits || parts[0].is_empty() || parts[1].is_empty() {
            return Err(self.lines.unexpected(match self.columns {
                0 => "two ids and perhaps a weight, parted by white space or commas",
                2 => "two ids, as in the lines before",
                _ => "two ids and a weight, as in the lines before",
            }));
        }
        self.columns = count;
        let weight = if count == 3 { Some(self.lines.weight(parts[2].as_bytes())?) } else { None };
        Ok(Some(Row { source: parts[0], target: parts[1], weight, first }))
    }

    fn nothing(&self) -> Error {
        self.lines.error("at least one edge", "none before the end")
    }
}

/// The first three fields, and how many there are.
fn split<'a>(line: &'a str, comma: bool, unquoted: &'a mut csv::StringRecord) -> ([&'a str; 3], usize) {
    if !comma {
        return first_three(line.split_ascii_whitespace());
    }
    if line.contains('"') {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        // Reading from memory fails at nothing; a quote that is left open ends with the line.
        if let Ok(true) = reader.read_record(unquoted) {
            return first_three(unquoted.iter().map(str::trim));
        }
    }
    first_three(line.split(',').map(str::trim))
}

fn first_three<'a>(all: impl Iterator<Item = &'a str>) -> ([&'a str; 3], usize) {
    let (mut parts, mut count) = ([""; 3], 0);
    for field in all {
        if let Some(part) = parts.get_mut(count) {
            *part = field;
        }
        count += 1;
    }
    (parts, count)
}

/// Whether words name columns: known words, or three words with a comma where the third should be a weight.
fn is_header(parts: [&str; 3], count: usize, comma: bool) -> bool {
    let is = |field: &str, word| field.eq_ignore_ascii_case(word);
    let known = HEADERS.iter().any(|(source, target)| is(parts[0], source) && is(parts[1], target));
    let word = |field: &&str| !field.is_empty() && field.parse::<f64>().is_err();
    known || (comma && count == 3 && parts.iter().all(word))
}
