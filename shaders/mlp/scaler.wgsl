// The scale of a run's losses in f16, and the steps that are skipped (src/ops/mlp/mixed.rs).

const GROWTH: u32 = 2000;
const PATIENCE: u32 = 50;
const LARGEST_SCALE: f32 = 8.507059e37; // 2^126, whose inverse is not subnormal

// A power of two, the inverse of that of the present step, the number of steps since it changed, the number of skipped
// steps, and how many of these were the last steps. All invocations have the same numbers.
var<private> loss_scale: f32;
var<private> unscale: f32;
var<private> clean: u32;
var<private> skipped: u32;
var<private> in_a_row: u32;

// A number of the present step is infinite.
const UNFIT: u32 = 2;
var<workgroup> decision: u32;

fn load_scaler(at: u32) {
    let state = found[at];
    loss_scale = select(1.0, bitcast<f32>(state.x), F16);
    clean = state.y;
    skipped = state.z;
    in_a_row = state.w;
}

fn store_scaler(at: u32) {
    if F16 && lane == 0u { found[at] = vec4<u32>(bitcast<u32>(loss_scale), clean, skipped, in_a_row); }
}

fn begin_step() {
    too_large = false;
    unscale = bitcast<f32>((254u << 23u) - bitcast<u32>(loss_scale));
    if lane == 0u { atomicStore(&trouble, 0u); }
    workgroupBarrier();
}

// Decides about a step whose gradient is known, and counts it. A step without a finite loss, or one that ends the run,
// does not count in the sums of the epoch, which were `before`.
fn verdict(before: vec3<u32>, count: u32) -> u32 {
    var decided = APPLY;
    if F16 {
        if too_large || has_large_parameter { atomicOr(&trouble, UNFIT); }
        workgroupBarrier();
        if lane == 0u { decision = atomicLoad(&trouble); }
        let troubles = workgroupUniformLoad(&decision);
        let no_loss = (troubles & NO_LOSS) != 0u;
        if troubles != 0u {
            decided = SKIP;
            clean = 0u;
            skipped += 1u;
            in_a_row += 1u;
            loss_scale *= 0.5;
            if loss_scale < 1.0 || in_a_row == PATIENCE {
                decided = END;
            }
        } else {
            in_a_row = 0u;
            clean += 1u;
            if clean == GROWTH {
                clean = 0u;
                let doubled = 2.0 * loss_scale;
                if doubled <= LARGEST_SCALE { loss_scale = doubled; }
            }
        }
        // All invocations have decided the same, which a compiler cannot know.
        if lane == 0u {
            decision = decided;
            if decided == END { halted = 1u; }
        }
        decided = workgroupUniformLoad(&decision);
        if no_loss || decided == END {
            recent = bitcast<f32>(before.x);
            total = bitcast<f32>(before.y);
            right = before.z;
        }
        if no_loss && decided != END { lost += count; }
    }
    return decided;
}

// Returns the corrections of Adam's biases, or the gain of momentum, which follow the number of steps that changed the
// parameters.
fn correction(record: u32, t: u32) -> vec2<f32> {
    let at = plan[record + CORRECTIONS] + 2u * (plan[record + OFFSET] + t - skipped);
    return bitcast<vec2<f32>>(vec2<u32>(plan[at], plan[at + 1u]));
}
