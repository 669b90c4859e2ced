// For every leaf of 1024 rows and every pair of columns, sums the products of their distances from the means of the two
// columns in this leaf. The distances are in units of a power of two, which each leaf chooses for each column. A
// workgroup computes a tile of 4 SIDE x 4 SIDE elements of the lower triangle, and an invocation computes 4 x 4
// elements of the tile. Each group of sixteen rows is summed separately. An element that is not finite counts as the
// mean.
//
// Loop iterations: 64 (1 + 16 + 64 / SIDE).

override SIDE: u32 = 16;

const LEAF_ROWS: u32 = 1024u;
const TOGETHER: u32 = 16u;

struct Params { first: u32, cols: u32, matrices: u32, len: u32, begin: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> shifts: array<f32>;
@group(0) @binding(3) var<storage, read> means: array<f32>;
@group(0) @binding(4) var<storage, read_write> products: array<vec4<f32>>;

var<workgroup> down: array<vec4<f32>, SIDE * 16>;
var<workgroup> across: array<vec4<f32>, SIDE * 16>;

// Returns the scaled distance of an element from the mean of its column; 0 outside the matrix.
fn centered(matrix: u32, column: u32, row: u32, end: u32, node: u32) -> f32 {
    if column >= params.cols || row >= end { return 0.0; }
    let number = x[(matrix * params.cols + column) * params.len + row];
    if magnitude_bits(number) >= INFINITE { return 0.0; }
    let own = node * params.cols * 3u + column;
    return distance(number, shifts[matrix * params.cols + column], i32(means[own + 2u * params.cols])) - means[own];
}

@compute @workgroup_size(SIDE * SIDE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let edge = (params.cols + 4u * SIDE - 1u) / (4u * SIDE);
    let tiles = edge * (edge + 1u) / 2u;
    let unit = params.first + group.x;
    let tile = tile_of(unit % tiles) * 4u * SIDE;
    let node = unit / tiles;
    let matrix = node % params.matrices;
    let begin = params.begin + node / params.matrices * LEAF_ROWS;
    let end = min(begin + LEAF_ROWS, params.end);
    let i = lane / SIDE;
    let j = lane % SIDE;
    var sums = mat4x4<f32>();
    for (var from_row = begin; from_row < end; from_row += TOGETHER) {
        workgroupBarrier();
        // Neighboring rows are adjacent in memory, and neighboring columns are adjacent in the tile.
        for (var k = lane; k < 4u * SIDE * TOGETHER; k += SIDE * SIDE) {
            let row = k % TOGETHER;
            let column = k / TOGETHER;
            down[row * SIDE + column / 4u][column % 4u] = centered(matrix, tile.x + column, from_row + row, end, node);
            across[row * SIDE + column / 4u][column % 4u] = centered(matrix, tile.y + column, from_row + row, end, node);
        }
        workgroupBarrier();
        var some = mat4x4<f32>();
        for (var row = 0u; row < TOGETHER; row += 1u) {
            let a = down[row * SIDE + i];
            let b = across[row * SIDE + j];
            some += mat4x4<f32>(a.x * b, a.y * b, a.z * b, a.w * b);
        }
        sums += some;
    }
    // sums[r] is row 4 i + r of the tile, columns 4 j to 4 j + 3.
    let to = unit * 4u * SIDE * SIDE + 4u * i * SIDE + j;
    products[to] = sums[0];
    products[to + SIDE] = sums[1];
    products[to + 2u * SIDE] = sums[2];
    products[to + 3u * SIDE] = sums[3];
}
