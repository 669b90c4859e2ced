// Computes chains of x = a x + b in registers to measure the highest rate of arithmetic. An invocation has eight
// independent vectors of four, so that no operation waits for the previous one. An invocation does 8 x 4 x 2 operations
// per iteration, and its loop has `turns` iterations. The result is written, so that the compiler does not remove the
// computation.

override WIDTH: u32 = 256;

struct Params { turns: u32, a: f32, b: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> made: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let a = vec4<f32>(params.a);
    let b = vec4<f32>(params.b);
    let x = vec4<f32>(f32(id.x & 255u)) * 1e-3;
    var x0 = x;
    var x1 = x + 0.1;
    var x2 = x + 0.2;
    var x3 = x + 0.3;
    var x4 = x + 0.4;
    var x5 = x + 0.5;
    var x6 = x + 0.6;
    var x7 = x + 0.7;
    for (var turn = 0u; turn < params.turns; turn += 1u) {
        x0 = fma(x0, a, b);
        x1 = fma(x1, a, b);
        x2 = fma(x2, a, b);
        x3 = fma(x3, a, b);
        x4 = fma(x4, a, b);
        x5 = fma(x5, a, b);
        x6 = fma(x6, a, b);
        x7 = fma(x7, a, b);
    }
    made[id.x] = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));
}
