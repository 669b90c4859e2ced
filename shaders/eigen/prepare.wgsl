// Computes W = 2^-e A + s I for every matrix of a ragged batch, from the lower triangle of A. The scale 2^-e brings the
// largest element of A into [1, 2), and the shift s makes W safely positive definite. A matrix with a NaN or an
// infinity is marked, and its W is 0. One workgroup per matrix.
//
// state: the flags and the number of sweeps (see shared/state.wgsl), and then, the exponent e and, as bits of
// f32, the shift s and the norm |2^-e A|_1.
// Shift: the largest distance by which a Gershgorin disc of 2^-e A reaches below zero, plus a twentieth of the norm, so
// that no column of W has a small norm. If A is 0, the shift is 1.

override WIDTH: u32 = 64;

struct Params { first: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> a: array<f32>;
@group(0) @binding(3) var<storage, read_write> w: array<f32>;
@group(0) @binding(4) var<storage, read_write> state: array<vec4<u32>>;

// Maxima of nonnegative numbers, computed on their bits, so that the order of the lanes does not matter.
var<workgroup> peak: atomic<u32>;
var<workgroup> norm: atomic<u32>;
var<workgroup> lift: atomic<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = matrix_of(table[params.first + group.x]);
    let n = m.order;
    if lane == 0u {
        atomicStore(&peak, 0u);
        atomicStore(&norm, 0u);
        atomicStore(&lift, 0u);
    }
    workgroupBarrier();

    var largest = 0u;
    for (var column = lane; column < n; column += WIDTH) {
        for (var row = column; row < n; row += 1u) {
            largest = max(largest, magnitude_bits(a[m.elements + row + column * n]));
        }
    }
    atomicMax(&peak, largest);
    workgroupBarrier();
    let bits = atomicLoad(&peak);
    let finite = bits < INFINITE;
    let e = matrix_exponent(bits);

    for (var row = lane; row < n && finite; row += WIDTH) {
        var radius = 0.0;
        for (var column = 0u; column < n; column += 1u) {
            if column != row { radius += abs(scaled_down(a[m.elements + max(row, column) + min(row, column) * n], e)); }
        }
        let center = scaled_down(a[m.elements + row + row * n], e);
        atomicMax(&norm, magnitude_bits(abs(center) + radius));
        atomicMax(&lift, magnitude_bits(max(radius - center, 0.0)));
    }
    workgroupBarrier();
    let size = bitcast<f32>(atomicLoad(&norm));
    let shift = select(bitcast<f32>(atomicLoad(&lift)) + 0.05 * size, 1.0, bits == 0u);

    for (var column = lane; column < n; column += WIDTH) {
        for (var row = 0u; row < n; row += 1u) {
            var x = 0.0;
            if finite { x = scaled_down(a[m.elements + max(row, column) + min(row, column) * n], e); }
            if row == column { x += shift; }
            w[m.elements + row + column * n] = x;
        }
    }
    if lane == 0u {
        let flags = select(FLAG_NON_FINITE, 0u, finite);
        state[m.place] = vec4<u32>(flags, bitcast<u32>(e), bitcast<u32>(shift), bitcast<u32>(size));
    }
}
