// One pass of Fourier transforms: Stockham's method, a workgroup one transform or several, points in registers between two exchanges
// through workgroup memory (Govindaraju et al., High performance discrete Fourier transforms on graphics processors, SC 2008).
//
// A stage of radix R after stages of the product N takes points j, j + n / R, ... , turns the q-th by exp(-2 pi i q (j mod N) / (N R)),
// transforms them, and puts them at (j / N) N R + j mod N, N apart: in the end the order is natural. So the first stage reads from
// the input and the last one writes to the output, wherever strides say that these lie.
//
// Needs fft/complex.wgsl, fft/butterflies.wgsl, one of fft/from_*.wgsl and one of fft/to_*.wgsl. Every twiddle is from a table made in f64.

// Points that one invocation holds, at most MOST: SLOTS * WIDTH >= the points of a workgroup, rounded up for each radix.
const MOST: u32 = 26u;
override SLOTS: u32 = 26;
// The radices as hexadecimal digits, the first stage lowest, where they are known when the kernel is compiled; 0: in the parameters.
override RADICES: u32 = 0;
override WIDTH: u32 = 256;
override WORDS: u32 = 4096;

struct Pass {
    // The first workgroup of this dispatch.
    first: u32,
    // Transforms, each of `length`; `group` a workgroup.
    count: u32, length: u32, group: u32,
    // As RADICES: eight stages, and those after them.
    radices: u32, more_radices: u32, stages: u32,
    // Transform t has the digits t mod digit_0, t / digit_0 mod digit_1, and the rest.
    digit_0: u32, digit_1: u32,
    // Where it lies: the sum of digits times these, then one step an element.
    in_0: u32, in_1: u32, in_2: u32, in_step: u32,
    out_0: u32, out_1: u32, out_2: u32, out_step: u32,
    // The place of element e along the axis: e * step + (the digit 1) * digit.
    in_place_step: u32, in_place_digit: u32, out_place_step: u32, out_place_digit: u32,
    // Along the axis: elements that there are (zeros beyond), elements that are wanted, and the distance between two.
    given: u32, kept: u32, in_stride: u32, out_stride: u32,
    // The length along the axis of what is folded or unfolded.
    whole: u32,
    // Tables: twiddles of the stages, chirp, filter, coarse and fine roots of the whole length, roots that fold.
    twiddles: u32, chirp: u32, filtered: u32, roots: u32, folds: u32,
    flags: u32,
    scale: f32,
}

@group(0) @binding(0) var<uniform> params: Pass;
@group(0) @binding(1) var<storage, read> tables: array<vec2<f32>>;

// The input's conjugate; the output's.
const CONJUGATE_IN: u32 = 1u;
const CONJUGATE_OUT: u32 = 2u;
// Multiplied by the chirp when loaded; when stored.
const CHIRP_IN: u32 = 4u;
const CHIRP_OUT: u32 = 8u;
// Multiplied by the filter when stored, or between two transforms.
const FILTER: u32 = 16u;
// Turned by the roots of the whole length: this is the first of two passes.
const TURN: u32 = 32u;
// Transformed twice, filtered and conjugated in between.
const TWICE: u32 = 64u;
// Half of a spectrum, to be folded into a transform of half the length.
const FOLD: u32 = 128u;
// Half of a spectrum, whose other half are its conjugates.
const MIRROR: u32 = 256u;
// The transform of pairs of reals, to be unfolded into half of a spectrum.
const UNFOLD: u32 = 512u;
// A complex number is a pair of reals along the axis.
const PAIRS: u32 = 1024u;
// Invocations that follow each other load, or store, from neighbouring transforms.
const LOAD_ACROSS: u32 = 2048u;
const STORE_ACROSS: u32 = 4096u;
// Real parts are exchanged before imaginary parts: there is no room for both.
const SPLIT: u32 = 8192u;
// Conjugated before anything else is done with it when stored.
const AFTER_TWO: u32 = 16384u;
// Multiplied by the window when loaded.
const WINDOW: u32 = 32768u;

// Roots of the whole length are products of one of 4096 that follow each other and one of those 4096 apart.
const FINE: u32 = 4096u;

var<workgroup> words: array<f32, WORDS>;
var<private> x: array<vec2<f32>, MOST>;
var<private> lane: u32;
var<private> group: u32;
// Of this stage: the radix, the product of those before, butterflies of one transform and of the workgroup, and whether invocations that
// follow each other have neighbouring transforms.
var<private> radix: u32;
var<private> before: u32;
var<private> each: u32;
var<private> total: u32;
var<private> across: bool;

fn has(flag: u32) -> bool { return (params.flags & flag) != 0u; }

fn radix_of(stage: u32) -> u32 {
    if RADICES != 0u { return (RADICES >> (4u * stage)) & 15u; }
    if stage < 8u { return (params.radices >> (4u * stage)) & 15u; }
    return (params.more_radices >> (4u * (stage - 8u))) & 15u;
}

fn stages() -> u32 {
    if RADICES != 0u { return (35u - countLeadingZeros(RADICES)) / 4u; }
    return params.stages;
}

fn steps() -> u32 {
    if has(TWICE) { return 2u * stages(); }
    return stages();
}

// A transform of the batch: where it begins in an array, its place along the axis, and its digit 1.
struct Line { begin: u32, place: u32, digit: u32, exists: bool }

fn line_of(own: u32, by: vec3<u32>, place: u32) -> Line {
    let line = group * params.group + own;
    let rest = line / params.digit_0;
    let digits = vec3<u32>(line % params.digit_0, rest % params.digit_1, rest / params.digit_1);
    let begin = digits.x * by.x + digits.y * by.y + digits.z * by.z;
    return Line(begin, digits.y * place, digits.y, own < params.group && line < params.count);
}

fn source_line(own: u32) -> Line {
    return line_of(own, vec3<u32>(params.in_0, params.in_1, params.in_2), params.in_place_digit);
}

fn sink_line(own: u32) -> Line {
    return line_of(own, vec3<u32>(params.out_0, params.out_1, params.out_2), params.out_place_digit);
}

// Which transform of the workgroup, and which of its butterflies, butterfly b is.
fn butterfly(b: u32) -> vec2<u32> {
    if across { return vec2<u32>(b % params.group, b / params.group); }
    return vec2<u32>(b / each, b % each);
}

// Banks of workgroup memory are 32: what lies 8 or 64 apart is spread over them. One to one among 32 neighbours.
fn bank(address: u32) -> u32 { return address ^ ((address >> 5u) & 7u) ^ ((address >> 3u) & 24u); }

// Where the imaginary parts begin.
fn imaginary() -> u32 { return (params.group * params.length + 31u) & ~31u; }

fn source(line: Line, element: u32) -> vec2<f32> {
    let place = element * params.in_place_step + line.place;
    if !line.exists || place >= params.given { return vec2<f32>(0.0); }
    var value = load(line.begin + element * params.in_step, place);
    if has(CONJUGATE_IN) { value = conjugate(value); }
    if has(CHIRP_IN) { value = times(value, tables[params.chirp + place]); }
    return value;
}

fn load_all() {
    var q = 0u;
    var b = lane;
    var at = butterfly(b);
    var line = source_line(at.x);
    var element = at.y;
    for (var slot = 0u; slot < SLOTS; slot += 1u) {
        if b < total { x[slot] = source(line, element); }
        q += 1u;
        element += each;
        if q == radix {
            q = 0u;
            b += WIDTH;
            at = butterfly(b);
            line = source_line(at.x);
            element = at.y;
        }
    }
}

// Where the first point of a butterfly comes from, and where it goes.
fn gathered(b: u32) -> u32 {
    let at = butterfly(b);
    return at.x * params.length + at.y;
}

fn scattered(b: u32) -> u32 {
    let at = butterfly(b);
    return at.x * params.length + at.y / before * (before * radix) + at.y % before;
}

// One part of every point from workgroup memory.
fn gather(imaginary: bool, offset: u32) {
    var q = 0u;
    var b = lane;
    var address = gathered(b);
    for (var slot = 0u; slot < SLOTS; slot += 1u) {
        if b < total {
            let value = words[offset + bank(address)];
            if imaginary { x[slot].y = value; } else { x[slot].x = value; }
        }
        q += 1u;
        address += each;
        if q == radix {
            q = 0u;
            b += WIDTH;
            address = gathered(b);
        }
    }
}

fn scatter(imaginary: bool, offset: u32) {
    var q = 0u;
    var b = lane;
    var address = scattered(b);
    for (var slot = 0u; slot < SLOTS; slot += 1u) {
        if b < total { words[offset + bank(address)] = select(x[slot].x, x[slot].y, imaginary); }
        q += 1u;
        address += before;
        if q == radix {
            q = 0u;
            b += WIDTH;
            address = scattered(b);
        }
    }
}

// Makes `step`, counted through both transforms, the stage at hand; that before it was at hand.
fn enter(step: u32) {
    let stage = step % stages();
    before = select(before * radix, 1u, stage == 0u);
    radix = radix_of(stage);
    each = params.length / radix;
    total = params.group * each;
    across = (step == 0u && has(LOAD_ACROSS)) || (step + 1u == steps() && has(STORE_ACROSS));
}

// The points as one stage leaves them to where the next one wants them.
fn exchange(step: u32) {
    if has(SPLIT) {
        scatter(false, 0u);
        workgroupBarrier();
        let left = vec4<u32>(radix, before, each, total);
        let was_across = across;
        enter(step);
        gather(false, 0u);
        workgroupBarrier();
        let entered = vec4<u32>(radix, before, each, total);
        let is_across = across;
        radix = left.x; before = left.y; each = left.z; total = left.w; across = was_across;
        scatter(true, 0u);
        workgroupBarrier();
        radix = entered.x; before = entered.y; each = entered.z; total = entered.w; across = is_across;
        gather(true, 0u);
    } else {
        scatter(false, 0u);
        scatter(true, imaginary());
        workgroupBarrier();
        enter(step);
        gather(false, 0u);
        gather(true, imaginary());
    }
    workgroupBarrier();
}

// Turns every point by the stage's twiddles: a table has those of one stage after the other, before * (radix - 1) each, q = 1 first.
fn turn() {
    let table = params.twiddles + before - 1u;
    var q = 0u;
    var b = lane;
    var entry = table + butterfly(b).y % before;
    for (var slot = 0u; slot < SLOTS; slot += 1u) {
        if b < total && q > 0u {
            x[slot] = times(x[slot], tables[entry]);
            entry += before;
        }
        q += 1u;
        if q == radix {
            q = 0u;
            b += WIDTH;
            entry = table + butterfly(b).y % before;
        }
    }
}

// Between two transforms.
fn filter_all() {
    var q = 0u;
    var b = lane;
    var element = butterfly(b).y;
    for (var slot = 0u; slot < SLOTS; slot += 1u) {
        if b < total { x[slot] = conjugate(times(x[slot], tables[params.filtered + element])); }
        q += 1u;
        element += before;
        if q == radix {
            q = 0u;
            b += WIDTH;
            element = butterfly(b).y;
        }
    }
}

fn root(power: u32) -> vec2<f32> {
    return times(tables[params.roots + power % FINE], tables[params.roots + FINE + power / FINE]);
}

// What is done with an element of the transform before it is stored.
fn finished(value: vec2<f32>, element: u32, line: Line) -> vec2<f32> {
    let place = element * params.out_place_step + line.place;
    var v = value;
    if has(AFTER_TWO) { v = conjugate(v); }
    if has(TURN) { v = times(v, root(element * line.digit)); }
    if has(FILTER) { v = times(v, tables[params.filtered + place]); }
    if has(CHIRP_OUT) && place < params.kept { v = times(v, tables[params.chirp + place]); }
    if has(CONJUGATE_OUT) { v = conjugate(v); }
    return v * params.scale;
}

// The last stage's points, finished, to the output, or with UNFOLD into their slots.
fn store_all() {
    var q = 0u;
    var b = lane;
    var at = butterfly(b);
    var line = sink_line(at.x);
    var element = at.y;
    for (var slot = 0u; slot < SLOTS; slot += 1u) {
        if b < total && line.exists {
            let value = finished(x[slot], element, line);
            if has(UNFOLD) {
                x[slot] = value;
            } else if element * params.out_place_step + line.place < params.kept {
                store(line.begin + element * params.out_step, value);
            }
        }
        q += 1u;
        element += before;
        if q == radix {
            q = 0u;
            b += WIDTH;
            at = butterfly(b);
            line = sink_line(at.x);
            element = at.y;
        }
    }
}

fn unfold_all() {
    scatter(false, 0u);
    scatter(true, imaginary());
    workgroupBarrier();
    let h = params.whole;
    for (var i = lane; i < params.group * (h + 1u); i += WIDTH) {
        var at = vec2<u32>(i / (h + 1u), i % (h + 1u));
        if across { at = vec2<u32>(i % params.group, i / params.group); }
        let line = sink_line(at.x);
        if line.exists {
            let here = bank(at.x * params.length + at.y % h);
            let there = bank(at.x * params.length + (h - at.y) % h);
            let z = vec2<f32>(words[here], words[imaginary() + here]);
            let mirrored = vec2<f32>(words[there], words[imaginary() + there]);
            store(line.begin + at.y * params.out_step, unfolded(z, mirrored, tables[params.folds + at.y]));
        }
    }
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    group = params.first + id.x;
    lane = index;
    enter(0u);
    load_all();
    for (var step = 0u; step < steps(); step += 1u) {
        if step > 0u { exchange(step); }
        if before > 1u { turn(); }
        transform();
        if has(TWICE) && step + 1u == stages() { filter_all(); }
    }
    store_all();
    if has(UNFOLD) { unfold_all(); }
}
