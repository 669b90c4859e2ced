// Adds the sums of the segments of a long row. The invocations of a workgroup form eight groups of LANES invocations.
// Each group adds every eighth segment; then the sums of the groups are added pairwise in a fixed order.
//
// Loop iterations of an invocation: ceil(segments / 8).

override LANES: u32 = 8;

const SHARES: u32 = 8u;

var<workgroup> shares: array<vec4<f32>, SHARES * LANES>;

// Returns the total of the segments from `begin` to `end`. After the barrier, every group of LANES invocations computes
// the same totals, and callers use those of the first group.
fn sum_of_segments(begin: u32, end: u32, lane: u32) -> vec4<f32> {
    let part = lane % LANES;
    var sum = vec4<f32>(0.0);
    for (var slot = begin + lane / LANES; slot < end; slot += SHARES) { sum += sums[slot * LANES + part]; }
    shares[lane] = sum;
    workgroupBarrier();
    let low = (shares[part] + shares[LANES + part]) + (shares[2u * LANES + part] + shares[3u * LANES + part]);
    let high = (shares[4u * LANES + part] + shares[5u * LANES + part]) + (shares[6u * LANES + part] + shares[7u * LANES + part]);
    return low + high;
}
