// Computes covariances, or correlations if CORRELATION is set, from the sums of products of distances from the means.
// These sums are given as a lower triangle; the result is the whole matrix. If a column has an element that is not
// finite, all results of this column are NaN. With fewer than two rows, all results are NaN. Covariances are in units
// of 4^`exponent`.
//
// Loop iterations: the number of elements of an invocation.

override WIDTH: u32 = 64;
override CORRELATION: bool = false;
override SIDE: u32 = 16;

struct Params { cols: u32, matrices: u32, nan: u32, divisor: f32, exponent: i32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> products: array<f32>;
@group(0) @binding(2) var<storage, read> means: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

fn product(matrix: u32, tiles: u32, one: u32, other: u32) -> f32 {
    let edge = 4u * SIDE;
    let row = max(one, other);
    let column = min(one, other);
    let tile = row / edge * (row / edge + 1u) / 2u + column / edge;
    return products[(matrix * tiles + tile) * edge * edge + row % edge * edge + column % edge];
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let edge = (params.cols + 4u * SIDE - 1u) / (4u * SIDE);
    let tiles = edge * (edge + 1u) / 2u;
    let size = params.cols * params.cols;
    for (var k = id.x; k < params.matrices * size; k += groups.x * WIDTH) {
        let matrix = k / size;
        let i = k % params.cols;
        let j = k % size / params.cols;
        let flags = matrix * params.cols * 3u + params.cols;
        let units = matrix * params.cols * 3u + 2u * params.cols;
        var bits = params.nan;
        if params.divisor > 0.0 && means[flags + i] + means[flags + j] == 0.0 {
            let both = product(matrix, tiles, i, j);
            if CORRELATION {
                let one = product(matrix, tiles, i, i);
                let other = product(matrix, tiles, j, j);
                if one > 0.0 && other > 0.0 {
                    bits = bitcast<u32>(select(clamp(both / (sqrt(one) * sqrt(other)), -1.0, 1.0), 1.0, i == j));
                }
            } else {
                // The unit is applied in two halves, because the whole unit or an intermediate result may leave the
                // range of f32 even if the result does not.
                let unit = clamp(i32(means[units + i] + means[units + j]) - 2 * params.exponent, -252, 252);
                bits = bitcast<u32>(both / params.divisor * power_of_two(unit / 2) * power_of_two(unit - unit / 2));
            }
        }
        out[k] = bitcast<f32>(bits);
    }
}
