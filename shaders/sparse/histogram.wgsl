// The first half of a pass of a stable radix sort: counts the digits of each block. Loop iterations: those of
// digits.wgsl, and 64 more.

struct Params { first: u32, blocks: u32, count: u32, shift: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = params.first + group.x;
    count_digits(block, lane, params.count, params.shift);
    if lane < VALUES {
        var sum = 0u;
        for (var other = 0u; other < INVOCATIONS; other += 1u) { sum += seen[lane * INVOCATIONS + other]; }
        counts[lane * params.blocks + block] = sum;
    }
}
