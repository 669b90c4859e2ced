// Computes the rank of every eigenvalue among the eigenvalues of its matrix, and stores the eigenvalues in ascending
// order. One invocation per column. If a matrix is not finite, its eigenvalues are NaN, made from bits at run time
// because WGSL has no constant NaN.
// Loop iterations of an invocation: n.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> guesses: array<f32>;
@group(0) @binding(4) var<storage, read_write> values: array<f32>;
@group(0) @binding(5) var<storage, read_write> ranks: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = group.x / params.groups;
    let m = matrix_of(table[params.first + matrix]);
    let column = group.x % params.groups * 64u + lane;
    if column >= m.order { return; }
    let base = matrix * params.capacity;
    if (state[m.place].x & FLAG_NON_FINITE) != 0u {
        values[m.rows + column] = bitcast<f32>(0x7fc00000u | min(params.first, 1u));
        return;
    }
    let own = guesses[base + column];
    let key = key_of(own);
    var rank = 0u;
    for (var other = 0u; other < m.order; other += 1u) {
        let x = key_of(guesses[base + other]);
        if x < key || (x == key && other < column) { rank += 1u; }
    }
    ranks[base + column] = rank;
    values[m.rows + rank] = times_power_of_two(bitcast<u32>(own), bitcast<i32>(state[m.place].y));
}
