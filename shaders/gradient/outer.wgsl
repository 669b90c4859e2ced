// Divides each vector of Ubar - U P, or of Vbar - V Q, by its singular value. If the value is 0, the vector becomes 0,
// and ought to have been 0. The report of a vector is the bits of the largest magnitude that ought to be 0, and of the
// largest of all. A workgroup computes a vector, whose elements are `step` apart. Needs shared/real.wgsl.
//
// Loop iterations: ceil(len / 64).

const WIDTH: u32 = 64u;

struct Params { first: u32, n: u32, len: u32, step: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> groups: array<u32>;
@group(0) @binding(3) var<storage, read> outer: array<f32>;
@group(0) @binding(4) var<storage, read_write> divided: array<f32>;
@group(0) @binding(5) var<storage, read_write> reports: array<vec2<u32>>;

var<workgroup> largest_bits: array<u32, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = params.first + group.x;
    let at_zero = groups[at] == params.n;
    let by = values[at];
    let own = at % params.n;
    let begin = (at - own) * params.len + select(own, own * params.len, params.step == 1u);
    var largest = 0u;
    for (var i = lane; i < params.len; i += WIDTH) {
        let element = outer[begin + i * params.step];
        largest = max(largest, magnitude_bits(element));
        var quotient = 0.0;
        if !at_zero { quotient = element / by; }
        divided[begin + i * params.step] = quotient;
    }
    largest_bits[lane] = largest;
    workgroupBarrier();
    if lane > 0u { return; }
    for (var i = 1u; i < WIDTH; i += 1u) { largest = max(largest, largest_bits[i]); }
    reports[at] = vec2(select(0u, largest, at_zero), largest);
}
