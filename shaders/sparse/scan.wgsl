// Replaces every element by the sum of the elements before it in its block, and writes the sums of the blocks
// to `totals`.
//
// Loop iterations: 16 in each of two loops, and 6 in a third.

struct Params { first: u32, count: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;

var<workgroup> sums: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = params.first + group.x;
    let begin = min(block * BLOCK + lane * EACH, params.count);
    let end = min(begin + EACH, params.count);
    var sum = 0u;
    for (var place = begin; place < end; place += 1u) { sum += values[place]; }
    sums[lane] = sum;
    for (var reach = 1u; reach < INVOCATIONS; reach *= 2u) {
        workgroupBarrier();
        var before = 0u;
        if lane >= reach { before = sums[lane - reach]; }
        workgroupBarrier();
        sums[lane] += before;
    }
    if lane == INVOCATIONS - 1u { totals[block] = sums[lane]; }
    var next = sums[lane] - sum;
    for (var place = begin; place < end; place += 1u) {
        let own = values[place];
        values[place] = next;
        next += own;
    }
}
