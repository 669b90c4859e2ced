// The tournament of the blocked form: columns in blocks of BLOCK, blocks in pairs; an odd number of blocks plays with a ghost. The
// constants stand in ops/jacobi/blocked.rs, too.

const BLOCK: u32 = 16u;
const PAIR: u32 = 2u * BLOCK;
// Rows of one tile.
const TILE: u32 = 64u;
// Rows of one chunk of inner products.
const CHUNK: u32 = 256u;
const QUADS: u32 = TILE / 4u;
// Groups of four rows from one column of a tile to the next: odd, so that columns begin in different banks.
const STRIDE: u32 = QUADS + 1u;
// What a pair found: columns to rotate in this round, and some in this sweep that were further from orthogonal than rounding.
const MARK_ACTIVE: u32 = 1u;
const MARK_LOUD: u32 = 2u;

// One round of the tournament. pairs, chunks, tiles: for each matrix as many as the largest needs.
struct Round { first: u32, round: u32, pairs: u32, chunks: u32, tiles: u32 }

fn players_of(order: u32) -> u32 { return 2u * max((order + PAIR - 1u) / PAIR, 1u); }

// The two blocks of a pair in a round, the smaller first: the last player stays, the others go round.
fn blocks_of(players: u32, round: u32, pair: u32) -> vec2<u32> {
    var one = players - 1u;
    var two = round;
    if pair > 0u {
        one = (round + pair) % (players - 1u);
        two = (round + players - 1u - pair) % (players - 1u);
    }
    return vec2<u32>(min(one, two), max(one, two));
}

// The matrix's column of a pair's column 0 <= k < PAIR; it may lie beyond the last.
fn column_of(blocks: vec2<u32>, k: u32) -> u32 { return select(blocks.y * BLOCK + k - BLOCK, blocks.x * BLOCK + k, k < BLOCK); }
