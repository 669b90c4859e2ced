// Computes the sums of X'X and X'AX over the rows of a chunk, for the columns of two slabs of X. A workgroup
// processes one chunk, and each invocation computes one 4 x 4 tile. The slab `left` has 4 LEFT columns. The slab
// `right` has 4 RIGHT columns, and `image` is A times `right`. A chunk is (first row, end row, problem, -). Each
// group of 16 rows is summed separately, so that the rounding error grows with the number of groups and not with
// the number of rows.
//
// Loop iterations: the rows of a chunk (512) plus its groups of 16 rows (32).

override LEFT: u32 = 8;
override RIGHT: u32 = 8;

const TOGETHER: u32 = 16u;

struct Params { first: u32, base: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> chunks: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> left: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> right: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> image: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> sums: array<vec4<f32>>;

@compute @workgroup_size(LEFT * RIGHT)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = lane / RIGHT;
    let j = lane % RIGHT;
    let slot = params.first + group.x;
    let chunk = chunks[slot];
    var xx = mat4x4<f32>();
    var xy = mat4x4<f32>();
    for (var begin = chunk.x; begin < chunk.y; begin += TOGETHER) {
        let end = min(begin + TOGETHER, chunk.y);
        var some_xx = mat4x4<f32>();
        var some_xy = mat4x4<f32>();
        for (var row = begin; row < end; row += 1u) {
            let x = left[row * LEFT + i];
            let z = right[row * RIGHT + j];
            let y = image[row * RIGHT + j];
            some_xx += mat4x4<f32>(x.x * z, x.y * z, x.z * z, x.w * z);
            some_xy += mat4x4<f32>(x.x * y, x.y * y, x.z * y, x.w * y);
        }
        xx += some_xx;
        xy += some_xy;
    }
    // Both tiles are stored row by row, first X'X and then X'AX. An invocation writes the rows 4 i to 4 i + 3 of
    // the columns 4 j to 4 j + 3.
    let tile = 4u * LEFT * RIGHT;
    let place = (slot - params.base) * 2u * tile + 4u * i * RIGHT + j;
    sums[place] = xx[0];
    sums[place + RIGHT] = xx[1];
    sums[place + 2u * RIGHT] = xx[2];
    sums[place + 3u * RIGHT] = xx[3];
    sums[place + tile] = xy[0];
    sums[place + tile + RIGHT] = xy[1];
    sums[place + tile + 2u * RIGHT] = xy[2];
    sums[place + tile + 3u * RIGHT] = xy[3];
}
