// Computes r_j = (A - g_j I) v_j in a tile of ROWS rows and COLUMNS columns j, and the tile's contributions to |r_j|^2
// and to v_j' r_j. `guesses` holds g_j, the first approximation of the eigenvalue (see tiled_normalize.wgsl). Each
// invocation computes four rows of four columns. Each sum consists of partial sums of COLUMNS products, and the g_j
// term is subtracted in the partial sum that contains the diagonal. If many small products were instead added one after
// another to a large one, all of the sums might be rounded in the same direction. This happens at the center of a star
// graph.
//
// sums: |r_j|^2 and v_j' r_j for each tile of rows and each column.
// Loop iterations of an invocation: n / COLUMNS (1 + 4 + 2 + COLUMNS) + 8 + 16.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read> w: array<f32>;
@group(0) @binding(4) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> guesses: array<f32>;
@group(0) @binding(6) var<storage, read_write> sums: array<f32>;

const QUADS: u32 = ROWS / 4u;
const FOURS: u32 = COLUMNS / 4u;
const WIDTH: u32 = QUADS * FOURS;

var<workgroup> left: array<vec4<f32>, COLUMNS * QUADS>;
var<workgroup> right: array<vec4<f32>, COLUMNS * FOURS>;

struct Place { elements: u32, order: u32 }

fn of_a(m: Place, row: u32, column: u32, e: i32) -> f32 {
    var x = 0.0;
    if row < m.order && column < m.order { x = scaled_down(a[m.elements + max(row, column) + min(row, column) * m.order], e); }
    return x;
}

fn of_v(m: Place, row: u32, column: u32) -> f32 {
    if row < m.order && column < m.order { return w[m.elements + row + column * m.order]; }
    return 0.0;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = group.x / params.groups;
    let m = matrix_of(table[params.first + matrix]);
    let p = Place(m.elements, m.order);
    let tile = group.x % params.groups % params.tiles;
    let top = tile * ROWS;
    let begin = group.x % params.groups / params.tiles * COLUMNS;
    if top >= m.order || begin >= m.order || (state[m.place].x & FLAG_NON_FINITE) != 0u { return; }
    let e = bitcast<i32>(state[m.place].y);
    let quad = lane % QUADS;
    let four = lane / QUADS;
    let row = top + 4u * quad;
    var guess: vec4<f32>;
    for (var j = 0u; j < 4u; j += 1u) {
        let column = begin + 4u * four + j;
        if column < m.order { guess[j] = guesses[matrix * params.capacity + column]; }
    }
    var product: mat4x4<f32>;
    for (var inner = 0u; inner < m.order; inner += COLUMNS) {
        for (var slot = lane; slot < COLUMNS * QUADS; slot += WIDTH) {
            let row = top + slot % QUADS * 4u;
            let k = inner + slot / QUADS;
            left[slot] = vec4<f32>(of_a(p, row, k, e), of_a(p, row + 1u, k, e), of_a(p, row + 2u, k, e), of_a(p, row + 3u, k, e));
        }
        for (var slot = lane; slot < COLUMNS * FOURS; slot += WIDTH) {
            let k = inner + slot % COLUMNS;
            let j = begin + slot / COLUMNS * 4u;
            right[slot] = vec4<f32>(of_v(p, k, j), of_v(p, k, j + 1u), of_v(p, k, j + 2u), of_v(p, k, j + 3u));
        }
        workgroupBarrier();
        var part: mat4x4<f32>;
        for (var k = 0u; k < COLUMNS; k += 1u) {
            let x = left[k * QUADS + quad];
            let y = right[four * COLUMNS + k];
            part[0] += x * y.x;
            part[1] += x * y.y;
            part[2] += x * y.z;
            part[3] += x * y.w;
        }
        if row / COLUMNS * COLUMNS == inner {
            let at = four * COLUMNS + row - inner;
            let v = transpose(mat4x4<f32>(right[at], right[at + 1u], right[at + 2u], right[at + 3u]));
            part -= mat4x4<f32>(guess.x * v[0], guess.y * v[1], guess.z * v[2], guess.w * v[3]);
        }
        product += part;
        workgroupBarrier();
    }
    for (var j = 0u; j < 4u; j += 1u) {
        let column = begin + 4u * four + j;
        let v = vec4<f32>(of_v(p, row, column), of_v(p, row + 1u, column), of_v(p, row + 2u, column), of_v(p, row + 3u, column));
        let r = product[j];
        // The sums of the tile take the place of its elements of A.
        left[(4u * four + j) * QUADS + quad] = vec4<f32>(dot(r, r), dot(v, r), 0.0, 0.0);
    }
    workgroupBarrier();
    if lane < COLUMNS && begin + lane < m.order {
        var sum = vec2<f32>();
        for (var q = 0u; q < QUADS; q += 1u) { sum += left[lane * QUADS + q].xy; }
        let at = 2u * ((matrix * params.capacity + begin + lane) * params.tiles + tile);
        sums[at] = sum.x;
        sums[at + 1u] = sum.y;
    }
}
