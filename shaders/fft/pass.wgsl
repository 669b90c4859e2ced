// One pass of Fourier transforms: Stockham's method, a workgroup one transform or several, points in registers between two exchanges
// through workgroup memory (Govindaraju et al., High performance discrete Fourier transforms on graphics processors, SC 2008).
//
// A stage of radix R after stages of the product N takes points j, j + n / R, ... , turns the q-th by exp(-2 pi i q (j mod N) / (N R)),
// transforms them, and puts them at (j / N) N R + j mod N, N apart: in the end the order is natural. So the first stage reads from
// the input and the last one writes to the output, wherever strides say that these lie.
//
// Every index into x is a constant once functions are inlined, so that points are registers: what is done with every slot is written out in
// fft/butterflies.wgsl. Needs that, fft/complex.wgsl, one of fft/from_*.wgsl and one of fft/to_*.wgsl. Every twiddle is from a table made
// in f64.
//
// Iterations: twice the stages, where they are not compiled in, and of UNFOLD one for each 1 / WIDTH of the workgroup's points.

// Points that one invocation holds, at most MOST: SLOTS * WIDTH >= the points of a workgroup, rounded up for each radix.
const MOST: u32 = 26u;
override SLOTS: u32 = 26;
// The radices of a length that is compiled in, 1 where there is no such stage, and their product; 0: they are in the parameters.
override RADIX_0: u32 = 0;
override RADIX_1: u32 = 0;
override RADIX_2: u32 = 0;
override RADIX_3: u32 = 0;
override LENGTH: u32 = 0;
override KNOWN: bool = LENGTH != 0u;
override WIDTH: u32 = 256;
override WORDS: u32 = 4096;
// What is done beside transforming: bits, each with a name below.
override FLAGS: u32 = 0;
// The input's conjugate; the output's.
override CONJUGATE_IN: bool = (FLAGS & 1u) != 0u;
override CONJUGATE_OUT: bool = (FLAGS & 2u) != 0u;
// Multiplied by the chirp when loaded; when stored.
override CHIRP_IN: bool = (FLAGS & 4u) != 0u;
override CHIRP_OUT: bool = (FLAGS & 8u) != 0u;
// Multiplied by the filter when stored, or between two transforms.
override FILTER: bool = (FLAGS & 16u) != 0u;
// Turned by the roots of the whole length: this is the first of two passes.
override TURN: bool = (FLAGS & 32u) != 0u;
// Transformed twice, filtered and conjugated in between.
override TWICE: bool = (FLAGS & 64u) != 0u;
// Half of a spectrum, to be folded into a transform of half the length.
override FOLD: bool = (FLAGS & 128u) != 0u;
// Half of a spectrum, whose other half are its conjugates.
override MIRROR: bool = (FLAGS & 256u) != 0u;
// The transform of pairs of reals, to be unfolded into half of a spectrum.
override UNFOLD: bool = (FLAGS & 512u) != 0u;
// A complex number is a pair of reals along the axis.
override PAIRS: bool = (FLAGS & 1024u) != 0u;
// Invocations that follow each other load, or store, from neighbouring transforms.
override LOAD_ACROSS: bool = (FLAGS & 2048u) != 0u;
override STORE_ACROSS: bool = (FLAGS & 4096u) != 0u;
// Real parts are exchanged before imaginary parts: there is no room for both.
override SPLIT: bool = (FLAGS & 8192u) != 0u;
// Conjugated before anything else is done with it when stored.
override AFTER_TWO: bool = (FLAGS & 16384u) != 0u;
// Multiplied by the window when loaded.
override WINDOW: bool = (FLAGS & 32768u) != 0u;

struct Pass {
    // The first workgroup of this dispatch.
    first: u32,
    // Transforms, each of `length`; `group` a workgroup.
    count: u32, length: u32, group: u32,
    // Radices as hexadecimal digits, the first stage lowest, 16 as 15: eight stages, and those after them.
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
    scale: f32,
}

@group(0) @binding(0) var<uniform> params: Pass;
@group(0) @binding(1) var<storage, read> tables: array<vec2<f32>>;

// Roots of the whole length are products of one of 4096 that follow each other and one of those 4096 apart.
const FINE: u32 = 4096u;

var<workgroup> words: array<f32, WORDS>;
var<private> x: array<vec2<f32>, MOST>;
var<private> lane: u32;
var<private> group: u32;

// A stage: its radix, the product of those before, butterflies of one transform and of the workgroup, and whether invocations that follow
// each other have neighbouring transforms.
struct Stage { radix: u32, before: u32, each: u32, total: u32, across: bool }

// The quotient of numbers below 2^12: compiled in, or by a product, which is cheaper than a division and as exact.
fn small(a: u32, b: u32) -> u32 { return u32((f32(a) + 0.5) * (1.0 / f32(b))); }
fn known(a: u32, b: u32) -> u32 {
    if KNOWN { return a / b; }
    return small(a, b);
}

// The quotient of numbers below 2^31: twice by a product, and a last step.
fn quotient(a: u32, b: u32) -> u32 {
    let inverse = 1.0 / f32(b);
    var q = u32(f32(a) * inverse);
    q = u32(i32(q) + i32(floor(f32(i32(a - q * b)) * inverse)));
    let rest = i32(a - q * b);
    return q + select(0u, 1u, rest >= i32(b)) - select(0u, 1u, rest < 0);
}

fn length() -> u32 {
    if KNOWN { return LENGTH; }
    return params.length;
}

fn stages() -> u32 {
    if KNOWN { return 1u + u32(RADIX_1 > 1u) + u32(RADIX_2 > 1u) + u32(RADIX_3 > 1u); }
    return params.stages;
}

fn radix_of(stage: u32) -> u32 {
    if KNOWN { return select(select(select(RADIX_3, RADIX_2, stage == 2u), RADIX_1, stage == 1u), RADIX_0, stage == 0u); }
    let word = select(params.radices, params.more_radices, stage >= 8u);
    let digit = (word >> (4u * (stage % 8u))) & 15u;
    return select(digit, 16u, digit == 15u);
}

override ROUNDS: u32 = select(1u, 2u, TWICE);

fn stage_of(k: u32, before: u32, round: u32) -> Stage {
    let radix = radix_of(k);
    let each = known(length(), radix);
    let first = k == 0u && round == 0u;
    let last = k + 1u == stages() && round + 1u == ROUNDS;
    return Stage(radix, before, each, params.group * each, (first && LOAD_ACROSS) || (last && STORE_ACROSS));
}

// Which butterfly of the workgroup the point of a slot belongs to, and which of its points that is.
fn place(s: Stage, slot: u32) -> vec2<u32> {
    let b = known(slot, s.radix);
    return vec2<u32>(lane + b * WIDTH, slot - b * s.radix);
}

// Which transform of the workgroup, and which of its butterflies, butterfly b is.
fn butterfly(s: Stage, b: u32) -> vec2<u32> {
    if s.across {
        let own = small(b, params.group);
        return vec2<u32>(b - own * params.group, own);
    }
    let own = known(b, s.each);
    return vec2<u32>(own, b - own * s.each);
}

// A transform of the batch: where it begins in an array, its place along the axis, and its digit 1.
struct Line { begin: u32, place: u32, digit: u32, exists: bool }

fn line_of(own: u32, by: vec3<u32>, step: u32) -> Line {
    let line = group * params.group + own;
    let rest = quotient(line, params.digit_0);
    let last = quotient(rest, params.digit_1);
    let digit = rest - last * params.digit_1;
    let begin = (line - rest * params.digit_0) * by.x + digit * by.y + last * by.z;
    return Line(begin, digit * step, digit, own < params.group && line < params.count);
}

fn source_line(own: u32) -> Line {
    return line_of(own, vec3<u32>(params.in_0, params.in_1, params.in_2), params.in_place_digit);
}

fn sink_line(own: u32) -> Line {
    return line_of(own, vec3<u32>(params.out_0, params.out_1, params.out_2), params.out_place_digit);
}

// Banks of workgroup memory are 32: what lies 8 or 64 apart is spread over them. One to one among 32 neighbours.
fn bank(address: u32) -> u32 { return address ^ ((address >> 5u) & 7u) ^ ((address >> 3u) & 24u); }

// Where the imaginary parts begin.
fn imaginary() -> u32 { return (params.group * length() + 31u) & ~31u; }

fn load_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x >= s.total { return; }
    let own = butterfly(s, at.x);
    let element = own.y + at.y * s.each;
    let line = source_line(own.x);
    let place = element * params.in_place_step + line.place;
    x[slot] = vec2<f32>(0.0);
    if line.exists && place < params.given {
        var value = load(line.begin + element * params.in_step, place);
        if CONJUGATE_IN { value = conjugate(value); }
        if CHIRP_IN { value = times(value, tables[params.chirp + place]); }
        x[slot] = value;
    }
}

// Where the point of a slot comes from.
fn gathered(s: Stage, at: vec2<u32>) -> u32 {
    let own = butterfly(s, at.x);
    return bank(own.x * length() + own.y + at.y * s.each);
}

// And its element among those that the stage leaves: where it goes.
fn element_of(s: Stage, own: u32, q: u32) -> u32 {
    let turn = known(own, s.before);
    return turn * (s.before * s.radix) + own - turn * s.before + q * s.before;
}

fn scattered(s: Stage, at: vec2<u32>) -> u32 {
    let own = butterfly(s, at.x);
    return bank(own.x * length() + element_of(s, own.y, at.y));
}

fn gather_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x < s.total {
        let address = gathered(s, at);
        x[slot] = vec2<f32>(words[address], words[imaginary() + address]);
    }
}

fn scatter_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x < s.total {
        let address = scattered(s, at);
        words[address] = x[slot].x;
        words[imaginary() + address] = x[slot].y;
    }
}

// The same with one part at a time. The real part comes while the imaginary part that was there is still to go.
fn gather_real_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x < s.total { reals[slot] = words[gathered(s, at)]; }
}

fn gather_imaginary_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x < s.total { x[slot] = vec2<f32>(reals[slot], words[gathered(s, at)]); }
}

fn scatter_real_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x < s.total { words[scattered(s, at)] = x[slot].x; }
}

fn scatter_imaginary_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x < s.total { words[scattered(s, at)] = x[slot].y; }
}

var<private> reals: array<f32, MOST>;

// The points as one stage leaves them to where the next one wants them.
fn exchange(from_stage: Stage, to_stage: Stage) {
    if SPLIT {
        scatter_real(from_stage);
        workgroupBarrier();
        gather_real(to_stage);
        workgroupBarrier();
        scatter_imaginary(from_stage);
        workgroupBarrier();
        gather_imaginary(to_stage);
    } else {
        scatter(from_stage);
        workgroupBarrier();
        gather(to_stage);
    }
    workgroupBarrier();
}

// Turns a point by the stage's twiddle: a table has those of one stage after the other, before * (radix - 1) each, q = 1 first.
fn turn_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x < s.total && at.y > 0u {
        let own = butterfly(s, at.x).y;
        let entry = own - known(own, s.before) * s.before + at.y * s.before;
        x[slot] = times(x[slot], tables[params.twiddles + entry - 1u]);
    }
}

// Between two transforms.
fn filter_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    if at.x < s.total {
        let element = element_of(s, butterfly(s, at.x).y, at.y);
        x[slot] = conjugate(times(x[slot], tables[params.filtered + element]));
    }
}

fn root(power: u32) -> vec2<f32> {
    return times(tables[params.roots + power % FINE], tables[params.roots + FINE + power / FINE]);
}

// What is done with an element of the transform before it is stored.
fn finished(value: vec2<f32>, element: u32, line: Line) -> vec2<f32> {
    let place = element * params.out_place_step + line.place;
    var v = value;
    if AFTER_TWO { v = conjugate(v); }
    if TURN { v = times(v, root(element * line.digit)); }
    if FILTER { v = times(v, tables[params.filtered + place]); }
    if CHIRP_OUT {
        if place < params.kept { v = times(v, tables[params.chirp + place]); }
    }
    if CONJUGATE_OUT { v = conjugate(v); }
    return v * params.scale;
}

// The last stage's point, finished, to the output, or with UNFOLD into its slot.
fn store_slot(s: Stage, slot: u32) {
    let at = place(s, slot);
    let own = butterfly(s, at.x);
    let line = sink_line(own.x);
    if at.x >= s.total || !line.exists { return; }
    let element = element_of(s, own.y, at.y);
    let value = finished(x[slot], element, line);
    if UNFOLD {
        x[slot] = value;
    } else if element * params.out_place_step + line.place < params.kept {
        store(line.begin + element * params.out_step, value);
    }
}

fn unfold_all(s: Stage) {
    scatter(s);
    workgroupBarrier();
    let h = params.whole;
    for (var i = lane; i < params.group * (h + 1u); i += WIDTH) {
        let across = small(i, params.group);
        let along = small(i, h + 1u);
        let at = select(vec2<u32>(along, i - along * (h + 1u)), vec2<u32>(i - across * params.group, across), s.across);
        let line = sink_line(at.x);
        if line.exists {
            let here = bank(at.x * length() + select(at.y, 0u, at.y == h));
            let there = bank(at.x * length() + select(h - at.y, 0u, at.y == 0u));
            let z = vec2<f32>(words[here], words[imaginary() + here]);
            let mirrored = vec2<f32>(words[there], words[imaginary() + there]);
            store(line.begin + at.y * params.out_step, unfolded(z, mirrored, tables[params.folds + at.y]));
        }
    }
}

// From one stage to the next, as far as the transform.
fn go_on(k: u32, before: u32, round: u32) {
    let s = stage_of(k, before, round);
    exchange(stage_of(k - 1u, known(before, radix_of(k - 1u)), round), s);
    turn_all(s);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    group = params.first + id.x;
    lane = index;
    let last = stages() - 1u;
    let left = known(length(), radix_of(last));
    load_all(stage_of(0u, 1u, 0u));
    for (var round = 0u; round < ROUNDS; round += 1u) {
        if TWICE {
            if round > 0u {
                let s = stage_of(last, left, 0u);
                filter_all(s);
                exchange(s, stage_of(0u, 1u, 1u));
            }
        }
        if KNOWN {
            transform_0();
            if RADIX_1 > 1u {
                go_on(1u, RADIX_0, round);
                transform_1();
            }
            if RADIX_2 > 1u {
                go_on(2u, RADIX_0 * RADIX_1, round);
                transform_2();
            }
            if RADIX_3 > 1u {
                go_on(3u, RADIX_0 * RADIX_1 * RADIX_2, round);
                transform_3();
            }
        } else {
            var before = 1u;
            for (var k = 0u; k < params.stages; k += 1u) {
                if k > 0u { go_on(k, before, round); }
                transform_all(radix_of(k));
                before *= radix_of(k);
            }
        }
    }
    let s = stage_of(last, left, ROUNDS - 1u);
    store_all(s);
    if UNFOLD { unfold_all(s); }
}
