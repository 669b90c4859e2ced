//! Sampling through the library: the laws of the chains, their independence, the bound, and what is refused.

use fiedler::ops::random::{Stream, normal};
use fiedler::train::{
    Activation, Chains, Fitted, Init, Integral, Law, Loss, Metric, Mlp, Norm, Optimizer, Part, Runs, Samples, Scaling,
    Schedule, Sgld, Split, Targets, Trainer,
};
use fiedler::{Context, Shape};
use statrs::distribution::{ContinuousCDF as _, Normal};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const BOUNDED: Loss = Loss::BoundedCrossEntropy(4.0);

fn threads(count: usize) -> Context {
    Context::builder().device(false).threads(count).build().expect("a context")
}

/// 150 standard normal points in four dimensions, and on which side of a plane they lie, or random labels.
fn synth(random: bool) -> Samples<f32> {
    let ctx = Context::cpu();
    let noise = normal::<f32>(&ctx, &mut Stream::new(5, "synth"), Shape::new(5, 150, 1), 0.0, 1.0)
        .and_then(|made| made.to_host(&ctx))
        .expect("random numbers");
    let rows = noise.as_slice().chunks(5);
    let label = |x: &[f32]| if random { x[4] } else { 0.8 * x[0] - 0.5 * x[1] + 0.3 * x[2] + 0.1 * x[3] };
    let labels = rows.clone().map(|x| u32::from(label(x) > 0.0)).collect();
    Samples::new(4, rows.flat_map(|x| x[..4].to_vec()).collect(), Targets::Labels(labels)).expect("samples")
}

/// 50 samples for training and 100 for test.
fn third() -> Split {
    Split { shares: [1.0 / 3.0, 0.0, 2.0 / 3.0], seed: Some(3) }
}

fn net(hidden: usize) -> Mlp {
    Mlp::builder(4).layer(hidden, Activation::Relu).output(1).expect("a net")
}

fn small(law: Law) -> Sgld {
    Sgld::new(law, net(8), BOUNDED, 1.0)
        .betas(&[0.0, 2.0, 20.0])
        .epochs(&[1, 40, 90])
        .batch(10)
        .split(third())
        .seeds(7, 4)
}

fn parameters<T: fiedler::train::Number>(chains: &Chains<T>, rung: usize, seed: usize) -> Vec<f64> {
    chains.parameters(rung, seed).iter().flat_map(|tensor| tensor.data.iter().map(|x| x.to_f64())).collect()
}

/// Checks that values come from a normal distribution with mean 0: by Kolmogorov and Smirnov's distance, which a right
/// sample exceeds with probability 1e-6 (Massart), by the mean, and by the variance.
#[track_caller]
fn check_normal(values: &[f64], deviation: f64) {
    let (mut sorted, law) = (values.to_vec(), Normal::new(0.0, deviation).expect("a distribution"));
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let off = |(i, x): (usize, &f64)| (law.cdf(*x) - i as f64 / n).abs().max((law.cdf(*x) - (i + 1) as f64 / n).abs());
    let distance = sorted.iter().enumerate().map(off).fold(0.0, f64::max);
    assert!(distance < (2e6_f64.ln() / (2.0 * n)).sqrt(), "distance {distance}");
    let mean = values.iter().sum::<f64>() / n;
    assert!(mean.abs() < 6.0 * deviation / n.sqrt(), "mean {mean}");
    let variance = values.iter().map(|x| x * x).sum::<f64>() / n / (deviation * deviation);
    assert!((variance - 1.0).abs() < 6.0 * (2.0 / n).sqrt(), "variance {variance} of its own");
}

#[test]
fn beta_0_is_the_prior() {
    for law in Law::ALL {
        // The initial parameters are others, so the draw is the step's and not the start's.
        let sgld = Sgld::new(law, net(8), BOUNDED, 2.5).init(Init::Kaiming);
        let sgld = sgld.betas(&[0.0]).epochs(&[1]).batch(10).split(third()).seeds(1, 200);
        let chains = sgld.sample(&threads(2), &synth(false)).expect("chains");
        let all: Vec<f64> = (0..200).flat_map(|seed| parameters(&chains, 0, seed)).collect();
        assert_eq!(all.len(), 200 * 49);
        check_normal(&all, 2.5);
    }
}

/// A linear model of one input with the values 0: L = (w^2 + b^2) for the inputs 1 and -1. With the curvature
/// h = 2 s + p, the law of a step of size e at temperature T is normal with variance T / (h (1 - e h / 4)).
#[test]
fn a_linear_model_has_the_exact_law() {
    let samples = Samples::new(1, vec![1.0_f64, -1.0, 1.0, -1.0], Targets::Values(vec![0.0; 4], 1)).expect("samples");
    let (sigma, e) = (0.7_f64, 0.05);
    let prior = 1.0 / (sigma * sigma);
    for (law, beta) in [(Law::Posterior, 1.0), (Law::Posterior, 0.5), (Law::PacBayes, 3.0), (Law::Gibbs, 3.0)] {
        let chains = Sgld::new(law, Mlp::builder(1).output(1).expect("a net"), Loss::MeanSquares, sigma)
            .betas(&[beta])
            .epochs(&[250])
            .rates(&[e])
            .batch(4)
            .split(Split { shares: [1.0, 0.0, 0.0], seed: Some(0) })
            .seeds(100, 3000)
            .sample(&threads(2), &samples)
            .expect("chains");
        let (s, p) = match law {
            Law::Posterior => (4.0, prior / beta),
            Law::PacBayes => (1.0, prior / beta),
            Law::Gibbs => (1.0, prior),
        };
        let h = 2.0 * s + p;
        let variance = 1.0 / (beta * h * (1.0 - e * h / 4.0));
        let all: Vec<f64> = (0..3000).flat_map(|seed| parameters(&chains, 0, seed)).collect();
        check_normal(&all, variance.sqrt());
    }
}

/// On separable labels, the mean loss falls with beta; on random ones too, but the test error stays at a half. The
/// bounds are above what they bound, also where that is a half.
#[test]
fn losses_fall_and_bounds_hold() {
    for random in [false, true] {
        let chains = Sgld::pac_bayes(net(100), BOUNDED, 1.0)
            .betas(&[0.0, 1.0, 10.0, 50.0])
            .epochs(&[1, 200, 300, 600])
            .rates(&[0.1])
            .schedule(Schedule::Power { exponent: 0.5, floor: 0.05 })
            .batch(10)
            .split(third())
            .seeds(1, 12)
            .sample(&threads(2), &synth(random))
            .expect("chains");
        assert_eq!(chains.training_samples(), 50);
        let loss = |rung| chains.summary(Part::Train, Metric::Loss, rung);
        for rung in 1..4 {
            let (above, below) = (loss(rung - 1), loss(rung));
            let error = ((above.deviation.powi(2) + below.deviation.powi(2)) / 12.0).sqrt();
            assert!(below.mean < above.mean + 3.0 * error, "{random}: {above} then {below}");
        }
        let (first, last) = (loss(0), loss(3));
        let error = ((first.deviation.powi(2) + last.deviation.powi(2)) / 12.0).sqrt();
        assert!(last.mean < first.mean - 3.0 * error, "{random}: {first} then {last}");
        let test_error = |rung| 1.0 - chains.summary(Part::Test, Metric::Accuracy, rung).mean;
        // 100 samples have a standard error of 0.05.
        if random {
            assert!((test_error(3) - 0.5).abs() < 0.2, "{}", test_error(3));
        } else {
            assert!(test_error(3) < 0.2, "{}", test_error(3));
        }
        for rule in Integral::ALL {
            let (losses, errors) = (chains.bounds(0.05, rule).expect("bounds"), chains.error_bounds(0.05, rule));
            for (rung, (loss, error)) in losses.iter().zip(errors.expect("bounds")).enumerate() {
                let test = chains.unit_loss(Part::Test, rung).expect("a bounded loss");
                assert!(loss.expected > test && loss.expected <= 1.0, "{random} {rule:?} {loss:?}: {test}");
                assert!(error.expected > test_error(rung), "{random} {rule:?} {error:?}");
                assert_eq!((loss.beta, loss.divergence), (chains.betas()[rung], error.divergence));
            }
            // At beta = 0, the divergence is 0, and the bound says something.
            assert!(losses[0].divergence == 0.0 && losses[0].expected < 0.9, "{:?}", losses[0]);
        }
        // Directly: the exponent has the loss in [a, 4], whose differences are those of the scaled one times 4 - a.
        let upper = chains.bounds(0.05, Integral::UpperSum).expect("bounds");
        let integral = loss(0).mean + 9.0 * loss(1).mean + 40.0 * loss(2).mean;
        let divergence = (integral - 50.0 * loss(3).mean).max(0.0);
        assert!((upper[3].divergence - divergence).abs() < 1e-9 * divergence, "{:?}, expected {divergence}", upper[3]);
        let table = chains.bounds_table(0.05).expect("a table");
        assert_eq!(table.lines().count(), 1 + 4 * 2 * 2, "{table}");
    }
}

/// Everything about a chain that was computed.
fn result(chains: &Chains<f32>, rung: usize, seed: usize) -> String {
    let chain: &Fitted<f32> = chains.chains(rung).nth(seed).expect("a chain");
    let history: Vec<String> = chain.history().iter().map(|epoch| format!("{epoch:?}")).collect();
    format!(
        "{} {:?} {:?} {}",
        chain.epochs(),
        chains.parameters(rung, seed),
        chain.scores(Part::Test),
        history.join(" ")
    )
}

#[test]
fn a_chain_is_the_same_alone_and_beside_others() {
    let samples = synth(false);
    let all = small(Law::PacBayes).sample(&threads(2), &samples).expect("chains");
    let epochs: Vec<u64> = (0..3).map(|rung| all.chains(rung).next().expect("a chain").epochs()).collect();
    assert_eq!(epochs, [1, 40, 90]);
    assert_eq!(all.fit().runs().len(), 12);
    let one = small(Law::PacBayes).betas(&[20.0]).epochs(&[90]).seeds(9, 1).sample(&threads(1), &samples);
    assert_eq!(result(&one.expect("a chain"), 0, 0), result(&all, 2, 2));
    assert_ne!(result(&all, 2, 1), result(&all, 2, 2));
    let table = all.table();
    assert!(
        table.starts_with("run,seed,beta,lr,") && table.lines().nth(3).is_some_and(|row| row.starts_with("2,7,20,"))
    );
    // One number of epochs is for all but beta = 0, where one epoch draws what a hundred would.
    let runs = small(Law::Gibbs).epochs(&[30]).runs(50).expect("runs");
    let epochs: Vec<Option<u64>> = runs.rows()[..3].iter().map(|run| run.epochs).collect();
    assert_eq!(epochs, [Some(1), Some(30), Some(30)]);
    assert_eq!(runs.varied().collect::<Vec<_>>(), ["temperature"]);
}

#[test]
fn different_numbers_of_epochs_resume() {
    let samples = synth(false);
    let folder = tempfile::tempdir().expect("a folder");
    let sgld = small(Law::PacBayes).epochs(&[1, 4000, 9000]).schedule(Schedule::Cosine { floor: 0.1 });
    let whole = sgld.sample(&threads(2), &samples).expect("chains");
    let path = folder.path().join("checkpoint.safetensors");
    let (mut interrupted, mut left) = (0, Vec::new());
    let resumed = loop {
        let ctx = threads(2);
        let (cancel, calls) = (ctx.cancel().clone(), Arc::new(AtomicUsize::new(0)));
        let steps = Arc::new(AtomicUsize::new(0));
        let seen = steps.clone();
        let after = if interrupted < 2 { 1 } else { usize::MAX };
        let sgld = sgld.clone().checkpoint(&path, Duration::ZERO).progress(Arc::new(move |progress| {
            assert_eq!(progress.at_most, progress.expected, "no chain stops early");
            seen.store(progress.at_most as usize, Ordering::Relaxed);
            if calls.fetch_add(1, Ordering::Relaxed) + 1 >= after {
                cancel.cancel();
            }
        }));
        match sgld.sample(&ctx, &samples) {
            Ok(chains) => break chains,
            Err(error) => assert!(error.is_cancelled(), "{error}"),
        }
        left.push(steps.load(Ordering::Relaxed));
        interrupted += 1;
    };
    assert!(interrupted >= 1, "the chains were too short to interrupt");
    assert!(left[0] > 0 && left[0] < 4 * 5 * 13_001, "{left:?}");
    for rung in 0..3 {
        assert!((0..4).all(|seed| result(&whole, rung, seed) == result(&resumed, rung, seed)), "rung {rung}");
    }
    let other = sgld.epochs(&[1, 4000, 9001]).checkpoint(&path, Duration::ZERO).sample(&threads(2), &samples);
    assert!(other.is_err_and(|error| error.to_string().contains("run 2: epochs 9001 now, ")));
}

/// A run with a number of epochs of its own is the run of a trainer with that number.
#[test]
fn own_numbers_of_epochs() {
    let optimizer = Optimizer::Adam;
    let hyper = optimizer.defaults();
    let trainer =
        Trainer::new(net(8), BOUNDED, optimizer).batch(10).split(third()).schedule(Schedule::Cosine { floor: 0.0 });
    let fit =
        |epochs: u64, runs: &Runs| trainer.clone().epochs(epochs).fit(&threads(2), &synth(false), runs).expect("a fit");
    let mixed = fit(1, &Runs::of_kinds(&[(hyper, 3), (hyper, 8)], 5, 2).expect("runs"));
    for (place, epochs) in [(0, 3), (1, 8)] {
        let alone = fit(epochs, &Runs::seeds(optimizer, 5, 2).expect("runs"));
        for seed in 0..2 {
            let (own, other) = (&mixed.runs()[2 * seed + place], &alone.runs()[seed]);
            assert_eq!((own.epochs(), own.run().seed), (epochs, 5 + seed as u64));
            assert_eq!(mixed.weights(2 * seed + place), alone.weights(seed));
            assert_eq!(format!("{:?}", own.history()), format!("{:?}", other.history()));
        }
    }
    let none = Runs::of_kinds(&[(hyper, 3), (hyper, 0)], 5, 1).expect("runs");
    let error = trainer.clone().fit(&threads(1), &synth(false), &none).expect_err("no epoch").to_string();
    assert!(error.contains("run 1: expected at least 1 epoch"), "{error}");
    assert!(Runs::of_kinds(&[], 5, 2).is_err());
}

#[test]
fn what_does_not_fit_is_refused() {
    let samples = synth(false);
    let says = |sgld: Sgld, wanted: &str| {
        let message = sgld.sample(&threads(1), &samples).expect_err("a wrong call").to_string();
        assert!(message.contains(wanted), "{message}\nwanted: {wanted}");
    };
    let plain = || small(Law::PacBayes);
    let of = |sigma| Sgld::pac_bayes(net(8), BOUNDED, sigma).batch(10);
    says(of(0.0), "above 0, found 0");
    says(of(f64::NAN), "found NaN");
    says(of(f64::INFINITY), "found inf");
    says(plain().betas(&[]), "at least one beta");
    says(plain().betas(&[0.0, -1.0, 2.0]), "found -1");
    says(plain().betas(&[0.0, f64::NAN, 2.0]), "found NaN");
    says(plain().betas(&[0.0, 3.0, 2.0]), "found 2 after 3");
    says(plain().epochs(&[1, 2]), "numbers of epochs: expected 1 or 3, one for each beta, found 2");
    says(plain().epochs(&[1, 2, 0]), "beta 20: expected at least 1 epoch");
    says(plain().epochs(&[]), "found 0");
    says(plain().rates(&[0.1, 0.2]), "step sizes: expected 1 or 3");
    says(plain().rates(&[-0.1]), "above 0, found -0.1");
    says(plain().rates(&[0.1, 8.0, 8.0]), "beta 2: expected a step size below 8, found 8");
    says(plain().seeds(1, 0), "found 0");
    says(plain().batch(51), "at most 50 training samples");
    says(plain().schedule(Schedule::Plateau { factor: 0.5, patience: 3 }), "a plateau's");
    let built = |layer: fn(fiedler::train::MlpBuilder) -> fiedler::train::MlpBuilder| {
        let net = layer(Mlp::builder(4).layer(8, Activation::Relu)).output(1).expect("a net");
        Sgld::pac_bayes(net, BOUNDED, 1.0).batch(10)
    };
    says(built(|net| net.dropout(0.1)), "found dropout in layer 0");
    says(built(|net| net.norm(Norm::Batch)), "found batch normalization in layer 0");
    assert!(built(|net| net.norm(Norm::Layer)).epochs(&[1]).sample(&threads(1), &samples).is_ok());

    let refused = |sgld: Sgld, early: bool, wanted: &str| {
        assert_eq!(sgld.check_bound().is_err(), early, "{wanted}");
        let chains = sgld.epochs(&[1]).sample(&threads(2), &samples).expect("chains");
        let message = chains.bounds(0.05, Integral::UpperSum).expect_err("no bound").to_string();
        assert!(message.contains(wanted), "{message}\nwanted: {wanted}");
        assert!(chains.error_bounds(0.05, Integral::UpperSum).is_err() && chains.bounds_table(0.05).is_err());
    };
    refused(small(Law::Gibbs), true, "found gibbs");
    refused(plain().scaling(Scaling::Standard), true, "scaled by the training samples");
    refused(plain().split(Split { seed: None, ..third() }), true, "a split without a seed");
    refused(plain().betas(&[1.0, 2.0]), true, "begin with 0");
    refused(
        Sgld::pac_bayes(net(8), Loss::BinaryCrossEntropy, 1.0).betas(&[0.0, 1.0]),
        true,
        "the binary cross entropy",
    );
    refused(Sgld::posterior(net(8), Loss::Savage, 1e38).betas(&[0.0, 1.0]), false, "did");
    let chains = plain().sample(&threads(2), &samples).expect("chains");
    for delta in [0.0, 1.0, f64::NAN] {
        assert!(chains.bounds(delta, Integral::UpperSum).is_err_and(|error| error.to_string().contains("delta")));
    }
}
