// degree[i] is the sum of the magnitudes of the weights of row i, or the number of its entries if there are no weights.
// One invocation per node. The order of the sum is fixed.

override WEIGHTED: bool = false;
override WIDTH: u32 = 64;

struct Params { nodes: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> row_offsets: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read_write> degree: array<f32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var node = id.x; node < params.nodes; node += groups.x * WIDTH) {
        let begin = row_offsets[node];
        let end = row_offsets[node + 1u];
        var sum = f32(end - begin);
        if WEIGHTED {
            sum = 0.0;
            for (var entry = begin; entry < end; entry += 1u) { sum += abs(weights[entry]); }
        }
        degree[node] = sum;
    }
}
