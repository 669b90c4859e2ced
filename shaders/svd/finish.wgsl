// Computes the certificate of every matrix from the results of other kernels: the norms of the columns of B, the
// residuals of the columns, and the largest departure from orthonormality in every tile of the Gram matrices of P and
// V. One workgroup per matrix. Loop iterations: 2 ceil(short / WIDTH), and ceil(tiles / WIDTH) for each of P and V.
//
// certificates: residual, orthogonality, sweeps, status (0 Converged, 1 NotConverged, 2 NonFinite).

// Residuals and departures from orthogonality are promised to be at most PROMISE n EPSILON, where n is the larger
// dimension of the matrix.
const PROMISE: f32 = 15.0;

override WIDTH: u32 = 64;

// of_p: the number of tiles of the Gram matrix of P. of_v: the number of tiles of the Gram matrix of V.
struct Params { first: u32, long: u32, short: u32, of_p: u32, of_v: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> sums: array<f32>;
@group(0) @binding(3) var<storage, read> residuals: array<f32>;
@group(0) @binding(4) var<storage, read> departures_of_p: array<f32>;
@group(0) @binding(5) var<storage, read> departures_of_v: array<f32>;
@group(0) @binding(6) var<storage, read_write> certificates: array<vec4<f32>>;

// Maxima of nonnegative numbers, computed on their bits.
var<workgroup> norm: atomic<u32>;
var<workgroup> residual: atomic<u32>;
var<workgroup> departure: atomic<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = params.first + group.x;
    let n = params.short;
    if lane == 0u {
        atomicStore(&norm, 0u);
        atomicStore(&residual, 0u);
        atomicStore(&departure, 0u);
    }
    workgroupBarrier();
    for (var j = lane; j < n; j += WIDTH) {
        atomicMax(&norm, magnitude_bits(sums[matrix * n + j]));
        atomicMax(&residual, magnitude_bits(residuals[matrix * n + j]));
    }
    for (var t = lane; t < params.of_p; t += WIDTH) {
        atomicMax(&departure, magnitude_bits(departures_of_p[matrix * params.of_p + t]));
    }
    for (var t = lane; t < params.of_v; t += WIDTH) {
        atomicMax(&departure, magnitude_bits(departures_of_v[matrix * params.of_v + t]));
    }
    workgroupBarrier();
    if lane == 0u {
        let word = state[matrix].x;
        let orthogonal = (word & FLAG_ORTHOGONAL) != 0u;
        let finite = (word & FLAG_NON_FINITE) == 0u;
        let size = bitcast<f32>(atomicLoad(&norm));
        let worst = vec2<u32>(atomicLoad(&residual), atomicLoad(&departure));
        certificates[matrix] = judge(params.long, PROMISE, size, worst.x, worst.y, sweeps_of(word), orthogonal, finite);
    }
}
