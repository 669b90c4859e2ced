// The greatest sum of magnitudes over a column of a sample that is a matrix, and over a row: a workgroup for each
// sample.
//
// Loop iterations of an invocation: at most (columns / WIDTH + 1) rows + (rows / WIDTH + 1) columns. Needs
// series/reduce.wgsl.

struct Params { first: u32, rows: u32, columns: u32, offset: u32, stride: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> scaled: array<f32>;
@group(0) @binding(2) var<storage, read_write> parts: array<f32>;

// Returns the sum of the magnitudes of a line. Runs of 32 are added up on their own, because the rounding errors of a
// sum grow with its length.
fn of_line(begin: u32, length: u32, step: u32) -> f32 {
    var sum = 0.0;
    var i = 0u;
    while i < length {
        let end = min(i + 32u, length);
        var run = 0.0;
        for (; i < end; i++) { run += abs(scaled[begin + i * step]); }
        sum += run;
    }
    return sum;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let sample = params.first + group.x;
    let begin = sample * params.rows * params.columns;
    var most = vec4<f32>(0.0);
    for (var column = lane; column < params.columns; column += WIDTH) {
        most.x = max(most.x, of_line(begin + column, params.rows, params.columns));
    }
    for (var row = lane; row < params.rows; row += WIDTH) {
        most.y = max(most.y, of_line(begin + row * params.columns, params.columns, 1u));
    }
    most = greatest(lane, most);
    if lane == 0u {
        let to = sample * params.stride + params.offset;
        parts[to] = most.x;
        parts[to + 1u] = most.y;
    }
}
