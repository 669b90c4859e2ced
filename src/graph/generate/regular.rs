//! Generates graphs with a regular structure, whose spectra are known in closed form
//! ([`spectra`](crate::graph::spectra)). Their rows are computed directly, without a list of edges.

use super::{from_rows, node_count};
use crate::error::Result;
use crate::graph::Graph;

/// Generates a path: a line of nodes, `0 - 1 - ... - (nodes - 1)`.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) if there are no nodes, or if there is not enough memory for the graph;
/// [`Limit`](crate::ErrorKind::Limit) if there are more nodes than 32 bits can number.
pub fn path(nodes: usize) -> Result<Graph> {
    let n = node_count("path", nodes, 1)?;
    from_rows(n, 2 * (nodes - 1), |i, row| row.extend(line_neighbors(i, n)))
}

/// Generates a cycle: a ring of nodes.
///
/// # Errors
/// The same as for [`path`], and [`Domain`](crate::ErrorKind::Domain) for fewer than three nodes.
pub fn cycle(nodes: usize) -> Result<Graph> {
    let n = node_count("cycle", nodes, 3)?;
    from_rows(n, 2 * nodes, |i, row| row.extend(ring_neighbors(i, n)))
}

/// Generates a grid of `rows x columns` nodes. Node `row * columns + column` is joined to its neighbors on the left and
/// right, above and below.
///
/// # Errors
/// The same as for [`path`].
pub fn grid(rows: usize, columns: usize) -> Result<Graph> {
    let n = node_count("grid", rows.saturating_mul(columns), 1)?;
    let (r, c) = (node_count("grid's column", rows, 1)?, node_count("grid's row", columns, 1)?);
    let edges = rows * (columns - 1) + columns * (rows - 1);
    from_rows(n, 2 * edges, |i, row| {
        let (y, x) = (i / c, i % c);
        row.extend((y > 0).then(|| i - c));
        row.extend(line_neighbors(x, c).map(|x| y * c + x));
        row.extend((y + 1 < r).then(|| i + c));
    })
}

/// Generates a torus: a grid in which the first and last rows are joined, as are the first and last columns.
///
/// # Errors
/// The same as for [`path`], and [`Domain`](crate::ErrorKind::Domain) for fewer than three rows or columns.
pub fn torus(rows: usize, columns: usize) -> Result<Graph> {
    let n = node_count("torus", rows.saturating_mul(columns), 9)?;
    let (r, c) = (node_count("torus's column", rows, 3)?, node_count("torus's row", columns, 3)?);
    from_rows(n, 4 * n as usize, |i, row| {
        let (y, x) = (i / c, i % c);
        let ([y0, y1], [x0, x1]) = (ring_neighbors(y, r), ring_neighbors(x, c));
        let mut neighbors = [y0 * c + x, y * c + x0, y * c + x1, y1 * c + x];
        neighbors.sort_unstable();
        row.extend(neighbors);
    })
}

/// Generates a hypercube. Its nodes are the 2^dimension words of `dimension` bits; two words are joined if they differ
/// in exactly one bit.
///
/// # Errors
/// [`Limit`](crate::ErrorKind::Limit) for a dimension above 31; [`Domain`](crate::ErrorKind::Domain) if there is not
/// enough memory for the graph.
pub fn hypercube(dimension: u32) -> Result<Graph> {
    let n = node_count("hypercube", 1_usize.checked_shl(dimension).unwrap_or(usize::MAX), 1)?;
    from_rows(n, (n as usize).saturating_mul(dimension as usize), |i, row| {
        // The row is ascending: clearing higher bits gives lower words, and setting higher bits gives higher words.
        row.extend((0..dimension).rev().map(|bit| 1 << bit).filter(|bit| i & bit != 0).map(|bit| i ^ bit));
        row.extend((0..dimension).map(|bit| 1 << bit).filter(|bit| i & bit == 0).map(|bit| i ^ bit));
    })
}

/// Generates a complete graph, in which every node is joined to every other node.
///
/// # Errors
/// The same as for [`path`].
pub fn complete(nodes: usize) -> Result<Graph> {
    let n = node_count("complete graph", nodes, 1)?;
    from_rows(n, nodes.saturating_mul(nodes - 1), |i, row| row.extend((0..i).chain(i + 1..n)))
}

/// Generates a star, in which node 0 is joined to every other node.
///
/// # Errors
/// The same as for [`path`].
pub fn star(nodes: usize) -> Result<Graph> {
    let n = node_count("star", nodes, 1)?;
    from_rows(n, 2 * (nodes - 1), |i, row| if i == 0 { row.extend(1..n) } else { row.push(0) })
}

fn line_neighbors(i: u32, n: u32) -> impl Iterator<Item = u32> {
    let next = i + 1;
    i.checked_sub(1).into_iter().chain((next < n).then_some(next))
}

/// Returns the two neighbors of node `i` on a ring, the lower neighbor first.
fn ring_neighbors(i: u32, n: u32) -> [u32; 2] {
    let (before, after) = (if i == 0 { n - 1 } else { i - 1 }, if i == n - 1 { 0 } else { i + 1 });
    [before.min(after), before.max(after)]
}
