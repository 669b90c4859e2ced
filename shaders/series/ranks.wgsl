// Sorts the numbers of a sample in workgroup memory (Batcher's bitonic sorter) and takes those at the given places, and
// the median of the distances from the median. A workgroup for each sample.
//
// Loop iterations of an invocation: at most log2(n)^2 n / WIDTH. Needs series/load.wgsl.

override WIDTH: u32 = 64;

struct Params { first: u32, n: u32, size: u32, offset: u32, stride: u32, places: u32, deviation: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scaled: array<f32>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<storage, read_write> parts: array<f32>;

// Returns the greatest of the distances from the median if the smallest ones are `lefts` of the numbers below the
// median and `rights` of the others. There are `below` numbers below it.
fn farthest(median: f32, below: u32, lefts: u32, rights: u32) -> f32 {
    let left = median - x[max(below, 1u) - max(lefts, 1u)];
    let right = x[below + max(rights, 1u) - 1u] - median;
    return max(select(-1.0, left, lefts > 0u), select(-1.0, right, rights > 0u));
}

// Returns the median of the distances of the sorted numbers from their median. The distances to both sides are two
// ascending lists; how many of the smallest ones are from the left list is found by bisection.
fn median_deviation(n: u32) -> f32 {
    let even = n % 2u == 0u;
    let below = n / 2u;
    let before = x[max(below, 1u) - 1u];
    let median = select(x[below], before + 0.5 * (x[below] - before), even);
    let count = below + 1u;
    var fewest = count - min(count, n - below);
    var most = min(count, below);
    while fewest < most {
        let taken = (fewest + most) / 2u;
        if median - x[below - 1u - taken] < x[below + count - taken - 1u] - median {
            fewest = taken + 1u;
        } else {
            most = taken;
        }
    }
    // Not 0: the list on the left has one number less than are taken.
    let rights = count - fewest;
    let upper = farthest(median, below, fewest, rights);
    let from_left = fewest > 0u && median - x[below - max(fewest, 1u)] >= x[below + rights - 1u] - median;
    let lower = farthest(median, below, select(fewest, fewest - 1u, from_left), select(rights - 1u, rights, from_left));
    return select(upper, lower + 0.5 * (upper - lower), even);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.n;
    let sample = params.first + group.x;
    // Numbers are less than 2, so the places beyond the sample stay last.
    for (var i = lane; i < params.size; i += WIDTH) {
        var own = 4.0;
        if i < n { own = scaled[sample * n + i]; }
        x[i] = own;
    }
    for (var run = 2u; run <= params.size; run *= 2u) {
        for (var apart = run / 2u; apart > 0u; apart /= 2u) {
            workgroupBarrier();
            for (var pair = lane; pair < params.size / 2u; pair += WIDTH) {
                let low = 2u * pair - (pair & (apart - 1u));
                let a = x[low];
                let b = x[low + apart];
                let swap = (a > b) == ((low & run) == 0u);
                x[low] = select(a, b, swap);
                x[low + apart] = select(b, a, swap);
            }
        }
    }
    workgroupBarrier();
    let to = sample * params.stride + params.offset;
    for (var j = lane; j < params.places; j += WIDTH) { parts[to + j] = x[places[j]]; }
    if params.deviation != 0u && lane == 0u { parts[to + params.places] = median_deviation(n); }
}
