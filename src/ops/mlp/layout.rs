//! Where the parameters of a network are stored. They lie in one vector: for each layer a block of weights and a block
//! of one row for the biases, and two more rows if the layer is normalized. Rows begin at multiples of [`STRIP`]
//! elements and are padded with zeros, so that vectors of any width read whole rows.

use super::spec::{Layer, Mlp, Norm};
use std::ops::Range;

/// The rows of blocks are padded to a multiple of this number of elements, which is the number of lanes of the widest
/// vectors. Sums over the elements of a row are made of this many partial sums, whatever the width of the vectors.
pub(super) const STRIP: usize = 16;
/// A layer with fewer outputs stores its weights with a row per output, so that less of each row is padding.
const NARROW: usize = 8;

/// A matrix of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The place of the first row.
    pub(super) at: usize,
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// The distance between rows.
    pub(super) stride: usize,
    /// The number of parameters in the blocks before this one, without padding. Parameter (i, j) of this block is
    /// number `first + i * cols + j` of the network, which decides its noise.
    pub(super) first: usize,
}

impl Block {
    pub(super) fn range(&self) -> Range<usize> {
        self.at..self.at + self.rows * self.stride
    }

    /// Returns the places of row `row`, without padding.
    pub(super) fn row(&self, row: usize) -> Range<usize> {
        let at = self.at + row * self.stride;
        at..at + self.cols
    }
}

/// A layer, and where its parameters are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub(super) layer: Layer,
    pub(super) inputs: usize,
    /// The number of inputs with padding.
    pub(super) in_stride: usize,
    /// The number of outputs with padding.
    pub(super) stride: usize,
    /// Whether the rows of the weights are outputs. Otherwise, they are inputs.
    pub(super) by_output: bool,
    pub(super) weights: Block,
    pub(super) bias: Block,
    /// The gains and the shifts of a normalization.
    pub(super) scaling: Option<[Block; 2]>,
    /// Where the running mean of batch normalization is, followed by the running variance.
    pub(super) running: Option<usize>,
}

/// The layout of a network.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) layers: Vec<Placed>,
    /// The blocks of all parameters, in the order of memory.
    pub(super) blocks: Vec<Block>,
    /// The number of elements of the vector of parameters.
    pub(super) len: usize,
    /// The number of parameters, without padding.
    pub(super) parameters: usize,
    /// The number of elements of the vector of running statistics.
    pub(super) running: usize,
}

impl Layout {
    pub(super) fn new(net: &Mlp) -> Self {
        let (mut len, mut first, mut running) = (0, 0, 0);
        let mut blocks = Vec::new();
        let mut block = |rows: usize, cols: usize| {
            let made = Block { at: len, rows, cols, stride: padded(cols), first };
            (len, first) = (len + rows * made.stride, first + rows * cols);
            blocks.push(made);
            made
        };
        let mut layers = Vec::new();
        for (inputs, layer) in net.with_inputs() {
            let by_output = layer.outputs < NARROW;
            let weights = if by_output { block(layer.outputs, inputs) } else { block(inputs, layer.outputs) };
            let bias = block(1, layer.outputs);
            let scaling = (layer.norm != Norm::None).then(|| [block(1, layer.outputs), block(1, layer.outputs)]);
            let stride = padded(layer.outputs);
            let own = (layer.norm == Norm::Batch).then_some(running);
            running += own.map_or(0, |_| 2 * stride);
            layers.push(Placed {
                layer: *layer,
                inputs,
                in_stride: padded(inputs),
                stride,
                by_output,
                weights,
                bias,
                scaling,
                running: own,
            });
        }
        Self { layers, blocks, len, parameters: first, running }
    }

    /// Returns layouts of about `len` elements each, which follow one another in memory, and where they are. They have
    /// no layers.
    pub(super) fn parts(&self, len: usize) -> impl Iterator<Item = (Self, Range<usize>)> {
        self.blocks.iter().flat_map(move |block| {
            let rows = (len / block.stride).max(1);
            (0..block.rows).step_by(rows).map(move |row| {
                let at = block.at + row * block.stride;
                let own =
                    Block { at: 0, rows: rows.min(block.rows - row), first: block.first + row * block.cols, ..*block };
                let len = own.rows * own.stride;
                let parameters = own.first + own.rows * own.cols;
                (Self { layers: Vec::new(), blocks: vec![own], len, parameters, running: 0 }, at..at + len)
            })
        })
    }

    /// Returns a layout of a single row, whose block the caller sets.
    pub(super) fn of_row() -> Self {
        let block = Block { at: 0, rows: 1, cols: 0, stride: 0, first: 0 };
        Self { layers: Vec::new(), blocks: vec![block], len: 0, parameters: 0, running: 0 }
    }
}

pub(super) fn padded(len: usize) -> usize {
    len.next_multiple_of(STRIP)
}
