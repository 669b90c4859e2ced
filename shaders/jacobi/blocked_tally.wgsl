// Ends a sweep of the blocked form: a matrix is marked as orthogonal if no pair of blocks had columns that were further
// from orthogonal than rounding explains.
// One invocation per matrix. Loop iterations: the number of pairs of blocks in one round, which is 64 at 2048 columns.

override WIDTH: u32 = 64;

struct Params { first: u32, count: u32, pairs: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> marks: array<u32>;
@group(0) @binding(3) var<storage, read_write> state: array<vec4<u32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= params.count { return; }
    let m = matrix_of(table[params.first + id.x]);
    let word = state[m.place].x;
    if (word & (FLAG_ORTHOGONAL | FLAG_NON_FINITE)) != 0u { return; }
    var all = 0u;
    for (var pair = 0u; pair < players_of(m.order) / 2u; pair += 1u) { all |= marks[id.x * params.pairs + pair]; }
    state[m.place].x = (word + SWEEP) | select(FLAG_ORTHOGONAL, 0u, (all & MARK_ABOVE_ROUNDING) != 0u);
}
