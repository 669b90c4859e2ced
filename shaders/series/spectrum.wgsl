// Describes the spectrum of a sample, from its transform: a workgroup for each sample. The parts are those of
// ops/series/spectrum.rs. A frequency has a place in the table: itself, how often it counts, which one is next in
// ascending order, and its band.
//
// Loop iterations of an invocation, for B frequencies: about 4 B / WIDTH + top (B / WIDTH + log2(WIDTH) + 2) +
// bands B / WIDTH + WIDTH. Needs series/reduce.wgsl and series/load.wgsl.

const RECORD: u32 = 12u;
// The logarithm of a power of 0, which makes a product with it 0.
const NOTHING: f32 = -3e38;
// The least power that counts as more than 0.
const LEAST: f32 = 1.2e-38;

struct Params {
    first: u32, n: u32, offset: u32, stride: u32,
    bins: u32, skipped: u32, top: u32, top_at: u32, bands: u32, bands_at: u32, powers_at: u32,
    count: f32, epsilon: f32, rolloff: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> transformed: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> records: array<f32>;
@group(0) @binding(3) var<storage, read> places: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> parts: array<f32>;

var<workgroup> before: array<f32, WIDTH>;

// Returns the greater one of two pairs (power, place in ascending order of frequencies); of equal powers, that with the
// lower frequency.
fn stronger(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    let second = b.x > a.x || (b.x == a.x && b.y < a.y);
    return select(a, b, second);
}

fn strongest(lane: u32, value: vec2<f32>) -> vec2<f32> {
    sums[lane] = vec4<f32>(value, 0.0, 0.0);
    for (var span = WIDTH / 2u; span > 0u; span /= 2u) {
        workgroupBarrier();
        if lane < span { sums[lane] = vec4<f32>(stronger(sums[lane].xy, sums[lane + span].xy), 0.0, 0.0); }
    }
    return workgroupUniformLoad(&sums[0]).xy;
}

// Returns the greatest place in ascending order at which the powers before it add up to less than `wanted`, or 0.
fn place_of(lane: u32, wanted: f32) -> f32 {
    let each = (params.bins - params.skipped + WIDTH - 1u) / WIDTH;
    let begin = min(params.skipped + lane * each, params.bins);
    let end = min(begin + each, params.bins);
    var own = 0.0;
    for (var j = begin; j < end; j++) {
        let k = u32(places[j].z);
        own += places[k].y * x[k];
    }
    before[lane] = own;
    workgroupBarrier();
    // Sums over the invocations before each one.
    if lane == 0u {
        var sum = 0.0;
        for (var i = 0u; i < WIDTH; i++) {
            let next = sum + before[i];
            before[i] = sum;
            sum = next;
        }
    }
    workgroupBarrier();
    var sum = before[lane];
    var last = 0.0;
    for (var j = begin; j < end; j++) {
        let k = u32(places[j].z);
        if sum < wanted { last = f32(j); }
        sum += places[k].y * x[k];
    }
    return greatest(lane, vec4<f32>(last, 0.0, 0.0, 0.0)).x;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let sample = params.first + group.x;
    let begin = sample * params.bins;
    let skipped = params.skipped;
    for (var k = lane; k < params.bins; k += WIDTH) {
        let z = transformed[begin + k];
        x[k] = dot(z, z);
    }
    if lane == 0u {
        // The transform is that of the distances from the first number.
        let sum = f32(params.n) * records[sample * RECORD + 2u] + records[sample * RECORD + 3u];
        x[0] = sum * sum;
    }
    workgroupBarrier();
    var sums_of = vec4<f32>(0.0);
    var best = vec2<f32>(0.0, 0.0);
    for (var j = skipped + lane; j < params.bins; j += WIDTH) {
        let k = u32(places[j].z);
        let power = x[k];
        let weighted = places[k].y * power;
        sums_of += vec4<f32>(weighted, weighted * places[k].x, places[k].y * sqrt(power), 0.0);
        best = stronger(best, vec2<f32>(power, f32(j)));
    }
    sums_of = total(lane, sums_of);
    best = strongest(lane, best);
    let all = max(sums_of.x, LEAST);
    let centroid = sums_of.y / all;
    let mean = sums_of.z / params.count;
    // A single frequency is its own mean, also where a quotient is off by a unit in the last place.
    let alone = params.bins == skipped + 1u;
    var further = vec4<f32>(0.0);
    var nothing = 0.0;
    for (var k = skipped + lane; k < params.bins; k += WIDTH) {
        let power = x[k];
        let weight = places[k].y;
        let share = power / all;
        let apart = select(places[k].x - centroid, 0.0, alone);
        let deviation = select(sqrt(power) - mean, 0.0, alone);
        let some = power >= LEAST;
        if !some { nothing = 1.0; }
        further += weight * vec4<f32>(
            apart * apart * power,
            deviation * deviation,
            select(0.0, -share * log(max(share + params.epsilon, LEAST)), some),
            select(0.0, log(max(power, LEAST)), some),
        );
    }
    further = total(lane, further);
    nothing = greatest(lane, vec4<f32>(nothing, 0.0, 0.0, 0.0)).x;
    let rolloff = place_of(lane, params.rolloff * sums_of.x);
    let to = sample * params.stride + params.offset;
    if lane == 0u {
        parts[to] = sums_of.x;
        parts[to + 1u] = sums_of.y;
        parts[to + 2u] = further.x;
        parts[to + 3u] = sums_of.z;
        parts[to + 4u] = further.y;
        parts[to + 5u] = best.x;
        parts[to + 6u] = further.z;
        // Without a frequency that is seen, or without power, the place is 0.
        parts[to + 7u] = places[u32(places[u32(rolloff)].z)].x;
        parts[to + 8u] = places[u32(places[u32(best.y)].z)].x;
        parts[to + 9u] = select(further.w, NOTHING, nothing > 0.0);
        parts[to + 10u] = sums_of.x;
    }
    // The greatest powers, as often as each one counts. Each round finds the next one after `last`.
    var filled = select(params.top, 0u, params.top_at > 0u);
    var last = vec2<f32>(3e38, 0.0);
    while filled < params.top {
        var next = vec2<f32>(-1.0, 3e38);
        for (var j = skipped + lane; j < params.bins; j += WIDTH) {
            let own = vec2<f32>(x[u32(places[j].z)], f32(j));
            let later = own.x < last.x || (own.x == last.x && own.y > last.y);
            if later { next = stronger(next, own); }
        }
        last = strongest(lane, next);
        let left = last.x >= 0.0;
        var times = params.top - filled;
        if left { times = min(times, u32(places[u32(places[u32(last.y)].z)].y)); }
        if lane == 0u {
            for (var i = 0u; i < times; i++) { parts[to + params.top_at + filled + i] = max(last.x, 0.0); }
        }
        filled += times;
    }
    if params.bands_at > 0u {
        for (var band = lane; band < params.bands; band += WIDTH) {
            var sum = 0.0;
            var k = skipped;
            // Runs of 32 are added up on their own, because the rounding errors of a sum grow with its length.
            while k < params.bins {
                let end = min(k + 32u, params.bins);
                var run = 0.0;
                for (; k < end; k++) { run += select(0.0, places[k].y * x[k], u32(places[k].w) == band); }
                sum += run;
            }
            parts[to + params.bands_at + band] = sum;
        }
    }
    if params.powers_at > 0u {
        for (var k = skipped + lane; k < params.bins; k += WIDTH) {
            parts[to + params.powers_at + k - skipped] = x[k];
        }
    }
}
