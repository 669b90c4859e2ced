// The words of a run in `plan`, and what all runs of a dispatch share. The last four members are for the kernels of a
// layer: which step of the plan this is, the layer or the block, and where gradients are kept.

const RECORD_WORDS: u32 = 40;
const KEY_LOW: u32 = 0;
const KEY_HIGH: u32 = 1;
const STEP_LOW: u32 = 2;
const STEP_HIGH: u32 = 3;
const EPOCH_LOW: u32 = 4;
const EPOCH_HIGH: u32 = 5;
const BATCH: u32 = 6;
const STEPS: u32 = 7;
const LIST: u32 = 8;
const SCALING: u32 = 9;
const RATES: u32 = 10;
const PENALTY: u32 = 11;
const CLIP: u32 = 12;
const CLIPS: u32 = 13;
const UPDATE: u32 = 14;
const RUN: u32 = 15;
const SHUFFLED: u32 = 16;
const CORRECTIONS: u32 = 17;
const OFFSET: u32 = 18;
const THRESHOLDS: u32 = 19;

// The normalizations.
const NO_NORM: u32 = 0;
const BATCH_NORM: u32 = 1;
const LAYER_NORM: u32 = 2;

// A place that does not exist.
const NONE: u32 = 0xffffffffu;

struct Params {
    first: u32, records_at: u32, layers: u32, blocks: u32, blocks_at: u32, batch: u32, samples: u32, batches: u32,
    quads: u32, stride: u32, moments: u32, scratch: u32, samples_at: u32, noise: u32, noise_at: u32, each: u32,
    loss: u32, class_weights: u32, of_label: f32, of_each: f32,
    turn: u32, part: u32, gradients_at: u32, lengths_at: u32,
}

// Adds to a number of 64 bits.
fn plus(low: u32, high: u32, more: u32) -> vec2<u32> {
    let sum = low + more;
    return vec2<u32>(sum, high + select(0u, 1u, sum < low));
}
