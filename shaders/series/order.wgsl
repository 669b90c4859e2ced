// Computes what depends on the order of the numbers of a sample: a workgroup for each sample. The parts are those of
// ops/series/order.rs, without the counts of patterns.
//
// Loop iterations of an invocation: at most n / WIDTH (n + 2 support + 8) + lags / WIDTH n + 8 log2(WIDTH). Needs
// series/reduce.wgsl and series/load.wgsl.

const RECORD: u32 = 12u;
// The number of parts before the covariances at the given lags.
const ORDER_PARTS: u32 = 13u;

struct Params { first: u32, n: u32, offset: u32, stride: u32, support: u32, lags: u32, first_zero: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scaled: array<f32>;
@group(0) @binding(2) var<storage, read> records: array<f32>;
@group(0) @binding(3) var<storage, read> lags: array<u32>;
@group(0) @binding(4) var<storage, read_write> parts: array<f32>;

var<workgroup> found: u32;

// Returns sum d_i d_(i + lag), where d are the distances from the mean, or 0 if there are no such pairs. Runs of 32
// products are added up on their own, because the rounding errors of a sum grow with its length.
fn covariance(n: u32, lag: u32, center: f32, mean: f32) -> f32 {
    let pairs = n - min(lag, n);
    var sum = 0.0;
    var i = 0u;
    while i < pairs {
        let end = min(i + 32u, pairs);
        var run = vec2<f32>(0.0);
        for (; i + 1u < end; i += 2u) {
            let early = vec2<f32>(x[i], x[i + 1u]) - center - mean;
            let late = vec2<f32>(x[i + lag], x[i + lag + 1u]) - center - mean;
            run += early * late;
        }
        for (; i < end; i++) { run.x += (x[i] - center - mean) * (x[i + lag] - center - mean); }
        sum += run.x + run.y;
    }
    return sum;
}

// Joins what is known of adjacent numbers: the length of the run at their beginning and at their end, the longest one,
// and how many numbers there are.
fn joined(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(
        select(a.x, a.w + b.x, a.x == a.w),
        select(b.y, a.y + b.w, b.y == b.w),
        max(max(a.z, b.z), a.y + b.x),
        a.w + b.w,
    );
}

// Returns the length of the longest run of numbers on one side of the mean: above it if `sign` is 1, below it if -1.
fn longest_run(lane: u32, n: u32, center: f32, mean: f32, sign: f32) -> f32 {
    let each = (n + WIDTH - 1u) / WIDTH;
    let begin = min(lane * each, n);
    let end = min(begin + each, n);
    var own = vec4<f32>(0.0);
    for (var i = begin; i < end; i++) {
        let one = select(0.0, 1.0, sign * (x[i] - center) > sign * mean);
        own = joined(own, vec4<f32>(one, one, one, 1.0));
    }
    sums[lane] = own;
    for (var span = 1u; span < WIDTH; span *= 2u) {
        workgroupBarrier();
        if lane % (2u * span) == 0u { sums[lane] = joined(sums[lane], sums[lane + span]); }
    }
    return workgroupUniformLoad(&sums[0]).z;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.n;
    let sample = params.first + group.x;
    let center = records[sample * RECORD + 2u];
    let mean = records[sample * RECORD + 11u];
    for (var i = lane; i < n; i += WIDTH) { x[i] = scaled[sample * n + i]; }
    workgroupBarrier();
    // Crossings of zero and of the mean, peaks, and the trend; sums of magnitudes and of squares of changes.
    var counts = vec4<f32>(0.0);
    var changes = vec4<f32>(0.0);
    let middle = 0.5 * f32(n - 1u);
    for (var i = lane; i < n; i += WIDTH) {
        let own = x[i];
        counts.w += (own - center - mean) * (f32(i) - middle);
        if i + 1u < n {
            let next = x[i + 1u];
            let change = next - own;
            changes += vec4<f32>(abs(change), change * change, 0.0, 0.0);
            counts.x += select(0.0, 1.0, (own > 0.0) != (next > 0.0));
            counts.y += select(0.0, 1.0, (own - center > mean) != (next - center > mean));
        }
        if i >= params.support && i + params.support < n {
            var others = -4.0;
            for (var distance = 1u; distance <= params.support; distance++) {
                others = max(others, max(x[i - distance], x[i + distance]));
            }
            counts.z += select(0.0, 1.0, own > others);
        }
    }
    counts = total(lane, counts);
    changes = total(lane, changes);
    let above = longest_run(lane, n, center, mean, 1.0);
    let below = longest_run(lane, n, center, mean, -1.0);
    if lane == 0u { found = n; }
    // A lag for each invocation, until one has a covariance that is not positive.
    var base = select(n, 1u, params.first_zero != 0u);
    while base < n {
        let lag = base + lane;
        let positive = lag >= n || covariance(n, lag, center, mean) > 0.0;
        let least = greatest(lane, vec4<f32>(select(-f32(lag), -f32(n), positive), 0.0, 0.0, 0.0));
        if lane == 0u { found = u32(-least.x); }
        let known = workgroupUniformLoad(&found);
        base = select(base + WIDTH, n, known < n);
    }
    let to = sample * params.stride + params.offset;
    for (var j = lane; j < params.lags; j += WIDTH) {
        parts[to + ORDER_PARTS + j] = covariance(n, lags[j], center, mean);
    }
    if lane == 0u {
        parts[to] = f32(found);
        parts[to + 1u] = counts.x;
        parts[to + 2u] = counts.y;
        parts[to + 3u] = changes.x;
        parts[to + 4u] = changes.y;
        parts[to + 5u] = counts.z;
        parts[to + 6u] = above;
        parts[to + 7u] = below;
        parts[to + 8u] = counts.w;
        parts[to + 9u] = x[0];
        parts[to + 10u] = x[min(1u, n - 1u)];
        parts[to + 11u] = x[max(n, 2u) - 2u];
        parts[to + 12u] = x[n - 1u];
    }
}
