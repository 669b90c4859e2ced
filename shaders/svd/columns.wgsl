// For kernels that work by columns: GROUPS columns per workgroup and LANES invocations per column, each with every
// LANES-th row. The matrices are column-major and all of one shape; unit `first + workgroup` is block unit % blocks of
// matrix unit / blocks.
//
// Loop iterations of an invocation and pass over a column: ceil(rows / LANES), and LANES for a reduction.

override LANES: u32 = 16;
override GROUPS: u32 = 8;

var<workgroup> partial_sums: array<f32, LANES * GROUPS>;
var<workgroup> partial_peaks: array<u32, LANES * GROUPS>;

// Returns the sum over the lanes of a column, in their order, to each of them.
fn sum_over_lanes(lane: u32, x: f32) -> f32 {
    workgroupBarrier();
    partial_sums[lane] = x;
    workgroupBarrier();
    let first = lane / LANES * LANES;
    var sum = 0.0;
    for (var t = 0u; t < LANES; t += 1u) { sum += partial_sums[first + t]; }
    return sum;
}

// Returns the maximum over the lanes of a column to each of them.
fn max_over_lanes(lane: u32, x: u32) -> u32 {
    workgroupBarrier();
    partial_peaks[lane] = x;
    workgroupBarrier();
    let first = lane / LANES * LANES;
    var most = 0u;
    for (var t = 0u; t < LANES; t += 1u) { most = max(most, partial_peaks[first + t]); }
    return most;
}
