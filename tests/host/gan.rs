//! Adversarial pairs through the public API.

use fiedler::train::{Activation, FittedPair, Gan, GanFit, Hyper, Mlp, Norm, Number, Optimizer, RunStatus, Runs, grid};
use fiedler::{Context, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SIDE: usize = 8;

fn networks() -> [Mlp; 2] {
    let generator = Mlp::builder(16).layer(24, Activation::Relu).output(SIDE * SIDE).expect("a generator");
    let discriminator = Mlp::builder(2).layer(20, Activation::LeakyRelu(0.2)).output(1).expect("a discriminator");
    [generator, discriminator]
}

fn gan() -> Gan {
    let [generator, discriminator] = networks();
    Gan::new(generator, discriminator, Optimizer::Adam, grid(SIDE))
}

fn hyper() -> Hyper {
    Hyper { learning_rate: 0.01, beta_1: 0.7, weight_decay: 0.005, ..Optimizer::Adam.defaults() }
}

/// Returns distributions that grow along the first axis, each steeper than the one before.
fn targets(count: usize) -> Vec<f32> {
    let row = |steep: usize| {
        let above: Vec<f32> = (0..SIDE * SIDE).map(|i| 1.0 + (steep * (i % SIDE)) as f32).collect();
        let sum: f32 = above.iter().sum();
        above.into_iter().map(move |x| x / sum).collect::<Vec<_>>()
    };
    (1..=count).flat_map(row).collect()
}

fn cpu(threads: usize) -> Context {
    Context::builder().device(false).threads(threads).build().expect("a context")
}

fn bits<T: Number>(pair: &FittedPair<T>) -> (Vec<[u64; 2]>, Vec<u64>, Vec<u64>) {
    let networks = pair.networks().into_iter().flatten().flatten().flat_map(|tensor| &tensor.data);
    (
        pair.losses().iter().map(|losses| losses.map(f64::to_bits)).collect(),
        pair.distribution().iter().map(|p| p.to_f64().to_bits()).collect(),
        networks.map(|w| w.to_f64().to_bits()).collect(),
    )
}

/// The divergence of the target from the uniform distribution is what a generator that learned nothing has.
#[test]
fn generators_come_closer_to_their_targets() {
    let targets = targets(3);
    let runs = Runs::of_hyper(Hyper { learning_rate: 1e-3, ..hyper() }, 1, 3).expect("runs");
    let fit = gan().steps(400).fit(&cpu(2), &targets, &runs).expect("a fit");
    for (pair, target) in fit.runs().iter().zip(targets.chunks(SIDE * SIDE)) {
        let uniform: f64 = target.iter().map(|&p| f64::from(p) * (f64::from(p) * 64.0).ln()).sum();
        assert_eq!((pair.status(), pair.losses().len()), (RunStatus::Finished, 400));
        assert!(pair.divergence() < 0.8 * uniform, "{} of {uniform}", pair.divergence());
        let sum: f64 = pair.distribution().iter().map(|&p| f64::from(p)).sum();
        // 64 roundings of numbers that add up to 1.
        assert!((sum - 1.0).abs() < 64.0 * f64::from(f32::EPSILON), "{sum}");
    }
}

#[test]
fn a_pair_is_the_same_alone_and_beside_others() {
    let targets = targets(5);
    let fitted = |threads, rows: &[f32], first, count| -> GanFit<f32> {
        let runs = Runs::of_hyper(hyper(), first, count).expect("runs");
        gan().steps(20).keep_parameters(true).fit(&cpu(threads), rows, &runs).expect("a fit")
    };
    let (one, two) = (fitted(1, &targets, 7, 5), fitted(2, &targets, 7, 5));
    for (place, (a, b)) in one.runs().iter().zip(two.runs()).enumerate() {
        let alone = fitted(1, &targets[place * SIDE * SIDE..][..SIDE * SIDE], 7 + place as u64, 1);
        assert!(bits(a) == bits(b) && bits(a) == bits(&alone.runs()[0]), "pair {place}");
        let [generator, discriminator] = networks();
        assert_eq!(bits(a).2.len(), generator.parameters() + discriminator.parameters());
    }
    assert!(bits(&one.runs()[0]).0 != bits(&one.runs()[1]).0, "two seeds, one result");
}

#[test]
fn one_diverges_the_others_go_on() {
    let targets = targets(2);
    let runs = Runs::of_hyper(hyper(), 1, 1).expect("runs").grid("lr", &[1e39, 0.01]).expect("a grid");
    let fit = gan().steps(10).fit(&cpu(2), &targets, &runs).expect("a fit");
    assert_eq!(
        fit.runs().iter().map(FittedPair::status).collect::<Vec<_>>(),
        [RunStatus::Diverged, RunStatus::Finished]
    );
    assert!(fit.runs()[0].losses().iter().flatten().all(|loss| loss.is_finite()));
    // No step follows that would notice.
    let short = gan().steps(1).fit(&cpu(2), &targets, &runs).expect("a fit");
    assert_eq!((short.runs()[0].status(), short.runs()[0].losses().len()), (RunStatus::Diverged, 1));
    assert_eq!(fit.runs()[1].losses().len(), 10);
}

#[test]
fn progress_is_told_after_every_pair() {
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    let told = gan().steps(2).progress(Arc::new(move |progress| {
        assert_eq!(progress.steps, 2 * progress.ended as u64);
        seen.fetch_add(1, Ordering::Relaxed);
    }));
    told.fit(&cpu(2), &targets(4), &Runs::of_hyper(hyper(), 1, 4).expect("runs")).expect("a fit");
    assert_eq!(calls.load(Ordering::Relaxed), 4);
}

#[test]
fn what_does_not_fit_is_refused() {
    let ctx = cpu(2);
    let (good, runs) = (targets(2), Runs::of_hyper(hyper(), 1, 2).expect("runs"));
    #[track_caller]
    fn refused<T>(found: Result<T>, kind: fn(&ErrorKind) -> bool, what: &str) {
        let error = found.err().expect("an error");
        assert!(kind(error.kind()) && error.to_string().contains(what), "{error}");
    }
    let domain = |kind: &ErrorKind| matches!(kind, ErrorKind::Domain { .. });
    let shape = |kind: &ErrorKind| matches!(kind, ErrorKind::Shape { .. });
    let fit = |gan: Gan, targets: &[f32], runs: &Runs| gan.fit(&ctx, targets, runs);
    let [generator, discriminator] = networks();
    let other = |generator: &Mlp, discriminator: &Mlp, optimizer, points| {
        Gan::new(generator.clone(), discriminator.clone(), optimizer, points)
    };
    refused(fit(gan(), &good[1..], &runs), shape, "expected a distribution over 64 points for each of 2 runs");
    let mut negative = good.clone();
    negative[70] = -0.5;
    refused(fit(gan(), &negative, &runs), domain, "distribution 1: expected probabilities, found -0.5");
    negative[70] = f32::NAN;
    refused(fit(gan(), &negative, &runs), domain, "found NaN");
    let twice: Vec<f32> = good.iter().map(|p| 2.0 * p).collect();
    refused(fit(gan(), &twice, &runs), domain, "distribution 0: expected a sum of 1, found 2");
    refused(fit(gan().steps(0), &good, &runs), domain, "at least 1 step");
    let adam = Optimizer::Adam;
    let points = |count: usize| vec![0.5; count];
    refused(
        fit(other(&generator, &discriminator, adam, points(64)), &good, &runs),
        shape,
        "64 points of 2 coordinates",
    );
    let mut infinite = points(128);
    infinite[9] = f64::INFINITY;
    refused(fit(other(&generator, &discriminator, adam, infinite), &good, &runs), domain, "found inf at point 4");
    let two = Mlp::builder(2).output(2).expect("a network");
    refused(fit(other(&generator, &two, adam, points(128)), &good, &runs), domain, "1 output, found 2");
    let normed = Mlp::builder(16).layer(9, Activation::Relu).norm(Norm::Layer).output(64).expect("a network");
    refused(fit(other(&normed, &discriminator, adam, points(128)), &good, &runs), domain, "generator: expected layers");
    let sgld = Runs::seeds(Optimizer::Sgld, 1, 2).expect("runs");
    let sampler = other(&generator, &discriminator, Optimizer::Sgld, points(128));
    refused(fit(sampler, &good, &sgld), domain, "expected an optimizer, found the sampler sgld");
    let clipped = Runs::of_hyper(Hyper { clip: 1.0, ..hyper() }, 1, 2).expect("runs");
    refused(fit(gan(), &good, &clipped), domain, "run 0: ");
    let own = Runs::of_kinds(&[(hyper(), 3)], 1, 2).expect("runs");
    refused(fit(gan(), &good, &own), domain, "run 0: expected neither epochs");
    let small = Context::builder().device(false).memory_budget(1 << 14).build().expect("a context");
    refused(gan().fit(&small, &good, &runs), |kind| matches!(kind, ErrorKind::Limit { .. }), "bytes for 2 pairs");
    let cancelled = cpu(1);
    cancelled.cancel().cancel();
    refused(gan().fit(&cancelled, &good, &runs), |kind| matches!(kind, ErrorKind::Cancelled), "");
}
