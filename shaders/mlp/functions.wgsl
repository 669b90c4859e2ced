// Activations, and the functions of losses.

const IDENTITY: u32 = 0;
const RELU: u32 = 1;
const LEAKY_RELU: u32 = 2;
const GELU: u32 = 3;
const TANH: u32 = 4;
const SIGMOID: u32 = 5;

// Returns log(1 + t) for t in [0, 1]: 2 atanh(s) with s = t / (2 + t) <= 1/3. The next term is below 2^-27 of the sum.
fn log_one_plus(t: f32) -> f32 {
    let s = t / (2.0 + t);
    let q = s * s;
    let tail = q * (1.0 / 3.0 + q * (1.0 / 5.0 + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q / 13.0)))));
    return 2.0 * (s + s * tail);
}

// Returns log(1 + e^x).
fn softplus(x: f32) -> f32 { return max(x, 0.0) + log_one_plus(exp(-abs(x))); }

// Returns 1 / (1 + e^-x). e^x of a number that is not positive cannot overflow.
fn logistic(x: vec4<f32>) -> vec4<f32> {
    let t = exp(-abs(x));
    return select(vec4<f32>(1.0), t, x < vec4<f32>(0.0)) / (1.0 + t);
}

fn hyperbolic_tangent(x: vec4<f32>) -> vec4<f32> {
    let size = abs(x);
    let t = exp(-2.0 * size);
    // Near 0, 1 - t loses digits. The next term of the series is below 2^-26 of the sum.
    let q = size * size;
    let tail = q * (-1.0 / 3.0 + q * (2.0 / 15.0 + q * (-17.0 / 315.0 + q * (62.0 / 2835.0))));
    let found = select((1.0 - t) / (1.0 + t), size + size * tail, size < vec4<f32>(0.25));
    return select(found, -found, x < vec4<f32>(0.0));
}

// Returns the distribution function of the standard normal, by a fit to the complementary error function with a
// relative error of 1.2e-7 (Press et al., Numerical Recipes, 2nd edition, section 6.2).
fn below(x: vec4<f32>) -> vec4<f32> {
    let size = abs(x) * 0.70710678;
    let t = 1.0 / (1.0 + 0.5 * size);
    let high = -1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277));
    let inner = 0.09678418 + t * (-0.18628806 + t * (0.27886807 + t * high));
    let tail = t * exp(-size * size - 1.26551223 + t * (1.00002368 + t * (0.37409196 + t * inner)));
    return select(1.0 - 0.5 * tail, 0.5 * tail, x < vec4<f32>(0.0));
}

fn activated(kind: u32, slope: f32, x: vec4<f32>) -> vec4<f32> {
    var y = x;
    switch kind {
        case RELU: { y = max(x, vec4<f32>(0.0)); }
        case LEAKY_RELU: { y = select(slope * x, x, x > vec4<f32>(0.0)); }
        case GELU: { y = x * below(x); }
        case TANH: { y = hyperbolic_tangent(x); }
        case SIGMOID: { y = logistic(x); }
        default: {}
    }
    return y;
}

// Returns the derivative of an activation.
fn slope_of(kind: u32, slope: f32, x: vec4<f32>) -> vec4<f32> {
    var y = vec4<f32>(1.0);
    switch kind {
        case RELU: { y = select(vec4<f32>(0.0), vec4<f32>(1.0), x > vec4<f32>(0.0)); }
        case LEAKY_RELU: { y = select(vec4<f32>(slope), vec4<f32>(1.0), x > vec4<f32>(0.0)); }
        case GELU: { y = below(x) + x * (0.39894228 * exp(-0.5 * x * x)); }
        case TANH: {
            let z = hyperbolic_tangent(x);
            y = 1.0 - z * z;
        }
        case SIGMOID: {
            let z = logistic(x);
            y = z * (1.0 - z);
        }
        default: {}
    }
    return y;
}
