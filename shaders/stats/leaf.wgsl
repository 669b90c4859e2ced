// Computes the moments of leaves of 4096 elements of a series, in two passes over each leaf. The second pass runs while
// the elements are still in a cache. A workgroup reduces one leaf of each of 8 series, with 32 invocations per series.
// Neighboring invocations read neighboring elements of a series or, if ACROSS, the same element of neighboring series.
// An invocation sums each group of sixteen elements separately. Element i of series s is at index
// (s / inner * len + i) * inner + s % inner.
//
// Loop iterations: 2 * (128 + 8) and 2 * 5.

override ACROSS: bool = false;
override OMIT: bool = false;

const LANES: u32 = 32u;
const GROUPS: u32 = 8u;
const LEAF: u32 = 4096u;
const SOME: u32 = 512u;

struct Params { first: u32, series: u32, len: u32, inner: u32, begin: u32, end: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> shifts: array<f32>;
@group(0) @binding(3) var<storage, read_write> nodes: array<vec4<u32>>;

var<workgroup> numbers: array<vec4<f32>, 256>;
var<workgroup> marks: array<vec2<u32>, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let own = select(lane / LANES, lane % GROUPS, ACROSS);
    let part = select(lane % LANES, lane / GROUPS, ACROSS);
    let place = own * LANES + part;
    let blocks = (params.series + GROUPS - 1u) / GROUPS;
    let unit = params.first + group.x;
    let leaf = unit / blocks;
    let wanted = unit % blocks * GROUPS + own;
    let s = min(wanted, params.series - 1u);
    let begin = params.begin + leaf * LEAF;
    let end = min(begin + LEAF, params.end);
    let base = s / params.inner * params.len * params.inner + s % params.inner;
    let shift = shifts[s];

    var sum = 0.0;
    var low_sum = 0.0;
    var least = largest();
    var most = -largest();
    var mark = vec2<u32>(0u);
    for (var from_row = begin; from_row < end; from_row += SOME) {
        var some = 0.0;
        var low_some = 0.0;
        for (var row = from_row + part; row < min(from_row + SOME, end); row += LANES) {
            let number = x[base + row * params.inner];
            let flags = flags_of(bitcast<u32>(number));
            if !(OMIT && flags == FLAG_NAN) {
                mark = vec2<u32>(mark.x + 1u, mark.y | flags);
            }
            if flags == FLAG_FINITE {
                some += number - shift;
                low_some += distance_from(number, shift, true);
                least = min(least, number);
                most = max(most, number);
            }
        }
        sum += some;
        low_sum += low_some;
    }
    numbers[place] = vec4<f32>(sum, least, most, low_sum);
    marks[place] = mark;
    for (var reach = LANES / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if part < reach {
            let a = numbers[place];
            let b = numbers[place + reach];
            numbers[place] = vec4<f32>(a.x + b.x, min(a.y, b.y), max(a.z, b.z), a.w + b.w);
            let other = marks[place + reach];
            marks[place] = vec2<u32>(marks[place].x + other.x, marks[place].y | other.y);
        }
    }
    workgroupBarrier();
    let found = numbers[own * LANES];
    let count = marks[own * LANES].x;
    let seen = marks[own * LANES].y;
    let n = f32(max(count, 1u));
    let finite = (seen & FLAG_FINITE) != 0u;
    let far = finite && max(magnitude_bits(shift), max(magnitude_bits(found.y), magnitude_bits(found.z))) >= FAR;
    let near = select(shift, shift * power_of_two(-LOWERED), far);
    let offset = select(found.x, found.w, far) / n;
    let exponent = select(LEAST_EXPONENT,
        distance_exponent(max(abs(distance_from(found.z, shift, far) - offset), abs(distance_from(found.y, shift, far) - offset))), finite);
    let scale = power_of_two(-exponent);
    workgroupBarrier();

    var powers = vec4<f32>(0.0);
    for (var from_row = begin; from_row < end; from_row += SOME) {
        var some = vec4<f32>(0.0);
        for (var row = from_row + part; row < min(from_row + SOME, end); row += LANES) {
            let number = x[base + row * params.inner];
            if magnitude_bits(number) < INFINITE {
                let away = (distance_from(number, shift, far) - offset) * scale;
                let square = away * away;
                some += vec4<f32>(away, square, square * away, square * square);
            }
        }
        powers += some;
    }
    numbers[place] = powers;
    for (var reach = LANES / 2u; reach > 0u; reach /= 2u) {
        workgroupBarrier();
        if part < reach { numbers[place] += numbers[place + reach]; }
    }
    if part == 0u && wanted < params.series {
        let p = numbers[place];
        // The offset was rounded, so the moments about the rounded mean are converted to moments about the exact mean.
        let off = p.x / n;
        let words = words_of(Node(
            vec2<u32>(count, 0u), seen, exponent,
            offset + off * power_of_two(exponent),
            p.y - off * p.x,
            p.z - 3.0 * off * p.y + 2.0 * off * off * p.x,
            p.w - 4.0 * off * p.z + 6.0 * off * off * p.y - 3.0 * off * off * off * p.x,
            found.y, found.z, near, select(0, LOWERED, far),
        ));
        let to = 3u * (leaf * params.series + s);
        nodes[to] = words.a;
        nodes[to + 1u] = words.b;
        nodes[to + 2u] = words.c;
    }
}
