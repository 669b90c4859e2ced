//! Reads the blocks of a data set, and looks up what is known of them.

use super::plan::Plan;
use super::stored::{self, Definitions, Stores};
use super::unit::Unit;
use crate::cache::Key;
use crate::error::Result;
use crate::io::{Extent, LayerRows, Layers};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender};

/// A block of samples of one layer, on its way from the file to its columns.
pub(super) struct Block {
    /// The place of the layer in the plan.
    pub(super) planned: usize,
    pub(super) samples: Range<usize>,
    /// Its numbers; `None` if it was not read because all representations were found.
    pub(super) rows: Option<LayerRows>,
    /// The key of each representation, and what was found under it.
    pub(super) found: Vec<(Option<Key>, Option<Unit>)>,
}

/// What reads a data set.
pub(super) struct Reader<'a> {
    pub(super) data: &'a Layers,
    pub(super) plan: &'a Plan,
    pub(super) stores: &'a Stores,
    pub(super) definitions: Definitions<'a>,
    /// Gives back the memory of blocks that were computed.
    pub(super) used: Receiver<LayerRows>,
}

impl Reader<'_> {
    /// Reads all blocks in order, and looks up what is known of them.
    pub(super) fn read(&self, send: &SyncSender<Result<Vec<Block>>>) {
        let Self { data, plan, stores, .. } = self;
        // Kept until everything was read: only then are the checksums of the files known to be right.
        let mut fingerprints = Vec::new();
        for first in (0..data.len()).step_by(plan.chunk) {
            let chunk = first..data.len().min(first + plan.chunk);
            // If every sample is a file, a file is read once; otherwise a layer at a time is read.
            let together = if data.by_sample() { plan.layers.len() } else { 1 };
            for group in (0..plan.layers.len()).step_by(together) {
                let group = group..group + together;
                let block = plan.layers[group.start].block;
                for first in chunk.clone().step_by(block) {
                    let samples = first..chunk.end.min(first + block);
                    let blocks = self.blocks(group.clone(), samples, &mut fingerprints);
                    let failed = blocks.is_err();
                    // The other side no longer listens if it has failed.
                    if send.send(blocks).is_err() || failed {
                        return;
                    }
                }
            }
        }
        fingerprints.iter().for_each(|(origin, content)| stores.put_fingerprint(origin, *content));
    }

    /// Reads a block of each layer of a group, unless its fingerprint and all its representations are found. Appends
    /// the fingerprints of what was read.
    fn blocks(
        &self,
        group: Range<usize>,
        samples: Range<usize>,
        made: &mut Vec<(Key, [u8; 32])>,
    ) -> Result<Vec<Block>> {
        let Self { data, plan, stores, definitions, .. } = self;
        let empty = |planned| {
            let found = vec![(None, None); definitions.len()];
            Block { planned, samples: samples.clone(), rows: None, found }
        };
        let layers = |places: &[usize]| places.iter().map(|&at| plan.layers[at].layer).collect::<Vec<_>>();
        let mut blocks: Vec<Block> = group.clone().map(empty).collect();
        let all: Vec<usize> = group.clone().collect();
        if stores.is_empty() {
            for (block, rows) in blocks.iter_mut().zip(self.rows(&layers(&all), samples.clone())?) {
                block.rows = Some(rows);
            }
            return Ok(blocks);
        }
        let origins = data.origins(&layers(&all), samples.clone());
        let mut fingerprints = vec![None; blocks.len()];
        for ((block, origin), fingerprint) in blocks.iter_mut().zip(&origins).zip(&mut fingerprints) {
            *fingerprint = origin.as_ref().and_then(|origin| stores.fingerprint(origin));
            if let Some(content) = fingerprint {
                self.look_up(content, block);
            }
        }
        let unread: Vec<usize> = all.into_iter().filter(|&at| !blocks[at - group.start].complete()).collect();
        if unread.is_empty() {
            return Ok(blocks);
        }
        let rows = self.rows(&layers(&unread), samples.clone())?;
        let after = data.origins(&layers(&unread), samples.clone());
        for ((at, rows), after) in unread.into_iter().zip(rows).zip(after) {
            let place = at - group.start;
            let content = stored::content(&rows, samples.len(), shape(plan.layers[at].extent));
            blocks[place].rows = Some(rows);
            if fingerprints[place] != Some(content) {
                self.look_up(&content, &mut blocks[place]);
                // The file may be changed while it is read.
                if let Some(origin) = origins[place].filter(|origin| after == Some(*origin)) {
                    made.push((origin, content));
                }
            }
        }
        Ok(blocks)
    }

    /// Reads consecutive samples of layers, into memory that is no longer used. The system would have to provide new
    /// memory, which takes almost as long as reading.
    fn rows(&self, layers: &[usize], samples: Range<usize>) -> Result<Vec<LayerRows>> {
        let mut rows = self.used.try_iter().take(layers.len()).collect();
        self.data.read_into(layers, samples, &mut rows)?;
        Ok(rows)
    }

    /// Looks up all representations of a block with this content.
    fn look_up(&self, content: &[u8; 32], block: &mut Block) {
        let columns = &self.plan.layers[block.planned].columns;
        for ((key, columns), found) in self.definitions.keys(block.planned, content).zip(columns).zip(&mut block.found)
        {
            *found = (Some(key), self.stores.get(&key, block.samples.len(), columns.len()));
        }
    }
}

impl Block {
    /// Returns whether all representations were found.
    fn complete(&self) -> bool {
        self.found.iter().all(|(_, found)| found.is_some())
    }
}

/// Returns the numbers that identify an extent.
fn shape(extent: Extent) -> [usize; 2] {
    match extent {
        Extent::Vector(n) => [1, n],
        Extent::Matrix { rows, columns } => [rows, columns],
        Extent::Ragged { longest } => [0, longest],
    }
}
