//! Computes how much device memory a block of vectors and its operator take, and how wide the slabs of the block
//! may be.

use crate::device::{Adapter, size_class};
use crate::error::{ErrorKind, Result};
use crate::ops::sparse::gpu::{MOST_LANES, lanes_of};

/// The size, in bytes, of each of three scratch buffers: one holds the sums over chunks before they are reduced,
/// and two hold the panels of rows of a rotation.
pub(super) const SCRATCH: usize = 8 << 20;
/// The bytes that are reserved for uniforms and small tables.
const SMALL: u64 = 1 << 20;

/// The sizes that determine how much memory is needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) problems: usize,
    pub(super) rows: usize,
    pub(super) entries: usize,
    pub(super) weighted: bool,
    /// The number of vectors of the known null space that have more than one entry, and the total number of
    /// entries of these vectors.
    pub(super) null: (usize, usize),
    pub(super) width: usize,
}

/// The limits on memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    pub(super) binding: u64,
    pub(super) budget: u64,
}

impl Sizes {
    /// Returns the total size, in bytes, of all buffers as the pool allocates them, if a row of a slab has at most
    /// `most` vec4s. The buffers hold the block X, its image A X, the operator, the null space, scratch, the small
    /// matrices, and one slab during its transfer to the host.
    pub(super) fn bytes(&self, most: u32, binding: u64) -> u64 {
        let Self { problems, rows, entries, weighted, null: (vectors, members), width } = *self;
        let class = |bytes: usize| size_class(bytes as u64);
        // An array that exceeds one binding is split over several buffers.
        let split = |bytes: u64| bytes / binding * size_class(binding) + size_class(bytes % binding);
        let lanes = lanes_of(width, most);
        let widest = lanes.first().copied().unwrap_or(0) as usize;
        let slabs: u64 = lanes.iter().map(|&lanes| class(16 * rows * lanes as usize)).sum();
        let arrays = 1 + u64::from(weighted);
        let operator = arrays * split(4 * entries as u64) + split(16 * rows as u64) + 2 * class(4 * rows);
        // The list of the segments of long rows, and the sums of the segments.
        let segments = class(entries / 16) + class(entries / 256 * 16 * widest);
        let null = match vectors {
            0 => 0,
            _ => 2 * class(4 * rows) + 2 * class(4 * members) + class(16 * vectors) + class(16 * vectors * widest),
        };
        let small = problems * (2 * width * width + 64 * width);
        2 * slabs
            + operator
            + segments
            + null
            + class(4 * small)
            + 3 * SCRATCH as u64
            + SMALL
            + class(16 * rows * widest)
    }

    /// Returns the number of vec4s in a row of the widest slab, as large as the limits allow.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if even slabs of four columns exceed a binding or the budget, if the small matrices
    /// exceed a binding, or if the loops over the columns exceed the adapter's loop budget.
    pub(super) fn lanes(&self, adapter: &Adapter, Allowed { binding, budget }: Allowed) -> Result<u32> {
        let limit = |what: &str, needed: u64, allowed: u64| {
            Err(ErrorKind::Limit { what: format!("{what} on {}", adapter.name), needed, allowed }.into())
        };
        let padded = self.width.div_ceil(4) * 4;
        let small = (4 * self.problems * padded * padded) as u64;
        if small > binding {
            return limit("bytes of the small matrices of an eigsh batch in one binding", small, binding);
        }
        // An invocation loops over all columns for each of its rows: see rotate.wgsl.
        let loops = (super::sums::CHUNK / 8 * (1 + padded / 4)) as u64 + 64;
        if loops > adapter.loop_budget.into() {
            return limit("loop iterations for the columns of an eigsh block", loops, adapter.loop_budget.into());
        }
        let of_four = 16 * self.rows as u64;
        if of_four > binding {
            return limit("bytes of four columns of an eigsh block in one binding", of_four, binding);
        }
        let fits = |lanes: &u32| of_four * u64::from(*lanes) <= binding && self.bytes(*lanes, binding) <= budget;
        match (1..=MOST_LANES).rev().find(fits) {
            Some(lanes) => Ok(lanes),
            None => limit("bytes of device memory for an eigsh block and its matrix", self.bytes(1, binding), budget),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sizes;

    const MIB: u64 = 1 << 20;

    /// A graph of a million nodes and ten million edges must fit in 512 MiB, with bindings of 128 MiB.
    #[test]
    fn a_large_graph_fits_half_a_gibibyte() {
        let sizes = |width| Sizes {
            problems: 1,
            rows: 1_000_000,
            entries: 20_000_000,
            weighted: false,
            null: (1, 1_000_000),
            width,
        };
        // Before sizes are rounded up to classes, each of the two blocks takes 122 MiB, the column indices take 76
        // MiB, the lists and diagonals 31 MiB, and the null space 15 MiB.
        let bytes = sizes(32).bytes(4, 128 * MIB);
        assert!((380 * MIB..512 * MIB).contains(&bytes), "{} MiB", bytes / MIB);
        // With slabs of 32 columns instead of 16, the buffer for the transfer of a slab to the host is twice as large,
        // so the total exceeds 512 MiB.
        assert!(sizes(32).bytes(8, 128 * MIB) > 512 * MIB);
        assert!(sizes(64).bytes(4, 128 * MIB) > 700 * MIB);
        // Each size matters: if any one of them is larger, more bytes are needed.
        let all = |s: Sizes| s.bytes(4, 128 * MIB);
        let one = sizes(32);
        for more in [
            Sizes { rows: 2_000_000, ..one },
            Sizes { entries: 60_000_000, ..one },
            Sizes { weighted: true, ..one },
            Sizes { null: (400_000, 1_000_000), ..one },
            Sizes { problems: 1000, ..one },
        ] {
            assert!(all(more) > all(one), "{more:?}");
        }
    }
}
