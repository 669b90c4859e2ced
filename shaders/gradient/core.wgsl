// Turns P = U'Ubar, and Q = V'Vbar of a singular value decomposition, into the matrix G of the gradient U G V', and
// reports what part of the cotangents has no gradient. Let a and b be the skew parts of P and Q. An element of G is
//     G_ij = (a + b)_ij / (s_j - s_i) + (a - b)_ij / (s_j + s_i),
// where the first quotient is 0 within a tie group, and both are 0 within the group of the singular values 0. For
// eigenpairs, it is a_ij / (l_j - l_i). A workgroup computes a column. Needs shared/real.wgsl.
//
// A column has two reports, which are bits of magnitudes. The first report has the largest element that ought to be 0,
// the largest element of P and Q, the largest difference of the cotangents of tied values, and the largest cotangent of
// a value. The second has the norm and the largest reciprocal of a divisor.
//
// Loop iterations: ceil(n / 64).

override SINGULAR: bool = false;

const WIDTH: u32 = 64u;

struct Params { first: u32, n: u32, vectors: u32, rectangular: u32, width: f32 }

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read> values_bar: array<f32>;
@group(0) @binding(3) var<storage, read> groups: array<u32>;
@group(0) @binding(4) var<storage, read> p: array<f32>;
@group(0) @binding(5) var<storage, read> q: array<f32>;
@group(0) @binding(6) var<storage, read_write> g: array<f32>;
@group(0) @binding(7) var<storage, read_write> reports: array<vec4<u32>>;

var<workgroup> undefined_bits: array<u32, WIDTH>;
var<workgroup> largest_bits: array<u32, WIDTH>;

// 1 / d, or its Lorentzian approximation of the given width.
fn reciprocal(d: f32, width: f32) -> f32 {
    var inverse = 1.0 / d;
    if width > 0.0 {
        let ratio = d / width;
        inverse = ratio / ((ratio * ratio + 1.0) * width);
    }
    return inverse;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params.n;
    let at = params.first + group.x;
    let j = at % n;
    let matrix = at - j;
    let norm = max(abs(values[matrix]), abs(values[matrix + n - 1u]));
    let width = params.width * norm;
    let own_value = values[at];
    let own_group = groups[at];
    let at_zero = SINGULAR && own_group == n;
    var undefined_part = 0u;
    var largest = 0u;
    for (var i = lane; i < n; i += WIDTH) {
        var a = 0.0;
        var b = 0.0;
        if params.vectors == 1u {
            let here = at * n + i;
            let mirrored = (matrix + i) * n + j;
            a = 0.5 * (p[here] - p[mirrored]);
            largest = max(largest, magnitude_bits(p[here]));
            if SINGULAR {
                b = 0.5 * (q[here] - q[mirrored]);
                largest = max(largest, magnitude_bits(q[here]));
            }
        }
        let tied = groups[matrix + i] == own_group;
        var element = 0.0;
        if i == j {
            element = select(values_bar[at], 0.0, at_zero);
        } else {
            if tied {
                undefined_part = max(undefined_part, magnitude_bits(a + b));
                if at_zero { undefined_part = max(undefined_part, magnitude_bits(a - b)); }
            } else {
                element = (a + b) * reciprocal(own_value - values[matrix + i], width);
            }
            if SINGULAR && !(tied && at_zero) { element += (a - b) / (own_value + values[matrix + i]); }
        }
        g[at * n + i] = element;
    }
    undefined_bits[lane] = undefined_part;
    largest_bits[lane] = largest;
    workgroupBarrier();
    if lane > 0u { return; }
    for (var i = 1u; i < WIDTH; i += 1u) {
        undefined_part = max(undefined_part, undefined_bits[i]);
        largest = max(largest, largest_bits[i]);
    }
    var difference = select(0u, magnitude_bits(values_bar[at]), at_zero);
    var steep = 0u;
    if j > 0u {
        if groups[at - 1u] != own_group {
            steep = magnitude_bits(1.0 / (own_value - values[at - 1u]));
        } else if !at_zero {
            difference = magnitude_bits(values_bar[at] - values_bar[at - 1u]);
        }
        if SINGULAR && groups[at - 1u] != n { steep = max(steep, magnitude_bits(1.0 / (own_value + values[at - 1u]))); }
    }
    if params.rectangular == 1u && !at_zero { steep = max(steep, magnitude_bits(1.0 / own_value)); }
    reports[2u * at] = vec4(undefined_part, largest, difference, magnitude_bits(values_bar[at]));
    reports[2u * at + 1u] = vec4(magnitude_bits(norm), steep, 0u, 0u);
}
