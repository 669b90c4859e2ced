// Merges the sums of products (gram.wgsl) of neighboring nodes into sums about the common means of both nodes. Nodes 2
// k and 2 k + 1 of `left` become node k of the result. Units are powers of two, and the result has the larger unit of
// the two nodes. All nodes have as many rows. If PAIR, `left` and `right` hold one node each, and these two nodes are
// merged. Of each pair, the first node has `rows` rows and the second `others`.
//
// Loop iterations: the number of vec4s of an invocation.

override WIDTH: u32 = 64;
override PAIR: bool = false;
override SIDE: u32 = 16;

struct Params { cols: u32, matrices: u32, nodes: u32, rows: f32, others: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> left: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> right: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> left_means: array<f32>;
@group(0) @binding(4) var<storage, read> right_means: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<vec4<f32>>;

// Returns `own / max(own, other)` for two units, the powers of two in which the sums of two nodes are stored. Units are
// given as exponents.
fn ratio(own: f32, other: f32) -> f32 { return power_of_two(clamp(i32(own - max(own, other)), -126, 0)); }

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let edge = (params.cols + 4u * SIDE - 1u) / (4u * SIDE);
    let tiles = edge * (edge + 1u) / 2u;
    let size = params.matrices * tiles * 4u * SIDE * SIDE;
    let all = params.nodes / 2u * size;
    for (var k = id.x; k < all; k += groups.x * WIDTH) {
        let first = select(k / size * 2u, 0u, PAIR);
        let own = k % size;
        let a = first * size + own;
        var sum = left[a];
        let weight = params.rows * (params.others / (params.rows + params.others));
        let tile = tile_of(own / (4u * SIDE * SIDE) % tiles) * 4u * SIDE;
        let row = tile.x + own % (4u * SIDE * SIDE) / SIDE;
        let column = tile.y + own % SIDE * 4u;
        let matrix = own / (4u * SIDE * SIDE) / tiles;
        let from_a = (first * params.matrices + matrix) * params.cols * 3u;
        let from_b = select(from_a + params.matrices * params.cols * 3u, from_a, PAIR);
        let units = 2u * params.cols;
        var down = 0.0;
        var across = vec4<f32>(0.0);
        // The unit ratios of both nodes: vectors for the columns, scalars for the row.
        var of_a = vec4<f32>(0.0);
        var of_b = vec4<f32>(0.0);
        var row_a = 0.0;
        var row_b = 0.0;
        var b = vec4<f32>(0.0);
        if PAIR { b = right[a]; } else { b = left[a + size]; }
        if row < params.cols {
            let mine = left_means[from_a + units + row];
            var unit = 0.0;
            if PAIR { down = right_means[from_b + row]; } else { down = left_means[from_b + row]; }
            if PAIR { unit = right_means[from_b + units + row]; } else { unit = left_means[from_b + units + row]; }
            row_a = ratio(mine, unit);
            row_b = ratio(unit, mine);
            down = down * row_b - left_means[from_a + row] * row_a;
        }
        for (var c = 0u; c < 4u; c += 1u) {
            if column + c < params.cols {
                let mine = left_means[from_a + units + column + c];
                var mean = 0.0;
                var unit = 0.0;
                if PAIR { mean = right_means[from_b + column + c]; } else { mean = left_means[from_b + column + c]; }
                if PAIR {
                    unit = right_means[from_b + units + column + c];
                } else {
                    unit = left_means[from_b + units + column + c];
                }
                of_a[c] = ratio(mine, unit);
                of_b[c] = ratio(unit, mine);
                across[c] = mean * of_b[c] - left_means[from_a + column + c] * of_a[c];
            }
        }
        sum = ((sum * row_a) * of_a + (b * row_b) * of_b) + (weight * down) * across;
        out[k] = sum;
    }
}
