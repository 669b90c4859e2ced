// Sums over the rows or the columns of a batch. A workgroup of 256 invocations has eight sums, and 32 invocations, the
// strands, add up the terms of each. The sums of the strands are added in their order.

const SUMS_TOGETHER: u32 = 8;
const STRANDS: u32 = 32;

// Whether a sum is over samples; otherwise, it is over the vectors of a sample. Neighboring invocations read
// neighboring vectors in both cases.
override OVER_SAMPLES: bool = true;

var<workgroup> strands: array<vec4<f32>, SUMS_TOGETHER * STRANDS>;

// Returns (sum, strand) of an invocation.
fn strand_of() -> vec2<u32> {
    return select(
        vec2<u32>(lane / STRANDS, lane % STRANDS), vec2<u32>(lane % SUMS_TOGETHER, lane / SUMS_TOGETHER), OVER_SAMPLES,
    );
}

// Returns the sum of all strands of the invocation's sum.
fn of_all(own: vec4<f32>) -> vec4<f32> {
    let sum = strand_of().x;
    strands[lane] = own;
    workgroupBarrier();
    var total = vec4<f32>(0.0);
    for (var s = 0u; s < STRANDS; s += 1u) {
        total += strands[select(sum * STRANDS + s, s * SUMS_TOGETHER + sum, OVER_SAMPLES)];
    }
    workgroupBarrier();
    return total;
}

fn all_four(x: vec4<f32>) -> f32 { return x.x + x.y + x.z + x.w; }
