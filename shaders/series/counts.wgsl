// Counts codes of a sample: the bins of its numbers or, if PATTERNS is 1, the patterns of consecutive numbers. A
// workgroup for each sample.
//
// Loop iterations of an invocation: at most n / WIDTH (1 + order^2) + 2 codes / WIDTH. Needs series/load.wgsl.

override WIDTH: u32 = 64;
override PATTERNS: u32 = 0;

// The most codes.
const CODES: u32 = 1024u;

// The table has the edges of the bins: those of all samples if `given` is 1, and otherwise those of each sample, one
// sample after the other. A pattern has `order` numbers at distances of `delay`, and begins at the first `places`
// numbers.
struct Params {
    first: u32, n: u32, offset: u32, stride: u32, codes: u32, given: u32, places: u32, order: u32, delay: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> numbers: array<f32>;
@group(0) @binding(2) var<storage, read> edges: array<f32>;
@group(0) @binding(3) var<storage, read_write> parts: array<f32>;

var<workgroup> counts: array<atomic<u32>, CODES>;

// Returns the bin of a number, or CODES if it is beyond the edges, which begin at `base`. The last bin includes its
// upper edge.
fn bin_of(number: f32, base: u32) -> u32 {
    let last = params.codes - 1u;
    let low = edges[base];
    let high = edges[base + params.codes];
    let guess = (number - low) * (f32(params.codes) / (high - low));
    // From the nearest edge, and by as many bins as it was rounded too far: hardly ever more than one.
    var bin = min(u32(clamp(guess + 0.5, 0.0, f32(last))), last);
    while bin > 0u && number < edges[base + bin] { bin -= 1u; }
    while bin < last && number >= edges[base + bin + 1u] { bin += 1u; }
    return select(bin, CODES, number < low || number > high);
}

// Returns the number of the pattern that begins at a place, in the factorial system: how many later numbers are less
// than each one.
fn pattern_of(place: u32) -> u32 {
    var code = 0u;
    var weight = 1u;
    for (var later = 1u; later < params.order; later++) {
        let own = x[place + (params.order - 1u - later) * params.delay];
        var less = 0u;
        for (var k = 0u; k < later; k++) {
            less += select(0u, 1u, x[place + (params.order - 1u - k) * params.delay] < own);
        }
        weight *= later;
        code += less * weight;
    }
    return code;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.n;
    let sample = params.first + group.x;
    for (var code = lane; code < params.codes; code += WIDTH) { atomicStore(&counts[code], 0u); }
    if PATTERNS == 1u {
        for (var i = lane; i < n; i += WIDTH) { x[i] = numbers[sample * n + i]; }
    }
    workgroupBarrier();
    if PATTERNS == 1u {
        for (var place = lane; place < params.places; place += WIDTH) { atomicAdd(&counts[pattern_of(place)], 1u); }
    } else {
        let base = select(sample * (params.codes + 1u), 0u, params.given != 0u);
        for (var i = lane; i < n; i += WIDTH) {
            let bin = bin_of(numbers[sample * n + i], base);
            if bin < CODES { atomicAdd(&counts[bin], 1u); }
        }
    }
    workgroupBarrier();
    let to = sample * params.stride + params.offset;
    for (var code = lane; code < params.codes; code += WIDTH) { parts[to + code] = f32(atomicLoad(&counts[code])); }
}
