// The order of samples, as in src/ops/mlp/order.rs: a Feistel network on the bits of the numbers below a power of two,
// restricted to the numbers below n.

const ORDER: u32 = 2;
const ROUNDS: u32 = 12;
const FEWEST_BITS: u32 = 6;

var<workgroup> order_keys: array<vec4<u32>, 3>;

// Computes the keys of an epoch.
fn choose_order(record: u32, epoch: vec2<u32>) {
    if lane < ROUNDS / 4u {
        let key = vec2<u32>(plan[record + KEY_LOW], plan[record + KEY_HIGH]);
        order_keys[lane] = philox(vec4<u32>(lane, epoch.x, epoch.y, ORDER << 8u), key);
    }
    workgroupBarrier();
}

// Mixes all bits of a word into its lower bits (the first half of Murmur3's finalizer).
fn mix(word: u32) -> u32 {
    var x = (word ^ (word >> 16u)) * 0x85ebca6bu;
    x = (x ^ (x >> 13u)) * 0xc2b2ae35u;
    return x ^ (x >> 16u);
}

// Returns the number at `position` of the permutation of 0..n.
fn in_order(position: u32, n: u32) -> u32 {
    let bits = max(32u - countLeadingZeros(n - 1u), FEWEST_BITS);
    let low = bits / 2u;
    let low_mask = (1u << low) - 1u;
    let high_mask = 0xffffffffu >> (32u - (bits - low));
    var x = position;
    var outside = true;
    while outside {
        var a = x & low_mask;
        var b = x >> low;
        for (var part = 0u; part < ROUNDS / 4u; part += 1u) {
            let keys = order_keys[part];
            a = (a + mix(b + keys.x)) & low_mask;
            b = (b + mix(a + keys.y)) & high_mask;
            a = (a + mix(b + keys.z)) & low_mask;
            b = (b + mix(a + keys.w)) & high_mask;
        }
        x = (b << low) | a;
        outside = x >= n;
    }
    return x;
}

// Copies the samples `begin..end` of a batch, in the order of the epoch, to the rows of the first layer's inputs, and
// keeps their numbers. `begin` is a multiple of four.
fn gather(record: u32, batch: u32, begin: u32, end: u32) {
    let list = plan[record + LIST];
    let first = batch * params.batch;
    for (var four = begin / 4u + lane; 4u * four < end; four += WIDTH) {
        var found = vec4<u32>(0u);
        for (var i = 0u; i < 4u; i += 1u) {
            // Positions beyond the end, of which no result is used, count as the first.
            let position = select(0u, first + 4u * four + i, 4u * four + i < end);
            var place = position;
            if plan[record + SHUFFLED] == 1u { place = in_order(position, params.samples); }
            found[i] = lists[list + place];
        }
        set_exact(params.samples_at + four, bitcast<vec4<f32>>(found));
    }
    rows_written();
    let columns = layer(0u, INPUT_QUADS);
    let scaling = plan[record + SCALING];
    for (var item = lane; item < (end - begin) * columns; item += WIDTH) {
        let sample = begin + item / columns;
        let column = item % columns;
        var value = x[sample_of(sample) * columns + column];
        if scaling != NONE { value = (value - x[scaling + column]) * x[scaling + columns + column]; }
        set_row(layer(0u, IN_ROWS) + sample * layer(0u, IN_PITCH) + column, value);
    }
    rows_written();
}

// Returns the number of a sample of the batch in the data set.
fn sample_of(sample: u32) -> u32 { return exact_word(params.samples_at, sample); }
