// Counts the elements of a series in each bin. A workgroup counts a part of 16384 elements of one series, in the 2048
// bins from `window` on. If `window` is 0, the workgroup also counts the elements below the first edge, the elements
// above the last edge, and NaNs, and stores these three counts after the counts of the bins. `ends` holds the keys of
// the lower edges of all bins, then the key of the upper edge of the last bin.
//
// Loop iterations: 9 + 64 * (1 + 25) + 9.

const PART: u32 = 16384u;
const WINDOW: u32 = 2048u;

struct Params { first: u32, series: u32, len: u32, inner: u32, bins: u32, window: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> ends: array<u32>;
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

var<workgroup> seen: array<atomic<u32>, 2051>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    for (var k = lane; k < WINDOW + 3u; k += 256u) { atomicStore(&seen[k], 0u); }
    workgroupBarrier();
    let unit = params.first + group.x;
    let s = unit % params.series;
    let base = s / params.inner * params.len * params.inner + s % params.inner;
    let begin = unit / params.series * PART;
    let end = min(begin + PART, params.len);
    for (var i = begin + lane; i < end; i += 256u) {
        let key = key_of(x[base + i * params.inner]);
        if key == KEY_OF_NAN {
            atomicAdd(&seen[WINDOW + 2u], 1u);
        } else if key < ends[0] {
            atomicAdd(&seen[WINDOW], 1u);
        } else if key > ends[params.bins] {
            atomicAdd(&seen[WINDOW + 1u], 1u);
        } else {
            // Bisection finds the last bin whose lower edge is not above the element.
            var low = 0u;
            var high = params.bins;
            while low + 1u < high {
                let middle = (low + high) / 2u;
                if key >= ends[middle] { low = middle; } else { high = middle; }
            }
            if low >= params.window && low < params.window + WINDOW { atomicAdd(&seen[low - params.window], 1u); }
        }
    }
    workgroupBarrier();
    let to = unit * (params.bins + 3u);
    let width = min(WINDOW, params.bins - params.window);
    for (var k = lane; k < width; k += 256u) { counts[to + params.window + k] = atomicLoad(&seen[k]); }
    if params.window == 0u && lane < 3u { counts[to + params.bins + lane] = atomicLoad(&seen[WINDOW + lane]); }
}
