// Counts ones, changes and runs of strings of bits: a workgroup for each sample, which has `strings` strings. The parts
// are those of ops/series/bits.rs.
//
// Loop iterations of an invocation: n / WIDTH + (strings / WIDTH + 1) length + strings (length + length^2) / WIDTH, the
// last term as far as positions and pairs are wanted. Needs series/reduce.wgsl and series/load.wgsl.

struct Params {
    first: u32, n: u32, offset: u32, stride: u32,
    strings: u32, apart: u32, length: u32, positions_at: u32, pairs_at: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> numbers: array<u32>;
@group(0) @binding(2) var<storage, read_write> parts: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.n;
    let sample = params.first + group.x;
    let length = params.length;
    var other = 0.0;
    for (var i = lane; i < n; i += WIDTH) {
        let bits = numbers[sample * n + i];
        let one = bits == 0x3f800000u;
        if !one && (bits & 0x7fffffffu) != 0u { other = 1.0; }
        x[i] = select(0.0, 1.0, one);
    }
    workgroupBarrier();
    var sum = vec4<f32>(0.0);
    var longest = vec4<f32>(other, 0.0, 0.0, 0.0);
    for (var string = lane; string < params.strings; string += WIDTH) {
        let begin = string * params.apart;
        var runs = vec2<f32>(0.0);
        for (var i = 0u; i < length; i++) {
            let bit = x[begin + i];
            runs = (runs + 1.0) * vec2<f32>(bit, 1.0 - bit);
            longest = max(longest, vec4<f32>(0.0, runs, 0.0));
            sum += vec4<f32>(bit, select(0.0, abs(bit - x[begin + max(i, 1u) - 1u]), i > 0u), 0.0, 0.0);
        }
    }
    sum = total(lane, sum);
    longest = greatest(lane, longest);
    let to = sample * params.stride + params.offset;
    if lane == 0u {
        parts[to] = longest.x;
        parts[to + 1u] = sum.x;
        parts[to + 2u] = sum.y;
        parts[to + 3u] = longest.y;
        parts[to + 4u] = longest.z;
    }
    if params.positions_at > 0u {
        for (var i = lane; i < length; i += WIDTH) {
            var ones = 0.0;
            for (var string = 0u; string < params.strings; string++) { ones += x[string * params.apart + i]; }
            parts[to + params.positions_at + i] = ones;
        }
    }
    if params.pairs_at > 0u {
        for (var pair = lane; pair < length * length; pair += WIDTH) {
            var both = 0.0;
            for (var string = 0u; string < params.strings; string++) {
                both += x[string * params.apart + pair / length] * x[string * params.apart + pair % length];
            }
            parts[to + params.pairs_at + pair] = both;
        }
    }
}
