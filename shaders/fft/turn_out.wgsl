// Turns the spectra of a Fourier transform into n reals, the results of a cosine or sine transform of type 1, 2 or 4.
// KIND 5 is type 4 of an odd length. One invocation per real, which reads a complex number, most of which two
// invocations read, and a root of unity, and has 5 operations. Needs fft/complex.wgsl.

override KIND: u32 = 2;
override WIDTH: u32 = 256;

struct Turning { count: u32, inner: u32, given: u32, made: u32, sine: u32, scale: f32, single: f32 }

@group(0) @binding(0) var<uniform> params: Turning;
@group(0) @binding(1) var<storage, read> roots: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> input: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n = params.made;
    let is_sine = params.sine == 1u;
    for (var at = id.x; at < params.count; at += groups.x * WIDTH) {
        let line = at / params.inner;
        let k = line % n;
        let begin = line / n * params.given * params.inner + at % params.inner;
        // The result is the real or the imaginary part of element j times a root of unity, with a factor.
        var j = k;
        var root = 0u;
        var is_imaginary = false;
        var is_negative = false;
        var is_single = false;
        if KIND == 1u {
            j = k + params.sine;
            is_imaginary = is_sine;
            is_negative = is_sine;
            is_single = !is_sine && (k == 0u || k == n - 1u);
        } else if KIND == 2u {
            let frequency = select(k, n - 1u - k, is_sine);
            j = min(frequency, n - frequency);
            root = j;
            is_imaginary = j != frequency;
            is_negative = is_imaginary;
            is_single = frequency == 0u;
        } else if KIND == 4u {
            is_imaginary = k % 2u == 1u;
            j = select(k / 2u, n / 2u - 1u - k / 2u, is_imaginary);
            root = j;
            is_negative = is_imaginary && !is_sine;
        } else {
            let is_odd = k % 2u == 1u;
            j = select(k / 2u, n - 1u - k / 2u, is_odd);
            root = n + j;
            is_negative = is_odd && !is_sine;
        }
        let z = input[begin + j * params.inner];
        var turned = z;
        if KIND != 1u { turned = times(roots[root], z); }
        let part = params.scale * select(turned.x, turned.y, is_imaginary);
        output[at] = select(1.0, -1.0, is_negative) * select(1.0, params.single, is_single) * part;
    }
}
