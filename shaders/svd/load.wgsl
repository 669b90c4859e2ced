// Computes the scaled B (svd/peaks.wgsl), and the sum of the magnitudes in each of its columns. A matrix that is not
// finite becomes 0.

struct Params { first: u32, long: u32, short: u32, wide: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> b: array<f32>;
@group(0) @binding(4) var<storage, read_write> sums: array<f32>;

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let given = Given(params.long, params.short, params.wide);
    let blocks = (params.short + GROUPS - 1u) / GROUPS;
    let matrix = (params.first + group.x) / blocks;
    let column = (params.first + group.x) % blocks * GROUPS + lane / LANES;
    let finite = (state[matrix].x & FLAG_NON_FINITE) == 0u;
    let e = bitcast<i32>(state[matrix].y);
    var sum = 0.0;
    if column < params.short {
        for (var i = lane % LANES; i < params.long; i += LANES) {
            var x = 0.0;
            if finite { x = scaled_down(a[given_at(given, matrix, i, column)], e); }
            b[(matrix * params.short + column) * params.long + i] = x;
            sum += abs(x);
        }
    }
    sum = sum_over_lanes(lane, sum);
    if column < params.short && lane % LANES == 0u { sums[matrix * params.short + column] = sum; }
}
