// Which run, and which part of its work, a workgroup has in the form that computes a layer at a time. All numbers of a
// run are in storage.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> plan: array<u32>;
@group(0) @binding(2) var<storage, read> lists: array<u32>;
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> targets: array<u32>;
@group(0) @binding(6) var<storage, read_write> moments: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> scratch: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> found: array<vec4<u32>>;

struct Here {
    // The position of the run among those of the dispatch, and its record.
    place: u32,
    record: u32,
    // The part of the run's work.
    unit: u32,
    // The number of steps that the present epoch and those before it had before this one.
    passed: u32,
    batch: u32,
    count: u32,
    step: vec2<u32>,
}

// Returns what a workgroup has to do, if the dispatch has `units` workgroups for each run.
fn here_of(group: u32, units: u32) -> Here {
    let unit = params.first + group;
    let record = params.records_at + unit / units * RECORD_WORDS;
    weights_at = plan[record + RUN] * params.stride;
    scratch_at = plan[record + RUN] * params.scratch;
    let passed = plan[record + BATCH] + params.turn;
    let batch = passed % params.batches;
    let count = min(params.batch, params.samples - batch * params.batch);
    let step = plus(plan[record + STEP_LOW], plan[record + STEP_HIGH], params.turn);
    return Here(unit / units, record, unit % units, passed, batch, count, step);
}

// Where the counts of a run are, with the sums of its invocations behind them: see `found` in step.wgsl.
fn found_at(record: u32) -> u32 { return plan[record + RUN] * (WIDTH + 2u); }

fn quads(len: u32) -> u32 { return (len + 3u) / 4u; }
