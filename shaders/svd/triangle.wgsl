// Copies the rows of R in X = Q R (svd/panel.wgsl) to the columns of W = R'. Iterations: ceil(short / LANES).

struct Params { first: u32, long: u32, short: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> betas: array<f32>;
@group(0) @binding(3) var<storage, read_write> w: array<f32>;

@compute @workgroup_size(LANES * GROUPS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.short;
    let blocks = (n + GROUPS - 1u) / GROUPS;
    let matrix = (params.first + group.x) / blocks;
    let column = (params.first + group.x) % blocks * GROUPS + lane / LANES;
    if column < n {
        for (var i = lane % LANES; i < n; i += LANES) {
            var value = 0.0;
            if i == column { value = betas[matrix * n + i]; }
            if i > column { value = x[(matrix * n + i) * params.long + column]; }
            w[(matrix * n + column) * n + i] = value;
        }
    }
}
