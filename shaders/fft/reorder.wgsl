// Reorders lines of reals for a cosine or sine transform of types 1 to 3, with signs and a factor. Types 1 and 2
// reorder before their Fourier transform, and type 3 after it. One invocation per element of the result, which moves 8
// bytes and has two products.

override KIND: u32 = 1;
override WIDTH: u32 = 256;

// The numbers of elements of a line, which are `inner` apart, are `given` and `made`.
struct Turning { count: u32, inner: u32, given: u32, made: u32, sine: u32, scale: f32, single: f32 }

@group(0) @binding(0) var<uniform> params: Turning;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let n = params.given;
    let sign = select(1.0, -1.0, params.sine == 1u);
    for (var at = id.x; at < params.count; at += groups.x * WIDTH) {
        let line = at / params.inner;
        let k = line % params.made;
        let begin = line / params.made * n * params.inner + at % params.inner;
        var j = k;
        var is_signed = false;
        var is_single = false;
        if KIND == 1u {
            // The line and its mirror image are one period of an even function, or of an odd one, which is 0 where it
            // is mirrored.
            let middle = params.made / 2u;
            j = min(min(k, params.made - k) - params.sine, n - 1u);
            is_signed = k > middle;
            is_single = k % middle == 0u;
        } else if KIND == 2u {
            // The elements with even indices, followed by the others in reverse order.
            is_signed = k >= (n + 1u) / 2u;
            j = select(2u * k, 2u * (n - 1u - k) + 1u, is_signed);
        } else {
            is_signed = k % 2u == 1u;
            j = select(k / 2u, n - 1u - k / 2u, is_signed);
        }
        let x = params.scale * input[begin + j * params.inner] * select(1.0, sign, is_signed);
        let at_edge = select(params.single * x, 0.0, params.sine == 1u);
        output[at] = select(x, at_edge, is_single);
    }
}
