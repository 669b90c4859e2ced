//! Reads adjacency lists, as networkx has them (.adjlist): each line has a node and some of its neighbors.
//! <https://networkx.org/documentation/stable/reference/readwrite/adjlist.html>

use super::edge_list::Listed;
use super::lines::{Lines, fields};
use super::nodes::Nodes;
use super::source::Source;
use crate::error::Result;
use crate::graph::Conventions;

/// Reads the graph of a file. As in an edge list, `#` and `%` begin comments, edges have the direction in which they
/// are listed, and nodes are sorted if all ids are natural numbers and have the order in which they first appear
/// otherwise.
pub(super) fn read(source: &Source, conventions: &Conventions) -> Result<Listed> {
    let mut lines = Lines::open_long(source)?;
    let mut nodes = Nodes::new(conventions);
    while lines.advance()? {
        let text = lines.text()?;
        let refused = |(expected, found)| lines.error(expected, found);
        let mut ids = fields(text.as_bytes()).map(|id| std::str::from_utf8(id).unwrap_or_default());
        let Some(node) = ids.next().filter(|id| !id.starts_with(['#', '%'])) else { continue };
        nodes.mention(node, lines.at()).map_err(refused)?;
        for other in ids {
            nodes.mention(other, lines.at()).map_err(refused)?;
            nodes.edge([node, other], None, true, lines.at()).map_err(refused)?;
        }
    }
    if nodes.declared() == 0 {
        return Err(lines.error("a node and its neighbors in each line", "an empty file"));
    }
    nodes.finish(source, None)
}
