// Real output: the real part of a value, or its real and imaginary parts as two adjacent reals along the axis.

@group(0) @binding(4) var<storage, read_write> output: array<f32>;

fn store(address: u32, value: vec2<f32>) {
    output[address] = value.x;
    if PAIRS { output[address + params.out_stride] = value.y; }
}
