// Converts words that hold two f16 each to f32. Needs shared/half.wgsl.

const WIDTH: u32 = 64;

struct Params { first: u32, len: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = params.first + id.x;
    if at < params.len { y[at] = widen((x[at >> 1u] >> ((at & 1u) << 4u)) & 0xffffu); }
}
