// One round of a radix selection, for up to 8 ranks together. For each rank, counts how often each value of an 8-bit
// digit occurs among the keys that start with the digits found for this rank so far. A workgroup counts a part of 16384
// elements of a series for up to 8 ranks of this series. The counts are stored as counts[part][series][rank][256].
//
// Loop iterations: 8 + 64 * 9 + 8.

const PART: u32 = 16384u;
const RANKS: u32 = 8u;

struct Params { first: u32, series: u32, from_series: u32, len: u32, inner: u32, ranks: u32, shift: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
// For each rank, the known digits (the component x), and the rank among the keys that start with these digits (y).
@group(0) @binding(2) var<storage, read> sought: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

var<workgroup> seen: array<atomic<u32>, 2048>;
var<workgroup> known: array<u32, RANKS>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let bundles = (params.ranks + RANKS - 1u) / RANKS;
    let unit = params.first + group.x;
    let own = unit / bundles % params.series;
    let part = unit / bundles / params.series;
    let first_rank = unit % bundles * RANKS;
    let ranks = min(RANKS, params.ranks - first_rank);
    for (var k = lane; k < RANKS * 256u; k += 256u) { atomicStore(&seen[k], 0u); }
    // All digits above the current digit are known; in the first round no digit is known.
    var mask = 0u;
    if params.shift < 24u { mask = 0xffffffffu << (params.shift + 8u); }
    if lane < ranks { known[lane] = sought[own * params.ranks + first_rank + lane].x & mask; }
    workgroupBarrier();
    let s = params.from_series + own;
    let base = s / params.inner * params.len * params.inner + s % params.inner;
    let begin = part * PART;
    let end = min(begin + PART, params.len);
    for (var i = begin + lane; i < end; i += 256u) {
        let key = key_of(x[base + i * params.inner]);
        let digit = key >> params.shift & 255u;
        for (var r = 0u; r < ranks; r += 1u) {
            if (key & mask) == known[r] { atomicAdd(&seen[r * 256u + digit], 1u); }
        }
    }
    workgroupBarrier();
    let to = ((part * params.series + own) * params.ranks + first_rank) * 256u;
    for (var k = lane; k < ranks * 256u; k += 256u) { counts[to + k] = atomicLoad(&seen[k]); }
}
