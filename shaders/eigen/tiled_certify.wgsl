// Writes the certificate, as eigen/finish.wgsl does. One workgroup per matrix.
// Loop iterations of an invocation: (n + params.tiles) / 64.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> residuals: array<u32>;
@group(0) @binding(4) var<storage, read> departures: array<u32>;
@group(0) @binding(5) var<storage, read_write> certificates: array<vec4<f32>>;

var<workgroup> residual: atomic<u32>;
var<workgroup> departure: atomic<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = matrix_of(table[params.first + group.x]);
    let word = state[m.place].x;
    let finite = (word & FLAG_NON_FINITE) == 0u;
    if lane == 0u {
        atomicStore(&residual, 0u);
        atomicStore(&departure, 0u);
    }
    workgroupBarrier();
    if finite {
        for (var column = lane; column < m.order; column += 64u) { atomicMax(&residual, residuals[group.x * params.capacity + column]); }
        let tiles = (m.order + SIDE - 1u) / SIDE;
        for (var tile = lane; tile < (tiles + 1u) / 2u * (tiles + 1u); tile += 64u) {
            atomicMax(&departure, departures[group.x * params.tiles + tile]);
        }
    }
    workgroupBarrier();
    if lane == 0u {
        let norm = bitcast<f32>(state[m.place].w);
        let orthogonal = (word & FLAG_ORTHOGONAL) != 0u;
        let worst = vec2<u32>(atomicLoad(&residual), atomicLoad(&departure));
        certificates[m.place] = judge(m.order, PROMISE, norm, worst.x, worst.y, sweeps_of(word), orthogonal, finite);
    }
}
