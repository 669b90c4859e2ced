// Trains runs, one in each workgroup, through a number of steps. The files in front of this one have the parts of a
// step.
//
// Loop iterations: `iterations` in src/ops/mlp/gpu/form.rs bounds those of one step. The number of steps of a dispatch
// follows from this bound.

const TRAINING: bool = true;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> plan: array<u32>;
@group(0) @binding(2) var<storage, read> lists: array<u32>;
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> targets: array<u32>;
@group(0) @binding(5) var<storage, read_write> weights: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> moments: array<vec4<f32>>;
// For every run: the number of steps made, whether the run was halted, and `lost`; its scaler; and the sums of every
// invocation.
@group(0) @binding(8) var<storage, read_write> found: array<vec4<u32>>;

// What is done about a step: its update, nothing, or nothing and no further step.
const APPLY: u32 = 0;
const SKIP: u32 = 1;
const END: u32 = 2;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    lane = index;
    let record = params.records_at + (params.first + group.x) * RECORD_WORDS;
    let run = plan[record + RUN];
    weights_at = run * params.stride;
    scratch_at = run * params.scratch;
    let found_at = run * (WIDTH + 2u);
    load_parameters();
    let before = found[found_at];
    load_scaler(found_at + 1u);
    let sums = found[found_at + 2u + lane];
    recent = bitcast<f32>(sums.x);
    total = bitcast<f32>(sums.y);
    right = sums.z;
    lost = before.z;
    if lane == 0u {
        halted = before.y;
        atomicStore(&trouble, 0u);
    }
    storageBarrier(); // The first invocation replaces at the end what all have read here.
    var made = 0u;
    for (var t = 0u; t < plan[record + STEPS]; t += 1u) {
        if workgroupUniformLoad(&halted) != 0u { break; }
        let batches = plan[record + BATCH] + t;
        let batch = batches % params.batches;
        let count = min(params.batch, params.samples - batch * params.batch);
        let step = plus(plan[record + STEP_LOW], plan[record + STEP_HIGH], t);
        if batch == 0u {
            recent = 0.0;
            total = 0.0;
            right = 0u;
            lost = 0u;
        }
        let sums_before = vec3<u32>(bitcast<u32>(recent), bitcast<u32>(total), right);
        begin_step();
        if t == 0u || batch == 0u {
            let epoch = plus(plan[record + EPOCH_LOW], plan[record + EPOCH_HIGH], batches / params.batches);
            choose_order(record, epoch);
        }
        gather(record, batch, 0u, count);
        forward(record, count, step);
        losses(batch, count);
        if workgroupUniformLoad(&halted) == 0u {
            backward(record, count, step);
            let decided = verdict(sums_before, count);
            if decided == APPLY {
                if plan[record + UPDATE] >= SGLD { make_noise(record, step); }
                update(record, t, count);
            }
            if decided != END { made += 1u; }
        } else {
            recent = bitcast<f32>(sums_before.x);
            total = bitcast<f32>(sums_before.y);
            right = sums_before.z;
        }
    }
    store_parameters();
    store_scaler(found_at + 1u);
    found[found_at + 2u + lane] = vec4<u32>(bitcast<u32>(recent), bitcast<u32>(total), right, 0u);
    if lane == 0u { found[found_at] = vec4<u32>(before.x + made, halted, lost, 0u); }
}
