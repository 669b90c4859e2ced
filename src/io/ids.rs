//! Numbers the nodes of edges whose ids are natural numbers: in ascending order of the ids.

use crate::cancel::Cancel;
use crate::error::Result;

/// Returns the length of a table indexed by id, where `most` is the largest id. Returns `None` if the table would be
/// much longer than the list of ids, which has `listed` elements.
fn table_length(most: u64, listed: usize) -> Option<usize> {
    usize::try_from(most).ok().filter(|&most| most < 4 * listed + 1024).map(|most| most + 1)
}

/// Returns the distinct ids in ascending order, until `cancel` is set. `listed` is the number of ids.
#[expect(clippy::cast_possible_truncation, reason = "ids are below the table's length, a usize")]
pub(crate) fn distinct(ids: impl Iterator<Item = u64> + Clone, listed: usize, cancel: &Cancel) -> Result<Vec<u64>> {
    let most = ids.clone().max().unwrap_or(0);
    if let Some(length) = table_length(most, listed) {
        let mut present = vec![false; length];
        for (at, id) in ids.enumerate() {
            cancel.check_at(at)?;
            present[id as usize] = true;
        }
        Ok((0..).zip(present).filter_map(|(id, present)| present.then_some(id)).collect())
    } else {
        let mut names: Vec<u64> = ids.collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}

/// Returns a function that maps an id to its index in `names`, which must be ascending and have fewer than 2^32
/// elements. `listed` is the number of ids in the file, which limits the size of the table that the function uses.
#[expect(clippy::cast_possible_truncation, reason = "ids are below the table's length, places below 2^32")]
pub(crate) fn numbering(names: &[u64], listed: usize) -> impl Fn(u64) -> u32 {
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
