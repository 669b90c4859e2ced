// Merges the means of neighboring nodes, with their flags and with the exponents of their units. join.wgsl merges the
// sums of products of the same nodes.
//
// Loop iterations: the number of columns of an invocation.

override WIDTH: u32 = 64;
override PAIR: bool = false;

struct Params { cols: u32, matrices: u32, nodes: u32, rows: f32, others: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> left: array<f32>;
@group(0) @binding(2) var<storage, read> right: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let columns = params.cols * params.matrices;
    let all = params.nodes / 2u * columns;
    for (var k = id.x; k < all; k += groups.x * WIDTH) {
        let first = select(k / columns * 2u, 0u, PAIR);
        let own = k % columns;
        let at = own / params.cols * params.cols * 3u + own % params.cols;
        let a = first * columns * 3u + at;
        let to = k / columns * columns * 3u + at;
        let units = 2u * params.cols;
        var mean = left[a];
        var flag = left[a + params.cols];
        var exponent = left[a + units];
        var other = 0.0;
        var other_flag = 0.0;
        var other_exponent = 0.0;
        if PAIR {
            other = right[a];
            other_flag = right[a + params.cols];
            other_exponent = right[a + units];
        } else {
            other = left[a + columns * 3u];
            other_flag = left[a + columns * 3u + params.cols];
            other_exponent = left[a + columns * 3u + units];
        }
        let both = max(exponent, other_exponent);
        mean *= power_of_two(clamp(i32(exponent - both), -126, 0));
        other *= power_of_two(clamp(i32(other_exponent - both), -126, 0));
        exponent = both;
        mean += (other - mean) * (params.others / (params.rows + params.others));
        flag = max(flag, other_flag);
        out[to] = mean;
        out[to + params.cols] = flag;
        out[to + units] = exponent;
    }
}
