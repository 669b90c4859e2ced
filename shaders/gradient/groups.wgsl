// Finds the tie group of each eigenvalue or singular value: the place of the group's first value. Sorted values belong
// to one group if each is within a tolerance of the next. Singular values that are within it of 0 form a group of their
// own, whose number is n.
//
// Loop iterations: n.

const WIDTH: u32 = 64u;

struct Params { first: u32, n: u32, len: u32, singular: u32, tolerance: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> groups: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = params.first + id.x;
    if at >= params.len { return; }
    let own = at % params.n;
    let matrix = at - own;
    let norm = max(abs(values[matrix]), abs(values[matrix + params.n - 1u]));
    let allowed = params.tolerance * norm;
    var first = own;
    while first > 0u && abs(values[matrix + first] - values[matrix + first - 1u]) <= allowed { first -= 1u; }
    groups[at] = select(first, params.n, params.singular == 1u && values[at] <= allowed);
}
