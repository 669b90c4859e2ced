// The second half of a pass of a stable radix sort: moves every entry to its sorted position and keeps the order of
// entries with equal digits. `starts` are the counts of histogram.wgsl after the scan. Loop iterations: those of
// digits.wgsl, and 64 + 16 more.

// Whether an entry has three components (row, column and weight) instead of two.
override THREE: bool = false;

struct Params { first: u32, blocks: u32, count: u32, shift: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read> others: array<u32>;
@group(0) @binding(4) var<storage, read> thirds: array<u32>;
@group(0) @binding(5) var<storage, read_write> to_keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> to_others: array<u32>;
@group(0) @binding(7) var<storage, read_write> to_thirds: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = params.first + group.x;
    count_digits(block, lane, params.count, params.shift);
    if lane < VALUES {
        var sum = starts[lane * params.blocks + block];
        for (var other = 0u; other < INVOCATIONS; other += 1u) {
            let count = seen[lane * INVOCATIONS + other];
            seen[lane * INVOCATIONS + other] = sum;
            sum += count;
        }
    }
    workgroupBarrier();
    let begin = min(block * BLOCK + lane * EACH, params.count);
    let end = min(begin + EACH, params.count);
    for (var place = begin; place < end; place += 1u) {
        let key = keys[place];
        let mine = (key >> params.shift & (VALUES - 1u)) * INVOCATIONS + lane;
        let to = seen[mine];
        seen[mine] = to + 1u;
        to_keys[to] = key;
        to_others[to] = others[place];
        if THREE { to_thirds[to] = thirds[place]; }
    }
}
