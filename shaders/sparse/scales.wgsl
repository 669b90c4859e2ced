// Computes the diagonals d and S of a Laplacian from degrees. If WEIGHTED, the degree of a row is the first component
// of `degrees[row]`, where `degrees` holds the product of W with a vector of ones. Otherwise it is the number of
// entries in the row. If NORMALIZED, d = 1 and S = D^-1/2, except that d = ISOLATED and S = 0 where the degree is 0.
// Otherwise d is the degree, and S is not used.
//
// Loop iterations: the number of rows of an invocation.

override WEIGHTED: bool = false;
override NORMALIZED: bool = false;
override ISOLATED: f32 = 0;
override WIDTH: u32 = 64;

struct Params { nodes: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read> degrees: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> diagonal: array<f32>;
@group(0) @binding(4) var<storage, read_write> scale: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var row = id.x; row < params.nodes; row += groups.x * WIDTH) {
        var degree = f32(offsets[row + 1u] - offsets[row]);
        if WEIGHTED { degree = degrees[row].x; }
        var own = degree;
        var root = 0.0;
        if NORMALIZED {
            own = ISOLATED;
            if degree > 0.0 {
                own = 1.0;
                root = reciprocal_sqrt(degree);
            }
        }
        diagonal[row] = own;
        scale[row] = root;
    }
}
