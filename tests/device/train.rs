//! Training on every backend: like training in f64, with the same bits alone and after an interruption.

use common::solve::{Checked, alike};
use common::{Test, on_each, sample, suite};
use fiedler::forms::{KernelForm, MlpForm};
use fiedler::ops::random::{Stream, normal};
use fiedler::policy::{Curve, Family, Point, Reason, Side};
use fiedler::train::{
    Activation, Fit, Gan, Loss, Metric, MixedPrecision, Mlp, Norm, Optimizer, Part, RunStatus, Runs, Samples, Scaling,
    Schedule, Sgld, Split, Stop, Targets, Trainer, grid,
};
use fiedler::{Backend, Context, ErrorKind, Result, Shape};
use std::sync::Arc;
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    suite(
        "train",
        vec![
            on_each("as in f64", as_in_f64),
            on_each("a layer at a time", a_layer_at_a_time),
            on_each("inputs of any unit", inputs_of_any_unit),
            on_each("resumed", resumed),
            on_each("in groups", in_groups),
            on_each("chains", chains),
            on_each("mixed precision", mixed),
            on_each("chosen", chosen),
            on_each("too large", too_large),
            on_each("wide in mixed precision", wide_in_mixed_precision),
            on_each("refused in f64", refused_in_f64),
            on_each("adversarial pairs are refused", pairs_are_refused),
        ],
    )
}

/// Points of three normal distributions in five dimensions, and the distribution that each came from.
fn clouds<T>(number: impl Fn(f32) -> T) -> Result<Samples<T>>
where
    T: fiedler::train::Number,
{
    let count = 240;
    let ctx = Context::cpu();
    let noise = normal::<f32>(&ctx, &mut Stream::new(1, "clouds"), Shape::new(5, count, 1), 0.0, 1.0)?.to_host(&ctx)?;
    let labels: Vec<u32> = (0..count as u32).map(|i| i % 3).collect();
    let place = |(i, x): (usize, &f32)| number(x + if i % 5 == labels[i / 5] as usize { 2.0 } else { 0.0 });
    let x = noise.as_slice().iter().enumerate().map(place).collect();
    Samples::new(5, x, Targets::Labels(labels.clone()))
}

fn trainer() -> Result<Trainer> {
    let net = Mlp::builder(5).layer(24, Activation::Relu).norm(Norm::Batch).dropout(0.1).layer(9, Activation::Tanh);
    Ok(Trainer::new(net.output(3)?, Loss::CROSS_ENTROPY, Optimizer::Adam)
        .batch(16)
        .epochs(12)
        .scaling(Scaling::Standard)
        .stop(Stop::on("validation.loss", 8)?))
}

fn runs() -> Result<Runs> {
    Runs::seeds(Optimizer::Adam, 7, 3)?.grid("lr", &[3e-3, 1e-2])
}

fn parameters(fit: &Fit<f32>, run: usize) -> Vec<u32> {
    fit.weights(run).iter().flat_map(|tensor| tensor.data.iter().map(|x| x.to_bits())).collect()
}

/// The loss of the first epoch, of 11 steps, has a relative error of some 11 steps' rounding errors. The biases in
/// front of the batch normalization have no gradient but rounding errors, which Adam turns into whole steps. The
/// running means follow them late, so the validation loss is less accurate.
fn first_epochs_agree(found: &Fit<f32>, wanted: &Fit<f64>) {
    for (found, wanted) in found.runs().iter().zip(wanted.runs()) {
        assert!(found.status().is_good(), "{}", found.status());
        let (a, b) = (found.history()[0], wanted.history()[0]);
        assert!((a.loss - b.loss).abs() < 1e-5 * b.loss, "{} and {}", a.loss, b.loss);
        assert!((a.validation[0] - b.validation[0]).abs() < 1e-2 * b.validation[0], "{a:?} and {b:?}");
        assert_eq!(a.accuracy.to_bits(), b.accuracy.to_bits());
    }
}

/// After the first epoch, trajectories part, and only the accuracies of the test samples are compared, whose mean has a
/// standard deviation of 2 points.
fn as_in_f64(ctx: &Context) -> Checked {
    let found = trainer()?.fit(ctx, &clouds(|x| x)?, &runs()?)?;
    let wanted = trainer()?.fit(&Context::cpu(), &clouds(f64::from)?, &runs()?)?;
    first_epochs_agree(&found, &wanted);
    let mean = |part: fiedler::train::Summary| part.mean;
    let (a, b) =
        (mean(found.summary(Part::Test, Metric::Accuracy)), mean(wanted.summary(Part::Test, Metric::Accuracy)));
    assert!((a - b).abs() < 0.06 && a > 0.7, "{a} and {b}");
    let alone = trainer()?.fit(ctx, &clouds(|x| x)?, &Runs::seeds(Optimizer::Adam, 8, 1)?.grid("lr", &[3e-3])?)?;
    let run = found.runs().iter().position(|run| run.run().seed == 8 && run.run().hyper.learning_rate < 5e-3);
    assert_eq!(parameters(&alone, 0), parameters(&found, run.expect("that run")));
    Ok(())
}

/// The form for networks that are too wide for one workgroup, which the trainer's network is not.
fn a_layer_at_a_time(ctx: &Context) -> Checked {
    if ctx.adapter().is_none() {
        return Ok(());
    }
    let own = alike(ctx).kernels(&[KernelForm::Mlp(MlpForm::Layered)]).build()?;
    let choice = trainer()?.choose::<f32>(&own, 240, 6)?;
    assert_eq!(choice.workload.algorithms[1], "layered");
    as_in_f64(&own)
}

/// A unit that is a power of two changes no bit of a training on scaled inputs. Of numbers near the least normal one,
/// many are subnormal, which a device may flush to 0. Where f32 does not hold the inverse of a deviation, the training
/// is refused.
fn inputs_of_any_unit(ctx: &Context) -> Checked {
    let fit = |unit: f32| trainer()?.fit(ctx, &clouds(|x| x * unit)?, &runs()?);
    let found = fit(1.0)?;
    assert_eq!(parameters(&fit(2_f32.powi(-100))?, 0), parameters(&found, 0));
    let tiny = fit(2.0 * f32::MIN_POSITIVE)?.summary(Part::Test, Metric::Accuracy).mean;
    let usual = found.summary(Part::Test, Metric::Accuracy).mean;
    // As for other trajectories that part.
    assert!((tiny - usual).abs() < 0.06, "{tiny} and {usual}");
    let error = fit(f32::from_bits(1 << 9)).expect_err("an inverse of 2^140");
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    assert!(error.to_string().contains("1.2e-38") && error.to_string().contains("input 0"), "{error}");
    Ok(())
}

fn resumed(ctx: &Context) -> Checked {
    let samples = clouds(|x| x)?;
    let whole = trainer()?.fit(ctx, &samples, &runs()?)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("checkpoint.safetensors");
    let first = alike(ctx).build()?;
    let cancel = first.cancel().clone();
    // Only the checkpoint of the interruption is saved.
    let stopped = trainer()?.checkpoint(&path, Duration::MAX).progress(Arc::new(move |progress| {
        if progress.steps > 100 {
            cancel.cancel();
        }
    }));
    assert!(stopped.fit(&first, &samples, &runs()?).is_err_and(|error| error.is_cancelled()));
    assert!(path.exists(), "no checkpoint was saved");
    let rest = trainer()?.checkpoint(&path, Duration::from_secs(60)).fit(ctx, &samples, &runs()?)?;
    for run in 0..whole.runs().len() {
        assert_eq!(parameters(&rest, run), parameters(&whole, run), "run {run}");
        assert_eq!(format!("{:?}", rest.runs()[run].history()), format!("{:?}", whole.runs()[run].history()));
        assert!(matches!(rest.runs()[run].status(), RunStatus::Finished | RunStatus::Stopped));
    }
    diverges(ctx, &trainer()?, 0)?;
    if ctx.adapter().is_some() {
        let error = trainer()?.checkpoint(&path, Duration::ZERO).fit(&Context::cpu(), &samples, &runs()?);
        let message = error.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("side: \"cpu\" now"), "{message}");
    }
    Ok(())
}

/// With absurd learning rates, the runs diverge, and the epoch in which they do is recorded.
fn diverges(ctx: &Context, trainer: &Trainer, last: u64) -> Checked {
    let runs = Runs::seeds(Optimizer::Adam, 7, 2)?.grid("lr", &[1e38])?;
    for run in trainer.fit(ctx, &clouds(|x| x)?, &runs)?.runs() {
        let epochs: Vec<u64> = run.history().iter().map(|epoch| epoch.epoch).collect();
        assert_eq!((run.status(), epochs), (RunStatus::Diverged, (0..=last).collect()));
        // The step that went wrong does not count.
        assert!(run.history()[0].loss.is_finite(), "{:?}", run.history());
    }
    Ok(())
}

/// Three groups of 80 samples, of which 56 are trained on: as in f64, see above; the same alone, and after
/// interruptions.
fn in_groups(ctx: &Context) -> Checked {
    let trainer = || trainer().map(|trainer| trainer.row_group(80).epochs(4));
    let samples = clouds(|x| x)?;
    let found = trainer()?.fit(ctx, &samples, &runs()?)?;
    let wanted = trainer()?.fit(&Context::cpu(), &clouds(f64::from)?, &runs()?)?;
    assert_eq!((found.groups(), wanted.groups()), (3, 3));
    first_epochs_agree(&found, &wanted);
    for run in found.runs() {
        assert_eq!(run.scores(Part::Test).map(|scores| scores.samples()), Some(48));
    }
    let alone = trainer()?.fit(ctx, &samples, &Runs::seeds(Optimizer::Adam, 8, 1)?.grid("lr", &[3e-3])?)?;
    let run = found.runs().iter().position(|run| run.run().seed == 8 && run.run().hyper.learning_rate < 5e-3);
    assert_eq!(parameters(&alone, 0), parameters(&found, run.expect("that run")));
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("checkpoint.safetensors");
    for after in [30, 80] {
        let first = alike(ctx).build()?;
        let cancel = first.cancel().clone();
        let stopped = trainer()?.checkpoint(&path, Duration::ZERO).progress(Arc::new(move |progress| {
            if progress.steps > after {
                cancel.cancel();
            }
        }));
        assert!(stopped.fit(&first, &samples, &runs()?).is_err_and(|error| error.is_cancelled()));
    }
    let rest = trainer()?.checkpoint(&path, Duration::from_secs(60)).fit(ctx, &samples, &runs()?)?;
    for run in 0..found.runs().len() {
        assert_eq!(parameters(&rest, run), parameters(&found, run), "run {run}");
        assert_eq!(format!("{:?}", rest.runs()[run].history()), format!("{:?}", found.runs()[run].history()));
    }
    Ok(())
}

/// The first epoch's loss is that of f64 to the rounding of the operands; later, trajectories part. What was learned is
/// as good as in f64, as far as 48 test samples can tell. Interrupted, it goes on without a change.
fn mixed(ctx: &Context) -> Checked {
    let exact = trainer()?.fit(&Context::cpu(), &clouds(f64::from)?, &runs()?)?;
    let samples = clouds(|x| x)?;
    let kinds = [(MixedPrecision::F16, 2.0_f64.powi(-11)), (MixedPrecision::Bf16, 2.0_f64.powi(-8))];
    for (mixed, unit) in sample(ctx, kinds) {
        let trainer = trainer()?.mixed_precision(mixed);
        let found = trainer.clone().fit(ctx, &samples, &runs()?)?;
        for (found, wanted) in found.runs().iter().zip(exact.runs()) {
            assert!(found.status().is_good(), "{mixed}: {}", found.status());
            let (a, b) = (found.history()[0], wanted.history()[0]);
            // A skipped step at the beginning would show, so there is none.
            assert_eq!(found.skipped_steps(), 0);
            assert!((a.loss - b.loss).abs() < 8.0 * unit * b.loss, "{mixed}: {} and {}", a.loss, b.loss);
            assert!(a.loss.to_bits() != b.loss.to_bits() && a.scale.is_nan() == (mixed == MixedPrecision::Bf16));
        }
        if mixed == MixedPrecision::F16 {
            // An epoch has 11 steps, of which the first alone counts. The scale is below 1 after 17 skipped ones.
            diverges(ctx, &trainer, 1)?;
        }
        let mean = |part: fiedler::train::Summary| part.mean;
        let (a, b) =
            (mean(found.summary(Part::Test, Metric::Accuracy)), mean(exact.summary(Part::Test, Metric::Accuracy)));
        assert!((a - b).abs() < 0.06 && a > 0.7, "{mixed}: {a} and {b}");
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("checkpoint.safetensors");
        let first = alike(ctx).build()?;
        let cancel = first.cancel().clone();
        let stopped = trainer.clone().checkpoint(&path, Duration::ZERO).progress(Arc::new(move |progress| {
            if progress.steps > 100 {
                cancel.cancel();
            }
        }));
        assert!(stopped.fit(&first, &samples, &runs()?).is_err_and(|error| error.is_cancelled()));
        let rest = trainer.checkpoint(&path, Duration::from_secs(60)).fit(ctx, &samples, &runs()?)?;
        for run in 0..found.runs().len() {
            assert_eq!(parameters(&rest, run), parameters(&found, run), "{mixed}: run {run}");
            assert_eq!(format!("{:?}", rest.runs()[run].history()), format!("{:?}", found.runs()[run].history()));
        }
    }
    Ok(())
}

/// Chains with different numbers of epochs, which leave the device one after another. The noise of f32 and f64 is the
/// same, and the law forgets rounding errors, so a few tens of steps stay within the rounding errors of these.
fn chains(ctx: &Context) -> Checked {
    let net = Mlp::builder(5).layer(12, Activation::Tanh).output(3)?;
    let sgld = Sgld::pac_bayes(net, Loss::CROSS_ENTROPY, 0.5)
        .betas(&[0.0, 5.0, 50.0])
        .epochs(&[1, 2, 5])
        .rates(&[0.05])
        .schedule(Schedule::Cosine { floor: 0.2 })
        .batch(64)
        .seeds(3, 2);
    let found = sgld.sample(ctx, &clouds(|x| x)?)?;
    let wanted = sgld.sample(&Context::cpu(), &clouds(f64::from)?)?;
    for rung in 0..3 {
        for (place, (a, b)) in found.chains(rung).zip(wanted.chains(rung)).enumerate() {
            assert_eq!((a.epochs(), a.steps()), (b.epochs(), b.steps()));
            assert_eq!(a.epochs(), [1, 2, 5][rung]);
            assert_eq!(a.history().len(), b.history().len());
            for (a, b) in a.history().iter().zip(b.history()) {
                assert!((a.rate - b.rate).abs() < 1e-12 && (a.loss - b.loss).abs() < 1e-4 * b.loss, "{a:?} and {b:?}");
            }
            for (a, b) in found.parameters(rung, place).iter().zip(wanted.parameters(rung, place)) {
                let near = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() < 1e-4;
                assert!(a.data.iter().zip(&b.data).all(near), "rung {rung}: {a:?} and {b:?}");
            }
        }
    }
    let alone = sgld.clone().betas(&[5.0]).epochs(&[2]).seeds(4, 1).sample(ctx, &clouds(|x| x)?)?;
    assert_eq!(parameters(alone.fit(), 0), parameters(found.fit(), 4));
    // Of more than 1000 epochs, only every second is recorded, and the last.
    let few = Split { shares: [0.1, 0.0, 0.9], seed: Some(1) };
    let long = sgld.betas(&[5.0, 50.0]).epochs(&[1101, 1102]).batch(24).split(few).seeds(3, 1);
    let long = long.sample(ctx, &clouds(|x| x)?)?;
    for (chain, (epochs, recorded)) in long.fit().runs().iter().zip([(1101, 551), (1102, 552)]) {
        let last = chain.history().last().map(|epoch| epoch.epoch);
        assert_eq!((chain.epochs(), chain.history().len(), last), (epochs, recorded, Some(epochs - 1)));
    }
    Ok(())
}

/// A device that was measured to be faster trains, in the bits of a device that is required. A training that goes on
/// from a checkpoint stays on its side, also where the other side would be chosen now.
fn chosen(ctx: &Context) -> Checked {
    if ctx.adapter().is_none() {
        return Ok(());
    }
    let (samples, folder) = (clouds(|x| x)?, tempfile::tempdir()?);
    let auto = |flops: Option<f64>| {
        let mut rates = ctx.policy().rates.as_ref().clone();
        let curve = |flops| Curve { points: vec![Point { size: 1e4, rates: vec![[1.0, flops]] }], first: 0.0 };
        rates.gpu.curves.own = flops.map(|flops| (Family::Train, curve(flops))).into_iter().collect();
        rates.gpu.round_trip = 1e-9;
        alike(ctx).backend(Backend::Auto).software_as_gpu(true).rates(rates).build()
    };
    let (fast, slow, unmeasured) = (auto(Some(1e20))?, auto(Some(1.0))?, auto(None)?);
    let side =
        |ctx: &Context| trainer()?.choose::<f32>(ctx, samples.len(), 6).map(|choice| (choice.side, choice.reason));
    assert_eq!(side(&fast)?, (Side::Gpu, Reason::Faster));
    assert_eq!(side(&slow)?, (Side::Cpu, Reason::Faster));
    assert_eq!(side(&unmeasured)?, (Side::Cpu, Reason::NotMeasured));
    assert_eq!(trainer()?.choose::<f64>(&fast, samples.len(), 6)?.side, Side::Cpu);
    let short = || trainer().map(|trainer| trainer.epochs(3));
    for (first, then, required) in [(&fast, &slow, Backend::Gpu), (&slow, &fast, Backend::Cpu)] {
        let required = ctx.with_backend(required);
        let whole = short()?.fit(&required, &samples, &runs()?)?;
        let path = folder.path().join(format!("{:?}.safetensors", required.policy().backend));
        // Only what is saved before the end is of use.
        let cancelled =
            alike(ctx).backend(Backend::Auto).software_as_gpu(true).rates(first.policy().rates.as_ref().clone());
        let cancelled = cancelled.build()?;
        let cancel = cancelled.cancel().clone();
        cancel_after(&short()?.checkpoint(&path, Duration::ZERO), cancel, &cancelled, &samples)?;
        let rest = short()?.checkpoint(&path, Duration::from_secs(60)).fit(then, &samples, &runs()?)?;
        assert_eq!(rest.choice().reason, Reason::Resumed);
        assert_eq!(rest.side(), whole.side());
        for run in 0..whole.runs().len() {
            assert_eq!(parameters(&rest, run), parameters(&whole, run), "run {run}");
        }
    }
    Ok(())
}

/// Trains until the first progress is told, so that a checkpoint is left.
fn cancel_after(trainer: &Trainer, cancel: fiedler::Cancel, ctx: &Context, samples: &Samples<f32>) -> Checked {
    let stopped = trainer.clone().progress(Arc::new(move |_| cancel.cancel()));
    match stopped.fit(ctx, samples, &runs()?) {
        // A training may end before it notices.
        Ok(_) => Ok(()),
        Err(error) if error.is_cancelled() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// In mixed precision, there is no form for wide networks, and an adapter with a budget for loops says what to do.
fn wide_in_mixed_precision(ctx: &Context) -> Checked {
    let net = Mlp::builder(1792).layer(512, Activation::Relu).layer(512, Activation::Relu).output(10)?;
    let wide = Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).batch(256);
    let of = |mixed| wide.clone().mixed_precision(mixed).memory::<f32>(ctx, 20_000, 1);
    assert_eq!(of(MixedPrecision::Off)?.refused, None);
    let memory = of(MixedPrecision::F16)?;
    let Some(adapter) = ctx.adapter() else {
        assert_eq!((memory.device, memory.refused), (None, None));
        return Ok(());
    };
    assert_eq!(memory.device.is_none(), memory.refused.is_some());
    assert!(memory.refused.is_some() || !adapter.name.contains("llvmpipe"), "{memory:?}");
    if let Some(why) = memory.refused {
        assert!(why.contains("on the CPU, or on the device in f32"), "{why}");
    }
    Ok(())
}

/// A network whose parameters exceed every device, although the samples are few.
fn too_large(ctx: &Context) -> Checked {
    let net = Mlp::builder(5).layer(1 << 20, Activation::Relu).layer(1 << 20, Activation::Relu).output(3)?;
    let trainer = Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).batch(16).epochs(1);
    let error = trainer.fit(ctx, &clouds(|x| x)?, &runs()?).expect_err("no device holds it");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    // Here the parameters fit, and the rows of the batch do not.
    let net = Mlp::builder(5).layer(1 << 20, Activation::Relu).norm(Norm::Layer).output(3)?;
    let trainer = Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).batch(160).epochs(1);
    if ctx.adapter().is_some() {
        let error = trainer.fit(ctx, &clouds(|x| x)?, &Runs::seeds(Optimizer::Adam, 7, 1)?).err();
        assert!(error.is_some_and(|error| matches!(error.kind(), ErrorKind::Limit { .. })));
    }
    Ok(())
}

/// Adversarial pairs are trained on the CPU, so a context that requires a device refuses them.
fn pairs_are_refused(ctx: &Context) -> Checked {
    let generator = Mlp::builder(3).layer(9, Activation::Relu).output(4)?;
    let gan = Gan::new(generator, Mlp::builder(2).output(1)?, Optimizer::Adam, grid(2)).steps(1);
    let fit = gan.fit(ctx, &[0.25_f32; 4], &Runs::seeds(Optimizer::Adam, 1, 1)?);
    match ctx.adapter() {
        Some(_) => assert!(fit.is_err_and(|error| matches!(error.kind(), ErrorKind::Domain { .. }))),
        None => assert_eq!(fit?.runs().len(), 1),
    }
    Ok(())
}

fn refused_in_f64(ctx: &Context) -> Checked {
    let fit = trainer()?.epochs(1).fit(ctx, &clouds(f64::from)?, &runs()?);
    match ctx.adapter() {
        Some(_) => {
            let error = fit.expect_err("no kernel computes in f64");
            assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
        }
        None => assert!(fit.is_ok()),
    }
    Ok(())
}
