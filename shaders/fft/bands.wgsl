// Sums the power in bands of frequencies, or computes the power-weighted mean frequency. Each workgroup has one line
// and one band. The order of the sums is fixed: each invocation adds every WIDTH-th element, then the sums of the
// invocations are added pairwise. Loop iterations of an invocation: the number of bins of a band / WIDTH. Needs
// shared/real.wgsl.

override WIDTH: u32 = 64;

// `unit` is the distance between two frequencies.
struct Bands { first: u32, inner: u32, bins: u32, bands: u32, centroid: u32, unit: f32 }

@group(0) @binding(0) var<uniform> params: Bands;
@group(0) @binding(1) var<storage, read> power: array<f32>;
@group(0) @binding(2) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;

var<workgroup> part: array<vec2<f32>, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    // The output has the layout of the input, with bands instead of bins.
    let own = params.first + id.x;
    let line = own / params.inner;
    let begin = line / params.bands * params.bins * params.inner + own % params.inner;
    let range = ranges[line % params.bands];
    var sum = vec2<f32>(0.0);
    for (var k = range.x + lane; k < range.y; k += WIDTH) {
        let p = power[begin + k * params.inner];
        sum += vec2<f32>(p, p * f32(k));
    }
    part[lane] = sum;
    workgroupBarrier();
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        if lane < half { part[lane] += part[lane + half]; }
        workgroupBarrier();
    }
    if lane == 0u {
        var result = part[0].x;
        // The mean frequency is 0 if the power is 0. If the sum of the power is not finite, this sum is the result.
        if params.centroid == 1u && magnitude_bits(result) < INFINITE {
            let nothing = result == 0.0;
            result = select(part[0].y / select(result, 1.0, nothing) * params.unit, 0.0, nothing);
        }
        sums[own] = result;
    }
}
