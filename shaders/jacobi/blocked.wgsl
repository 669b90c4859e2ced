// The round-robin tournament of the blocked form, whose players are blocks of BLOCK columns. Two blocks that meet in a
// round form a pair. An odd number of blocks is completed by a ghost, which is a block without columns. The constants
// PAIR, TILE and CHUNK are also in ops/jacobi/kernels.rs.

const BLOCK: u32 = 16u;
const PAIR: u32 = 2u * BLOCK;
// The number of rows in a tile.
const TILE: u32 = 64u;
// The number of rows in a chunk. The inner products of columns are summed over one chunk at a time.
const CHUNK: u32 = 256u;
const QUADS: u32 = TILE / 4u;
// The distance from one column of a tile to the next, in groups of four rows. It is odd so that columns start in
// different banks.
const STRIDE: u32 = QUADS + 1u;
// The marks of a pair of blocks. MARK_ACTIVE: the pair has columns to rotate in this round. MARK_ABOVE_ROUNDING: in
// this sweep, some columns of the pair were further from orthogonal than rounding explains.
const MARK_ACTIVE: u32 = 1u;
const MARK_ABOVE_ROUNDING: u32 = 2u;

// One round of the tournament. pairs, chunks, tiles: the numbers of pairs, chunks and tiles that are reserved for every
// matrix. They are those of the largest matrix.
struct Round { first: u32, round: u32, pairs: u32, chunks: u32, tiles: u32 }

fn players_of(order: u32) -> u32 { return 2u * max((order + PAIR - 1u) / PAIR, 1u); }

// Returns the two blocks of a pair in a round, the block with the smaller number first. The last player keeps its
// position, and the other players rotate.
fn blocks_of(players: u32, round: u32, pair: u32) -> vec2<u32> {
    var one = players - 1u;
    var two = round;
    if pair > 0u {
        one = (round + pair) % (players - 1u);
        two = (round + players - 1u - pair) % (players - 1u);
    }
    return vec2<u32>(min(one, two), max(one, two));
}

// Returns the index that column k of a pair of blocks has in the matrix, where 0 <= k < PAIR. The index may be beyond
// the last column of the matrix.
fn column_of(blocks: vec2<u32>, k: u32) -> u32 { return select(blocks.y * BLOCK + k - BLOCK, blocks.x * BLOCK + k, k < BLOCK); }
