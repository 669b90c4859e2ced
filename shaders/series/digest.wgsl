// Scales the numbers of a sample by a power of two, so that their greatest magnitude is at least 1 and less than 2, and
// adds them up. A workgroup reads one sample, as bits, because a device may flush subnormal numbers. All later kernels
// read the scaled numbers. A sample with a number that is not finite counts as zeros.
//
// Loop iterations of an invocation: 3 n / WIDTH + 3 log2(WIDTH). Needs shared/real.wgsl and series/reduce.wgsl.

// The number of values of a record: whether all numbers are finite, the exponent of the scale, the first number; the
// sum of the distances from it, the sum of squares, the least and the greatest number; the sums of the second to fourth
// powers of the distances from the mean and of their magnitudes; the distance of the mean from the first number.
const RECORD: u32 = 12u;

struct Params { first: u32, n: u32, apart: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> bits: array<u32>;
@group(0) @binding(2) var<storage, read_write> scaled: array<f32>;
@group(0) @binding(3) var<storage, read_write> distances: array<f32>;
@group(0) @binding(4) var<storage, read_write> records: array<f32>;

var<workgroup> peaks: array<u32, WIDTH>;

// Returns the number with the given bits times 2^-e. A result below the normal numbers becomes the least one, so that
// it keeps its sign.
fn scaled_by(word: u32, e: i32) -> f32 {
    let size = word & 0x7fffffffu;
    let own = exponent_of(size);
    // The significand without its leading bit.
    let normal = size & 0x7fffffu;
    let subnormal = (size << u32(clamp(-126 - own, 0, 23))) & 0x7fffffu;
    let significand = select(subnormal, normal, size >= 0x800000u);
    let place = own - e + 127;
    let made = select((u32(clamp(place, 1, 254)) << 23u) | significand, 0x800000u, place < 1);
    return bitcast<f32>(select((word & 0x80000000u) | made, 0u, size == 0u));
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.n;
    let sample = params.first + group.x;
    let begin = sample * n;
    var peak = 0u;
    for (var i = lane; i < n; i += WIDTH) { peak = max(peak, bits[begin + i] & 0x7fffffffu); }
    peaks[lane] = peak;
    for (var span = WIDTH / 2u; span > 0u; span /= 2u) {
        workgroupBarrier();
        if lane < span { peaks[lane] = max(peaks[lane], peaks[lane + span]); }
    }
    workgroupBarrier();
    let finite = peaks[0] < INFINITE;
    let e = select(0, exponent_of(peaks[0]), finite);
    let start = select(0.0, scaled_by(bits[begin], e), finite);
    // The sum of distances and of squares, and the greatest number and the greatest negated number.
    var sum = vec4<f32>(0.0);
    var ends = vec4<f32>(-4.0);
    for (var i = lane; i < n; i += WIDTH) {
        let x = select(0.0, scaled_by(bits[begin + i], e), finite);
        let d = x - start;
        scaled[begin + i] = x;
        if params.apart != 0u { distances[begin + i] = d; }
        sum += vec4<f32>(d, x * x, 0.0, 0.0);
        ends = max(ends, vec4<f32>(x, -x, -4.0, -4.0));
    }
    sum = total(lane, sum);
    ends = greatest(lane, ends);
    let mean = sum.x / f32(n);
    var central = vec4<f32>(0.0);
    for (var i = lane; i < n; i += WIDTH) {
        let d = select(0.0, scaled_by(bits[begin + i], e), finite) - start - mean;
        central += vec4<f32>(d * d, d * d * d, d * d * (d * d), abs(d));
    }
    central = total(lane, central);
    if lane == 0u {
        let to = sample * RECORD;
        records[to] = select(0.0, 1.0, finite);
        records[to + 1u] = f32(e);
        records[to + 2u] = start;
        records[to + 3u] = sum.x;
        records[to + 4u] = sum.y;
        records[to + 5u] = -ends.y;
        records[to + 6u] = ends.x;
        records[to + 7u] = central.x;
        records[to + 8u] = central.y;
        records[to + 9u] = central.z;
        records[to + 10u] = central.w;
        records[to + 11u] = mean;
    }
}
