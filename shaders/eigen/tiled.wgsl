// What the tiled kernels share. They make the steps before and after Jacobi for matrices larger than workgroup memory,
// with many workgroups per matrix. The results that one kernel stores for the next are in arrays with room for
// params.capacity columns, or params.tiles tiles, per matrix. The constants are also in ops/eigen/kernels.rs.

// The number of rows in a tile, and the number of columns in a tile.
const ROWS: u32 = 64u;
const COLUMNS: u32 = 32u;
// The number of rows, and of columns, in a tile of V'V - I.
const SIDE: u32 = 64u;
// The number of elements that workgroup memory holds while columns are sorted: 16 KiB, or two rows of a matrix of the
// largest order.
const SLOTS: u32 = 4096u;

// The table index of this dispatch's first matrix, and the number of workgroups per matrix. `capacity` and `tiles` are
// the room of the arrays per matrix, in columns and in tiles of rows.
struct Tiles { first: u32, groups: u32, capacity: u32, tiles: u32 }
