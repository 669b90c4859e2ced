// Functions for kernels that work by columns, with GROUPS columns per workgroup and LANES invocations per column. Each
// invocation handles every LANES-th row of its column. The matrices are column-major and have the same shape. With
// u = first + w, workgroup w of a dispatch handles block u % blocks of matrix u / blocks, where `blocks` is the number
// of blocks of GROUPS columns in a matrix.
//
// Loop iterations of an invocation: ceil(rows / LANES) for a pass over a column, and LANES for a reduction.

override LANES: u32 = 16;
override GROUPS: u32 = 8;

var<workgroup> partial_sums: array<f32, LANES * GROUPS>;
var<workgroup> partial_peaks: array<u32, LANES * GROUPS>;

// Every lane of a column gets the sum of x over the lanes of that column, added in the order of the lanes. A kernel
// calls it once.
fn sum_over_lanes(lane: u32, x: f32) -> f32 {
    partial_sums[lane] = x;
    workgroupBarrier();
    let first = lane / LANES * LANES;
    var sum = 0.0;
    for (var t = 0u; t < LANES; t += 1u) { sum += partial_sums[first + t]; }
    return sum;
}

// Does the same for kernels that call it several times.
fn next_sum_over_lanes(lane: u32, x: f32) -> f32 {
    workgroupBarrier();
    return sum_over_lanes(lane, x);
}

// Every lane of a column gets the maximum of x over the lanes of that column. A kernel calls it once.
fn max_over_lanes(lane: u32, x: u32) -> u32 {
    partial_peaks[lane] = x;
    workgroupBarrier();
    let first = lane / LANES * LANES;
    var most = 0u;
    for (var t = 0u; t < LANES; t += 1u) { most = max(most, partial_peaks[first + t]); }
    return most;
}
