//! Graphs of a regular structure, whose spectra [`spectra`](crate::graph::spectra) has in closed form. Their rows are
//! written directly.

use super::{from_rows, node_count};
use crate::error::Result;
use crate::graph::Graph;

/// Generates a path: nodes in a line, `0 - 1 - ... - (nodes - 1)`.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) for no nodes, or if memory does not hold the graph;
/// [`Limit`](crate::ErrorKind::Limit) for more nodes than 32 bits can number.
pub fn path(nodes: usize) -> Result<Graph> {
    let n = node_count("path", nodes, 1)?;
    from_rows(n, 2 * (nodes - 1), |i, row| row.extend(line_neighbors(i, n)))
}

/// Generates a cycle: nodes in a ring.
///
/// # Errors
/// As for [`path`], but a ring has three nodes or more.
pub fn cycle(nodes: usize) -> Result<Graph> {
    let n = node_count("cycle", nodes, 3)?;
    from_rows(n, 2 * nodes, |i, row| row.extend(ring_neighbors(i, n)))
}

/// Generates a grid of `rows x columns` nodes. Node `row * columns + column` is joined to those left, right, above
/// and below.
///
/// # Errors
/// As for [`path`].
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

/// Generates a torus: a grid whose opposite sides are joined.
///
/// # Errors
/// As for [`path`], but each side has three nodes or more.
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

/// Generates a hypercube: the 2^dimension words of `dimension` bits, joined where they differ in one bit.
///
/// # Errors
/// [`Limit`](crate::ErrorKind::Limit) for a dimension above 31; [`Domain`](crate::ErrorKind::Domain) if memory does
/// not hold the graph.
pub fn hypercube(dimension: u32) -> Result<Graph> {
    let n = node_count("hypercube", 1_usize.checked_shl(dimension).unwrap_or(usize::MAX), 1)?;
    from_rows(n, (n as usize).saturating_mul(dimension as usize), |i, row| {
        // Clearing a higher bit gives a lower word, setting a higher one a higher word.
        row.extend((0..dimension).rev().map(|bit| 1 << bit).filter(|bit| i & bit != 0).map(|bit| i ^ bit));
        row.extend((0..dimension).map(|bit| 1 << bit).filter(|bit| i & bit == 0).map(|bit| i ^ bit));
    })
}

/// Generates a complete graph: every node joined to every other.
///
/// # Errors
/// As for [`path`].
pub fn complete(nodes: usize) -> Result<Graph> {
    let n = node_count("complete graph", nodes, 1)?;
    from_rows(n, nodes.saturating_mul(nodes - 1), |i, row| row.extend((0..i).chain(i + 1..n)))
}

/// Generates a star: node 0 joined to every other.
///
/// # Errors
/// As for [`path`].
pub fn star(nodes: usize) -> Result<Graph> {
    let n = node_count("star", nodes, 1)?;
    from_rows(n, 2 * (nodes - 1), |i, row| if i == 0 { row.extend(1..n) } else { row.push(0) })
}

fn line_neighbors(i: u32, n: u32) -> impl Iterator<Item = u32> {
    let next = i + 1;
    i.checked_sub(1).into_iter().chain((next < n).then_some(next))
}

/// Returns the neighbors on a ring, the lower first.
fn ring_neighbors(i: u32, n: u32) -> [u32; 2] {
    let (before, after) = (if i == 0 { n - 1 } else { i - 1 }, if i == n - 1 { 0 } else { i + 1 });
    [before.min(after), before.max(after)]
}
