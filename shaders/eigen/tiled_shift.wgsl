// Computes W = 2^-e A + s I and the matrix's state, as eigen/prepare.wgsl does, with one workgroup per tile of ROWS
// rows. Last of the three kernels that prepare large matrices.
// Loop iterations of an invocation: 2 params.groups + n.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read> peaks: array<u32>;
@group(0) @binding(4) var<storage, read> circles: array<u32>;
@group(0) @binding(5) var<storage, read_write> w: array<f32>;
@group(0) @binding(6) var<storage, read_write> state: array<vec4<u32>>;

@compute @workgroup_size(ROWS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = group.x / params.groups;
    let m = matrix_of(table[params.first + matrix]);
    var bits = 0u;
    var norm = 0u;
    var lift = 0u;
    for (var tile = matrix * params.groups; tile < (matrix + 1u) * params.groups; tile += 1u) {
        bits = max(bits, peaks[tile]);
        norm = max(norm, circles[2u * tile]);
        lift = max(lift, circles[2u * tile + 1u]);
    }
    let finite = bits < INFINITE;
    let e = matrix_exponent(bits);
    let size = bitcast<f32>(norm);
    let shift = select(bitcast<f32>(lift) + 0.05 * size, 1.0, bits == 0u);
    let row = group.x % params.groups * ROWS + lane;
    if row < m.order {
        for (var column = 0u; column < m.order; column += 1u) {
            var x = 0.0;
            if finite { x = scaled_down(a[m.elements + max(row, column) + min(row, column) * m.order], e); }
            if row == column { x += shift; }
            w[m.elements + row + column * m.order] = x;
        }
    }
    if group.x % params.groups == 0u && lane == 0u {
        let flags = select(FLAG_NON_FINITE, 0u, finite);
        state[m.place] = vec4<u32>(flags, bitcast<u32>(e), bitcast<u32>(shift), bitcast<u32>(size));
    }
}
