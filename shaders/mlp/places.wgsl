// Where a run's numbers are. A workgroup trains one run. Its parameters, and the rows of its batch, are in workgroup
// memory if they fit there, and in storage otherwise. How they are read depends on their precision, so that the files
// that use them need memory.wgsl or narrow.wgsl in front of them.
//
// Matrices are stored by rows of vectors of four numbers. Rows are padded with zeros. The distance between rows is an
// odd number of vectors, so that neighboring invocations that read neighboring rows use different banks.
//
// A kernel that uses this file declares `params`, `plan`, `weights` and `scratch`.

// Invocations of a workgroup.
override WIDTH: u32 = 64;
// Vectors of four words of workgroup memory.
override QUADS: u32 = 1008;
// Whether the parameters are in workgroup memory, in front of everything else.
override OWN_WEIGHTS: bool = true;
// Where the rows of the batch are.
override ROWS: u32 = OWN;
const STORED: u32 = 0;     // in storage
const FAR_INPUTS: u32 = 1; // the inputs in storage, the others in workgroup memory
const OWN: u32 = 2;        // in workgroup memory

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
