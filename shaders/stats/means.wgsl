// Computes the means of columns over leaves of 1024 rows. A mean is an offset from the shift of the column. Its unit is
// 2^exponent, where `exponent` is the exponent of the largest distance from the shift in the leaf. A flag says whether
// the column has an element that is not finite. A workgroup reduces 8 columns, with 32 invocations for each column, in
// two passes over the rows of a leaf. The second pass runs while the rows are still in a cache. Node k of matrix m
// holds the offsets of the columns of m, then the flags (1 or 0), then the exponents.
//
// Loop iterations: 2 * (32 + 5).

const LANES: u32 = 32u;
const GROUPS: u32 = 8u;
const LEAF_ROWS: u32 = 1024u;

struct Params { first: u32, cols: u32, matrices: u32, len: u32, begin: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> shifts: array<f32>;
@group(0) @binding(3) var<storage, read_write> means: array<f32>;

var<workgroup> reaches: array<vec2<u32>, 256>;
var<workgroup> sums: array<vec2<f32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let part = lane % LANES;
    let columns = params.cols * params.matrices;
    let blocks = (columns + GROUPS - 1u) / GROUPS;
    let unit = params.first + group.x;
    let leaf = unit / blocks;
    let wanted = unit % blocks * GROUPS + lane / LANES;
    let s = min(wanted, columns - 1u);
    let begin = params.begin + leaf * LEAF_ROWS;
    let end = min(begin + LEAF_ROWS, params.end);
    let shift = shifts[s];
    // Elements are halved, because a distance may exceed f32. The second component is 1 if any element differs from the
    // shift, even by a subnormal number.
    var reach = vec2<u32>(0u);
    for (var row = begin + part; row < end; row += LANES) {
        let number = x[s * params.len + row];
        let size = magnitude_bits(number);
        if size < INFINITE {
            let same = bitcast<u32>(number) == bitcast<u32>(shift) || (size | magnitude_bits(shift)) == 0u;
            reach = vec2<u32>(max(reach.x, magnitude_bits(number * 0.5 - shift * 0.5)), reach.y | select(1u, 0u, same));
        }
    }
    reaches[lane] = reach;
    for (var span = LANES / 2u; span > 0u; span /= 2u) {
        workgroupBarrier();
        if part < span { reaches[lane] = max(reaches[lane], reaches[lane + span]); }
    }
    workgroupBarrier();
    let farthest = reaches[lane - part];
    let exponent = select(NONE, clamp(i32(farthest.x >> 23u) - 126, -126, 126), farthest.y != 0u);

    var sum = vec2<f32>(0.0);
    for (var row = begin + part; row < end; row += LANES) {
        let number = x[s * params.len + row];
        if magnitude_bits(number) < INFINITE { sum.x += distance(number, shift, exponent); } else { sum.y = 1.0; }
    }
    sums[lane] = sum;
    for (var span = LANES / 2u; span > 0u; span /= 2u) {
        workgroupBarrier();
        if part < span { sums[lane] = vec2<f32>(sums[lane].x + sums[lane + span].x, max(sums[lane].y, sums[lane + span].y)); }
    }
    if part == 0u && wanted < columns {
        let to = (leaf * params.matrices + s / params.cols) * params.cols * 3u + s % params.cols;
        means[to] = sums[lane].x / f32(max(end - begin, 1u));
        means[to + params.cols] = sums[lane].y;
        means[to + 2u * params.cols] = f32(exponent);
    }
}
