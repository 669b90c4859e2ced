//! How often intervals contain the true value, in simulations with fixed seeds.

use common::random::SplitMix64;
use fiedler::experiment::statistics::{Equivalence, Estimate, Interval, Paired, clopper_pearson, wilson};

const DRAWS: usize = 2000;

/// Checks that 95 % of the intervals contain the true value. The standard error of the share is 0.49 points, and three
/// of them are allowed.
#[track_caller]
fn covers(truth: f64, mut draw: impl FnMut() -> Interval) {
    let share = (0..DRAWS).filter(|_| draw().contains(truth)).count() as f64 / DRAWS as f64;
    assert!((0.935..=0.965).contains(&share), "{share}");
}

fn normals(random: &mut SplitMix64, count: usize, mean: f64, deviation: f64) -> Vec<f64> {
    (0..count).map(|_| mean + deviation * random.normal()).collect()
}

#[test]
fn means_of_normal_values() {
    let mut random = SplitMix64::new(1);
    for n in [2, 5, 30] {
        covers(3.0, || Estimate::of(&normals(&mut random, n, 3.0, 2.0), 0.95).unwrap().interval.unwrap());
    }
}

#[test]
fn differences_of_pairs() {
    // What both of a pair share, the difficulty of a split, is far larger than what tells them apart.
    let mut random = SplitMix64::new(2);
    covers(0.1, || {
        let shared = normals(&mut random, 10, 0.0, 5.0);
        let [a, b] = [0.1, 0.0]
            .map(|mean| shared.iter().zip(normals(&mut random, 10, mean, 0.3)).map(|(s, x)| s + x).collect::<Vec<_>>());
        Paired::of(&a, &b, 0.95, 1).unwrap().interval.unwrap()
    });
}

/// For 100 trials with a share of 0.3, the coverage by summation over all counts is 0.9498 (Wilson).
#[test]
fn shares() {
    let mut random = SplitMix64::new(3);
    let mut successes = || (0..100).filter(|_| random.unit() < 0.3).count() as u64;
    covers(0.3, || wilson(successes(), 100, 0.95).unwrap());
    let exact = (0..DRAWS).filter(|_| clopper_pearson(successes(), 100, 0.95).unwrap().contains(0.3)).count();
    // At least the level, so 93.5 % with the same standard error.
    assert!(exact as f64 >= 0.935 * DRAWS as f64, "{exact}");
}

/// Returns the differences of resampled splits, which have the variance 1 and the correlation `correlation`.
fn splits(random: &mut SplitMix64, n: usize, correlation: f64) -> Vec<f64> {
    let shared = correlation.sqrt() * random.normal();
    (0..n).map(|_| shared + (1.0 - correlation).sqrt() * random.normal()).collect()
}

/// The correction assumes that two splits have the correlation n_test / (n_test + n_train).
#[test]
fn resampled_splits() {
    let mut random = SplitMix64::new(4);
    for (n, train, test) in [(10, 90, 10), (25, 70, 30)] {
        let zeros = vec![0.0; n];
        let correlation = test as f64 / (test + train) as f64;
        covers(0.0, || {
            let differences = splits(&mut random, n, correlation);
            Paired::resampled(&differences, &zeros, train, test, 0.95).unwrap().interval.unwrap()
        });
        // Without the correction, far fewer intervals contain the true value.
        let plain = (0..500).filter(|_| {
            let differences = splits(&mut random, n, correlation);
            Estimate::of(&differences, 0.95).unwrap().interval.unwrap().contains(0.0)
        });
        assert!(plain.count() < 430, "{n}");
    }
}

/// Of two samples with different variances and sizes; the interval at level 1 - 2 alpha.
#[test]
fn differences_of_samples() {
    let mut random = SplitMix64::new(5);
    covers(0.5, || {
        let (a, b) = (normals(&mut random, 10, 1.5, 1.0), normals(&mut random, 20, 1.0, 4.0));
        Equivalence::welch(&a, &b, 1.0, 0.025).unwrap().interval.unwrap()
    });
}
