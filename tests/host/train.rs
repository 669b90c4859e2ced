//! Training through the library: runs are independent, resuming changes nothing, the best parameters are the best, and
//! what does not fit is refused.

use fiedler::ops::random::{Stream, normal};
use fiedler::train::{
    Activation, Hyper, Loss, Metric, Mlp, Model, Norm, Optimizer, Origin, Part, RunStatus, Runs, Samples, Scaling,
    Schedule, Split, Stop, Targets, Trainer, WEIGHTS,
};
use fiedler::{Context, ErrorKind, Shape};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Points of three normal distributions in five dimensions, and the distribution that each came from.
fn clouds(count: usize, distance: f32) -> Samples<f32> {
    let ctx = Context::cpu();
    let noise = normal::<f32>(&ctx, &mut Stream::new(1, "clouds"), Shape::new(5, count, 1), 0.0, 1.0)
        .and_then(|made| made.to_host(&ctx))
        .expect("random numbers");
    let labels: Vec<u32> = (0..count as u32).map(|i| i % 3).collect();
    let place = |(i, x): (usize, &f32)| x + if i % 5 == labels[i / 5] as usize { distance } else { 0.0 };
    let x = noise.as_slice().iter().enumerate().map(place).collect();
    Samples::new(5, x, Targets::Labels(labels)).expect("samples")
}

fn net() -> Mlp {
    Mlp::builder(5)
        .layer(24, Activation::Relu)
        .norm(Norm::Batch)
        .dropout(0.1)
        .layer(9, Activation::Tanh)
        .output(3)
        .expect("a net")
}

fn trainer() -> Trainer {
    Trainer::new(net(), Loss::CROSS_ENTROPY, Optimizer::Adam)
        .batch(16)
        .epochs(30)
        .scaling(Scaling::Standard)
        .schedule(Schedule::Plateau { factor: 0.5, patience: 3 })
        .stop(Stop::on("validation.accuracy", 8).expect("a metric"))
}

fn grid(seeds: usize) -> Runs {
    let runs = Runs::seeds(Optimizer::Adam, 7, seeds).expect("runs");
    let runs = runs.grid("lr", &[3e-3, 1e-2]).and_then(|runs| runs.grid("clip", &[0.5]));
    runs.and_then(|runs| runs.grid("l1", &[1e-4])).expect("a grid")
}

fn threads(count: usize) -> Context {
    Context::builder().device(false).threads(count).build().expect("a context")
}

/// Everything about a run that the training computed.
fn result(fit: &fiedler::train::Fit<f32>, run: usize) -> String {
    let fitted = &fit.runs()[run];
    let history: Vec<String> = fitted.history().iter().map(|epoch| format!("{epoch:?}")).collect();
    format!(
        "{:?} {} {:?} {:?} {:?} {}",
        fitted.status(),
        fitted.epochs(),
        fitted.best_epoch(),
        fit.weights(run),
        fitted.scores(Part::Test),
        history.join(" ")
    )
}

#[test]
fn a_run_is_the_same_alone_and_beside_others() {
    let samples = clouds(600, 1.5);
    let all = trainer().fit(&threads(2), &samples, &grid(6)).expect("a fit");
    for count in [1, 3] {
        let again = trainer().fit(&threads(count), &samples, &grid(6)).expect("a fit");
        assert!((0..12).all(|run| result(&all, run) == result(&again, run)), "{count} threads");
    }
    // The runs of the last seeds alone, which have other numbers there.
    let few = Runs::seeds(Optimizer::Adam, 10, 3).expect("runs");
    let few = few.grid("lr", &[3e-3, 1e-2]).and_then(|runs| runs.grid("clip", &[0.5]));
    let few = few.and_then(|runs| runs.grid("l1", &[1e-4])).expect("a grid");
    let alone = trainer().fit(&threads(2), &samples, &few).expect("a fit");
    assert!((0..6).all(|run| result(&all, run + 6) == result(&alone, run)));
    assert_ne!(result(&all, 0), result(&all, 2), "two seeds, one result");
}

#[test]
fn resuming_changes_no_bit() {
    let samples = clouds(600, 1.5);
    let folder = tempfile::tempdir().expect("a folder");
    let trainer = trainer().epochs(150).stop(Stop::on("validation.loss", 60).expect("a metric"));
    let runs = grid(8);
    let whole = trainer.clone().fit(&threads(2), &samples, &runs).expect("a fit");
    for stops in [1, 2, 5] {
        let path = folder.path().join(format!("{stops}.safetensors"));
        let mut interrupted = 0;
        let resumed = loop {
            let ctx = threads(2);
            let (cancel, calls) = (ctx.cancel().clone(), Arc::new(AtomicUsize::new(0)));
            // Cancelled after a few rounds, `stops` times.
            let after = if interrupted < stops { 1 + interrupted } else { usize::MAX };
            let trainer = trainer.clone().checkpoint(&path, Duration::from_millis(30)).progress(Arc::new(move |_| {
                if calls.fetch_add(1, Ordering::Relaxed) + 1 >= after {
                    cancel.cancel();
                }
            }));
            match trainer.fit(&ctx, &samples, &runs) {
                Ok(fit) => break fit,
                Err(error) => assert!(error.is_cancelled(), "{error}"),
            }
            interrupted += 1;
        };
        assert!(interrupted >= 1, "the training was too short to interrupt");
        assert!((0..16).all(|run| result(&whole, run) == result(&resumed, run)), "{stops} interruptions");
    }
}

#[test]
fn a_checkpoint_of_another_training_is_refused() {
    let (samples, folder) = (clouds(90, 1.5), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("checkpoint.safetensors");
    let ctx = threads(2);
    let cancel = ctx.cancel().clone();
    let begun =
        trainer().epochs(100_000).checkpoint(&path, Duration::ZERO).progress(Arc::new(move |_| cancel.cancel()));
    let stop = Stop::on("validation.accuracy", 100_000).expect("a metric");
    assert!(begun.stop(stop).fit(&ctx, &samples, &grid(1)).is_err_and(|error| error.is_cancelled()));
    let error = trainer().checkpoint(&path, Duration::from_secs(60)).fit(&threads(2), &samples, &grid(1));
    let message = error.expect_err("another number of epochs").to_string();
    assert!(message.contains("epochs: 30 now, 100000 in the checkpoint"), "{message}");
    let other = clouds(93, 1.5);
    let message = trainer()
        .checkpoint(&path, Duration::from_secs(60))
        .fit(&threads(2), &other, &grid(1))
        .expect_err("other data")
        .to_string();
    assert!(message.contains("the data differ"), "{message}");
    // A file that is cut off, at every kind of place.
    let bytes = std::fs::read(&path).expect("a checkpoint");
    for len in [0, 7, 9, 300, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..len]).expect("a file");
        let error = trainer().checkpoint(&path, Duration::from_secs(60)).fit(&threads(2), &samples, &grid(1));
        let error = error.expect_err("a broken file");
        assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{len} bytes: {error}");
    }
}

/// The best parameters are kept as they were, and are not those of the last epoch.
#[test]
fn the_best_parameters_are_the_best() {
    let samples = clouds(300, 1.0);
    let fit = trainer().epochs(60).fit(&threads(2), &samples, &grid(4)).expect("a fit");
    let mut earlier = 0;
    for (number, run) in fit.runs().iter().enumerate() {
        let best = run.best_epoch().expect("a stopping rule") as usize;
        let accuracy = |epoch: usize| run.history()[epoch].validation[1];
        let largest = (0..run.history().len()).map(accuracy).fold(0.0, f64::max);
        assert_eq!(accuracy(best), largest, "run {number}");
        assert_eq!(run.scores(Part::Validation).expect("scores").accuracy(), largest, "run {number}: other parameters");
        earlier += usize::from(best + 1 < run.history().len());
        if run.status() == RunStatus::Stopped {
            assert_eq!(run.epochs() as usize, best + 1 + 9, "run {number}: patience 8 is exceeded by the ninth epoch");
        }
    }
    assert!(earlier > 0, "no run went on after its best epoch");
}

#[test]
fn networks_learn_and_predict() {
    let samples = clouds(900, 3.0);
    let ctx = threads(2);
    let fit = trainer().fit(&ctx, &samples, &grid(2)).expect("a fit");
    // The Bayes rate of three normal distributions whose means are 3 sqrt(2) apart is above 0.96.
    let accuracy = fit.summary(Part::Test, Metric::Accuracy);
    assert!(accuracy.mean > 0.93 && accuracy.n == 4, "{accuracy}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(WEIGHTS);
    let classes = ["a", "b", "c"].map(str::to_owned).to_vec();
    let origin = Origin { classes, target: Some(5), left_out: vec![0, 2], ..Origin::default() };
    fit.write_weights(&path, &origin).expect("a file");
    let model = Model::<f32>::open(&path).expect("a model");
    assert_eq!((model.runs(), model.columns(), model.origin(), model.best_run()), (4, 3, &origin, fit.best_run()));
    let x: Vec<f32> = (0..900).flat_map(|row| samples.row(row).to_vec()).collect();
    let all: Vec<usize> = (0..4).collect();
    for runs in [&all[..1], &all] {
        let found = model.predict(&ctx, 5, x.clone(), runs).expect("predictions");
        let right = found.chunks(3).enumerate().filter(|(i, p)| (0..3).all(|c| p[c] <= p[i % 3])).count();
        assert!(right > 810, "{right} of 900");
        assert!(found.chunks(3).all(|p| (p.iter().sum::<f64>() - 1.0).abs() < 1e-5));
    }
    assert!(model.predict(&ctx, 4, vec![0.0; 8], &[0]).is_err_and(|e| e.to_string().contains("5 inputs")));
    assert!(model.predict(&ctx, 5, vec![f32::NAN; 5], &[0]).is_err_and(|e| e.to_string().contains("finite")));
    assert!(model.predict(&ctx, 5, vec![0.0; 5], &[4]).is_err_and(|e| e.to_string().contains("below 4")));
    assert!(Model::<f64>::open(&path).is_err());
    // One run under torch's names.
    let path = folder.path().join("one.safetensors");
    fit.export(&path, 2).expect("a file");
    let bytes = std::fs::read(&path).expect("bytes");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let weight = tensors.tensor("layers.1.weight").expect("a tensor");
    assert_eq!(weight.shape(), [9, 24]);
    assert_eq!(tensors.tensor("norms.0.running_var").expect("a tensor").shape(), [24]);
}

/// Regression: values that are a linear function of the inputs are fitted to rounding.
#[test]
fn values_are_fitted() {
    let x: Vec<f64> = (0..400).map(|i| f64::from(i * 7919 % 401) / 200.0 - 1.0).collect();
    let values = x.chunks(2).map(|x| 0.3 * x[0] - 0.8 * x[1] + 0.1).collect();
    let samples = Samples::new(2, x, Targets::Values(values, 1)).expect("samples");
    let optimizer = Optimizer::Sgd { nesterov: false };
    let runs = Runs::seeds(optimizer, 1, 2).and_then(|runs| runs.grid("lr", &[0.3])).expect("runs");
    let net = Mlp::builder(2).output(1).expect("a net");
    let fit = Trainer::new(net, Loss::MeanSquares, optimizer).batch(20).epochs(200).fit(&threads(1), &samples, &runs);
    let fit = fit.expect("a fit");
    assert!(fit.summary(Part::Test, Metric::Loss).mean < 1e-20, "{}", fit.summary(Part::Test, Metric::Loss));
    let scores = fit.runs()[0].scores(Part::Test).expect("scores");
    assert!(scores.accuracy().is_nan() && scores.auc().is_nan());
    assert!(scores.r2() > 1.0 - 1e-12 && scores.mean_absolute_error() <= scores.root_mean_square_error());
    assert!((scores.root_mean_square_error().powi(2) - scores.loss()).abs() < 1e-25);
    let table = fit.table();
    let head = table.lines().next().expect("a head");
    assert!(head.contains("test.loss,test.r2,test.rmse,test.mae,") && !head.contains("accuracy"), "{head}");
    let weight = &fit.weights(0)[0];
    assert!((weight.data[0] - 0.3).abs() < 1e-9 && (weight.data[1] + 0.8).abs() < 1e-9, "{weight:?}");
}

/// A run whose learning rate is absurd diverges, and the others do not notice.
#[test]
fn one_diverges_the_others_go_on() {
    let samples = clouds(300, 2.0);
    let optimizer = Optimizer::Sgd { nesterov: false };
    let net = || Mlp::builder(5).layer(8, Activation::Relu).output(3).expect("a net");
    let train = |rates: &[f64]| {
        let runs = Runs::seeds(optimizer, 3, 1).and_then(|runs| runs.grid("lr", rates)).expect("runs");
        Trainer::new(net(), Loss::CROSS_ENTROPY, optimizer).epochs(20).fit(&threads(2), &samples, &runs).expect("a fit")
    };
    let (mixed, alone) = (train(&[0.1, 1e38, 0.05]), train(&[0.1]));
    let statuses: Vec<RunStatus> = mixed.runs().iter().map(|run| run.status()).collect();
    assert_eq!(statuses, [RunStatus::Finished, RunStatus::Diverged, RunStatus::Finished]);
    assert_eq!(result(&mixed, 0), result(&alone, 0));
    assert_eq!(mixed.summary(Part::Test, Metric::Accuracy).n, 2, "a diverged run counts in no statistic");
    let table = mixed.table();
    assert_eq!(table.lines().count(), 4);
    assert!(table.contains(",Diverged,"), "{table}");
    assert_eq!(mixed.log().lines().filter(|line| line.contains("\"run\":2")).count(), 20);
}

#[test]
fn what_does_not_fit_is_refused() {
    let samples = clouds(30, 1.0);
    let fit = |trainer: Trainer, samples: &Samples<f32>, runs: &Runs| {
        trainer.fit(&threads(1), samples, runs).expect_err("a wrong call").to_string()
    };
    let plain = |net| Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).batch(8);
    let (runs, net) = (grid(1), net());
    let labels =
        |labels: Vec<u32>| Samples::new(5, vec![0.5; 5 * labels.len()], Targets::Labels(labels)).expect("samples");
    let says = |message: String, wanted: &str| assert!(message.contains(wanted), "{message}\nwanted: {wanted}");
    let narrow = Mlp::builder(4).output(3).expect("a net");
    says(fit(plain(narrow), &samples, &runs), "expected 4 inputs");
    says(fit(plain(net.clone()), &labels(vec![0, 1, 2, 3, 0, 1, 2, 0, 1, 2]), &runs), "found 3 at sample 3");
    says(fit(plain(net.clone()), &labels(vec![1; 20]), &runs), "only class 1");
    says(fit(plain(net.clone()).batch(22), &samples, &runs), "at most 21 training samples, found 22");
    says(fit(plain(net.clone()).batch(1), &samples, &runs), "at least 2 samples");
    says(fit(plain(net.clone()).epochs(0), &samples, &runs), "at least 1 epoch");
    let tiny = Split { shares: [0.99, 0.005, 0.005], seed: None };
    says(fit(plain(net.clone()).split(tiny), &samples, &runs), "at least one sample for");
    let none = Split { shares: [0.8, 0.0, 0.2], seed: None };
    says(fit(trainer().split(none), &samples, &runs), "samples for validation, found none");
    says(fit(plain(Mlp::builder(5).output(1).expect("a net")), &samples, &runs), "at least 2 outputs");
    let values = Samples::new(5, vec![0.5; 50], Targets::Values(vec![0.0; 10], 1)).expect("samples");
    says(fit(plain(net.clone()), &values, &runs), "expected labels, found values");
    let small = Context::builder().device(false).memory_budget(1000).build().expect("a context");
    let error = plain(net.clone()).fit(&small, &samples, &runs).expect_err("too little memory");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let ctx = threads(1);
    ctx.cancel().cancel();
    assert!(plain(net).fit(&ctx, &samples, &runs).is_err_and(|error| error.is_cancelled()));

    let samples = |x: Vec<f32>, targets| Samples::new(2, x, targets).expect_err("wrong samples").to_string();
    says(samples(vec![0.0; 3], Targets::Labels(vec![0, 1])), "2 samples of 2 inputs");
    says(samples(vec![0.0, 1.0, f32::NAN, 0.0], Targets::Labels(vec![0, 1])), "NaN at input 0 of sample 1");
    says(samples(vec![0.0; 4], Targets::Values(vec![0.0, f32::INFINITY], 1)), "found inf at sample 1");
    says(Runs::seeds(Optimizer::Adam, 0, 0).expect_err("no runs").to_string(), "found 0");
    let grid = |name, values: &[f64]| {
        Runs::seeds(Optimizer::Adam, 0, 1)
            .and_then(|runs| runs.grid(name, values))
            .expect_err("a wrong grid")
            .to_string()
    };
    says(grid("speed", &[1.0]), "found speed");
    says(grid("lr", &[1e-3, -1.0]), "found -1");
    says(grid("lr", &[]), "found 0");
    says(Stop::on("accuracy", 3).expect_err("no part").to_string(), "validation.accuracy");
    says(Stop::on("test.speed", 3).expect_err("no metric").to_string(), "test.speed");
    says(Mlp::builder(5).layer(0, Activation::Relu).output(2).expect_err("no width").to_string(), "found 0");
    says(
        Mlp::builder(5).layer(3, Activation::Relu).dropout(1.0).output(2).expect_err("all dropped").to_string(),
        "found 1",
    );
    let nesterov = Optimizer::Sgd { nesterov: true };
    let hyper = Hyper { momentum: 0.0, ..nesterov.defaults() };
    says(hyper.check(nesterov).expect_err("no momentum").to_string(), "a momentum above 0");
}

/// The choice follows the number of steps and of runs, and nothing is trained on a device that is not there.
#[test]
fn a_training_says_where_it_would_run() {
    use fiedler::policy::{Backend, Reason, Side};
    let ctx = threads(2);
    let seconds = |epochs, runs| {
        let choice = trainer().epochs(epochs).choose::<f32>(&ctx, 600, runs).expect("a choice");
        assert_eq!((choice.side, choice.reason), (Side::Cpu, Reason::NotWorthOpening));
        choice.cpu_seconds
    };
    // The scores at the end take less time than one epoch, so they are far below a hundredth of a thousand epochs.
    assert!((seconds(2000, 10) / seconds(1000, 10) - 2.0).abs() < 1e-2);
    assert!((seconds(1000, 40) / seconds(1000, 20) - 2.0).abs() < 1e-9);
    let gpu = ctx.with_backend(Backend::Gpu);
    assert_eq!(trainer().choose::<f64>(&gpu, 600, 1).expect("a choice").gpu_seconds, f64::INFINITY);
    let memory = trainer().memory::<f64>(&ctx, 600, 3).expect("the memory");
    // The data and their targets, a list of the samples of each run, and the best and the last parameters.
    let data = 600 * (5 * 8 + 8) + 3 * 600 * 4;
    assert!(memory.device.is_none() && memory.host > data + 3 * 2 * 3 * 8 * 300, "{memory:?}");
    // Each thread packs 256 rows of at most 2 KiB of a factor of a large product, and 8 columns of the other.
    let of = |width, batch, count| {
        let net = Mlp::builder(width).layer(width, Activation::Relu).output(3).expect("a net");
        let trainer = Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).batch(batch);
        trainer.memory::<f32>(&threads(count), 600, 1).expect("the memory").host
    };
    assert_eq!(of(600, 256, 3) - of(600, 256, 1), 2 * 4 * (256 * (512 + 8) + 8));
    assert_eq!(of(600, 8, 3), of(600, 8, 1));
    let fit = trainer().epochs(1).fit(&ctx, &clouds(90, 1.5), &grid(1)).expect("a fit");
    assert_eq!((fit.choice().side, fit.choice().workload.items), (Side::Cpu, 2.0));
    assert!(trainer().split(Split { shares: [0.5, 0.1, 0.1], seed: None }).choose::<f32>(&ctx, 600, 1).is_err());
}
