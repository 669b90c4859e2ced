// The blocks of parameters.

// The words of a block of parameters in `plan`.
const BLOCK_WORDS: u32 = 12;
const KIND: u32 = 0;
const PLACE: u32 = 1;
const BLOCK_ROWS: u32 = 2;
const BLOCK_COLS: u32 = 3;
const BLOCK_PITCH: u32 = 4;
const FIRST: u32 = 5;
const LEFT: u32 = 6;
const LEFT_PITCH: u32 = 7;
const RIGHT: u32 = 8;
const RIGHT_PITCH: u32 = 9;

// The kinds of blocks: the gradient of a matrix is the sum over the batch of products of two rows, that of a bias is
// the sum of the right row, and that of a gain or a shift has been summed up.
const MATRIX: u32 = 0;
const ROW: u32 = 1;
const SUMMED: u32 = 2;

fn block_word(block: u32, field: u32) -> u32 { return plan[params.blocks_at + block * BLOCK_WORDS + field]; }
