// Turns lines of n reals into those of the Fourier transform of a cosine or sine transform of type 3 or 4, with roots
// of unity. KIND 5 is type 4 of an odd length. A sine transform is that of the reversed line. One invocation per
// complex element, which reads two reals, or one if n is odd in type 4, and has 6 operations. Needs fft/complex.wgsl.

override KIND: u32 = 3;
override WIDTH: u32 = 256;

struct Turning { count: u32, inner: u32, given: u32, made: u32, sine: u32, scale: f32, single: f32 }

@group(0) @binding(0) var<uniform> params: Turning;
@group(0) @binding(1) var<storage, read> roots: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<vec2<f32>>;

// Returns element j of the line that begins at `begin`.
fn element(begin: u32, j: u32) -> f32 {
    return input[begin + select(j, params.given - 1u - j, params.sine == 1u) * params.inner];
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n = params.given;
    for (var at = id.x; at < params.count; at += groups.x * WIDTH) {
        let line = at / params.inner;
        let k = line % params.made;
        let begin = line / params.made * n * params.inner + at % params.inner;
        let w = roots[k];
        if KIND == 3u {
            let x = element(begin, k);
            let turned = conjugate(times(w, vec2<f32>(x, element(begin, (n - k) % n))));
            output[at] = select(turned, vec2<f32>(params.single * x, 0.0), k == 0u);
        } else if KIND == 4u {
            // Elements from both ends are the parts of n/2 complex numbers.
            output[at] = times(w, vec2<f32>(element(begin, 2u * k), element(begin, n - 1u - 2u * k)));
        } else {
            output[at] = w * element(begin, k);
        }
    }
}
