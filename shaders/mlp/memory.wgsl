// The numbers of a run in f32.

// Added to places of rows that are in storage although others are in workgroup memory.
const FAR: u32 = 0x80000000u;

var<workgroup> own: array<vec4<u32>, QUADS>;

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

// Returns a vector of the factors of products.
fn weight(at: u32) -> vec4<f32> {
    var found: vec4<f32>;
    if OWN_WEIGHTS { found = bitcast<vec4<f32>>(own[at]); } else { found = weights[weights_at + at]; }
    return found;
}

// Returns a vector of the parameters as the optimizer changes them.
fn parameter(at: u32) -> vec4<f32> { return weight(at); }

fn load_parameters() {
    if OWN_WEIGHTS {
        for (var i = lane; i < params.quads; i += WIDTH) { own[i] = bitcast<vec4<u32>>(weights[weights_at + i]); }
    }
}

// Vectors that have 32 bits in mixed precision too, and one of their words.
fn exact(at: u32) -> vec4<f32> { return row(at); }
fn set_exact(at: u32, value: vec4<f32>) { set_row(at, value); }
fn exact_word(at: u32, i: u32) -> u32 { return bitcast<u32>(number(at, i)); }

// Vectors of four words in storage.
fn set_stored(at: u32, value: vec4<u32>) { scratch[scratch_at + at] = value; }
fn stored_word(at: u32, i: u32) -> u32 { return scratch[scratch_at + at][i]; }

// Returns what a row keeps of a vector.
fn rounded(x: vec4<f32>) -> vec4<f32> { return x; }
