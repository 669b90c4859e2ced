//! Mixed precision through the trainer: as accurate as f32, resumed without a change, and refused where it cannot be.

use fiedler::ops::random::{Stream, normal};
use fiedler::train::{
    Activation, Fit, Loss, MixedPrecision, Mlp, Norm, Optimizer, Part, RunStatus, Runs, Samples, Scaling, Split, Stop,
    Targets, Trainer,
};
use fiedler::{Context, ErrorKind, Result, Shape};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Points of three overlapping normal distributions, with inputs of very different sizes.
fn clouds(count: usize) -> Samples<f32> {
    let ctx = Context::cpu();
    let noise = normal::<f32>(&ctx, &mut Stream::new(1, "clouds"), Shape::new(5, count, 1), 0.0, 1.0)
        .and_then(|made| made.to_host(&ctx))
        .expect("random numbers");
    let labels: Vec<u32> = (0..count as u32).map(|i| i % 3).collect();
    let place = |(i, x): (usize, &f32)| x + if i % 5 == labels[i / 5] as usize { 1.5 } else { 0.0 };
    let x = noise.as_slice().iter().enumerate().map(place).collect();
    Samples::new(5, x, Targets::Labels(labels)).expect("samples")
}

fn net() -> Mlp {
    let net = Mlp::builder(5).layer(24, Activation::Relu).norm(Norm::Batch).dropout(0.1).layer(9, Activation::Tanh);
    net.output(3).expect("a network")
}

fn trainer(mixed: MixedPrecision) -> Trainer {
    Trainer::new(net(), Loss::CROSS_ENTROPY, Optimizer::Adam).batch(16).epochs(15).mixed_precision(mixed)
}

fn seeds(count: usize) -> Runs {
    Runs::seeds(Optimizer::Adam, 7, count).and_then(|runs| runs.grid("lr", &[3e-3])).expect("runs")
}

fn accuracies(fit: &Fit<f32>) -> Vec<f64> {
    fit.runs().iter().filter_map(|run| run.scores(Part::Test)).map(|scores| 100.0 * scores.accuracy()).collect()
}

/// Two one-sided tests at 5 % on the paired differences of 30 seeds: the 90 % interval of the mean lies within half a
/// point of accuracy. 1.699 is the quantile of Student's t with 29 degrees of freedom.
#[test]
fn no_accuracy_is_lost() {
    let (samples, runs) = (clouds(3000), seeds(30));
    let of = |mixed| trainer(mixed).fit(&Context::cpu(), &samples, &runs).expect("a fit");
    let exact = accuracies(&of(MixedPrecision::Off));
    for mixed in [MixedPrecision::F16, MixedPrecision::Bf16] {
        let fit = of(mixed);
        assert!(fit.runs().iter().all(|run| run.status() == RunStatus::Finished));
        let differences: Vec<f64> = accuracies(&fit).iter().zip(&exact).map(|(a, b)| a - b).collect();
        let n = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half = 1.699 * (variance / n).sqrt();
        eprintln!("{mixed}: {mean:.3} +- {half:.3} points");
        assert!(variance > 0.0, "{mixed}: nothing was rounded");
        assert!(mean.abs() + half < 0.5, "{mixed}: {mean} +- {half} points");
    }
}

/// The scale and the skipped steps go on as well. The first scale is too large for these targets, so steps are skipped.
#[test]
fn resuming_changes_no_bit() -> Result<()> {
    let points = clouds(600);
    let x: Vec<f32> = (0..600).flat_map(|row| points.row(row)).copied().collect();
    let values = (0..600).map(|row| 300.0 * points.row(row)[0]).collect();
    let samples = Samples::new(5, x, Targets::Values(values, 1))?;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("checkpoint.safetensors");
    let net = Mlp::builder(5).layer(24, Activation::Relu).output(1)?;
    let trainer = Trainer::new(net, Loss::MeanSquares, Optimizer::Adam)
        .batch(16)
        .epochs(400)
        .stop(Stop::on("validation.loss", 400)?)
        .mixed_precision(MixedPrecision::F16);
    let (ctx, runs) = (Context::builder().device(false).threads(2).build()?, seeds(8));
    let whole = trainer.clone().fit(&ctx, &samples, &runs)?;
    assert!(whole.runs().iter().all(|run| run.skipped_steps() > 0), "no step was skipped");
    let (cancel, calls) = (ctx.cancel().clone(), Arc::new(AtomicUsize::new(0)));
    let interrupted = trainer.clone().checkpoint(&path, Duration::from_millis(10)).progress(Arc::new(move |_| {
        if calls.fetch_add(1, Ordering::Relaxed) == 0 {
            cancel.cancel();
        }
    }));
    assert!(interrupted.fit(&ctx, &samples, &runs).is_err_and(|error| error.is_cancelled()), "not interrupted");
    let resumed = trainer.clone().checkpoint(&path, Duration::MAX).fit(&Context::cpu(), &samples, &runs)?;
    for run in 0..8 {
        let all = |fit: &Fit<f32>| {
            let own = &fit.runs()[run];
            format!("{:?} {:?} {:?} {}", fit.weights(run), own.history(), own.status(), own.skipped_steps())
        };
        assert_eq!(all(&whole), all(&resumed), "run {run}");
    }
    // The files tell of the scale and the skipped steps.
    let skipped: Vec<String> = whole.runs().iter().map(|run| run.skipped_steps().to_string()).collect();
    let table = whole.table();
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("a row of names");
    let place = names.iter().position(|name| *name == "skipped_steps").expect("a column");
    assert_eq!(lines.map(|line| line[place].to_owned()).collect::<Vec<_>>(), skipped);
    let log = whole.log();
    assert!(log.lines().all(|line| line.contains("\"loss_scale\":") && line.contains("\"skipped_steps\":")));
    let exact = trainer.mixed_precision(MixedPrecision::Off);
    let error =
        exact.clone().checkpoint(&path, Duration::MAX).fit(&Context::cpu(), &samples, &runs).expect_err("another");
    assert!(error.to_string().contains("mixed_precision: \"off\" now, \"f16\" in the checkpoint"), "{error}");
    let plain = exact.epochs(1).fit(&Context::cpu(), &samples, &runs)?;
    assert!(!plain.table().contains("skipped_steps") && !plain.log().contains("loss_scale"));
    Ok(())
}

#[test]
fn what_cannot_be_rounded_is_refused() -> Result<()> {
    let runs = seeds(1);
    let wide = Samples::new(5, vec![0.5_f64; 150], Targets::Labels((0..30).map(|i| i % 3).collect()))?;
    let error = trainer(MixedPrecision::Bf16).fit(&Context::cpu(), &wide, &runs).expect_err("f64");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    assert!(error.to_string().contains("expected a training in f32, found f64"), "{error}");
    let mut x = vec![0.5_f32; 150];
    x[7] = -70_000.0;
    let samples = Samples::new(5, x, Targets::Labels((0..30).map(|i| i % 3).collect()))?;
    let error = trainer(MixedPrecision::F16).fit(&Context::cpu(), &samples, &runs).expect_err("a large input");
    assert!(error.to_string().contains("found -70000 at input 2 of sample 1"), "{error}");
    // Scaled inputs and bf16 have no such limit.
    trainer(MixedPrecision::Bf16).epochs(1).fit(&Context::cpu(), &samples, &runs)?;
    let split = Split { shares: [0.8, 0.0, 0.2], seed: Some(1) };
    let scaled = trainer(MixedPrecision::F16).epochs(1).scaling(Scaling::Standard).split(split);
    assert_eq!(scaled.fit(&Context::cpu(), &samples, &runs)?.runs()[0].status(), RunStatus::Finished);
    Ok(())
}

/// A run that ends within its first epoch has a line for it in the log, in every precision. The squares of the targets
/// exceed f32. In f16, a step with such a loss is skipped as others are, until the loss scale is below 1.
#[test]
fn an_epoch_that_was_not_completed_is_recorded() -> Result<()> {
    let x: Vec<f32> = (0..1200).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect();
    let samples = Samples::new(2, x, Targets::Values(vec![1e30; 600], 1))?;
    let net = Mlp::builder(2).layer(4, Activation::Relu).output(1)?;
    for (mixed, status) in [
        (MixedPrecision::Off, RunStatus::NonFinite),
        (MixedPrecision::Bf16, RunStatus::NonFinite),
        (MixedPrecision::F16, RunStatus::Diverged),
    ] {
        let trainer = Trainer::new(net.clone(), Loss::MeanSquares, Optimizer::Adam).batch(16).epochs(3);
        let fit = trainer.mixed_precision(mixed).fit(&Context::cpu(), &samples, &seeds(2))?;
        for run in fit.runs() {
            let epochs: Vec<u64> = run.history().iter().map(|epoch| epoch.epoch).collect();
            assert_eq!((run.status(), &epochs[..]), (status, &[0][..]), "{mixed}");
            assert_eq!(run.skipped_steps(), if mixed == MixedPrecision::F16 { 17 } else { 0 });
        }
        let log = fit.log();
        assert!(log.lines().count() == 2 && log.lines().all(|line| line.contains("\"train.loss\":\"NaN\"")), "{log}");
    }
    Ok(())
}
