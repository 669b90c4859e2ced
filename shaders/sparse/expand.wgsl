// Writes both entries of every edge: (source, target) and (target, source). Self-loops and edges of weight 0 are
// dropped: their entries get the row index `nodes`, which sorts after all rows. A weight is stored as the complement of
// its bits, which ascends as the weight descends.
//
// Loop iterations: the number of edges of an invocation.

override WEIGHTED: bool = false;
override WIDTH: u32 = 64;

struct Params { edges: u32, nodes: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sources: array<u32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read> given: array<f32>;
@group(0) @binding(4) var<storage, read_write> rows: array<u32>;
@group(0) @binding(5) var<storage, read_write> columns: array<u32>;
@group(0) @binding(6) var<storage, read_write> weights: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var edge = id.x; edge < params.edges; edge += groups.x * WIDTH) {
        let one = sources[edge];
        let other = targets[edge];
        var dropped = one == other;
        if WEIGHTED {
            let weight = given[edge];
            dropped = dropped || weight == 0.0;
            weights[2u * edge] = ~bitcast<u32>(weight);
            weights[2u * edge + 1u] = ~bitcast<u32>(weight);
        }
        rows[2u * edge] = select(one, params.nodes, dropped);
        rows[2u * edge + 1u] = select(other, params.nodes, dropped);
        columns[2u * edge] = other;
        columns[2u * edge + 1u] = one;
    }
}
