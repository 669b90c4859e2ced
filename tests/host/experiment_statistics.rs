//! Statistics of experiments: against scipy and statsmodels, closed forms, the coverage of intervals and the error
//! rates of tests in simulations, and errors.

mod coverage;
mod golden;
mod rates;

use fiedler::ErrorKind;
use fiedler::experiment::statistics::*;

/// Returns whether the call failed because a value was outside its domain.
fn refused<T>(result: fiedler::Result<T>) -> bool {
    matches!(result.map_err(|error| matches!(error.kind(), ErrorKind::Domain { .. })), Err(true))
}

fn lengths_differ<T>(result: fiedler::Result<T>) -> bool {
    matches!(result.map_err(|error| matches!(error.kind(), ErrorKind::Shape { .. })), Err(true))
}

fn interval(low: f64, high: f64) -> Option<Interval> {
    Some(Interval { low, high, level: 0.95 })
}

#[test]
fn too_few_values_have_no_interval() {
    let one = Estimate::of(&[0.5], 0.95).unwrap();
    assert_eq!((one.n, one.mean, one.interval), (1, 0.5, None));
    assert!(one.deviation.is_nan() && one.standard_error.is_nan());
    // The sum of ten times 0.1 is not 1, but the values are equal all the same.
    let equal = Estimate::of(&[0.1; 10], 0.95).unwrap();
    assert_eq!((equal.mean, equal.deviation, equal.interval), (0.1, 0.0, None));

    let one = Paired::of(&[1.0], &[0.0], 0.95, 1).unwrap();
    assert_eq!((one.mean, one.interval, one.sign_flip.p), (1.0, None, 1.0));
    assert!(one.student_p.is_nan());
    assert_eq!(Verdict::of(one.interval, true), Verdict::Undecided);
    let corrected = Paired::resampled(&[1.0], &[0.0], 9, 1, 0.95).unwrap();
    assert!(corrected.interval.is_none() && corrected.p.is_nan() && corrected.standard_error.is_nan());

    for found in [Equivalence::tost(&[0.0], 1.0, 0.05), Equivalence::welch(&[0.0], &[1.0, 2.0], 9.0, 0.05)] {
        let found = found.unwrap();
        assert!(found.interval.is_none() && !found.equivalent && found.p().is_nan(), "{found:?}");
    }
}

#[test]
fn values_without_spread_are_equivalent_where_they_are_near() {
    for (value, equivalent, p) in [(0.0, true, 0.0), (0.5, true, 0.0), (-1.0, false, 0.5), (2.0, false, 1.0)] {
        let found = Equivalence::tost(&[value; 5], 1.0, 0.05).unwrap();
        assert_eq!((found.equivalent, found.p()), (equivalent, p), "{value}");
        let found = Equivalence::welch(&[value; 5], &[0.0; 4], 1.0, 0.05).unwrap();
        assert_eq!((found.equivalent, found.p()), (equivalent, p), "{value}");
    }
    assert_eq!(runs_needed(0.0, 1.0, 0.05, 0.9).unwrap(), 2);
    // Without a correction it is the same. With one, the error stays above sqrt(ratio) times the deviation: for many
    // pairs, 1.645 + 1.645 of it are more than the margin from a ratio of 0.0924 on.
    let of = |ratio: f64| resampled_runs_needed(1.0, ratio, 1.0, 0.05, 0.9).unwrap();
    assert_eq!(of(0.0), Some(runs_needed(1.0, 1.0, 0.05, 0.9).unwrap()));
    assert!(of(0.05) > of(0.01) && of(0.01) > of(0.0) && of(0.092).is_some() && of(0.093).is_none());
    assert!(refused(resampled_runs_needed(1.0, -0.1, 1.0, 0.05, 0.9)));
}

#[test]
fn wrong_arguments_are_errors() {
    let (nan, two) = (f64::NAN, [0.0, 1.0]);
    for level in [0.0, 1.0, -0.1, nan, f64::INFINITY] {
        assert!(refused(Estimate::of(&two, level)) && refused(Paired::of(&two, &two, level, 1)), "{level}");
        assert!(refused(wilson(1, 2, level)) && refused(clopper_pearson(1, 2, level)), "{level}");
        assert!(refused(Paired::resampled(&two, &two, 1, 1, level)) && refused(Equivalence::tost(&two, 1.0, level)));
        assert!(refused(runs_needed(1.0, 1.0, level, 0.9)) && refused(runs_needed(1.0, 1.0, 0.05, level)), "{level}");
    }
    assert!(refused(Equivalence::tost(&two, 1.0, 0.5)));
    for values in [&[][..], &[nan, 1.0], &[1.0, f64::INFINITY]] {
        assert!(refused(Estimate::of(values, 0.95)) && refused(expected_best(values, 1, true)), "{values:?}");
        assert!(refused(Equivalence::tost(values, 1.0, 0.05)) && refused(Equivalence::welch(&two, values, 1.0, 0.05)));
        assert!(refused(mann_whitney(values, &two)) && refused(mann_whitney(&two, values)), "{values:?}");
        assert!(refused(pearson(values, values, 1)) && refused(spearman(values, values, 1)), "{values:?}");
        assert!(refused(Paired::of(values, values, 0.95, 1)), "{values:?}");
    }
    // Neither the mean nor the difference can be stated.
    assert!(refused(Estimate::of(&[1e308, 1e308, 1e307], 0.95)) && refused(Estimate::of(&[1e200, -1e200], 0.95)));
    assert!(refused(Paired::of(&[1e308], &[-1e308], 0.95, 1)));
    for margin in [0.0, -1.0, nan, f64::INFINITY] {
        assert!(refused(Equivalence::tost(&two, margin, 0.05)) && refused(runs_needed(1.0, margin, 0.05, 0.9)));
    }
    assert!(refused(runs_needed(nan, 1.0, 0.05, 0.9)) && refused(runs_needed(1e9, 1e-9, 0.05, 0.9)));
    assert!(refused(wilson(0, 0, 0.95)) && refused(clopper_pearson(3, 2, 0.95)) && refused(Proportion::of(3, 2, 0.95)));
    assert!(refused(wilson(0, u64::MAX, 0.95)));
    assert!(
        refused(binomial_test(1, 2, 1.1)) && refused(binomial_test(1, 2, nan)) && refused(binomial_test(0, 0, 0.5))
    );
    assert!(refused(McNemar::of(0, 0, 0)) && refused(McNemar::of(2, 2, 3)) && refused(McNemar::of(u64::MAX, 1, 3)));
    assert!(refused(expected_best(&two, 0, true)) && refused(expected_best(&two, 3, true)));
    assert!(refused(holm(&[0.1, nan])) && refused(holm(&[1.1])) && holm(&[]).unwrap().is_empty());
    // A correlation with equal values is 0 / 0.
    assert!(refused(pearson(&two, &[3.0, 3.0], 1)) && refused(spearman(&[0.0, 0.0], &two, 1)));
    assert!(refused(Paired::resampled(&two, &two, 0, 1, 0.95)) && refused(Paired::resampled(&two, &two, 1, 0, 0.95)));
    assert!(lengths_differ(Paired::of(&two, &[1.0], 0.95, 1)) && lengths_differ(pearson(&two, &[1.0], 1)));
    assert!(lengths_differ(spearman(&[], &[1.0], 1)) && lengths_differ(McNemar::of_right(&[true], &[])));
    assert!(refused(McNemar::of_right(&[], &[])) && lengths_differ(Confusion::of(&[0], &[], 2)));
    assert!(
        refused(Confusion::of(&[0], &[2], 2))
            && refused(Confusion::of(&[2], &[0], 2))
            && refused(Confusion::of(&[], &[], 0))
    );
    assert!(refused(Calibration::of(&[(nan, true)], 10)) && refused(Calibration::of(&[(1.1, true)], 10)));
    assert!(refused(Calibration::of(&[(0.5, true)], 0)));
}

#[test]
fn verdicts_need_the_whole_interval() {
    use Status::{Fail, Pass, Undecided};
    for (low, high, first, second) in [
        (0.1, 0.2, Verdict::Better, Verdict::Worse),
        (-0.2, -0.1, Verdict::Worse, Verdict::Better),
        (-0.1, 0.2, Verdict::Undecided, Verdict::Undecided),
        (0.0, 0.2, Verdict::Undecided, Verdict::Undecided),
        (f64::NAN, f64::NAN, Verdict::Undecided, Verdict::Undecided),
    ] {
        assert_eq!(Verdict::of(interval(low, high), true), first, "{low} {high}");
        assert_eq!(Verdict::of(interval(low, high), false), second, "{low} {high}");
    }
    assert_eq!(Verdict::of(None, true), Verdict::Undecided);
    let within = Bound::Within { low: 0.5, high: 0.9 };
    for (low, high, at_least, at_most, inside) in [
        (0.6, 0.8, Pass, Pass, Pass),
        (0.5, 0.9, Pass, Pass, Pass),
        (0.3, 0.4, Fail, Pass, Fail),
        (0.91, 0.95, Pass, Fail, Fail),
        (0.3, 0.95, Undecided, Undecided, Undecided),
        (0.4, 0.8, Undecided, Pass, Undecided),
        (f64::NAN, f64::NAN, Undecided, Undecided, Undecided),
    ] {
        let found = [Bound::AtLeast(0.5), Bound::AtMost(0.9), within].map(|bound| bound.judge(interval(low, high)));
        assert_eq!(found, [at_least, at_most, inside], "{low} {high}");
    }
    assert_eq!(within.judge(None), Undecided);
    assert_eq!(Bound::AtLeast(f64::NAN).judge(interval(0.0, 1.0)), Undecided);
}

#[test]
fn closed_forms_hold() {
    // The mean is expected of one, the best of all; of equally spaced values, k (n + 1) / (k + 1).
    let values: Vec<f64> = (1..=5000).map(f64::from).collect();
    for k in [1, 2, 10, 4999, 5000] {
        let wanted = k as f64 * 5001.0 / (k as f64 + 1.0);
        let [largest, smallest] = [true, false].map(|larger| expected_best(&values, k, larger).unwrap());
        // 5000 roundings of weights, and of a sum of positive numbers.
        assert!((largest / wanted - 1.0).abs() < 1e-12, "{k}: {largest} {wanted}");
        assert!((smallest / (5001.0 - wanted) - 1.0).abs() < 1e-9, "{k}: {smallest}");
    }
    // Only one sign of 2^n is as far out on either side.
    for n in [2, 5, 14] {
        let found = Paired::of(&vec![1.0; n], &vec![0.0; n], 0.95, 1).unwrap().sign_flip;
        assert_eq!((found.p, found.arrangements, found.exact), (2.0 / 2_f64.powi(n as i32), 1 << n, true));
    }
    let many = Paired::of(&[1.0; 100], &[0.0; 100], 0.95, 1).unwrap().sign_flip;
    assert_eq!((many.p, many.arrangements, many.exact), (1.0 / 10_001.0, 10_000, false));
    // Of three values in order, 1 of 3! orders correlates as well, and 1 as badly.
    let ordered = spearman(&[1.0, 2.0, 3.0], &[2.0, 5.0, 7.0], 1).unwrap();
    assert_eq!((ordered.r, ordered.permutation.p, ordered.permutation.arrangements), (1.0, 2.0 / 6.0, 6));
    assert_eq!(spearman(&[1.0, 2.0, 3.0], &[7.0, 5.0, 2.0], 1).unwrap().r, -1.0);
    assert_eq!(pearson(&[1e300, 2e300, 3e300], &[1e-300, 2e-300, 3e-300], 1).unwrap().r, 1.0);
    // The seven orders of seven values: 5040, of which each is visited once.
    let x: Vec<f64> = (0..7).map(|i| f64::from(i).exp()).collect();
    assert_eq!(pearson(&x, &x, 1).unwrap().permutation.p, 1.0 / 5040.0);
    // Twice the tail of the choices of 2 ranks of 5; equal values say nothing.
    assert_eq!(mann_whitney(&[4.0, 5.0], &[1.0, 2.0, 3.0]).unwrap().p, 2.0 / 10.0);
    let equal = mann_whitney(&[1.0; 4], &[1.0; 9]).unwrap();
    assert_eq!((equal.u, equal.superiority, equal.p, equal.exact), (18.0, 0.5, 1.0, false));
    // Impossible and certain successes.
    for (k, p0, two_sided, greater) in [(0, 0.0, 1.0, 1.0), (1, 0.0, 0.0, 0.0), (2, 1.0, 1.0, 1.0), (1, 1.0, 0.0, 1.0)]
    {
        let found = binomial_test(k, 2, p0).unwrap();
        assert_eq!((found.two_sided, found.greater), (two_sided, greater), "{k} {p0}");
    }
    // Rule of three: the largest share with (1 - p)^n = 0.025.
    let none = clopper_pearson(0, 30, 0.95).unwrap();
    assert!(none.low == 0.0 && (none.high - (1.0 - 0.025_f64.powf(1.0 / 30.0))).abs() < 1e-14, "{none:?}");
    let found = McNemar::of_right(&[true, true, true, false], &[true, false, false, true]).unwrap();
    assert_eq!((found.only_first, found.only_second, found.samples, found.p), (2, 1, 4, 1.0));
}

#[test]
fn seeds_decide() {
    let x: Vec<f64> = (0..40).map(|i| f64::from(i * i % 17)).collect();
    let y: Vec<f64> = (0..40).map(|i| f64::from(i * 5 % 13)).collect();
    let of = |seed| (Paired::of(&x, &y, 0.95, seed).unwrap(), spearman(&x, &y, seed).unwrap());
    assert_eq!(of(3), of(3));
    assert!(of(3).0.sign_flip != of(4).0.sign_flip && of(3).1.permutation != of(4).1.permutation);
}

#[test]
fn reports_are_json() {
    let found = serde_json::to_value(Paired::of(&[1.0, 2.0], &[0.0, 0.5], 0.95, 1).unwrap()).unwrap();
    assert_eq!((found["n"].as_u64(), found["sign_flip"]["exact"].as_bool()), (Some(2), Some(true)), "{found}");
    let none = serde_json::to_value(Estimate::of(&[1.0], 0.95).unwrap()).unwrap();
    assert!(none["interval"].is_null() && none["deviation"].is_null(), "{none}");
    let claim = serde_json::to_string(&(Bound::AtLeast(0.5), Status::Undecided, Verdict::Better)).unwrap();
    assert_eq!(claim, r#"[{"at_least":0.5},"undecided","better"]"#);
    assert_eq!((Status::Pass.name(), Verdict::Worse.name()), ("pass", "worse"));
}
