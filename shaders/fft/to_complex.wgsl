// Complex output.

@group(0) @binding(4) var<storage, read_write> output: array<vec2<f32>>;

fn store(address: u32, value: vec2<f32>) { output[address] = value; }
