// Pieces of the vectors of all parameters, of which a workgroup has one.

const PIECE: u32 = 4096;

struct Element { block: u32, i: u32, column: u32, exists: bool }

// Returns the number of pieces of a run.
fn pieces() -> u32 { return (params.quads + PIECE - 1u) / PIECE; }

// Returns which vector of parameters is at a place.
fn element_of(at: u32) -> Element {
    var block = 0u;
    for (var other = 1u; other < params.blocks; other += 1u) {
        if block_word(other, PLACE) <= at { block = other; }
    }
    let within = at - block_word(block, PLACE);
    let i = within / block_word(block, BLOCK_PITCH);
    let column = within % block_word(block, BLOCK_PITCH);
    let columns = quads(block_word(block, BLOCK_COLS));
    let exists = at < params.quads && i < block_word(block, BLOCK_ROWS) && column < columns;
    return Element(block, i, column, exists);
}

fn kept_gradient(at: u32) -> vec4<f32> { return bitcast<vec4<f32>>(scratch[scratch_at + params.gradients_at + at]); }

var<workgroup> partial: array<f32, WIDTH>;

// Returns the sum of a number of every invocation, in the order of invocations.
fn of_workgroup(own: f32) -> f32 {
    partial[lane] = own;
    workgroupBarrier();
    var sum = 0.0;
    for (var i = 0u; i < WIDTH; i += 1u) { sum += partial[i]; }
    return sum;
}
