// Definitions that the kernels of products share: access to elements in words, and the steps that turn a sum into a
// result, `C = act(alpha op(A) op(B) + beta C + bias)`. Needs shared/real.wgsl and shared/half.wgsl.

// Whether elements are f16, two to a word, instead of f32. Sums are f32 in both cases.
override HALF: bool = false;
// Whether results are sums times alpha, without beta C, bias or activation. This is compiled in because adapters on a
// CPU also execute code that a condition at run time would skip.
override PLAIN: bool = false;

// Activations.
const IDENTITY: u32 = 0;
const RELU: u32 = 1;
const GELU: u32 = 2;
const TANH: u32 = 3;
const SIGMOID: u32 = 4;

// Whether there is a bias, and if so, whether it has one element per row or per column.
const NO_BIAS: u32 = 0;
const BIAS_OF_ROWS: u32 = 1;
const BIAS_OF_COLUMNS: u32 = 2;

// `first` is the index of the first workgroup of a dispatch (in sum.wgsl, of its first word). A stride is the number of
// elements from one matrix of a batch to the next, or 0 if one matrix serves all. A sum of k terms has `parts` parts of
// `span` terms. If `raw` is not 0, the sums are stored unchanged, in f32, part by part, starting at part `skip`.
struct Params {
    first: u32, m: u32, n: u32, k: u32,
    a_stride: u32, b_stride: u32, c_stride: u32, bias_stride: u32,
    batch: u32, parts: u32, span: u32, raw: u32,
    activation: u32, bias_is: u32, together: u32, depth: u32,
    skip: u32, alpha: f32, beta: f32,
}

fn word_of(index: u32) -> u32 {
    if HALF { return index >> 1u; }
    return index;
}

fn number(word: u32, index: u32) -> f32 {
    if HALF { return widen((word >> ((index & 1u) << 4u)) & 0xffffu); }
    return bitcast<f32>(word);
}

// Returns tanh with an absolute error of a few ulp of 1. The built-in is not used, because its error may be 1e-5. For
// small arguments the function uses a series, whose first omitted term is below 2^-24.
fn tangent(x: f32) -> f32 {
    let bounded = clamp(x, -1.0, 1.0);
    let s = bounded * bounded;
    let near = bounded * (1.0 - s * (0.33333333 - s * (0.13333334 - s * (0.053968254 - s * 0.021869488))));
    let t = exp(-2.0 * min(abs(x), 20.0));
    let far = (1.0 - t) / (1.0 + t);
    return select(select(far, -far, x < 0.0), near, abs(x) < 0.3);
}

// Applies the activation. (These functions have no early return, see shared/real.wgsl.)
fn activated(x: f32) -> f32 {
    var y = x;
    // NaN is returned unchanged, because the comparisons below would lose it.
    if params.activation == IDENTITY || magnitude_bits(x) > INFINITE {
    } else if params.activation == RELU {
        y = select(x, 0.0, (bitcast<u32>(x) >> 31u) == 1u);
    } else if params.activation == GELU {
        // The clamp keeps the cube finite. It does not change tanh, which is 1 or -1 in f32 beyond these limits.
        let bounded = clamp(x, -100.0, 100.0);
        let u = 0.7978845608 * (bounded + 0.044715 * bounded * bounded * bounded);
        // For an infinite negative x, `bounded` avoids infinity times 0, which is NaN.
        y = select(x, bounded, x < 0.0) * (0.5 * (1.0 + tangent(u)));
    } else if params.activation == TANH {
        y = tangent(x);
    } else {
        let t = exp(-min(abs(x), 100.0));
        y = select(1.0, t, x < 0.0) / (1.0 + t);
    }
    return y;
}

// Returns the element of the result at a row and a column of a matrix, given the sum of its terms: applies alpha,
// beta, the bias and the activation.
fn finished(sum: f32, matrix: u32, row: u32, column: u32) -> f32 {
    var x = params.alpha * sum;
    if !PLAIN {
        if params.beta != 0.0 {
            let at = matrix * params.c_stride + column * params.m + row;
            x += params.beta * number(c[word_of(at)], at);
        }
        if params.bias_is != NO_BIAS {
            let at = matrix * params.bias_stride + select(column, row, params.bias_is == BIAS_OF_ROWS);
            x += number(bias[word_of(at)], at);
        }
        x = activated(x);
    }
    return x;
}
