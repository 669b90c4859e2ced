// A line is a row of op(A) or a column of op(B), and lines are numbered consecutively through the batch. The f32 values
// of a line are scaled together before they are split into f16. A workgroup handles one chunk of the terms of 8 lines,
// with 32 invocations per line. Needs shared/real.wgsl.

// Whether the terms of a line are contiguous.
override ALONG: bool = false;

const LINES: u32 = 8;
const LANES: u32 = 32;

// `first` is the index of the first workgroup of a dispatch, `lines` the number of lines per matrix, and `all` the
// number of lines in total. A line has `terms` terms in `chunks` chunks of `chunk` terms.
struct Params { first: u32, lines: u32, all: u32, terms: u32, chunk: u32, chunks: u32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> numbers: array<u32>;

// Returns a term of a line as bits, because loading it as a float may flush subnormal values.
fn bits_at(line: u32, term: u32) -> u32 {
    if ALONG { return numbers[line * params.terms + term]; }
    return numbers[(line / params.lines * params.terms + term) * params.lines + line % params.lines];
}

// Returns the line of an invocation, and which of the line's 32 invocations it is. Adjacent invocations read adjacent
// elements.
fn place_of(index: u32) -> vec2<u32> {
    if ALONG { return vec2<u32>(index / LANES, index % LANES); }
    return vec2<u32>(index % LINES, index / LINES);
}

var<workgroup> found: array<u32, LINES * LANES>;

// Returns the largest value among the 32 invocations of a line.
fn largest_of(own: vec2<u32>, most: u32) -> u32 {
    let at = own.x * LANES + own.y;
    found[at] = most;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half >>= 1u) {
        if own.y < half { found[at] = max(found[at], found[at + half]); }
        workgroupBarrier();
    }
    return found[own.x * LANES];
}
