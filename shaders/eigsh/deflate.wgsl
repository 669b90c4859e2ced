// Computes X - V (V'X) in the columns and problems that the coefficients select, as in sparse/advance.wgsl. Each
// column of V is supported on one component of a graph. In row r, column labels[r] of V has the entry values[r],
// and the other columns have 0. `along` is V'X. If all entries of a row of V are 0, its label is NONE. If a row
// holds the only entry of a column of V, its label is ALONE, and this row of X becomes 0. Each workgroup
// processes one chunk of rows, which is (first row, end row, problem, -).
//
// Loop iterations: rows of a chunk (512) * LANES / 64.

override LANES: u32 = 8;
override WIDTH: u32 = 64;

const NONE: u32 = 0xffffffffu;
const ALONE: u32 = 0xfffffffeu;

struct Params { first: u32, base: u32, column: u32, width: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> chunks: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<f32>;
@group(0) @binding(4) var<storage, read> coefficients: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> along: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> x: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let chunk = chunks[params.first + group.x];
    let place = u32(coefficients[params.base + chunk.z].w);
    let count = select(0u, (chunk.y - chunk.x) * LANES, place != 0u);
    for (var k = lane; k < count; k += WIDTH) {
        let row = chunk.x + k / LANES;
        let part = k % LANES;
        let label = labels[row];
        if label != NONE {
            let here = row * LANES + part;
            let before = x[here];
            var after = vec4<f32>(0.0);
            if label != ALONE { after = before - values[row] * along[label * LANES + part]; }
            let column = params.column + 4u * part + vec4<u32>(0u, 1u, 2u, 3u);
            x[here] = select(before, after, (column + 1u >= vec4<u32>(place)) & (column < vec4<u32>(params.width)));
        }
    }
}
