// Where a run's numbers are, and how they are read. A workgroup trains one run. Its parameters, and the rows of its
// batch, are in workgroup memory if they fit there, and in storage otherwise.
//
// Matrices are stored by rows of vectors of four numbers. Rows are padded with zeros. The distance between rows is an
// odd number of vectors, so that neighboring invocations that read neighboring rows use different banks.
//
// A kernel that uses this file declares `params`, `plan`, `weights` and `scratch`.

// Invocations of a workgroup.
override WIDTH: u32 = 64;
// Vectors of workgroup memory.
override QUADS: u32 = 1008;
// Whether the parameters are in workgroup memory, in front of everything else.
override OWN_WEIGHTS: bool = true;
// Where the rows of the batch are.
override ROWS: u32 = OWN;
const STORED: u32 = 0; // in storage
const MIXED: u32 = 1;  // the inputs in storage, the others in workgroup memory
const OWN: u32 = 2;    // in workgroup memory

// Added to places of rows that are in storage although others are in workgroup memory.
const FAR: u32 = 0x80000000u;

var<workgroup> own: array<vec4<u32>, QUADS>;

// The index of the invocation, and where the numbers of the run begin.
var<private> lane: u32;
var<private> weights_at: u32;
var<private> scratch_at: u32;

// The words of a layer in `plan`.
const LAYER_WORDS: u32 = 24;
const INPUT_QUADS: u32 = 0;
const OUTPUTS: u32 = 1;
const OUTPUT_QUADS: u32 = 2;
const WEIGHTS: u32 = 3;
const WEIGHT_PITCH: u32 = 4;
const BY_OUTPUT: u32 = 5;
const BIAS: u32 = 6;
const GAIN: u32 = 7;
const SHIFT: u32 = 8;
const RUNNING: u32 = 9;
const NORM: u32 = 10;
const ACTIVATION: u32 = 11;
const SLOPE: u32 = 12;
const IN_ROWS: u32 = 13;
const IN_PITCH: u32 = 14;
const OUT_ROWS: u32 = 15;
const OUT_PITCH: u32 = 16;
const DERIVATIVES: u32 = 17;
const HATS: u32 = 18;
const SUMS: u32 = 19;
const STRIDE: u32 = 20;

fn layer(l: u32, field: u32) -> u32 { return plan[l * LAYER_WORDS + field]; }

// Waits until all invocations see all rows of the batch that were written.
fn rows_written() {
    if ROWS != OWN { storageBarrier(); }
    if ROWS != STORED { workgroupBarrier(); }
}

// Returns a vector of the rows of the batch.
fn row(at: u32) -> vec4<f32> {
    var found: vec4<u32>;
    if ROWS == OWN {
        found = own[at];
    } else {
        if ROWS == STORED {
            found = scratch[scratch_at + at];
        } else {
            if at >= FAR { found = scratch[scratch_at + (at - FAR)]; } else { found = own[at]; }
        }
    }
    return bitcast<vec4<f32>>(found);
}

fn set_row(at: u32, value: vec4<f32>) {
    let bits = bitcast<vec4<u32>>(value);
    if ROWS == OWN {
        own[at] = bits;
    } else {
        if ROWS == STORED {
            scratch[scratch_at + at] = bits;
        } else {
            if at >= FAR { scratch[scratch_at + (at - FAR)] = bits; } else { own[at] = bits; }
        }
    }
}

// Returns one number of the rows of the batch.
fn number(at: u32, i: u32) -> f32 {
    var found: u32;
    if ROWS == OWN {
        found = own[at + i / 4u][i % 4u];
    } else {
        if ROWS == STORED {
            found = scratch[scratch_at + at + i / 4u][i % 4u];
        } else {
            if at >= FAR {
                found = scratch[scratch_at + (at - FAR) + i / 4u][i % 4u];
            } else {
                found = own[at + i / 4u][i % 4u];
            }
        }
    }
    return bitcast<f32>(found);
}

// Sets one number of the rows of the batch, which are not the inputs. One invocation sets all numbers of a vector.
fn set_number(at: u32, i: u32, value: f32) {
    if ROWS == STORED {
        scratch[scratch_at + at + i / 4u][i % 4u] = bitcast<u32>(value);
    } else {
        own[at + i / 4u][i % 4u] = bitcast<u32>(value);
    }
}

// Returns a vector of the parameters.
fn weight(at: u32) -> vec4<f32> {
    var found: vec4<f32>;
    if OWN_WEIGHTS { found = bitcast<vec4<f32>>(own[at]); } else { found = weights[weights_at + at]; }
    return found;
}
