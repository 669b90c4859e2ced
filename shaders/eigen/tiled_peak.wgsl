// For every tile of ROWS columns, computes the largest magnitude of its elements in the lower triangle, as bits. This
// is the first of the three kernels that do the work of eigen/prepare.wgsl for large matrices.
// Loop iterations of an invocation: ROWS (1 + n / 64).

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read_write> peaks: array<u32>;

var<workgroup> peak: atomic<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = matrix_of(table[params.first + group.x / params.groups]);
    let left = group.x % params.groups * ROWS;
    if lane == 0u { atomicStore(&peak, 0u); }
    workgroupBarrier();
    var largest = 0u;
    for (var column = left; column < min(left + ROWS, m.order); column += 1u) {
        for (var row = column + lane; row < m.order; row += 64u) {
            largest = max(largest, magnitude_bits(a[m.elements + row + column * m.order]));
        }
    }
    atomicMax(&peak, largest);
    workgroupBarrier();
    if lane == 0u { peaks[group.x] = atomicLoad(&peak); }
}
