// Interpolates quantiles between neighboring elements. sought[series][2 q].x is the key of the element below quantile
// q, and sought[series][2 q + 1].x is the key of the element above. sought[series][2 q].z holds the bits of the
// quantile's position between both elements, from 0 to 1. sought[series][2 q].w is not 0 if the series is empty. If
// GUARDED, the last entry of a series holds the greatest key of the series, which shows whether the series has a NaN.
//
// Loop iterations: the number of quantiles of an invocation.

override WIDTH: u32 = 64;
override GUARDED: bool = true;

struct Params { series: u32, from_series: u32, quantiles: u32, inner: u32, nan: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sought: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let ranks = 2u * params.quantiles + u32(GUARDED);
    for (var k = id.x; k < params.series * params.quantiles; k += groups.x * WIDTH) {
        let own = k / params.quantiles;
        let q = k % params.quantiles;
        let low = sought[own * ranks + 2u * q];
        let high = sought[own * ranks + 2u * q + 1u];
        var none = low.w != 0u;
        if GUARDED { none |= sought[own * ranks + 2u * params.quantiles].x == KEY_OF_NAN; }
        let part = bitcast<f32>(low.z);
        let low_bits = bits_of(low.x);
        let high_bits = bits_of(high.x);
        let below = bitcast<f32>(low_bits);
        let above = bitcast<f32>(high_bits);
        let low_infinite = (low_bits & 0x7fffffffu) >= INFINITE;
        let high_infinite = (high_bits & 0x7fffffffu) >= INFINITE;
        var bits = low_bits;
        if part > 0.0 && low.x != high.x {
            if low_infinite && high_infinite {
                bits = params.nan;
            } else if high_infinite {
                bits = high_bits;
            } else if !low_infinite {
                // The distance between elements of opposite signs may exceed the largest finite number.
                var value = below * (1.0 - part) + above * part;
                if low.x >= 0x80000000u || high.x <= 0x80000000u {
                    value = select(above - (above - below) * (1.0 - part), below + (above - below) * part, part < 0.5);
                }
                bits = bitcast<u32>(value);
            }
        }
        let s = params.from_series + own;
        let to = (s / params.inner * params.quantiles + q) * params.inner + s % params.inner;
        out[to] = bitcast<f32>(select(bits, params.nan, none));
    }
}
