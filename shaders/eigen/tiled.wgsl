// The tiled forms of what comes before and after Jacobi, for matrices beyond workgroup memory: a matrix is many workgroups, and
// numbers that one kernel leaves to the next lie in arrays with room for params.capacity columns, or params.tiles tiles, for each
// matrix. The constants stand in ops/eigen/tiled.rs, too.

// Rows of a tile, columns of a tile.
const ROWS: u32 = 64u;
const COLUMNS: u32 = 32u;
// Numbers in workgroup memory while columns are sorted: 16 KiB, two rows at the largest order.
const SLOTS: u32 = 4096u;

// The first matrix of the table, the workgroups of each matrix in this dispatch, its room for columns and for tiles of rows.
struct Tiles { first: u32, groups: u32, capacity: u32, tiles: u32 }
