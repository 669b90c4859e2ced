// One pass of Fourier transforms, a workgroup one or several, in workgroup memory in place (Cooley and Tukey, An algorithm for the machine
// calculation of complex Fourier series, Math. Comp. 1965, their digits reversed by where elements are put on the way in).
//
// A stage of radix R after stages of the product N takes points j, j + N, ... , turns the q-th by exp(-2 pi i q (j mod N) / (N R)),
// transforms them, and puts them back. Backwards, and turned after the transform, the stages take elements in their order and leave them
// where these, forwards, want them: so a convolution needs no digits reversed.
//
// The stages' radices and all lengths are parameters: one kernel serves every length. Powers of two have kernels of their own, whose first
// stage reads from the input and whose last one writes to the output. Whatever else decides which way a kernel goes is compiled in:
// software adapters go both ways of a branch.
//
// A point is a complex number, or two: of two transforms, which software adapters read and write in the time of one.
//
// Loops test at their end: software adapters would go through their body once more than needed. Needs fft/butterflies.wgsl,
// fft/complex.wgsl, fft/point_single.wgsl or fft/point_pair.wgsl, one of fft/from_*.wgsl and one of fft/to_*.wgsl. Twiddles are from tables made in f64, or products of four such at
// most, roots between two passes products of two, or of five such.
//
// Iterations: of the stages, and in each and on both ways one for each 1 / WIDTH of what is done.

override WIDTH: u32 = 64;
// Points that a workgroup holds.
override POINTS: u32 = 2048;
// The radices of a length that is compiled in: of the first stage, of those between, of the last; 0 where there is none.
override FIRST: u32 = 0;
override MIDDLE: u32 = 0;
override LAST: u32 = 0;
// Whether neighbouring addresses are spread over the banks of workgroup memory.
override SPREAD: bool = true;
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
override TURN_EACH: bool = TURN && LAST == 0u;
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
// Conjugated before anything else is done with it when stored.
override AFTER_TWO: bool = (FLAGS & 8192u) != 0u;
// Multiplied by the window when loaded.
override WINDOW: bool = (FLAGS & 16384u) != 0u;
// Not all elements are there, or are wanted.
override GIVEN_SOME: bool = (FLAGS & 32768u) != 0u;
override KEPT_SOME: bool = (FLAGS & 65536u) != 0u;

struct Pass {
    // The first workgroup of this dispatch.
    first: u32,
    // Transforms, each of `length`; `group` a workgroup, or as many twos of them.
    count: u32, length: u32, group: u32,
    // Radices as hexadecimal digits, the first stage lowest, 16 as 15.
    radices: u32, stages: u32,
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
    // Tables: twiddles of the stages, where elements go on the way in, chirp, filter, coarse and fine roots of the whole length, roots
    // that fold.
    twiddles: u32, order: u32, chirp: u32, filtered: u32, roots: u32, folds: u32,
    scale: f32,
}

@group(0) @binding(0) var<uniform> params: Pass;
@group(0) @binding(1) var<storage, read> tables: array<vec2<f32>>;

// Roots of the whole length are products of one of 4096 that follow each other and one of those 4096 apart.
const FINE: u32 = 4096u;

var<workgroup> points: array<Point, POINTS>;
var<private> x: array<Point, 16>;
var<private> lane: u32;
var<private> group: u32;

// A stage: which one, and the product of those before, which is the distance between two points of a butterfly.
struct Stage { number: u32, stride: u32 }

// A butterfly: where its first point is, the distance to the next, and the twiddle of its second one.
struct Place { begin: u32, stride: u32, twiddle: u32 }

// A transform of the batch: where it begins in an array, its place along the axis, and its digit 1.
struct Line { begin: u32, place: u32, digit: u32 }

// The quotient of numbers below 2^21: by a product, which is cheaper than a division and as exact.
fn small(a: u32, b: u32) -> u32 { return u32((f32(a) + 0.5) * (1.0 / f32(b))); }

// The quotient of numbers below 2^31: twice by a product, and a last step.
fn quotient(a: u32, b: u32) -> u32 {
    let inverse = 1.0 / f32(b);
    var q = u32(f32(a) * inverse);
    q = u32(i32(q) + i32(floor(f32(i32(a - q * b)) * inverse)));
    let rest = i32(a - q * b);
    return q + select(0u, 1u, rest >= i32(b)) - select(0u, 1u, rest < 0);
}

// 0 where there is no such stage, or none but the one that writes to the output.
fn radix_of(stage: u32) -> u32 {
    let digit = (params.radices >> (4u * (stage & 7u))) & 15u;
    return select(0u, select(digit, 16u, digit == 15u), stage < params.stages - select(0u, 1u, LAST != 0u));
}

fn next(now: Stage, mirrored: bool) -> Stage {
    if mirrored { return Stage(now.number - 1u, now.stride / max(1u, radix_of(now.number - 1u))); }
    return Stage(now.number + 1u, now.stride * radix_of(now.number));
}

// Which transform of the workgroup, and which of its butterflies or elements, number i is.
fn own(i: u32, each: u32, across: bool) -> vec2<u32> {
    if across {
        let along = small(i, params.group);
        return vec2<u32>(i - along * params.group, along);
    }
    let one = small(i, each);
    return vec2<u32>(one, i - one * each);
}

fn place(b: u32, each: u32, radix: u32, stride: u32) -> Place {
    let at = own(b, each, false);
    return place_of(at.x, at.y, radix, stride);
}

fn place_of(one: u32, b: u32, radix: u32, stride: u32) -> Place {
    let turn = small(b, stride);
    let rest = b - turn * stride;
    return Place(one * params.length + turn * stride * radix + rest, stride, params.twiddles + stride - 1u + rest);
}

// Where the butterfly b of the first stage goes, its points side by side.
fn reversed(b: u32, radix: u32) -> u32 { return u32(tables[params.order + b].x) * radix; }

// A half-warp's complex numbers are in as many banks: what lies 16 or 256 apart is spread over them. One to one among 16 neighbours.
fn bank(address: u32) -> u32 {
    if SPREAD { return address ^ ((address >> 4u) & 15u) ^ ((address >> 8u) & 15u); }
    return address;
}

fn line_of(line: u32, apart: vec3<u32>, step: u32) -> Line {
    let rest = quotient(line, params.digit_0);
    let last = quotient(rest, params.digit_1);
    let digit = rest - last * params.digit_1;
    let begin = (line - rest * params.digit_0) * apart.x + digit * apart.y + last * apart.z;
    return Line(begin, digit * step, digit);
}

fn source(line: u32) -> Line {
    return line_of(line, vec3<u32>(params.in_0, params.in_1, params.in_2), params.in_place_digit);
}

fn sink(line: u32) -> Line {
    return line_of(line, vec3<u32>(params.out_0, params.out_1, params.out_2), params.out_place_digit);
}

// An element of the input.
fn loaded(line: Line, element: u32) -> vec2<f32> {
    let place = element * params.in_place_step + line.place;
    var value = vec2<f32>(0.0);
    if !GIVEN_SOME || place < params.given {
        value = load(line.begin + element * params.in_step, place);
        if CONJUGATE_IN { value = conjugate(value); }
        if CHIRP_IN { value = times(value, tables[params.chirp + place]); }
    }
    return value;
}

fn root(power: u32) -> vec2<f32> {
    return times(tables[params.roots + power % FINE], tables[params.roots + FINE + power / FINE]);
}

// What is done with an element of the transform before it is stored.
fn finished(value: vec2<f32>, element: u32, line: Line) -> vec2<f32> {
    let place = element * params.out_place_step + line.place;
    var v = value;
    if AFTER_TWO { v = conjugate(v); }
    if TURN_EACH { v = times(v, root(element * line.digit)); }
    if FILTER { v = times(v, tables[params.filtered + place]); }
    if CHIRP_OUT {
        if place < params.kept { v = times(v, tables[params.chirp + place]); }
    }
    if CONJUGATE_OUT { v = conjugate(v); }
    return v * params.scale;
}

fn put(line: Line, element: u32, value: vec2<f32>) {
    if !KEPT_SOME || element * params.out_place_step + line.place < params.kept {
        store(line.begin + element * params.out_step, finished(value, element, line));
    }
}

// The first stage, its elements read from the input.
fn first_stage() {
    let each = small(params.length, FIRST);
    let count = params.group * each;
    var b = lane;
    loop {
        if b < count {
            let at = own(b, each, LOAD_ACROSS);
            if exists(at.x) {
                first_butterfly(sources(at.x), at.y, each, Place(at.x * params.length + reversed(at.y, FIRST), 1u, 0u));
            }
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

// The last stage, its elements written to the output.
fn last_stage() {
    let each = small(params.length, LAST);
    let count = params.group * each;
    var b = lane;
    loop {
        if b < count {
            let at = own(b, each, STORE_ACROSS);
            if exists(at.x) { last_butterfly(place_of(at.x, at.y, LAST, each), sinks(at.x), at.y); }
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

// The input, its digits reversed, or before a transform backwards as it is.
fn load_all() {
    let count = params.group * params.length;
    let radix = radix_of(0u);
    let each = small(params.length, radix);
    var i = lane;
    loop {
        if i < count {
            let at = own(i, params.length, LOAD_ACROSS);
            var to = at.y;
            if !TWICE {
                let q = small(at.y, each);
                to = reversed(at.y - q * each, radix) + q;
            }
            if exists(at.x) { points[bank(at.x * params.length + to)] = brought(sources(at.x), at.y); }
        }
        continuing { i += WIDTH; break if i >= count; }
    }
}

fn store_all() {
    let count = params.group * params.length;
    var i = lane;
    loop {
        if i < count {
            let at = own(i, params.length, STORE_ACROSS);
            if exists(at.x) { put_out(sinks(at.x), at.y, points[bank(at.x * params.length + at.y)]); }
        }
        continuing { i += WIDTH; break if i >= count; }
    }
}

// Between two transforms; the table's digits are reversed.
fn filter_all() {
    let count = params.group * params.length;
    var i = lane;
    loop {
        if i < count {
            let at = own(i, params.length, false);
            let here = bank(i);
            points[here] = mirror(by(points[here], tables[params.filtered + at.y]));
        }
        continuing { i += WIDTH; break if i >= count; }
    }
}

fn unfold_all() {
    let h = params.whole;
    let count = params.group * (h + 1u);
    var i = lane;
    loop {
        if i < count {
            let at = own(i, h + 1u, STORE_ACROSS);
            let here = select(at.y, 0u, at.y == h);
            let there = select(h - at.y, 0u, at.y == 0u);
            let z = points[bank(at.x * params.length + here)];
            if exists(at.x) { unfold(sinks(at.x), at.y, z, here, points[bank(at.x * params.length + there)], there); }
        }
        continuing { i += WIDTH; break if i >= count; }
    }
}

// Element k of the spectrum of reals, from points z of their pairs' transform and those that mirror them.
fn unfold_of(line: Line, k: u32, z: vec2<f32>, here: u32, mirrored: vec2<f32>, there: u32) {
    let value = unfolded(finished(z, here, line), finished(mirrored, there, line), tables[params.folds + k]);
    store(line.begin + k * params.out_step, value);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    group = params.first + id.x;
    lane = index;
    if FIRST != 0u { first_stage(); } else { load_all(); }
    workgroupBarrier();
    if TWICE {
        let last = params.stages - 1u;
        every_mirrored(Stage(last, small(params.length, max(1u, radix_of(last)))));
        filter_all();
        workgroupBarrier();
    }
    if FIRST != 0u {
        if MIDDLE != 0u { every(Stage(1u, FIRST)); }
    } else {
        every(Stage(0u, 1u));
    }
    if LAST != 0u { last_stage(); } else if UNFOLD { unfold_all(); } else { store_all(); }
}
