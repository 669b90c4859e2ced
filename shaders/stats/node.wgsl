// A node, which holds the moments of some elements of a series, and the merge of two nodes (Chan, Golub and LeVeque
// 1979; Pébay 2008).
//
// The mean is shift + offset, where the shift is usually common to all nodes of a series. Distances from the mean are
// in units of 2^exponent, so that the sums of their powers overflow only if a distance itself does. Elements that are
// not finite affect only the flags and the count.
//
// If an element or the shift is 2^100 or more, then shift, offset and exponent describe the elements times 2^-16, so
// that neither distances nor sums overflow. The smallest elements lose digits by this factor, but these digits are
// negligible relative to the largest elements.

struct Node {
    // Two 32-bit words, the lower word first.
    count: vec2<u32>,
    flags: u32,
    exponent: i32,
    offset: f32,
    second: f32,
    third: f32,
    fourth: f32,
    least: f32,
    most: f32,
    shift: f32,
    // The value is 16 if elements are multiplied by 2^-16, and 0 otherwise.
    lowered: i32,
}

const FLAG_NAN: u32 = 1u;
const FLAG_MORE: u32 = 2u;
const FLAG_LESS: u32 = 4u;
const FLAG_FINITE: u32 = 8u;
const LEAST_EXPONENT: i32 = -126;
const LOWERED: i32 = 16;
// The bits of 2^100.
const FAR: u32 = 0x71800000u;

// Returns the largest finite number. It is not a constant, because naga's WGSL writer would round the constant up to
// 3.4028235e38, which browsers refuse.
fn largest() -> f32 { return bitcast<f32>(INFINITE - 1u); }

fn node_of(a: vec4<u32>, b: vec4<u32>, c: vec4<u32>) -> Node {
    return Node(a.xy, a.z, bitcast<i32>(a.w), bitcast<f32>(b.x), bitcast<f32>(b.y), bitcast<f32>(b.z), bitcast<f32>(b.w),
        bitcast<f32>(c.x), bitcast<f32>(c.y), bitcast<f32>(c.z), bitcast<i32>(c.w));
}

// A node is stored as integers. The bits of a small integer, taken as an f32, are a subnormal number, which a device
// may flush.
fn words_of(node: Node) -> mat_of_words {
    return mat_of_words(
        vec4<u32>(node.count, node.flags, bitcast<u32>(node.exponent)),
        bitcast<vec4<u32>>(vec4<f32>(node.offset, node.second, node.third, node.fourth)),
        vec4<u32>(bitcast<vec3<u32>>(vec3<f32>(node.least, node.most, node.shift)), bitcast<u32>(node.lowered)),
    );
}

struct mat_of_words { a: vec4<u32>, b: vec4<u32>, c: vec4<u32> }

// Returns a number minus the shift; both are multiplied by 2^-16 if `far`. The `select` separates this difference from
// the subtraction that follows in the caller, so that a compiler cannot combine the two.
fn distance_from(number: f32, shift: f32, far: bool) -> f32 {
    let low = power_of_two(-LOWERED);
    return select(number - shift, number * low - shift * low, far);
}

fn number_of(count: vec2<u32>) -> f32 { return f32(count.x) + 4294967296.0 * f32(count.y); }

fn flags_of(bits: u32) -> u32 {
    if (bits & 0x7fffffffu) < INFINITE { return FLAG_FINITE; }
    if (bits & 0x7fffffffu) > INFINITE { return FLAG_NAN; }
    return select(FLAG_MORE, FLAG_LESS, bits > 0x80000000u);
}

// Returns the exponent of a distance that is not negative. The exponent of 0 is LEAST_EXPONENT.
fn distance_exponent(distance: f32) -> i32 {
    return clamp(i32(magnitude_bits(distance) >> 23u) - 127, LEAST_EXPONENT, 126);
}

// Returns the node that describes the elements times 2^-16.
fn lowered(node: Node) -> Node {
    if node.lowered != 0 { return node; }
    var low = node;
    let down = power_of_two(-LOWERED);
    low.shift *= down;
    low.offset *= down;
    low.exponent = max(node.exponent - LOWERED, LEAST_EXPONENT);
    low.lowered = LOWERED;
    let unit = power_of_two(node.exponent - LOWERED - low.exponent);
    low.second *= unit * unit;
    low.third *= unit * unit * unit;
    low.fourth *= unit * unit * unit * unit;
    return low;
}

fn merged(one: Node, other: Node) -> Node {
    if one.count.x == 0u && one.count.y == 0u { return other; }
    if other.count.x == 0u && other.count.y == 0u { return one; }
    var a = one;
    var b = other;
    if a.lowered != b.lowered {
        a = lowered(a);
        b = lowered(b);
    }
    let low = a.count.x + b.count.x;
    let count = vec2<u32>(low, a.count.y + b.count.y + select(0u, 1u, low < b.count.x));
    let n = number_of(count);
    let of_a = number_of(a.count) / n;
    let of_b = number_of(b.count) / n;
    let distance = (b.shift - a.shift) + (b.offset - a.offset);
    let exponent = max(max(a.exponent, b.exponent), distance_exponent(distance));
    let away = distance * power_of_two(-exponent);
    let scale_a = power_of_two(clamp(a.exponent - exponent, -126, 0));
    let scale_b = power_of_two(clamp(b.exponent - exponent, -126, 0));
    let a2 = a.second * scale_a * scale_a;
    let b2 = b.second * scale_b * scale_b;
    let a3 = a.third * scale_a * scale_a * scale_a;
    let b3 = b.third * scale_b * scale_b * scale_b;
    let a4 = a.fourth * scale_a * scale_a * scale_a * scale_a;
    let b4 = b.fourth * scale_b * scale_b * scale_b * scale_b;
    let square = away * away;
    let between = square * of_a * of_b * n;
    return Node(
        count,
        a.flags | b.flags,
        exponent,
        a.offset + distance * of_b,
        (a2 + b2) + between,
        (a3 + b3) + between * away * (of_a - of_b) + 3.0 * away * (of_a * b2 - of_b * a2),
        (a4 + b4) + between * square * (of_a * of_a - of_a * of_b + of_b * of_b)
            + 6.0 * square * (of_a * of_a * b2 + of_b * of_b * a2) + 4.0 * away * (of_a * b3 - of_b * a3),
        min(a.least, b.least),
        max(a.most, b.most),
        a.shift,
        a.lowered,
    );
}
