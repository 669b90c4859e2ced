// Needs divergence/scaled.wgsl. The term of one bin with the probabilities p and q. Every term is 0 or more, and small
// if p and q are close to each other, to a relative error of a few ulp, so nothing cancels in a sum. If `absent`, the
// sum is infinite. p and q are normal numbers or 0, in units of 2^-`unit`; so are terms, except those of CHI_SQUARE,
// whose unit is 1.

// p log(p / q) - p + q
const KULLBACK_LEIBLER: u32 = 0;
// half the sum of the term above of p and m and that of q and m, m = (p + q) / 2
const JENSEN_SHANNON: u32 = 1;
// |p - q| / 2
const TOTAL_VARIATION: u32 = 2;
// (p - q)^2 / q, Pearson's
const CHI_SQUARE: u32 = 3;
// (p - q)^2 / (p + q) / 2
const SYMMETRIC_CHI_SQUARE: u32 = 4;
// (sqrt(p) - sqrt(q))^2 / 2, the square of the distance
const HELLINGER: u32 = 5;
override KIND: u32 = KULLBACK_LEIBLER;

// The iterations of a loop between two additions to the sum.
const RUN: u32 = 32;

// artanh(s) = s + s^3 tail(s^2): the series, to 1e-8 for s^2 <= 1/9.
fn artanh_tail(t: f32) -> f32 {
    return 1.0 / 3.0 + t * (1.0 / 5.0 + t * (1.0 / 7.0 + t * (1.0 / 9.0 + t * (1.0 / 11.0 + t * (1.0 / 13.0
        + t * (1.0 / 15.0 + t * (1.0 / 17.0)))))));
}

// Returns log(q / p) for q > 0, p > 0 and q not within 1/2 to 2 times p, from their bits: the quotient of the two may
// not be a normal number, and a built-in logarithm may flush it.
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
    // log(q / p) = 2 artanh(s), and its part that is linear in d is subtracted already.
    let s = d / (p + q);
    let t = s * s;
    return s * (d - 2.0 * p * t * artanh_tail(t));
}

fn jensen_shannon(p: f32, q: f32) -> f32 {
    let t = p + q;
    if t <= 0.0 { return 0.0; }
    let s = (q - p) / t;
    if abs(s) <= 0.5 {
        // The series of (1 + s) log(1 + s) + (1 - s) log(1 - s) in even powers.
        let x = s * s;
        let h = 1.0 + x * (1.0 / 6.0 + x * (1.0 / 15.0 + x * (1.0 / 28.0 + x * (1.0 / 45.0 + x * (1.0 / 66.0
            + x * (1.0 / 91.0 + x * (1.0 / 120.0 + x * (1.0 / 153.0 + x * (1.0 / 190.0 + x * (1.0 / 231.0))))))))));
        return 0.25 * t * x * h;
    }
    let small = min(p, q);
    let large = max(p, q);
    if small <= 0.0 { return 0.5 * large * 0.6931471805599453; }
    let y = small / t;
    // log(1 - y), y <= 1/4.
    let u = y / (2.0 - y);
    let log_rest = -2.0 * u * (1.0 + u * u * artanh_tail(u * u));
    return 0.5 * (t * 0.6931471805599453 + small * log_of_ratio(small, t) + large * log_rest);
}

// Returns the term of p and q in units of 2^-`unit`.
fn term(p: f32, q: f32, unit: i32) -> f32 {
    if KIND == KULLBACK_LEIBLER { return kullback_leibler(p, q); }
    if KIND == JENSEN_SHANNON { return jensen_shannon(p, q); }
    if KIND == TOTAL_VARIATION { return 0.5 * abs(p - q); }
    let d = p - q;
    if KIND == CHI_SQUARE {
        // Each factor takes half of the unit, so neither a square nor a quotient overflows before its result does.
        let half = d * power_of_two(-unit / 2);
        return half * (half / select(1.0, q, q > 0.0));
    }
    if KIND == SYMMETRIC_CHI_SQUARE { return 0.5 * d * (d / select(1.0, p + q, p + q > 0.0)); }
    let roots = sqrt(p) + sqrt(q);
    let r = d / select(1.0, roots, roots > 0.0);
    return 0.5 * r * r;
}

// Returns the factor of q that makes both totals equal.
fn balance(of_p: f32, of_q: f32) -> f32 { return select(of_p / of_q, 1.0, of_p == of_q); }
