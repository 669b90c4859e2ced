// Computes the statistics of every series from its moments: mean, variance (divided by count - ddof), biased skewness,
// biased excess kurtosis, minimum, maximum and count.
//
// Loop iterations: the number of series of an invocation.

override WIDTH: u32 = 64;

// `nan` has the bits of a NaN, and `infinity` has the bits of infinity. Both are parameters because a compiler may
// assume that constants are finite.
struct Params { series: u32, ddof: u32, nan: u32, infinity: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> nodes: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> mean: array<f32>;
@group(0) @binding(3) var<storage, read_write> variance: array<f32>;
@group(0) @binding(4) var<storage, read_write> least: array<f32>;
@group(0) @binding(5) var<storage, read_write> most: array<f32>;
@group(0) @binding(6) var<storage, read_write> skewness: array<f32>;
@group(0) @binding(7) var<storage, read_write> kurtosis: array<f32>;
@group(0) @binding(8) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var s = id.x; s < params.series; s += groups.x * WIDTH) {
        let node = node_of(nodes[3u * s], nodes[3u * s + 1u], nodes[3u * s + 2u]);
        let none = node.count.x == 0u && node.count.y == 0u;
        let not_a_number = none || (node.flags & FLAG_NAN) != 0u;
        let more = (node.flags & FLAG_MORE) != 0u;
        let less = (node.flags & FLAG_LESS) != 0u;
        let finite = (node.flags & FLAG_FINITE) != 0u;
        let positive = params.infinity;
        let negative = params.infinity | 0x80000000u;

        let up = power_of_two(node.lowered);
        let down = power_of_two(-node.lowered);
        // The mean is clamped to the minimum and the maximum, so that rounding cannot make it infinite.
        let between = min(max(node.shift + node.offset, node.least * down), node.most * down) * up;
        var middle = bitcast<u32>(between);
        if more { middle = positive; }
        if less { middle = negative; }
        if not_a_number || (more && less) { middle = params.nan; }
        mean[s] = bitcast<f32>(middle);

        var low = bitcast<u32>(node.least);
        if !finite { low = positive; }
        if less { low = negative; }
        var high = bitcast<u32>(node.most);
        if !finite { high = negative; }
        if more { high = positive; }
        if not_a_number { low = params.nan; high = params.nan; }
        least[s] = bitcast<f32>(low);
        most[s] = bitcast<f32>(high);

        let n = number_of(node.count);
        let unit = power_of_two(node.exponent);
        let central = !(not_a_number || more || less);
        let enough = node.count.y > 0u || node.count.x > params.ddof;
        let below = vec2<u32>(node.count.x - params.ddof, node.count.y - select(0u, 1u, node.count.x < params.ddof));
        var spread = params.nan;
        if central && enough { spread = bitcast<u32>(node.second / number_of(below) * unit * unit * up * up); }
        variance[s] = bitcast<f32>(spread);

        var lean = params.nan;
        var tails = params.nan;
        if central && node.second > 0.0 {
            let square = node.second / n;
            lean = bitcast<u32>(node.third / n / (square * sqrt(square)));
            tails = bitcast<u32>(node.fourth / n / (square * square) - 3.0);
        }
        skewness[s] = bitcast<f32>(lean);
        kurtosis[s] = bitcast<f32>(tails);
        counts[2u * s] = node.count.x;
        counts[2u * s + 1u] = node.count.y;
    }
}
