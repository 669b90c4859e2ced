// Sums of power over bands of frequencies, or the mean frequency by power. A workgroup for each line and band; the order of the sums is
// fixed: every WIDTH-th element by one invocation, then halves. An invocation's loop: the bins of a band / WIDTH.
// Needs shared/real.wgsl.

override WIDTH: u32 = 64;

// `unit` is the distance of two frequencies.
struct Bands { first: u32, inner: u32, bins: u32, bands: u32, centroid: u32, unit: f32 }

@group(0) @binding(0) var<uniform> params: Bands;
@group(0) @binding(1) var<storage, read> power: array<f32>;
@group(0) @binding(2) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;

var<workgroup> part: array<vec2<f32>, WIDTH>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    // The output has the bands in the place of the bins.
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
        // Of silence the mean is 0; of what is not finite the sum is handed on.
        if params.centroid == 1u && magnitude_bits(result) < INFINITE {
            let nothing = result == 0.0;
            result = select(part[0].y / select(result, 1.0, nothing) * params.unit, 0.0, nothing);
        }
        sums[own] = result;
    }
}
