// Needs divergence/scaled.wgsl. Computes the term of one bin with the probabilities p and q. Every term is 0 or more,
// is small if p and q are close to each other, and has a relative error of a few ulp, so nothing cancels in a sum. If
// `absent` is true for a bin, the sum is infinite. p and q are normal numbers or 0, in units of 2^-`unit`. Terms have
// the same unit, except that the terms of CHI_SQUARE have the unit 1.

// p log(p / q) - p + q
const KULLBACK_LEIBLER: u32 = 0;
// (f(p, m) + f(q, m)) / 2, where f is the term of KULLBACK_LEIBLER and m = (p + q) / 2
const JENSEN_SHANNON: u32 = 1;
// |p - q| / 2
const TOTAL_VARIATION: u32 = 2;
// (p - q)^2 / q, the term of Pearson's chi-square
const CHI_SQUARE: u32 = 3;
// (p - q)^2 / (p + q) / 2
const SYMMETRIC_CHI_SQUARE: u32 = 4;
// (sqrt(p) - sqrt(q))^2 / 2, whose sum is the square of the distance
const HELLINGER: u32 = 5;
override KIND: u32 = KULLBACK_LEIBLER;

// The number of terms that a loop adds up before it adds their sum to the total.
const RUN: u32 = 32;

// Returns tail(t), where artanh(s) = s + s^3 tail(s^2). The series is accurate to 1e-8 for t <= 1/9.
fn artanh_tail(t: f32) -> f32 {
    return 1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0 + t * (1.0 / 9.0 + t * (1.0 / 11.0 + t * (1.0 / 13.0
        + t * (1.0 / 15.0 + t * (1.0 / 17.0)))))));
}

// Returns log(q / p) for positive q and p that differ by more than a factor of 2. The logarithm is computed from the
// bits of q and p, because their quotient may not be a normal number, and a built-in logarithm may flush it.
fn log_of_ratio(q: f32, p: f32) -> f32 {
    let of_q = bitcast<u32>(q);
    let of_p = bitcast<u32>(p);
    let a = bitcast<f32>((of_q & 0x7fffffu) | 0x3f800000u);
    let b = bitcast<f32>((of_p & 0x7fffffu) | 0x3f800000u);
    let s = (a - b) / (a + b);
    let t = s * s;
    return f32(i32(of_q >> 23u) - i32(of_p >> 23u)) * 0.6931471805599453 + 2.0 * s * (1.0 + t * artanh_tail(t));
}

fn absent(p: f32, q: f32) -> bool { return (KIND == KULLBACK_LEIBLER || KIND == CHI_SQUARE) && p > 0.0 && q <= 0.0; }

fn kullback_leibler(p: f32, q: f32) -> f32 {
    if p <= 0.0 { return q; }
    let d = q - p;
    if q > 2.0 * p || p > 2.0 * q {
        return d - p * log_of_ratio(q, p);
    }
    // The term is d - p log(q / p), where log(q / p) = 2 artanh(s) = 2 s + 2 s t artanh_tail(t). Because
    // d - 2 p s = s d, the term is s d - 2 p s t artanh_tail(t).
    let s = d / (p + q);
    let t = s * s;
    return s * (d - 2.0 * p * t * artanh_tail(t));
}

fn jensen_shannon(p: f32, q: f32) -> f32 {
    let t = p + q;
    if t <= 0.0 { return 0.0; }
    let s = (q - p) / t;
    if abs(s) <= 0.5 {
        // The series of (1 + s) log(1 + s) + (1 - s) log(1 - s) in even powers of s.
        let x = s * s;
        let h = 1.0 + x * (1.0 / 6.0 + x * (1.0 / 15.0 + x * (1.0 / 28.0 + x * (1.0 / 45.0 + x * (1.0 / 66.0
            + x * (1.0 / 91.0 + x * (1.0 / 120.0 + x * (1.0 / 153.0 + x * (1.0 / 190.0 + x * (1.0 / 231.0))))))))));
        return 0.25 * t * x * h;
    }
    let small = min(p, q);
    let large = max(p, q);
    if small <= 0.0 { return 0.5 * large * 0.6931471805599453; }
    let y = small / t;
    // log_rest is log(1 - y), where y <= 1/4.
    let u = y / (2.0 - y);
    let log_rest = -2.0 * u * (1.0 + u * u * artanh_tail(u * u));
    return 0.5 * (t * 0.6931471805599453 + small * log_of_ratio(small, t) + large * log_rest);
}

// Returns the term of p and q, which are both in units of 2^-`unit`.
fn term(p: f32, q: f32, unit: i32) -> f32 {
    if KIND == KULLBACK_LEIBLER { return kullback_leibler(p, q); }
    if KIND == JENSEN_SHANNON { return jensen_shannon(p, q); }
    if KIND == TOTAL_VARIATION { return 0.5 * abs(p - q); }
    let d = p - q;
    if KIND == CHI_SQUARE {
        // Each factor is scaled by the square root of the unit, so a square or a quotient overflows only if the result
        // does.
        let half = d * power_of_two(-unit / 2);
        return half * (half / select(1.0, q, q > 0.0));
    }
    if KIND == SYMMETRIC_CHI_SQUARE { return 0.5 * d * (d / select(1.0, p + q, p + q > 0.0)); }
    let roots = sqrt(p) + sqrt(q);
    let r = d / select(1.0, roots, roots > 0.0);
    return 0.5 * r * r;
}

// Returns the factor by which q is multiplied so that both totals are equal.
fn balance(of_p: f32, of_q: f32) -> f32 { return select(of_p / of_q, 1.0, of_p == of_q); }
