// Replaces a slab of X by the same columns of X Q. For each of these columns, also computes the sum of the squares
// of the elements of AX Q - X Q diag(values) over a chunk of rows. A workgroup processes one chunk, and LANES
// invocations process each row of the slab. Whole rows of X and AX are in panels, which have `total` vec4s per row
// and start at row `row`. A chunk is (first row, end row, problem, -). For each problem, `values` starts with a
// vec4 whose first component is nonzero if the problem is rotated. The eigenvalues follow.
//
// Loop iterations: rows of a chunk (512) / 8, times (1 + total).

override LANES: u32 = 8;

const TEAMS: u32 = 8u;

struct Params { first: u32, base: u32, row: u32, total: u32, offset: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> chunks: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> image: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> slab: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> squares: array<vec4<f32>>;

var<workgroup> shares: array<vec4<f32>, TEAMS * LANES>;

@compute @workgroup_size(LANES * TEAMS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let part = lane % LANES;
    let slot = params.first + group.x;
    let chunk = chunks[slot];
    let total = params.total;
    let own = chunk.z * (total + 1u);
    let value = values[own + 1u + params.offset + part];
    // A problem that is not rotated has no rows to process.
    let end = select(chunk.x, chunk.y, values[own].x != 0.0);
    var square = vec4<f32>(0.0);
    for (var row = chunk.x + lane / LANES; row < end; row += TEAMS) {
        let place = (row - params.row) * total;
        var turned = vec4<f32>(0.0);
        var turned_image = vec4<f32>(0.0);
        var at = chunk.z * 4u * total * total + params.offset + part;
        for (var k = 0u; k < total; k += 1u) {
            let m = mat4x4<f32>(q[at], q[at + total], q[at + 2u * total], q[at + 3u * total]);
            turned += m * x[place + k];
            turned_image += m * image[place + k];
            at += 4u * total;
        }
        slab[row * LANES + part] = turned;
        let away = turned_image - value * turned;
        square += away * away;
    }
    shares[lane] = square;
    workgroupBarrier();
    if lane < LANES {
        let low = (shares[part] + shares[LANES + part]) + (shares[2u * LANES + part] + shares[3u * LANES + part]);
        let high = (shares[4u * LANES + part] + shares[5u * LANES + part]) + (shares[6u * LANES + part] + shares[7u * LANES + part]);
        squares[(slot - params.base) * LANES + part] = low + high;
    }
}
