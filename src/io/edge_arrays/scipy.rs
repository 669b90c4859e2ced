//! Reads sparse matrices that `scipy.sparse.save_npz` wrote. The entry in row i and column j is the edge from i to j.

use super::elements::{Arrays, Elements};
use super::{listed, most_nodes, read_weights};
use crate::error::{Error, Result};
use crate::graph::EdgeList;
use crate::io::edge_list::Listed;
use crate::io::lines::quoted;

pub(super) fn read(arrays: &Arrays) -> Result<Listed> {
    let format = arrays.get("format")?.text()?;
    let shape = arrays.get("shape")?.all_integers()?;
    let [rows, columns] = shape[..] else {
        return Err(arrays.error("a matrix with two axes", format!("the shape {shape:?}")));
    };
    if rows != columns {
        return Err(arrays.error("a square matrix", format!("{rows} rows and {columns} columns")));
    }
    let Some(order) = usize::try_from(rows).ok().filter(|&order| u32::try_from(order).is_ok()) else {
        return Err(arrays.error("a matrix of fewer than 2^32 rows", rows.to_string()));
    };
    let (sources, targets) = match format.as_str() {
        "csr" => compressed(arrays, order)?,
        "csc" => {
            let (columns, rows) = compressed(arrays, order)?;
            (rows, columns)
        }
        "coo" if arrays.has("row") => (nodes(arrays.get("row")?, order)?, nodes(arrays.get("col")?, order)?),
        "coo" => coordinates(arrays, order)?,
        "bsr" | "dia" => {
            let found = format!("the format {format}; matrix.tocsr() converts it");
            return Err(arrays.error("a matrix in the format csr, csc or coo", found));
        }
        other => {
            return Err(arrays.error("a matrix in the format csr, csc or coo", quoted(other.as_bytes())));
        }
    };
    let most = most_nodes(sources.len());
    if order as u64 > most {
        return Err(arrays.error(format!("at most {most} rows for {} entries", sources.len()), order.to_string()));
    }
    let data = arrays.get("data")?;
    if data.shape != [sources.len()] || sources.len() != targets.len() {
        let expected = format!("a value for each of the {} entries", sources.len());
        let found = format!("{} indices and the shape {:?}", targets.len(), data.shape);
        return Err(data.error(expected, found));
    }
    let weights = read_weights(arrays, "data", data)?;
    Ok(listed(EdgeList::of(order, sources, targets, weights)?, Vec::new()))
}

/// Reads indices of rows or columns.
fn nodes(array: Elements, order: usize) -> Result<Vec<u32>> {
    let (mut all, path) = (Vec::new(), array.path.clone());
    array.integers(|index| match u32::try_from(index).ok().filter(|&own| (own as usize) < order) {
        Some(own) => {
            all.push(own);
            Ok(())
        }
        None => {
            let found = format!("{index} as element {}", all.len());
            Err(Error::parse(&path, None, format!("indices from 0 on, below {order}"), found))
        }
    })?;
    Ok(all)
}

/// Reads the rows and columns of a matrix in the format csr.
fn compressed(arrays: &Arrays, order: usize) -> Result<(Vec<u32>, Vec<u32>)> {
    let offsets = arrays.get("indptr")?.all_integers()?;
    let inner = nodes(arrays.get("indices")?, order)?;
    let fits = offsets.len() == order + 1
        && offsets.first() == Some(&0)
        && offsets.is_sorted()
        && offsets.last().and_then(|&last| usize::try_from(last).ok()) == Some(inner.len());
    if !fits {
        let expected = format!("{} ascending offsets in indptr, from 0 to {}", order as u64 + 1, inner.len());
        return Err(arrays.error(expected, format!("{} others", offsets.len())));
    }
    let mut outer = Vec::with_capacity(inner.len());
    for (row, pair) in (0..).zip(offsets.windows(2)) {
        let end = outer.len() + usize::try_from(pair[1] - pair[0]).unwrap_or(0);
        outer.resize(end, row);
    }
    Ok((outer, inner))
}

/// Reads the rows and columns of a matrix in the format coo, as scipy may write them in one array.
fn coordinates(arrays: &Arrays, order: usize) -> Result<(Vec<u32>, Vec<u32>)> {
    let array = arrays.get("coords")?;
    if array.by_columns || !matches!(array.shape[..], [2, _]) {
        let found = format!("the shape {:?}", array.shape);
        return Err(array.error("a row of rows and a row of columns", found));
    }
    let mut rows = nodes(array, order)?;
    let columns = rows.split_off(rows.len() / 2);
    Ok((rows, columns))
}
