// Replaces w_j by v_j = w_j / |w_j|, and computes |w_j| - s, a first approximation of the eigenvalue of v_j. One
// workgroup per column. First of the kernels that finish the decomposition of a large matrix; eigen/finish.wgsl
// explains the mathematics.
// Loop iterations of an invocation: n / 32 + 72.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> w: array<f32>;
@group(0) @binding(4) var<storage, read_write> guesses: array<f32>;

var<workgroup> partial: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = matrix_of(table[params.first + group.x / params.groups]);
    let column = group.x % params.groups;
    if column >= m.order || (state[m.place].x & FLAG_NON_FINITE) != 0u { return; }
    let base = m.elements + column * m.order;
    var sum = 0.0;
    for (var row = lane; row < m.order; row += 64u) { sum += w[base + row] * w[base + row]; }
    partial[lane] = sum;
    workgroupBarrier();
    var square = 0.0;
    for (var i = 0u; i < 64u; i += 8u) {
        var part = 0.0;
        for (var j = 0u; j < 8u; j += 1u) { part += partial[i + j]; }
        square += part;
    }
    let inverse = reciprocal_sqrt(square);
    for (var row = lane; row < m.order; row += 64u) { w[base + row] *= inverse; }
    if lane == 0u {
        let norm = bitcast<f32>(state[m.place].w);
        let guess = square * inverse - bitcast<f32>(state[m.place].z);
        guesses[group.x / params.groups * params.capacity + column] = clamp(guess, -norm, norm);
    }
}
