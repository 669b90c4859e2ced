//! Checkpoints that cannot be written, that are damaged, or that are of another training.

use fiedler::train::{Activation, Loss, Mlp, Optimizer, Origin, Runs, Samples, Sgld, Targets, Trainer, WEIGHTS};
use fiedler::{Context, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

fn samples(count: usize) -> Samples<f32> {
    let x: Vec<f32> = (0..2 * count).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect();
    let labels = x.chunks(2).map(|x| u32::from(x[0] > x[1])).collect();
    Samples::new(2, x, Targets::Labels(labels)).expect("samples")
}

fn trainer() -> Trainer {
    let net = Mlp::builder(2).layer(3, Activation::Tanh).output(2).expect("a network");
    Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).batch(16).epochs(30)
}

fn runs(rates: &[f64]) -> Runs {
    Runs::seeds(Optimizer::Adam, 7, 1).and_then(|runs| runs.grid("lr", rates)).expect("runs")
}

/// Leaves a checkpoint at `path`.
fn interrupt(trainer: &Trainer, path: &Path, samples: &Samples<f32>, runs: &Runs) {
    let ctx = Context::builder().device(false).threads(1).build().expect("a context");
    let cancel = ctx.cancel().clone();
    let trainer = trainer.clone().epochs(1_000_000).checkpoint(path, Duration::ZERO);
    let stopped = trainer.progress(Arc::new(move |_| cancel.cancel()));
    assert!(stopped.fit(&ctx, samples, runs).is_err_and(|error| error.is_cancelled()));
    assert!(path.exists());
}

/// The folder of the checkpoint does not exist.
#[test]
fn a_training_goes_on_without_checkpoints() -> Result<()> {
    let (samples, runs, folder) = (samples(300), runs(&[0.01, 0.1]), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("missing/checkpoint.safetensors");
    let whole = trainer().fit(&Context::cpu(), &samples, &runs)?;
    for every in [Duration::ZERO, Duration::MAX] {
        let found = trainer().checkpoint(&path, every).fit(&Context::cpu(), &samples, &runs)?;
        assert!((0..2).all(|run| found.weights(run) == whole.weights(run)));
    }
    // A cancelled training is cancelled, whether or not a checkpoint could be saved.
    let ctx = Context::cpu();
    let cancel = ctx.cancel().clone();
    let endless = trainer().epochs(1_000_000).checkpoint(&path, Duration::MAX);
    let stopped = endless.progress(Arc::new(move |_| cancel.cancel())).fit(&ctx, &samples, &runs);
    assert!(stopped.is_err_and(|error| error.is_cancelled()));
    Ok(())
}

/// Every byte of a checkpoint, changed in one bit, is an error that names the file.
#[test]
fn a_changed_byte_is_noticed() {
    let (samples, runs, folder) = (samples(60), runs(&[0.01]), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("checkpoint.safetensors");
    interrupt(&trainer(), &path, &samples, &runs);
    let whole = std::fs::read(&path).expect("a checkpoint");
    let trainer = trainer().epochs(1_000_000).checkpoint(&path, Duration::MAX);
    let ctx = Context::cpu();
    let cancel = ctx.cancel().clone();
    let trainer = trainer.progress(Arc::new(move |_| cancel.cancel()));
    let step = (whole.len() / 3000).max(1);
    for at in (0..whole.len()).step_by(step) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 7);
        std::fs::write(&path, bytes).expect("written");
        let error = trainer.fit(&ctx, &samples, &runs).expect_err("a damaged checkpoint");
        assert!(matches!(error.kind(), ErrorKind::Parse { path: found, .. } if *found == path), "byte {at}: {error}");
    }
    std::fs::write(&path, &whole).expect("written");
    // The progress ends what is not refused.
    assert!(trainer.fit(&ctx, &samples, &runs).is_err_and(|error| error.is_cancelled()));
    // The version before had no checksum, so its version is what differs.
    let (length, rest) = whole.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("8 bytes"));
    let (header, rest) = rest.split_at(usize::try_from(length).expect("a length"));
    let header = String::from_utf8(header.to_vec()).expect("text");
    let begin = header.find("\"checksum\"").expect("a checksum");
    let end = begin + header[begin..].find(',').expect("another text") + 1;
    let mut header = format!("{}{}", &header[..begin], &header[end..]);
    let version = header.find("version").expect("a version");
    let version = version + header[version..].find('4').expect("version 4");
    header.replace_range(version..=version, "3");
    std::fs::write(&path, [&(header.len() as u64).to_le_bytes(), header.as_bytes(), rest].concat()).expect("written");
    ctx.cancel().reset();
    let message = trainer.fit(&ctx, &samples, &runs).expect_err("another version").to_string();
    assert!(message.contains("version: 4 now, 3 in the checkpoint"), "{message}");
}

/// The first difference between two lists of runs is told.
#[test]
fn other_runs_are_named() {
    let (samples, folder) = (samples(60), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("checkpoint.safetensors");
    interrupt(&trainer(), &path, &samples, &runs(&[0.01, 0.1]));
    let seeds = |first: u64| {
        Runs::seeds(Optimizer::Adam, first, 1).and_then(|runs| runs.grid("lr", &[0.01, 0.1])).expect("runs")
    };
    for (runs, wanted) in [
        (runs(&[0.01]), "training: runs: 1 now, 2 in the checkpoint"),
        (runs(&[0.01, 0.2]), "training: run 1: lr 0.2 now, 0.1 in the checkpoint"),
        (seeds(8), "training: run 0: seed 8 now, 7 in the checkpoint"),
    ] {
        let other = trainer().epochs(1_000_000).checkpoint(&path, Duration::MAX).fit(&Context::cpu(), &samples, &runs);
        let message = other.expect_err("other runs").to_string();
        assert!(message.ends_with(wanted), "{message}\nwanted: {wanted}");
    }
}

/// A finished training is compared as one that goes on is.
#[test]
fn a_finished_training_is_compared() -> Result<()> {
    let (data, runs, folder) = (samples(300), runs(&[0.01]), tempfile::tempdir().expect("a folder"));
    let (path, ctx) = (folder.path().join(WEIGHTS), Context::cpu());
    let trainer = trainer().row_group(150);
    trainer.fit(&ctx, &data, &runs)?.write_weights(&path, &Origin::default())?;
    trainer.check_finished(&ctx, &data, &runs, &path)?;
    // The groups of the finished training count, unless others are asked for.
    self::trainer().check_finished(&ctx, &data, &runs, &path)?;
    let says = |trainer: &Trainer, data: &Samples<f32>, wanted: &str| {
        let message = trainer.check_finished(&ctx, data, &runs, &path).expect_err("another training").to_string();
        assert!(message.contains(wanted) && message.contains(WEIGHTS), "{message}\nwanted: {wanted}");
    };
    says(&trainer.clone().epochs(31), &data, "training: epochs: 31 now, 30 in the finished training");
    says(&trainer.clone().row_group(300), &data, "training: groups of samples: 1 now, 2 in the finished training");
    says(&trainer, &samples(298), "training: the data differ");

    let net = Mlp::builder(2).layer(3, Activation::Tanh).output(2)?;
    let sgld = Sgld::pac_bayes(net, Loss::CROSS_ENTROPY, 1.0).betas(&[1.0]).epochs(&[2]).seeds(3, 2);
    sgld.sample(&ctx, &data)?.fit().write_weights(&path, &Origin::default())?;
    sgld.check_finished(&ctx, &data, &path)?;
    let message = sgld.betas(&[2.0]).check_finished(&ctx, &data, &path).expect_err("another beta").to_string();
    assert!(message.contains("run 0: ") && message.contains(" in the finished training"), "{message}");
    Ok(())
}
