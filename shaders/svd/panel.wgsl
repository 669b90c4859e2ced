// Computes the Householder QR of the columns begins..ends of X (long, short): X = Q R (Golub and Van Loan 5.2). One
// workgroup per matrix.
//
// The reflection of column j is I - tau v v', where v = x - beta e_j is stored in place of x from row j down. R is
// stored above v, and its diagonal in betas. tau = 2 / v'v is computed from the stored v, so that I - tau v v' is a
// reflection up to rounding even if the square root in beta is imprecise. A column that is missing (state.wgsl) is not
// reflected.
//
// Iterations for b columns: b (ceil(long / LANES) + LANES + (1 + ceil(b / GROUPS)) (2 ceil(long / LANES) + LANES)), see
// ops/svd/gpu.rs.

// optional: whether to factorize only matrices with a missing column.
struct Params { first: u32, long: u32, short: u32, begins: u32, ends: u32, optional: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> state: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> betas: array<f32>;
@group(0) @binding(4) var<storage, read_write> taus: array<f32>;

var<workgroup> wanted: u32;

// Returns element i of v. Element j, which another invocation is storing, is known.
fn reflector(own: u32, i: u32, j: u32, head: f32) -> f32 {
    var v = head;
    if i != j { v = x[own + i]; }
    return v;
}

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let matrix = params.first + group.x;
    if lane == 0u { wanted = select(1u, state[matrix].z, params.optional != 0u); }
    if workgroupUniformLoad(&wanted) == 0u { return; }
    let long = params.long;
    let base = matrix * long * params.short;
    let part = lane % LANES;
    for (var j = params.begins; j < params.ends; j += 1u) {
        let own = base + j * long;
        // Every group of lanes computes the same sum, so that each lane has it. Row i belongs to the lane i % LANES of
        // a group.
        var square = 0.0;
        for (var i = j + (part + LANES - j % LANES) % LANES; i < long; i += LANES) {
            if i > j { square += x[own + i] * x[own + i]; }
        }
        square = next_sum_over_lanes(lane, square);
        let alpha = x[own + j];
        let whole = square + alpha * alpha;
        var beta = alpha;
        var tau = 0.0;
        var head = 0.0;
        // There is nothing to reflect if all elements below the diagonal are 0.
        if whole > MISSING && square > 0.0 {
            beta = select(-1.0, 1.0, alpha < 0.0) * whole * reciprocal_sqrt(whole);
            head = alpha - beta;
            let norm = square + head * head;
            tau = 2.0 / norm;
            tau = tau * (2.0 - 0.5 * norm * tau);
        }
        // Wait until all invocations have read the diagonal.
        storageBarrier();
        if lane == 0u {
            x[own + j] = head;
            betas[matrix * params.short + j] = beta;
            taus[matrix * params.short + j] = tau;
        }
        for (var next = j + 1u; next < params.ends; next += GROUPS) {
            let column = next + lane / LANES;
            let other = base + column * long;
            var product = 0.0;
            if column < params.ends {
                for (var i = j + (part + LANES - j % LANES) % LANES; i < long; i += LANES) {
                    product += reflector(own, i, j, head) * x[other + i];
                }
            }
            product = tau * next_sum_over_lanes(lane, product);
            if column < params.ends {
                for (var i = j + (part + LANES - j % LANES) % LANES; i < long; i += LANES) {
                    x[other + i] -= product * reflector(own, i, j, head);
                }
            }
        }
        storageBarrier();
    }
}
