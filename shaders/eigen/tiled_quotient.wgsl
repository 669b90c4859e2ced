// For every column, computes the eigenvalue of the scaled matrix and the residual. Let g_j be the first approximation,
// r_j = A v_j - g_j v_j, and d = v_j' r_j. Then the Rayleigh quotient is g_j + d, and the residual is
// sqrt(|r_j|^2 - d^2). One invocation per column.
// Loop iterations of an invocation: params.tiles.

@group(0) @binding(0) var<uniform> params: Tiles;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> sums: array<f32>;
@group(0) @binding(4) var<storage, read_write> guesses: array<f32>;
@group(0) @binding(5) var<storage, read_write> residuals: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = group.x / params.groups;
    let m = matrix_of(table[params.first + matrix]);
    let column = group.x % params.groups * 64u + lane;
    if column >= m.order || (state[m.place].x & FLAG_NON_FINITE) != 0u { return; }
    let place = matrix * params.capacity + column;
    var sum = vec2<f32>();
    for (var tile = 0u; tile < (m.order + ROWS - 1u) / ROWS; tile += 1u) {
        let at = 2u * (place * params.tiles + tile);
        sum += vec2<f32>(sums[at], sums[at + 1u]);
    }
    let value = guesses[place] + sum.y;
    guesses[place] = value;
    var away = magnitude_bits(sqrt(max(sum.x - sum.y * sum.y, 0.0)));
    // An eigenvalue may overflow in f32 although no element of A does.
    if magnitude_bits(times_power_of_two(bitcast<u32>(value), bitcast<i32>(state[m.place].y))) >= INFINITE { away = INFINITE; }
    residuals[place] = away;
}
