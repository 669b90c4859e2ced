// Converts pairs of f32 to words that hold two f16 each. Needs shared/half.wgsl.

const WIDTH: u32 = 64;

struct Params { first: u32, len: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = 2u * (params.first + id.x);
    if at >= params.len { return; }
    var high = 0u;
    if at + 1u < params.len { high = narrow(x[at + 1u]); }
    y[at >> 1u] = narrow(x[at]) | (high << 16u);
}
