// Products of neighbouring nodes about their common mean: node k of the result is 2 k and 2 k + 1 of `left`, a last one without a neighbour as
// it is. All nodes have `rows` rows, the last one `rows_of_last`. Where PAIR, `left` and `right` hold one node each, of so many rows.
//
// Loop iterations: vectors of an invocation.

override WIDTH: u32 = 64;
override PAIR: bool = false;
override SIDE: u32 = 16;

struct Params { cols: u32, matrices: u32, nodes: u32, rows: f32, rows_of_last: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> left: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> right: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> left_means: array<f32>;
@group(0) @binding(4) var<storage, read> right_means: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let edge = (params.cols + 4u * SIDE - 1u) / (4u * SIDE);
    let tiles = edge * (edge + 1u) / 2u;
    let size = params.matrices * tiles * 4u * SIDE * SIDE;
    let all = select((params.nodes + 1u) / 2u, 1u, PAIR) * size;
    for (var k = id.x; k < all; k += groups.x * WIDTH) {
        let first = select(k / size * 2u, 0u, PAIR);
        let own = k % size;
        let a = first * size + own;
        var sum = left[a];
        if PAIR || first + 1u < params.nodes {
            let last = PAIR || first + 2u == params.nodes;
            let others = select(params.rows, params.rows_of_last, last);
            let weight = params.rows * (others / (params.rows + others));
            let tile = tile_of(own / (4u * SIDE * SIDE) % tiles) * 4u * SIDE;
            let row = tile.x + own % (4u * SIDE * SIDE) / SIDE;
            let column = tile.y + own % SIDE * 4u;
            let matrix = own / (4u * SIDE * SIDE) / tiles;
            let from_a = (first * params.matrices + matrix) * params.cols * 2u;
            let from_b = select(from_a + params.matrices * params.cols * 2u, from_a, PAIR);
            var down = 0.0;
            var across = vec4<f32>(0.0);
            var b = vec4<f32>(0.0);
            if PAIR { b = right[a]; } else { b = left[a + size]; }
            if row < params.cols {
                if PAIR { down = right_means[from_b + row]; } else { down = left_means[from_b + row]; }
                down -= left_means[from_a + row];
            }
            for (var c = 0u; c < 4u; c += 1u) {
                if column + c < params.cols {
                    var mean = 0.0;
                    if PAIR { mean = right_means[from_b + column + c]; } else { mean = left_means[from_b + column + c]; }
                    across[c] = mean - left_means[from_a + column + c];
                }
            }
            sum = (sum + b) + (weight * down) * across;
        }
        out[k] = sum;
    }
}
