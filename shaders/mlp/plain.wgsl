// Training in f32: what scaler.wgsl and narrow.wgsl do more than this is for mixed precision.

@group(0) @binding(7) var<storage, read_write> scratch: array<vec4<u32>>;

const F16: bool = false;
const loss_scale: f32 = 1.0;
const unscale: f32 = 1.0;

fn set_parameter(at: u32, value: vec4<f32>, is_factor: bool) {
    if OWN_WEIGHTS { own[at] = bitcast<vec4<u32>>(value); } else { weights[weights_at + at] = value; }
}

fn store_parameters() {
    if OWN_WEIGHTS {
        for (var i = lane; i < params.quads; i += WIDTH) { weights[weights_at + i] = bitcast<vec4<f32>>(own[i]); }
    }
}

// Waits until all invocations have read the parameters of a step.
fn parameters_read() {
    if !OWN_WEIGHTS && ROWS == OWN { storageBarrier(); }
}

fn load_scaler(at: u32) {}
fn store_scaler(at: u32) {}
fn begin_step() {}
fn verdict(before: vec3<u32>, count: u32) -> u32 { return APPLY; }
fn correction(record: u32, t: u32) -> vec2<f32> { return vec2<f32>(1.0); }
