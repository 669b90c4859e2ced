// One pass of Fourier transforms. Each workgroup computes one or several transforms in place in workgroup memory
// (Cooley and Tukey, An algorithm for the machine calculation of complex Fourier series, Math. Comp. 1965). On input,
// the digits of an element's index are reversed, and the result is its position in workgroup memory.
//
// Let N be the product of the radices of the stages before a stage of radix R. The stage takes the R points j, j + N,
// ..., multiplies the q-th of these points by exp(-2 pi i q (j mod N) / (N R)), transforms the points, and stores them
// back. If the stages run in reverse order and each applies its twiddle factors after its transform, they take elements
// in natural order and leave them in the order that the forward stages expect. A convolution therefore needs no digit
// reversal.
//
// The radices of the stages and all lengths are parameters, so one kernel serves every length. Powers of two have
// separate kernels, whose first stage reads from the input and whose last stage writes to the output. Apart from the
// radices, everything that selects code is an override, because software adapters execute both sides of a branch.
//
// A point is one complex value, or the complex values of two transforms at the same position. Software adapters read
// and write two values in the time of one.
//
// Loops test their condition at the end: with a test at the beginning, software adapters run the body once more than
// needed. Needs generated/fft/butterflies.wgsl, fft/complex.wgsl, fft/point_single.wgsl or fft/point_pair.wgsl, one of
// fft/from_*.wgsl and one of fft/to_*.wgsl. Twiddle factors come from tables made in f64, or are products of at most
// four table values. Between two passes, elements are multiplied by roots of unity. Such a root is a product of two
// table values, or a product of at most five of these products.
//
// Loop iterations of an invocation: one per stage. Within each stage, there is one per WIDTH butterflies; on input and
// on output, there is one per WIDTH elements.

override WIDTH: u32 = 64;
// The number of points that a workgroup holds.
override POINTS: u32 = 2048;
// The radices of the first, the middle and the last stage if they are compiled in; 0 if they are parameters or there is
// no such stage.
override FIRST: u32 = 0;
override MIDDLE: u32 = 0;
override LAST: u32 = 0;
// Whether addresses that are 16 or 256 apart are spread over the banks of workgroup memory.
override SPREAD: bool = true;
// What a pass does in addition to transforming. Each override below is one bit of FLAGS.
override FLAGS: u32 = 0;
// The input, or the output, is conjugated.
override CONJUGATE_IN: bool = (FLAGS & 1u) != 0u;
override CONJUGATE_OUT: bool = (FLAGS & 2u) != 0u;
// Elements are multiplied by the chirp when they are loaded (CHIRP_IN) or stored (CHIRP_OUT).
override CHIRP_IN: bool = (FLAGS & 4u) != 0u;
override CHIRP_OUT: bool = (FLAGS & 8u) != 0u;
// Elements are multiplied by the filter when they are stored, or between the two transforms of TWICE.
override FILTER: bool = (FLAGS & 16u) != 0u;
// Elements are multiplied by n-th roots of unity, where n is the length of the line, because this is the first of two
// passes.
override TURN: bool = (FLAGS & 32u) != 0u;
override TURN_EACH: bool = TURN && LAST == 0u;
// After the transform, elements are multiplied by the filter, conjugated, and transformed a second time.
override TWICE: bool = (FLAGS & 64u) != 0u;
// The input is half of a spectrum and is folded into a transform of half the length.
override FOLD: bool = (FLAGS & 128u) != 0u;
// The input is half of a spectrum; the other half is its conjugate.
override MIRROR: bool = (FLAGS & 256u) != 0u;
// The output is the transform of pairs of reals, unfolded into half of a spectrum.
override UNFOLD: bool = (FLAGS & 512u) != 0u;
// A complex value is a pair of reals along the axis.
override PAIRS: bool = (FLAGS & 1024u) != 0u;
// Consecutive invocations load from, or store to, adjacent transforms.
override LOAD_ACROSS: bool = (FLAGS & 2048u) != 0u;
override STORE_ACROSS: bool = (FLAGS & 4096u) != 0u;
// Elements are conjugated on output before anything else is done with them.
override CONJUGATE_FIRST: bool = (FLAGS & 8192u) != 0u;
// Elements are multiplied by the window when they are loaded.
override WINDOW: bool = (FLAGS & 16384u) != 0u;
// Not all elements exist in the input, or not all are wanted in the output.
override PARTIAL_INPUT: bool = (FLAGS & 32768u) != 0u;
override PARTIAL_OUTPUT: bool = (FLAGS & 65536u) != 0u;

struct Pass {
    // The first workgroup of this dispatch.
    first: u32,
    // The number of transforms, the length of each, and the number of transforms (or of pairs) per workgroup.
    count: u32, length: u32, group: u32,
    // The radices as hexadecimal digits. The lowest digit is the radix of the first stage, and radix 16 is encoded as
    // 15.
    radices: u32, stages: u32,
    // Transform t has three digits: t mod digit_0, t / digit_0 mod digit_1, and the remaining quotient.
    digit_0: u32, digit_1: u32,
    // A transform starts at the sum of its first digit times in_0, its second digit times in_1 and its third digit
    // times in_2. Its elements are in_step apart. The parameters out_* describe the output in the same way.
    in_0: u32, in_1: u32, in_2: u32, in_step: u32,
    out_0: u32, out_1: u32, out_2: u32, out_step: u32,
    // The position of element e along the axis is e times in_place_step, plus the transform's second digit times
    // in_place_digit. The parameters out_place_* describe the output in the same way.
    in_place_step: u32, in_place_digit: u32, out_place_step: u32, out_place_digit: u32,
    // Along the axis: the number of elements that exist (zeros follow), the number that is wanted, and the distances
    // between adjacent elements of the input and of the output.
    given: u32, kept: u32, in_stride: u32, out_stride: u32,
    // The length of the spectrum along the axis before it is folded, or after it is unfolded.
    whole: u32,
    // The offsets of the tables: twiddle factors of the stages, input positions of elements, chirp, filter, fine and
    // coarse roots of the whole length, and roots for folding.
    twiddles: u32, order: u32, chirp: u32, filtered: u32, roots: u32, folds: u32,
    scale: f32,
}

@group(0) @binding(0) var<uniform> params: Pass;
@group(0) @binding(1) var<storage, read> tables: array<vec2<f32>>;

// Each root of the whole length is a product of one of the first 4096 roots and a root whose exponent is a multiple of
// 4096.
const FINE: u32 = 4096u;

var<workgroup> points: array<Point, POINTS>;
var<private> x: array<Point, 16>;
var<private> lane: u32;
var<private> group: u32;
// The number of transforms (or of pairs) that this workgroup has. The last workgroup may have less than the others.
var<private> own_count: u32;

// A stage: its number, and the product of the radices before it, which is the distance between two points of a
// butterfly.
struct Stage { number: u32, stride: u32 }

// A butterfly: the position of its first point, the distance from one point to the next, and the index of the twiddle
// factor of its second point.
struct Place { begin: u32, stride: u32, twiddle: u32 }

// A transform of the batch: the index of its first element in the array, that element's position along the axis, and
// the transform's second digit.
struct Line { begin: u32, place: u32, digit: u32 }

// Returns the quotient of two integers below 2^21. It is computed as a product, which is cheaper than an integer
// division and gives the same result.
fn small(a: u32, b: u32) -> u32 { return u32((f32(a) + 0.5) * (1.0 / f32(b))); }

// Returns the quotient of two integers below 2^31. It is computed from two products and a final correction.
fn quotient(a: u32, b: u32) -> u32 {
    let inverse = 1.0 / f32(b);
    var q = u32(f32(a) * inverse);
    q = u32(i32(q) + i32(floor(f32(i32(a - q * b)) * inverse)));
    let rest = i32(a - q * b);
    return q + select(0u, 1u, rest >= i32(b)) - select(0u, 1u, rest < 0);
}

// Returns the radix of a stage. The result is 0 if there is no such stage, or if the stage is a compiled-in last stage,
// which writes to the output.
fn radix_of(stage: u32) -> u32 {
    let digit = (params.radices >> (4u * (stage & 7u))) & 15u;
    return select(0u, select(digit, 16u, digit == 15u), stage < params.stages - select(0u, 1u, LAST != 0u));
}

fn next(now: Stage, mirrored: bool) -> Stage {
    if mirrored { return Stage(now.number - 1u, now.stride / max(1u, radix_of(now.number - 1u))); }
    return Stage(now.number + 1u, now.stride * radix_of(now.number));
}

// Converts index i to two indices: a transform of the workgroup, and one of the `each` butterflies or elements of this
// transform.
fn own(i: u32, each: u32, across: bool) -> vec2<u32> {
    if across {
        let along = small(i, own_count);
        return vec2<u32>(i - along * own_count, along);
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

// Returns the position of the first point of butterfly b in the first stage. The points of the butterfly are adjacent.
fn reversed(b: u32, radix: u32) -> u32 { return u32(tables[params.order + b].x) * radix; }

// The complex values of a half-warp take 16 banks. Addresses that are 16 or 256 apart are spread over the banks; among
// 16 adjacent addresses, the mapping is one to one.
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

// Returns an element of the input.
fn loaded(line: Line, element: u32) -> vec2<f32> {
    let place = element * params.in_place_step + line.place;
    var value = vec2<f32>(0.0);
    if !PARTIAL_INPUT || place < params.given {
        value = load(line.begin + element * params.in_step, place);
        if CONJUGATE_IN { value = conjugate(value); }
        if CHIRP_IN { value = times(value, tables[params.chirp + place]); }
    }
    return value;
}

fn root(power: u32) -> vec2<f32> {
    return times(tables[params.roots + power % FINE], tables[params.roots + FINE + power / FINE]);
}

// Applies everything that is done to an element of the transform before it is stored.
fn finished(value: vec2<f32>, element: u32, line: Line) -> vec2<f32> {
    let place = element * params.out_place_step + line.place;
    var v = value;
    if CONJUGATE_FIRST { v = conjugate(v); }
    if TURN_EACH { v = times(v, root(element * line.digit)); }
    if FILTER { v = times(v, tables[params.filtered + place]); }
    if CHIRP_OUT { v = times(v, tables[params.chirp + place]); }
    if CONJUGATE_OUT { v = conjugate(v); }
    return v * params.scale;
}

fn put(line: Line, element: u32, value: vec2<f32>) {
    if !PARTIAL_OUTPUT || element * params.out_place_step + line.place < params.kept {
        store(line.begin + element * params.out_step, finished(value, element, line));
    }
}

// Runs the first stage, which reads its elements from the input.
fn first_stage() {
    let each = small(params.length, FIRST);
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = own(b, each, LOAD_ACROSS);
            first_butterfly(sources(at.x), at.y, each, Place(at.x * params.length + reversed(at.y, FIRST), 1u, 0u));
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

// Runs the last stage, which writes its elements to the output.
fn last_stage() {
    let each = small(params.length, LAST);
    let count = own_count * each;
    var b = lane;
    loop {
        if b < count {
            let at = own(b, each, STORE_ACROSS);
            last_butterfly(place_of(at.x, at.y, LAST, each), sinks(at.x), at.y);
        }
        continuing { b += WIDTH; break if b >= count; }
    }
}

// Loads the input with its digits reversed, or in natural order before a reversed transform.
fn load_all() {
    let count = own_count * params.length;
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
            points[bank(at.x * params.length + to)] = brought(sources(at.x), at.y);
        }
        continuing { i += WIDTH; break if i >= count; }
    }
}

fn store_all() {
    let count = own_count * params.length;
    var i = lane;
    loop {
        if i < count {
            let at = own(i, params.length, STORE_ACROSS);
            put_out(sinks(at.x), at.y, points[bank(at.x * params.length + at.y)]);
        }
        continuing { i += WIDTH; break if i >= count; }
    }
}

// Applies the filter between two transforms. The filter's table is in digit-reversed order.
fn filter_all() {
    let count = own_count * params.length;
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
    let count = own_count * (h + 1u);
    var i = lane;
    loop {
        if i < count {
            let at = own(i, h + 1u, STORE_ACROSS);
            let here = select(at.y, 0u, at.y == h);
            let there = select(h - at.y, 0u, at.y == 0u);
            let z = points[bank(at.x * params.length + here)];
            unfold(sinks(at.x), at.y, z, here, points[bank(at.x * params.length + there)], there);
        }
        continuing { i += WIDTH; break if i >= count; }
    }
}

// Stores element k of the spectrum of reals. It is computed from element z of the transform of pairs and from the
// mirrored element.
fn unfold_of(line: Line, k: u32, z: vec2<f32>, here: u32, mirrored: vec2<f32>, there: u32) {
    let value = unfolded(finished(z, here, line), finished(mirrored, there, line), tables[params.folds + k]);
    store(line.begin + k * params.out_step, value);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    group = params.first + id.x;
    lane = index;
    own_count = min(params.group, transforms() - group * params.group);
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
