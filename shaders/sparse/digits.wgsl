// Counts how often each value of a 4-bit digit occurs, separately for each invocation of a block; histogram.wgsl adds
// these counts over the invocations and stores the sums in counts[value * blocks + block].
//
// Loop iterations: 2 * 16.

const VALUES: u32 = 16u;

var<workgroup> seen: array<u32, 1024>;

// Writes the counts of each invocation and value to seen[value * INVOCATIONS + lane].
fn count_digits(block: u32, lane: u32, count: u32, shift: u32) {
    for (var value = 0u; value < VALUES; value += 1u) { seen[value * INVOCATIONS + lane] = 0u; }
    let begin = min(block * BLOCK + lane * EACH, count);
    let end = min(begin + EACH, count);
    for (var place = begin; place < end; place += 1u) {
        let value = keys[place] >> shift & (VALUES - 1u);
        seen[value * INVOCATIONS + lane] += 1u;
    }
    workgroupBarrier();
}
