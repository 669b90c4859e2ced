// totals[i] = the sum of histogram i, or 1 where it is taken as it is; no number (a NaN's bits) where an entry is negative or not finite or,
// where it is to be divided by, the sum is not positive. A team of TEAM invocations a histogram; bins begin to end of it in one
// dispatch, of which `fresh` says the first and `last` the last. Loops of an invocation: (end - begin) / TEAM and a 32nd of that.

override TEAM: u32 = 64;
override WIDTH: u32 = 64;

struct Params { bins: u32, begin: u32, end: u32, count: u32, first: u32, fresh: u32, last: u32, normalize: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> histograms: array<f32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;

var<workgroup> sums: array<f32, WIDTH>;
var<workgroup> wrong: array<u32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let part = lane % TEAM;
    let place = (params.first + group.x) * (WIDTH / TEAM) + lane / TEAM;
    let end = select(params.begin, params.end, place < params.count);
    var sum = 0.0;
    var bad = 0u;
    var k = params.begin + part;
    while k < end {
        let stop = min(end, k + 32u * TEAM);
        var run = 0.0;
        for (; k < stop; k += TEAM) {
            let x = histograms[place * params.bins + k];
            let bits = bitcast<u32>(x);
            if bits > 0x80000000u || bits >= 0x7f800000u && bits < 0x80000000u { bad = 1u; } else { run += x; }
        }
        sum += run;
    }
    sums[lane] = sum;
    wrong[lane] = bad;
    workgroupBarrier();
    for (var span = TEAM / 2u; span > 0u; span /= 2u) {
        if part < span {
            sums[lane] += sums[lane + span];
            wrong[lane] |= wrong[lane + span];
        }
        workgroupBarrier();
    }
    if part == 0u && place < params.count {
        var before = 0u;
        if params.fresh == 0u { before = totals[place]; }
        if wrong[lane] != 0u || before >= 0x7f800000u {
            totals[place] = 0x7fc00000u;
        } else {
            let total = bitcast<f32>(before) + sums[lane];
            let as_given = params.last != 0u && params.normalize == 0u;
            let nothing = params.last != 0u && params.normalize != 0u && total <= 0.0;
            totals[place] = select(select(bitcast<u32>(total), 0x3f800000u, as_given), 0x7fc00000u, nothing);
        }
    }
}
