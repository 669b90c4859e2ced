// The losses of the runs' batches and their derivatives. A workgroup has a run, and adds up its losses as the kernel of
// whole steps does. Runs that were halted stay as they are.
//
// Iterations of an invocation: ceil(batch / 256) (6 outputs + vectors of the outputs) + batch.

@group(0) @binding(5) var<storage, read> weights: array<vec4<f32>>;

const loss_scale: f32 = 1.0;
const F16: bool = false;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let here = here_of(group.x, 1u);
    let at = found_at(here.record);
    let before = found[at];
    let sums = found[at + 2u + lane];
    recent = bitcast<f32>(sums.x);
    total = bitcast<f32>(sums.y);
    right = sums.z;
    if lane == 0u {
        halted = before.y;
        atomicStore(&trouble, 0u);
    }
    if workgroupUniformLoad(&halted) == 0u {
        if here.batch == 0u {
            recent = 0.0;
            total = 0.0;
            right = 0u;
        }
        let sums_before = vec3<u32>(bitcast<u32>(recent), bitcast<u32>(total), right);
        losses(here.batch, here.count);
        let stops = workgroupUniformLoad(&halted);
        let sums_now = vec3<u32>(bitcast<u32>(recent), bitcast<u32>(total), right);
        found[at + 2u + lane] = vec4<u32>(select(sums_before, sums_now, stops == 0u), 0u);
        if lane == 0u { found[at] = vec4<u32>(before.x + select(0u, 1u, stops == 0u), stops, 0u, 0u); }
    }
}
