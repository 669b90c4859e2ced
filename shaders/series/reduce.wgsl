// Sums and maxima over the invocations of a workgroup, in a fixed order. All invocations call these functions together,
// and all of them have read the result when a function returns.

override WIDTH: u32 = 64;

var<workgroup> sums: array<vec4<f32>, WIDTH>;

fn total(lane: u32, value: vec4<f32>) -> vec4<f32> {
    sums[lane] = value;
    for (var span = WIDTH / 2u; span > 0u; span /= 2u) {
        workgroupBarrier();
        if lane < span { sums[lane] += sums[lane + span]; }
    }
    return workgroupUniformLoad(&sums[0]);
}

fn greatest(lane: u32, value: vec4<f32>) -> vec4<f32> {
    sums[lane] = value;
    for (var span = WIDTH / 2u; span > 0u; span /= 2u) {
        workgroupBarrier();
        if lane < span { sums[lane] = max(sums[lane], sums[lane + span]); }
    }
    return workgroupUniformLoad(&sums[0]);
}
