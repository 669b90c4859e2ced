// For each rank, finds the next digit of the key at this rank, and the rank among the keys that have this digit.
//
// Loop iterations: 256 for each rank of an invocation.

override WIDTH: u32 = 64;

struct Params { ranks: u32, shift: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> totals: array<u32>;
@group(0) @binding(2) var<storage, read_write> sought: array<vec4<u32>>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var k = id.x; k < params.ranks; k += groups.x * WIDTH) {
        let now = sought[k];
        var before = 0u;
        var digit = 0u;
        var found = false;
        for (var value = 0u; value < 256u; value += 1u) {
            let here = totals[k * 256u + value];
            if !found && now.y < before + here {
                found = true;
                digit = value;
            }
            if !found { before += here; }
        }
        sought[k] = vec4<u32>(now.x | digit << params.shift, now.y - before, now.z, now.w);
    }
}
