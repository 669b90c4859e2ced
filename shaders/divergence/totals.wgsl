// totals[i] is the sum of histogram i: x holds the bits of a number from 1 to 2, and y holds an exponent. If histograms
// are not normalized, the number is 1 and the exponent is 0. The number is NaN if an entry is negative or not finite or
// if, with `normalize`, the sum is not positive. A team of TEAM invocations sums one histogram, and a dispatch sums the
// bins `begin` to `end`. `fresh` marks the first dispatch and `last` the last dispatch; before the last dispatch ends,
// totals[i] holds two unfinished sums instead. Loop iterations of an invocation: (end - begin) / TEAM, and a 32nd of
// that for the outer loop. Needs divergence/scaled.wgsl.

override TEAM: u32 = 64;
override WIDTH: u32 = 64;

struct Params { bins: u32, begin: u32, end: u32, count: u32, first: u32, fresh: u32, last: u32, normalize: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> histograms: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<vec2<u32>>;

// There are two sums. Entries of at least 2^-20 are multiplied by 2^-64, and smaller entries by 2^64, so that neither
// sum overflows or loses subnormal entries. SMALL has the bits of 2^-20.
const SMALL: u32 = 0x35800000u;

var<workgroup> sums: array<vec2<f32>, WIDTH>;
var<workgroup> wrong: array<u32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let part = lane % TEAM;
    let place = (params.first + group.x) * (WIDTH / TEAM) + lane / TEAM;
    let end = select(params.begin, params.end, place < params.count);
    var sum = vec2<f32>(0.0);
    var bad = 0u;
    var k = params.begin + part;
    while k < end {
        let stop = min(end, k + 32u * TEAM);
        var run = vec2<f32>(0.0);
        for (; k < stop; k += TEAM) {
            let bits = histograms[place * params.bins + k];
            if bits > 0x80000000u || bits >= INFINITY && bits < 0x80000000u {
                bad = 1u;
            } else if (bits & 0x7fffffffu) < SMALL {
                run.y += scaled(bits, 64);
            } else {
                run.x += scaled(bits, -64);
            }
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
        var before = vec2<u32>(0u);
        if params.fresh == 0u { before = totals[place]; }
        if wrong[lane] != 0u || !finite(before.x) {
            totals[place] = vec2<u32>(NAN, 0u);
        } else {
            let total = bitcast<vec2<f32>>(before) + sums[lane];
            var words = bitcast<vec2<u32>>(total);
            if params.last != 0u {
                words = vec2<u32>(0x3f800000u, 0u);
                if params.normalize != 0u {
                    // The scale of the sum of small entries is 2^128 times the scale of the sum of large entries. The
                    // two factors 2^-64 undo this.
                    let large = total.x > 0.0;
                    let bits = bitcast<u32>(select(total.y, total.x + (total.y * power_of_two(-64)) * power_of_two(-64), large));
                    let exponent = i32(bits >> 23u) - 127 + select(-64, 64, large);
                    words = vec2<u32>((bits & 0x7fffffu) | 0x3f800000u, bitcast<u32>(exponent));
                    if bits == 0u { words = vec2<u32>(NAN, 0u); }
                }
            }
            totals[place] = words;
        }
    }
}
