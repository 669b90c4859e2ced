// How many of 16384 numbers of a series fall into each bin, a workgroup a part of a series: bins `window` to `window + 2048`,
// behind them, with the first window, what is below, above and NaN. `ends` are the keys of the bins' lower ends, then that of the
// last upper one.
//
// Loop iterations: 9 + 64 * 22 + 9.

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
            // The last bin whose lower end is not above the number.
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
