// Multiplies the elements of every line by 2^e, where e is the exponent of the line, in place. One invocation per word.
// Needs shared/real.wgsl.

const WIDTH: u32 = 64;

// `inner` is the number of lines side by side in a block, an element has `words` words, and a block has `block` words.
struct Lowering { count: u32, inner: u32, words: u32, block: u32 }

@group(0) @binding(0) var<uniform> params: Lowering;
@group(0) @binding(1) var<storage, read> exponents: array<u32>;
@group(0) @binding(2) var<storage, read_write> numbers: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < params.count; i += groups.x * WIDTH) {
        let line = i / params.block * params.inner + i / params.words % params.inner;
        numbers[i] = bitcast<u32>(times_power_of_two(numbers[i], bitcast<i32>(exponents[line])));
    }
}
