// Merges neighboring nodes of every series. Nodes 2 k and 2 k + 1 of `left` become node k of the result; a last node
// without a neighbor is copied. If PAIR, `left` and `right` hold one node per series, and the two nodes of a series are
// merged.
//
// Loop iterations: the number of nodes of an invocation.

override WIDTH: u32 = 64;
override PAIR: bool = false;

struct Params { series: u32, nodes: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> left: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> right: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<u32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let all = select((params.nodes + 1u) / 2u, 1u, PAIR) * params.series;
    for (var k = id.x; k < all; k += groups.x * WIDTH) {
        let s = k % params.series;
        let first = 2u * (k / params.series);
        let a = 3u * (first * params.series + s);
        let b = a + 3u * params.series;
        var node = node_of(left[a], left[a + 1u], left[a + 2u]);
        if PAIR {
            node = merged(node, node_of(right[a], right[a + 1u], right[a + 2u]));
        } else if first + 1u < params.nodes {
            node = merged(node, node_of(left[b], left[b + 1u], left[b + 2u]));
        }
        let words = words_of(node);
        out[3u * k] = words.a;
        out[3u * k + 1u] = words.b;
        out[3u * k + 2u] = words.c;
    }
}
