// The tiled versions of the steps before and after Jacobi, for matrices larger than workgroup memory. Many workgroups
// share a matrix, and the numbers that one kernel leaves for the next are in arrays with room for params.capacity
// columns, or params.tiles tiles, per matrix. The constants are also in ops/eigen/kernels.rs.

// The rows of a tile, and the columns of a tile.
const ROWS: u32 = 64u;
const COLUMNS: u32 = 32u;
// The elements that workgroup memory holds while columns are sorted: 16 KiB, two rows at the largest order.
const SLOTS: u32 = 4096u;

// The first matrix of the table, the workgroups per matrix in this dispatch, and each matrix's room for columns and for
// tiles of rows.
struct Tiles { first: u32, groups: u32, capacity: u32, tiles: u32 }
