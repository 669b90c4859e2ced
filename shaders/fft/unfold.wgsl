// Unfolds the transforms of pairs of reals into spectra, if the transforms took more than one pass. One invocation per
// element. Needs fft/complex.wgsl.

override WIDTH: u32 = 256;

struct Unfolding { count: u32, inner: u32, h: u32, folds: u32 }

@group(0) @binding(0) var<uniform> params: Unfolding;
@group(0) @binding(1) var<storage, read> tables: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> input: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> output: array<vec2<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let values = params.h + 1u;
    for (var i = id.x; i < params.count; i += groups.x * WIDTH) {
        let line = i / params.inner;
        let k = line % values;
        let begin = line / values * params.h * params.inner + i % params.inner;
        let z = input[begin + k % params.h * params.inner];
        let mirrored = input[begin + (params.h - k) % params.h * params.inner];
        output[i] = unfolded(z, mirrored, tables[params.folds + k]);
    }
}
