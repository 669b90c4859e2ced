//! Tails and quantiles of the normal distribution, of Student's t distribution and of the beta distribution.
//!
//! `statrs` has them, too. But the inverse of its incomplete beta function stops early, so that for 10^5 degrees of
//! freedom quantiles are wrong by 10^-6, and the function itself stops after 140 terms, which are too few near the
//! median from about a = b = 10^5 on. Here, the terms are as many as are needed, and quantiles are the roots of the
//! tails. The relative error is about 10^-13 for hundreds of degrees of freedom and 10^-9 for a million, because
//! logarithms of the gamma function cancel.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;

/// Beyond this number f of degrees of freedom, the quantile z + (z^3 + z) / (4 f) of Student's t distribution follows
/// from the normal quantile z (Abramowitz and Stegun 26.7.5). The next term is of the order of z^5 / f^2.
const MANY: f64 = 1e8;

/// Returns P(Z > z) for a standard normal Z.
pub(crate) fn normal_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// Returns the z with P(Z > z) = `tail` for a standard normal Z and a tail in (0, 1).
pub(crate) fn normal_critical(tail: f64) -> f64 {
    -Normal::standard().inverse_cdf(tail)
}

/// Returns P(T > t) for Student's t distribution with `freedom` > 0 degrees of freedom, which need not be whole.
pub(crate) fn student_tail(t: f64, freedom: f64) -> f64 {
    if t.is_nan() || freedom.is_nan() {
        return f64::NAN;
    }
    if t < 0.0 {
        return 1.0 - student_tail(-t, freedom);
    }
    if t.is_infinite() {
        return 0.0;
    }
    if freedom > MANY {
        // From 40 on, the tail is below the smallest number.
        return if t < 40.0 { normal_tail(t - (t * t * t + t) / (4.0 * freedom)) } else { 0.0 };
    }
    let square = t * t;
    if square.is_infinite() {
        return 0.0;
    }
    let whole = freedom + square;
    0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / whole, square / whole)
}

/// Returns the t with P(T > t) = `tail` for Student's t distribution and a tail in (0, 1).
pub(crate) fn student_critical(tail: f64, freedom: f64) -> f64 {
    if tail.is_nan() || freedom.is_nan() {
        return f64::NAN;
    }
    if tail > 0.5 {
        return -student_critical(1.0 - tail, freedom);
    }
    // The normal quantile is below the root, and the tail is convex there: Newton's method ascends to the root.
    let mut t = normal_critical(tail).max(0.0);
    if freedom > MANY {
        return t + (t * t * t + t) / (4.0 * freedom);
    }
    let scale =
        (ln_gamma(0.5 * (freedom + 1.0)) - ln_gamma(0.5 * freedom)).exp() / (std::f64::consts::PI * freedom).sqrt();
    for _ in 0..500 {
        let density = scale * (-0.5 * (freedom + 1.0) * (t * t / freedom).ln_1p()).exp();
        let step = (student_tail(t, freedom) - tail) / density;
        if !step.is_finite() || step.abs() <= 1e-15 * t {
            break;
        }
        t += step;
    }
    t
}

/// Returns the x with I_x(a, b) = `p`, the quantile of the beta distribution with a, b > 0 and p in (0, 1), by
/// bisection.
pub(crate) fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    // The interval shrinks to neighboring numbers.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high < f64::MIN_POSITIVE {
            return middle;
        }
        if incomplete_beta(a, b, middle, 1.0 - middle) < p { low = middle } else { high = middle }
    }
}

/// Returns the regularized incomplete beta function I_x(a, b), for a, b > 0. `y` is 1 - x, which the caller may know
/// without rounding.
///
/// It is x^a y^b / (a B(a, b)) times a continued fraction (Abramowitz and Stegun 26.5.8), evaluated by Lentz's method
/// as in Press et al., *Numerical Recipes*, 6.4. The fraction converges fast for x < (a + 1) / (a + b + 2), in
/// O(sqrt(max(a, b))) terms. Beyond that, 1 - I_y(b, a) is computed.
fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * y.ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        (front * fraction(a, b, x) / a).min(1.0)
    } else {
        (1.0 - front * fraction(b, a, y) / b).max(0.0)
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away = |x: f64| if x.abs() < 1e-300 { 1e-300 } else { x };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    // More terms than any a and b below 10^8 need.
    for m in 1..100_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            change = c * d;
            h *= change;
        }
        if (change - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    h
}

#[cfg(test)]
mod tests {
    use super::{beta_quantile, student_critical, student_tail};
    use serde_json::Value;

    /// Against scipy (`tests/host/golden/experiment_statistics.py`).
    #[test]
    fn tails_and_quantiles_are_those_of_scipy() {
        let text = include_str!("../../tests/host/golden/experiment_statistics.json");
        let all: Value = serde_json::from_str(text).unwrap();
        let number = |case: &Value, name: &str| case[name].as_f64().unwrap();
        let near = |found: f64, wanted: f64, rtol: f64, case: &Value| {
            assert!((found - wanted).abs() <= rtol * wanted.abs(), "found {found}: {case}");
        };
        // As many digits as logarithms of the gamma function leave.
        for case in all["student"].as_array().unwrap() {
            let freedom = number(case, "freedom");
            let rtol = if freedom < 1e3 { 1e-12 } else { 2e-9 };
            near(student_critical(number(case, "tail"), freedom), number(case, "critical"), rtol, case);
        }
        for case in all["student_tail"].as_array().unwrap() {
            let freedom = number(case, "freedom");
            let rtol = if freedom < 1e3 { 1e-12 } else { 2e-9 };
            near(student_tail(number(case, "t"), freedom), number(case, "tail"), rtol, case);
        }
        for case in all["beta"].as_array().unwrap() {
            let (a, b) = (number(case, "a"), number(case, "b"));
            let rtol = if a + b < 1e3 { 1e-12 } else { 1e-9 };
            near(beta_quantile(a, b, number(case, "p")), number(case, "quantile"), rtol, case);
        }
    }

    #[test]
    fn limits_of_tails() {
        assert_eq!((student_tail(f64::INFINITY, 3.0), student_tail(f64::NEG_INFINITY, 3.0)), (0.0, 1.0));
        assert_eq!((student_tail(0.0, 3.0), student_critical(0.5, 3.0)), (0.5, 0.0));
        assert!(student_tail(f64::NAN, 3.0).is_nan() && student_critical(0.1, f64::NAN).is_nan());
        // The Cauchy distribution: 1 / (pi t) far out.
        let far = student_tail(1e12, 1.0) * std::f64::consts::PI * 1e12;
        assert!((far - 1.0).abs() < 1e-12, "{far}");
    }
}
