// Replaces words of an array: that at `places[i]` by `words[i]`. One invocation per word.

const WIDTH: u32 = 64;

struct Count { count: u32 }

@group(0) @binding(0) var<uniform> params: Count;
@group(0) @binding(1) var<storage, read> places: array<u32>;
@group(0) @binding(2) var<storage, read> words: array<u32>;
@group(0) @binding(3) var<storage, read_write> whole: array<u32>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < params.count; i += groups.x * WIDTH) {
        whole[places[i]] = words[i];
    }
}
