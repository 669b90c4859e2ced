// Computes the state of every matrix: its exponent e, for which 2^-e brings its largest element into [1, 2), and
// whether the matrix is finite. One workgroup per matrix. Loop iterations: ceil(short / WIDTH).

override WIDTH: u32 = 64;

struct Params { first: u32, short: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> peaks: array<u32>;
@group(0) @binding(2) var<storage, read_write> state: array<vec4<u32>>;

var<workgroup> peak: atomic<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = params.first + group.x;
    if lane == 0u { atomicStore(&peak, 0u); }
    workgroupBarrier();
    var largest = 0u;
    for (var j = lane; j < params.short; j += WIDTH) { largest = max(largest, peaks[matrix * params.short + j]); }
    atomicMax(&peak, largest);
    workgroupBarrier();
    if lane == 0u {
        let bits = atomicLoad(&peak);
        let flags = select(0u, FLAG_NON_FINITE, bits >= INFINITE);
        state[matrix] = vec4<u32>(flags, bitcast<u32>(matrix_exponent(bits)), 0u, 0u);
    }
}
