// Builds the dense column-major Laplacians of a ragged batch of graphs in CSR form. For a node of degree 0, the
// normalized Laplacians have ISOLATED on the diagonal, and UNSCALED takes the place of D^-1/2 or D^-1. Such a node may
// still have edges, because the degrees of a directed graph count the edges of one direction only. One workgroup per
// graph; each invocation writes only its own rows.

// L = D - W
const COMBINATORIAL: u32 = 0;
// L = I - D^-1/2 W D^-1/2
const SYMMETRIC: u32 = 1;
// L = I - D^-1 W
const RANDOM_WALK: u32 = 2;
override KIND: u32 = COMBINATORIAL;
override WEIGHTED: bool = false;
override ISOLATED: f32 = 0;
override UNSCALED: f32 = 0;
override WIDTH: u32 = 64;

struct Params { first: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> table: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> row_offsets: array<u32>;
@group(0) @binding(3) var<storage, read> columns: array<u32>;
@group(0) @binding(4) var<storage, read> weights: array<f32>;
@group(0) @binding(5) var<storage, read> degree: array<f32>;
@group(0) @binding(6) var<storage, read_write> laplacian: array<f32>;

fn root_scale(d: f32) -> f32 {
    if d > 0.0 { return reciprocal_sqrt(d); }
    return UNSCALED;
}

// Returns the coupling of two nodes, of degrees d and e, that are joined by an edge of the given weight.
fn coupling(weight: f32, d: f32, e: f32) -> f32 {
    if KIND == COMBINATORIAL { return weight; }
    // The two scales are multiplied with each other first. This product does not depend on their order, so L is
    // symmetric to the last bit.
    if KIND == SYMMETRIC { return weight * (root_scale(d) * root_scale(e)); }
    if d > 0.0 { return weight / d; }
    return weight * UNSCALED;
}

fn diagonal(d: f32) -> f32 {
    if KIND == COMBINATORIAL { return d; }
    if d > 0.0 { return 1.0; }
    return ISOLATED;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let m = matrix_of(table[params.first + group.x]);
    for (var row = lane; row < m.order; row += WIDTH) {
        let d = degree[m.rows + row];
        for (var column = 0u; column < m.order; column += 1u) {
            laplacian[m.elements + row + column * m.order] = 0.0;
        }
        var self_loop = 0.0;
        for (var entry = row_offsets[m.rows + row]; entry < row_offsets[m.rows + row + 1u]; entry += 1u) {
            let column = columns[entry];
            var weight = 1.0;
            if WEIGHTED { weight = weights[entry]; }
            let value = coupling(weight, d, degree[m.rows + column]);
            if column == row { self_loop = value; }
            else { laplacian[m.elements + row + column * m.order] = -value; }
        }
        laplacian[m.elements + row + row * m.order] = diagonal(d) - self_loop;
    }
}
