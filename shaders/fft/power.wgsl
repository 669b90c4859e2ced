// Computes the power of half of a spectrum: c |scale X|^2, where c = 1 at frequency 0 and, for an even number of reals,
// at the last frequency. Elsewhere c = 2, because the other half of the spectrum, which is the conjugate, has the same
// power. One invocation per element.

override WIDTH: u32 = 256;

struct Power { count: u32, inner: u32, bins: u32, even: u32, scale: f32 }

@group(0) @binding(0) var<uniform> params: Power;
@group(0) @binding(1) var<storage, read> spectrum: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> power: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < params.count; i += groups.x * WIDTH) {
        let k = i / params.inner % params.bins;
        let alone = k == 0u || (k + 1u == params.bins && params.even == 1u);
        // Scaling comes before squaring, because a square overflows or underflows sooner.
        let x = spectrum[i] * params.scale;
        power[i] = select(2.0, 1.0, alone) * (x.x * x.x + x.y * x.y);
    }
}
