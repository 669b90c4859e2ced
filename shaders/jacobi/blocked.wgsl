// The tournament of the blocked form: columns form blocks of BLOCK, and blocks form pairs; an odd number of blocks is
// completed by a ghost. The constants PAIR, TILE and CHUNK are also in ops/jacobi/kernels.rs.

const BLOCK: u32 = 16u;
const PAIR: u32 = 2u * BLOCK;
// The rows of one tile.
const TILE: u32 = 64u;
// The rows of one chunk of inner products.
const CHUNK: u32 = 256u;
const QUADS: u32 = TILE / 4u;
// The distance from one column of a tile to the next, in groups of four rows: odd, so that columns start in different
// banks.
const STRIDE: u32 = QUADS + 1u;
// The marks of a pair: it has columns to rotate in this round; in this sweep, some were further from orthogonal than
// rounding.
const MARK_ACTIVE: u32 = 1u;
const MARK_ABOVE_ROUNDING: u32 = 2u;

// One round of the tournament. pairs, chunks, tiles: the counts for each matrix, as many as the largest matrix needs.
struct Round { first: u32, round: u32, pairs: u32, chunks: u32, tiles: u32 }

fn players_of(order: u32) -> u32 { return 2u * max((order + PAIR - 1u) / PAIR, 1u); }

// Returns the two blocks of a pair in a round, the smaller first. The last player stays, and the others go round.
fn blocks_of(players: u32, round: u32, pair: u32) -> vec2<u32> {
    var one = players - 1u;
    var two = round;
    if pair > 0u {
        one = (round + pair) % (players - 1u);
        two = (round + players - 1u - pair) % (players - 1u);
    }
    return vec2<u32>(min(one, two), max(one, two));
}

// Returns the matrix's column for a pair's column 0 <= k < PAIR; it may be beyond the last one.
fn column_of(blocks: vec2<u32>, k: u32) -> u32 { return select(blocks.y * BLOCK + k - BLOCK, blocks.x * BLOCK + k, k < BLOCK); }
