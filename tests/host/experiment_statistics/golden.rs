//! Against scipy, numpy and statsmodels (`golden/experiment_statistics.py`).

use fiedler::experiment::statistics::*;
use serde_json::Value;

fn cases(name: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../golden/experiment_statistics.json")).expect("JSON");
    let cases = all[name].as_array().expect("a list").clone();
    assert!(!cases.is_empty());
    cases
}

fn number(case: &Value, name: &str) -> f64 {
    case[name].as_f64().unwrap_or_else(|| panic!("{name} in {case}"))
}

fn count(case: &Value, name: &str) -> u64 {
    case[name].as_u64().unwrap_or_else(|| panic!("{name} in {case}"))
}

fn list<T>(case: &Value, name: &str, read: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    case[name].as_array().expect("a list").iter().map(|x| read(x).expect("an element")).collect()
}

fn numbers(case: &Value, name: &str) -> Vec<f64> {
    list(case, name, Value::as_f64)
}

/// Checks a relative error. `atol` is for what may be 0.
#[track_caller]
fn near(found: f64, wanted: f64, rtol: f64) {
    assert!((found - wanted).abs() <= rtol * wanted.abs() + 1e-14, "found {found:e}, wanted {wanted:e}");
}

/// Checks the interval. Its ends have the error of its center and of its width, each relative.
#[track_caller]
fn near_ends(found: Option<Interval>, low: f64, high: f64) {
    let found = found.expect("an interval");
    let size = 1e-11 * (high - low) + 1e-15 * low.abs().max(high.abs());
    assert!((found.low - low).abs() <= size && (found.high - high).abs() <= size, "{found:?}, wanted {low} {high}");
}

#[test]
fn estimates() {
    for case in cases("estimate") {
        let found = Estimate::of(&numbers(&case, "values"), number(&case, "level")).unwrap();
        // Sums of up to 200 numbers in another order; the deviation of 10^6 +- 1 loses six digits.
        near(found.mean, number(&case, "mean"), 1e-14);
        near(found.deviation, number(&case, "deviation"), 1e-9);
        let (low, high) = (number(&case, "low"), number(&case, "high"));
        let size = 1e-9 * (high - low) + 1e-15 * high.abs();
        let ends = found.interval.unwrap();
        assert!((ends.low - low).abs() <= size && (ends.high - high).abs() <= size, "{found:?} {low} {high}");
        assert!(ends.contains(found.mean) && !ends.contains(high + 1.0));
    }
}

#[test]
fn proportions() {
    for case in cases("proportion") {
        let (k, n) = (count(&case, "successes"), count(&case, "trials"));
        let found = Proportion::of(k, n, number(&case, "level")).unwrap();
        near(found.standard_error, number(&case, "error"), 1e-14);
        // The logarithm of the gamma function of a million is 10^7, so the tails have an error of 10^-9.
        for (found, name, rtol) in [(found.wilson, "wilson", 1e-12), (found.clopper_pearson, "exact", 1e-9)] {
            let wanted = numbers(&case, name);
            near(found.low, wanted[0], rtol);
            near(found.high, wanted[1], rtol);
        }
    }
    for case in cases("binomial") {
        let found = binomial_test(count(&case, "successes"), count(&case, "trials"), number(&case, "p0")).unwrap();
        // scipy adds tails of the beta distribution, with an error of up to 10^-10 for a million of trials.
        near(found.two_sided, number(&case, "two_sided"), 1e-9);
        near(found.greater, number(&case, "greater"), 1e-9);
    }
}

/// Checks the p value of a permutation test: exactly, or within four standard errors of 10,000 draws.
#[track_caller]
fn near_p(found: Permutation, wanted: f64, resampled: bool) {
    assert_eq!(found.exact, !resampled);
    let error = if resampled { 4.0 * (wanted * (1.0 - wanted) / 1e4).sqrt() + 2e-4 } else { 1e-12 };
    assert!((found.p - wanted).abs() <= error, "{found:?}, wanted {wanted}");
}

#[test]
fn pairs() {
    for case in cases("paired") {
        let (a, b, level) = (numbers(&case, "a"), numbers(&case, "b"), number(&case, "level"));
        let found = Paired::of(&a, &b, level, 11).unwrap();
        near(found.mean, number(&case, "mean"), 1e-12);
        near(found.deviation, number(&case, "deviation"), 1e-12);
        near_ends(found.interval, number(&case, "low"), number(&case, "high"));
        near(found.student_p, number(&case, "p"), 1e-11);
        near_p(found.sign_flip, number(&case, "flip"), case["resampled"] == true);
        let [train, test] = ["train", "test"].map(|name| count(&case, name) as usize);
        let found = Paired::resampled(&a, &b, train, test, level).unwrap();
        near(found.standard_error, number(&case, "corrected_error"), 1e-12);
        near(found.p, number(&case, "corrected_p"), 1e-11);
        near_ends(found.interval, number(&case, "corrected_low"), number(&case, "corrected_high"));
    }
    for case in cases("holm") {
        let found = holm(&numbers(&case, "ps")).unwrap();
        found.iter().zip(numbers(&case, "adjusted")).for_each(|(found, wanted)| near(*found, wanted, 1e-14));
    }
    for case in cases("mcnemar") {
        let [a, b, samples] = ["only_first", "only_second", "samples"].map(|name| count(&case, name));
        let found = McNemar::of(a, b, samples).unwrap();
        near(found.difference, number(&case, "difference"), 1e-15);
        near(found.p, number(&case, "p"), 1e-11);
        near(found.mid_p, number(&case, "mid_p"), 1e-11);
    }
}

#[test]
fn best_of_some() {
    let mut values = Vec::new();
    for case in cases("best") {
        // An empty list stands for that of the case before.
        let own = numbers(&case, "values");
        values = if own.is_empty() { values } else { own };
        let of = |larger| expected_best(&values, count(&case, "k") as usize, larger).unwrap();
        // Sums of up to 2000 numbers of both signs.
        near(of(true), number(&case, "largest"), 1e-11);
        near(of(false), number(&case, "smallest"), 1e-11);
    }
}

#[test]
fn equivalence() {
    for case in cases("tost") {
        let (a, margin, alpha) = (numbers(&case, "a"), number(&case, "margin"), number(&case, "alpha"));
        let found = if case["b"].is_null() {
            Equivalence::tost(&a, margin, alpha).unwrap()
        } else {
            Equivalence::welch(&a, &numbers(&case, "b"), margin, alpha).unwrap()
        };
        near(found.freedom, number(&case, "freedom"), 1e-12);
        near(found.p_lower, number(&case, "p_lower"), 1e-11);
        near(found.p_upper, number(&case, "p_upper"), 1e-11);
        near_ends(found.interval, number(&case, "low"), number(&case, "high"));
        let ends = found.interval.unwrap();
        assert_eq!(found.equivalent, ends.low > -margin && ends.high < margin);
        assert_eq!(found.p(), found.p_lower.max(found.p_upper));
    }
    for case in cases("runs") {
        let power = number(&case, "power");
        let n =
            runs_needed(number(&case, "deviation"), number(&case, "margin"), number(&case, "alpha"), power).unwrap();
        assert_eq!(n, count(&case, "n"), "{case}");
        // What the rule promises, and how much more it asks for than needed.
        assert!((power..power + 0.07).contains(&number(&case, "true_power")), "{case}");
    }
}

#[test]
fn correlations() {
    for case in cases("correlation") {
        let (x, y, resampled) = (numbers(&case, "x"), numbers(&case, "y"), case["resampled"] == true);
        for (found, name) in [(pearson(&x, &y, 5), "pearson"), (spearman(&x, &y, 5), "spearman")] {
            let found = found.unwrap();
            near(found.r, number(&case, name), 1e-12);
            near_p(found.permutation, number(&case, &format!("{name}_p")), resampled);
        }
    }
    for case in cases("mann_whitney") {
        let found = mann_whitney(&numbers(&case, "a"), &numbers(&case, "b")).unwrap();
        assert_eq!(found.u, number(&case, "u"));
        // The normal distribution of statrs has ten digits.
        near(found.p, number(&case, "p"), 1e-9);
    }
}

#[test]
fn classifiers() {
    for case in cases("calibration") {
        let right = list(&case, "right", Value::as_bool);
        let predictions: Vec<_> = numbers(&case, "confidence").into_iter().zip(right).collect();
        let found = Calibration::of(&predictions, count(&case, "bins") as usize).unwrap();
        assert_eq!(found.bins().iter().map(|bin| bin.count).collect::<Vec<_>>(), list(&case, "counts", Value::as_u64));
        for (bin, wanted) in found.bins().iter().zip(list(&case, "accuracy", |x| Some(x.as_f64()))) {
            wanted.map_or_else(|| assert!(bin.accuracy().is_nan()), |wanted| near(bin.accuracy(), wanted, 1e-14));
        }
        near(found.expected_error(), number(&case, "error"), 1e-12);
        near(found.largest_error(), number(&case, "largest"), 1e-12);
    }
    for case in cases("confusion") {
        let [labels, predicted] = ["labels", "predicted"].map(|name| list(&case, name, |x| Some(x.as_u64()? as usize)));
        let classes = count(&case, "classes") as usize;
        let found = Confusion::of(&labels, &predicted, classes).unwrap();
        let matrix: Vec<u64> = (0..classes * classes).map(|i| found.count(i / classes, i % classes)).collect();
        assert_eq!(matrix, list(&case, "matrix", Value::as_u64));
        near(found.accuracy(), number(&case, "accuracy"), 1e-15);
        near(found.macro_f1(), number(&case, "macro_f1"), 1e-14);
        near(found.balanced_accuracy(), number(&case, "balanced"), 1e-14);
        for class in 0..classes {
            for (found, name) in
                [(found.precision(class), "precision"), (found.recall(class), "recall"), (found.f1(class), "f1")]
            {
                // A class that never occurs has no recall, and so on.
                match case[name][class].as_f64() {
                    Some(wanted) => near(found, wanted, 1e-14),
                    None => assert!(found.is_nan(), "{name} of {class}: {found}"),
                }
            }
        }
    }
}
