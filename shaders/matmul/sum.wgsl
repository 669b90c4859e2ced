// Adds the parts of each raw sum in their order and turns the sum into a result. An invocation makes one word. Needs
// matmul/product.wgsl, and matmul/no_scaling.wgsl or matmul/undo_scaling.wgsl.
//
// Loop iterations: the number of parts, or twice that number for f16.

const SUMMED: u32 = 64;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sums: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<u32>;
@group(0) @binding(3) var<storage, read> bias: array<u32>;
@group(0) @binding(4) var<storage, read_write> out: array<u32>;

fn result(at: u32, len: u32) -> f32 {
    let size = params.m * params.n;
    var sum = 0.0;
    for (var part = 0u; part < params.parts; part += 1u) { sum += sums[part * len + at]; }
    let within = at % size;
    let row = within % params.m;
    let column = within / params.m;
    return finished(undo_scaling(sum, at / size, row, column), at / size, row, column);
}

@compute @workgroup_size(SUMMED)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let len = params.m * params.n * params.batch;
    let word = params.first + id.x;
    if HALF {
        if 2u * word < len {
            let x = narrow(result(2u * word, len));
            var y = 0u;
            if 2u * word + 1u < len { y = narrow(result(2u * word + 1u, len)); }
            out[word] = x | (y << 16u);
        }
    } else {
        if word < len { out[word] = bitcast<u32>(result(word, len)); }
    }
}
