// The numbers of a sample in workgroup memory.

override CAPACITY: u32 = 512;

var<workgroup> x: array<f32, CAPACITY>;
