// Computes the bounds from Gershgorin's circles for every tile of ROWS rows of the scaled matrix: the largest |a_ii| +
// r_i and the largest max(r_i - a_ii, 0), as bits, where r_i is the sum of the magnitudes of the other elements of row
// i. One invocation per row. Second of the three kernels that prepare large matrices.
// Loop iterations of an invocation: params.groups + n.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read> peaks: array<u32>;
@group(0) @binding(4) var<storage, read_write> circles: array<u32>;

var<workgroup> norm: atomic<u32>;
var<workgroup> lift: atomic<u32>;

@compute @workgroup_size(ROWS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = group.x / params.groups;
    let m = matrix_of(table[params.first + matrix]);
    if lane == 0u {
        atomicStore(&norm, 0u);
        atomicStore(&lift, 0u);
    }
    workgroupBarrier();
    var bits = 0u;
    for (var tile = 0u; tile < params.groups; tile += 1u) { bits = max(bits, peaks[matrix * params.groups + tile]); }
    let row = group.x % params.groups * ROWS + lane;
    if row < m.order && bits < INFINITE {
        let e = matrix_exponent(bits);
        var radius = 0.0;
        for (var column = 0u; column < m.order; column += 1u) {
            if column != row { radius += abs(scaled_down(a[m.elements + max(row, column) + min(row, column) * m.order], e)); }
        }
        let center = scaled_down(a[m.elements + row + row * m.order], e);
        atomicMax(&norm, magnitude_bits(abs(center) + radius));
        atomicMax(&lift, magnitude_bits(max(radius - center, 0.0)));
    }
    workgroupBarrier();
    if lane == 0u {
        circles[2u * group.x] = atomicLoad(&norm);
        circles[2u * group.x + 1u] = atomicLoad(&lift);
    }
}
