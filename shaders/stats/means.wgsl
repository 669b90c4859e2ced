// The means of columns over leaves of 1024 rows, as offsets from the columns' shifts in their scales, and whether a number there is not
// finite. A workgroup has 8 columns, 32 invocations each. Node k of matrix m: offsets of its columns, then flags of 1 or 0.
//
// Loop iterations: 32 and 5.

const LANES: u32 = 32u;
const GROUPS: u32 = 8u;
const LEAF: u32 = 1024u;

struct Params { first: u32, cols: u32, matrices: u32, len: u32, begin: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> shifts: array<f32>;
@group(0) @binding(3) var<storage, read_write> means: array<f32>;

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
    let begin = params.begin + leaf * LEAF;
    let end = min(begin + LEAF, params.end);
    let own = s / params.cols * params.cols * 3u + s % params.cols;
    let shift = shifts[own];
    let scale = shifts[own + params.cols];
    var sum = vec2<f32>(0.0);
    for (var row = begin + part; row < end; row += LANES) {
        let number = x[s * params.len + row];
        if magnitude_bits(number) < INFINITE { sum.x += (number - shift) * scale; } else { sum.y = 1.0; }
    }
    sums[lane] = sum;
    for (var reach = LANES / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if part < reach { sums[lane] = vec2<f32>(sums[lane].x + sums[lane + reach].x, max(sums[lane].y, sums[lane + reach].y)); }
    }
    if part == 0u && wanted < columns {
        let to = (leaf * params.matrices + s / params.cols) * params.cols * 2u + s % params.cols;
        means[to] = sums[lane].x / f32(max(end - begin, 1u));
        means[to + params.cols] = sums[lane].y;
    }
}
