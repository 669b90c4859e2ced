//! Training in groups of samples: nothing depends on what is read when, and a file is read as what it contains.

use fiedler::io::{self, Data, KnownInputs, LabelColumn, NamedArray, Roles, Rows, SampleRows, Wanted};
use fiedler::ops::random::{Stream, normal};
use fiedler::train::{
    Activation, Fit, Loss, Metric, Mlp, Model, Norm, Optimizer, Origin, Part, Runs, SampleFile, Samples, Scaling,
    Schedule, Source, Split, Stop, Targets, Trainer, WEIGHTS,
};
use fiedler::{Context, ErrorKind, Result, Shape};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The inputs of points of three normal distributions in five dimensions, and the distribution that each came from.
fn clouds(count: usize, distance: f32) -> (Vec<f32>, Vec<u32>) {
    let ctx = Context::cpu();
    let noise = normal::<f32>(&ctx, &mut Stream::new(1, "clouds"), Shape::new(5, count, 1), 0.0, 1.0)
        .and_then(|made| made.to_host(&ctx))
        .expect("random numbers");
    let labels: Vec<u32> = (0..count as u32).map(|i| i % 3).collect();
    let place = |(i, x): (usize, &f32)| x + if i % 5 == labels[i / 5] as usize { distance } else { 0.0 };
    (noise.as_slice().iter().enumerate().map(place).collect(), labels)
}

fn samples(count: usize) -> Samples<f32> {
    let (x, labels) = clouds(count, 1.5);
    Samples::new(5, x, Targets::Labels(labels)).expect("samples")
}

fn trainer() -> Trainer {
    let net = Mlp::builder(5).layer(16, Activation::Relu).norm(Norm::Batch).dropout(0.1).layer(9, Activation::Tanh);
    Trainer::new(net.output(3).expect("a net"), Loss::CROSS_ENTROPY, Optimizer::Adam)
        .batch(16)
        .epochs(12)
        .scaling(Scaling::Standard)
        .schedule(Schedule::Plateau { factor: 0.5, patience: 3 })
        .stop(Stop::on("validation.loss", 4).expect("a metric"))
}

fn grid(first: u64, seeds: usize) -> Runs {
    Runs::seeds(Optimizer::Adam, first, seeds).and_then(|runs| runs.grid("lr", &[3e-3, 3e-2])).expect("runs")
}

fn threads(count: usize) -> Context {
    Context::builder().device(false).threads(count).build().expect("a context")
}

/// Everything about a run that the training computed.
fn result(fit: &Fit<f32>, run: usize) -> String {
    let fitted = &fit.runs()[run];
    let scores = Part::ALL.map(|part| fitted.scores(part));
    format!("{:?} {:?} {:?} {scores:?} {:?}", fitted.status(), fitted.steps(), fit.weights(run), fitted.history())
}

fn alike(a: &Fit<f32>, b: &Fit<f32>) -> bool {
    a.runs().len() == b.runs().len() && (0..a.runs().len()).all(|run| result(a, run) == result(b, run))
}

/// A data set that notes which rows are read. Its file may be cut off at some time.
struct Watched<'a> {
    source: &'a dyn Source<f32>,
    reads: Mutex<Vec<Range<usize>>>,
    /// Before the read with this number, the file is cut off.
    cut: Option<(usize, PathBuf)>,
}

impl<'a> Watched<'a> {
    fn new(source: &'a dyn Source<f32>) -> Self {
        Self { source, reads: Mutex::default(), cut: None }
    }
}

impl Source<f32> for Watched<'_> {
    fn samples(&self) -> usize {
        self.source.samples()
    }

    fn read(&self, rows: Range<usize>) -> Result<Cow<'_, Samples<f32>>> {
        let mut reads = self.reads.lock().expect("a list");
        reads.push(rows.clone());
        if let Some((at, path)) = &self.cut
            && reads.len() == *at
        {
            let file = std::fs::File::options().write(true).open(path).expect("a file");
            file.set_len(5000).expect("a shorter file");
        }
        self.source.read(rows)
    }
}

#[test]
fn one_group_is_the_whole() {
    let (samples, runs) = (samples(600), grid(7, 2));
    let whole = trainer().fit(&threads(2), &samples, &runs).expect("a fit");
    let one = trainer().row_group(600).fit_groups(&threads(2), &samples, &runs).expect("a fit");
    let by_itself = trainer().fit_groups(&threads(2), &samples, &runs).expect("a fit");
    assert!(alike(&whole, &one) && alike(&whole, &by_itself) && whole.groups() == 1);
    let two = trainer().row_group(599).fit(&threads(2), &samples, &runs).expect("a fit");
    assert!(two.groups() == 2 && !alike(&whole, &two));
}

/// The numbers of samples are such that the groups have different sizes.
#[test]
fn a_run_is_the_same_alone_and_beside_others() {
    let samples = samples(601);
    for (rows, groups) in [(301, 2), (201, 3), (86, 7)] {
        let trainer = trainer().row_group(rows);
        let all = trainer.fit(&threads(2), &samples, &grid(7, 3)).expect("a fit");
        assert_eq!(all.groups(), groups);
        for count in [1, 3] {
            assert!(alike(&all, &trainer.fit(&threads(count), &samples, &grid(7, 3)).expect("a fit")));
        }
        // The runs of the last seed, with other neighbors and another number of epochs to the last of them.
        let alone = trainer.fit(&threads(2), &samples, &grid(9, 1)).expect("a fit");
        assert!((0..2).all(|run| result(&all, run + 4) == result(&alone, run)), "{groups} groups");
        let epochs: Vec<u64> = all.runs().iter().map(|run| run.epochs()).collect();
        assert!(epochs.iter().any(|own| *own != epochs[0]), "all runs stopped together: {epochs:?}");
    }
}

#[test]
fn resuming_changes_no_bit() {
    let (samples, folder) = (samples(601), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("checkpoint.safetensors");
    for (rows, stops) in [(301, 1), (201, 3), (86, 6)] {
        let trainer = trainer().row_group(rows).epochs(30);
        let whole = trainer.fit(&threads(2), &samples, &grid(7, 3)).expect("a fit");
        let mut interrupted = 0;
        let resumed = loop {
            let ctx = threads(2);
            let (cancel, calls) = (ctx.cancel().clone(), Arc::new(AtomicUsize::new(0)));
            // Cancelled after some groups, of which the progress is told.
            let after = if interrupted < stops { 3 + 4 * interrupted } else { usize::MAX };
            let trainer = trainer.clone().checkpoint(&path, Duration::ZERO).progress(Arc::new(move |_| {
                if calls.fetch_add(1, Ordering::Relaxed) + 1 >= after {
                    cancel.cancel();
                }
            }));
            match trainer.fit(&ctx, &samples, &grid(7, 3)) {
                Ok(fit) => break fit,
                Err(error) => assert!(error.is_cancelled(), "{error}"),
            }
            interrupted += 1;
        };
        assert_eq!(interrupted, stops);
        assert!(alike(&whole, &resumed), "groups of {rows}");
        // The groups decide the bits, so others are refused, unless the checkpoint alone decides.
        let other = trainer.clone().checkpoint(&path, Duration::MAX).row_group(601);
        let message = other.fit(&threads(2), &samples, &grid(7, 3)).expect_err("another number").to_string();
        assert!(message.contains("groups of samples: 1 now, ") && !message.contains("the data"), "{message}");
        let unset = self::trainer().epochs(30).checkpoint(&path, Duration::MAX);
        let same = unset.fit_groups(&threads(2), &samples, &grid(7, 3)).expect("a fit");
        assert_eq!(same.groups(), whole.groups());
        std::fs::remove_file(&path).expect("a checkpoint");
    }
}

/// With steps too small to change a parameter, the losses of an epoch are those of the samples, so their mean is the
/// loss of the whole only if each sample is used once. Both means are rounded to f32 in other orders.
#[test]
fn every_sample_is_used_once_in_an_epoch() {
    let samples = samples(601);
    let net = Mlp::builder(5).layer(8, Activation::Tanh).output(3).expect("a net");
    let split = Split { shares: [1.0, 0.0, 0.0], seed: None };
    let optimizer = Optimizer::Sgd { nesterov: false };
    let runs = Runs::seeds(optimizer, 7, 2).and_then(|runs| runs.grid("lr", &[1e-30])).expect("runs");
    for (rows, drop_last, steps) in
        [(601, false, 38), (301, false, 38), (201, false, 39), (86, false, 42), (86, true, 35)]
    {
        let trainer = Trainer::new(net.clone(), Loss::CROSS_ENTROPY, optimizer).batch(16).epochs(3).split(split);
        let watched = Watched::new(&samples);
        let trainer = trainer.row_group(rows).drop_last(drop_last);
        let fit = trainer.fit_groups(&threads(2), &watched, &runs).expect("a fit");
        for run in fit.runs() {
            assert_eq!(run.steps(), 3 * steps, "groups of {rows}");
            let whole = run.scores(Part::Train).expect("scores");
            assert_eq!(whole.samples(), 601);
            let losses: Vec<f64> = run.history().iter().map(|epoch| epoch.loss).collect();
            // The same batches in the same order would have the same bits.
            assert!(losses[0] != losses[1] && losses[1] != losses[2], "one order in several epochs");
            for epoch in run.history() {
                let off = (epoch.loss - whole.loss()).abs() / whole.loss();
                assert!(drop_last || off < 1e-6 && (epoch.accuracy - whole.accuracy()).abs() < 1e-12, "{off}");
            }
        }
        // The orders of two epochs differ. The first pass checks all groups; there is nothing to score but the end.
        let reads = watched.reads.into_inner().expect("a list");
        let groups = fit.groups();
        let mut counts = BTreeMap::new();
        reads.iter().for_each(|rows| *counts.entry(rows.start).or_insert(0) += 1);
        assert!(
            counts.len() == groups && counts.values().all(|count| groups == 1 || (3..=5).contains(count)),
            "{counts:?}"
        );
        assert!(groups < 7 || reads[7..14] != reads[14..21], "{reads:?}");
    }
}

/// The scores of a training are those of its parameters on all samples, and what is learned is as good as without
/// groups: the Bayes rate of these clouds is above 0.96, and 0.93 is what one group has to reach elsewhere.
#[test]
fn scores_are_those_of_the_whole() {
    let (x, labels) = clouds(900, 3.0);
    let samples = Samples::new(5, x.clone(), Targets::Labels(labels.clone())).expect("samples");
    let ctx = threads(2);
    let learned = trainer().row_group(300).fit(&ctx, &samples, &grid(7, 2)).expect("a fit");
    let accuracy = learned.summary(Part::Test, Metric::Accuracy);
    assert!(accuracy.mean > 0.93 && learned.groups() == 3, "{accuracy}");
    let net = Mlp::builder(5).layer(16, Activation::Relu).output(3).expect("a net");
    let split = Split { shares: [1.0, 0.0, 0.0], seed: None };
    let trainer = Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).epochs(4).split(split);
    let trainer = trainer.scaling(Scaling::Standard);
    let fit = trainer.clone().row_group(129).fit(&ctx, &samples, &grid(7, 1)).expect("a fit");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(WEIGHTS);
    // All samples are trained on, so the scaling is the same, except for the order of the sums.
    let scaling = |fit: &Fit<f32>| {
        fit.write_weights(&path, &Origin::default()).expect("a file");
        let tensors = io::Tensors::open(&path).expect("tensors");
        ["scaling.mean", "scaling.factor"].map(|name| match tensors.array(name).expect("a tensor").data {
            io::NpyData::F32(data) => data,
            other => panic!("{name} in {}", other.name()),
        })
    };
    let whole = scaling(&trainer.fit(&ctx, &samples, &grid(7, 1)).expect("a fit"));
    for (a, b) in whole.into_iter().flatten().zip(scaling(&fit).into_iter().flatten()) {
        assert!((a - b).abs() < 1e-6 * a.abs().max(1.0), "{a} and {b}");
    }
    let model = Model::<f32>::open(&path).expect("a model");
    for (run, fitted) in fit.runs().iter().enumerate() {
        let found = model.predict(&ctx, 5, x.clone(), &[run]).expect("predictions");
        let own: Vec<&[f64]> = found.chunks(3).collect();
        let loss: f64 = own.iter().zip(&labels).map(|(p, &label)| -p[label as usize].ln()).sum::<f64>() / 900.0;
        let right = own.iter().zip(&labels).filter(|(p, label)| p.iter().all(|q| *q <= p[**label as usize])).count();
        let scores = fitted.scores(Part::Train).expect("scores");
        // The probabilities are rounded to f32.
        assert!((scores.loss() - loss).abs() < 1e-6, "{} and {loss}", scores.loss());
        assert_eq!((scores.samples(), scores.accuracy()), (900, right as f64 / 900.0));
    }
}

/// Writes a data set of `rows` samples to a file of arrays.
fn written(path: &Path, rows: usize, x: (usize, Data<'_>), y: Data<'_>) {
    let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
    let other = array("other", vec![1], Data::I64(&[3]));
    io::write(path, &[other, array("X", vec![rows, x.0], x.1), array("y", vec![rows], y)]).expect("a file");
}

#[test]
fn a_file_is_what_it_contains() {
    let (x, labels) = clouds(601, 1.5);
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<i64> = labels.iter().map(|label| 10 * i64::from(*label) - 10).collect();
    let in_memory = Samples::new(5, x.clone(), Targets::Labels(labels)).expect("samples");
    let wide: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    for (ending, data) in [("npz", Data::F32(&x)), ("safetensors", Data::F64(&wide))] {
        let path = folder.path().join(format!("data.{ending}"));
        written(&path, 601, (5, data), Data::I64(&names));
        let file = SampleFile::open(&path, Wanted::Labels(Roles::default())).expect("a file").expect("groups");
        assert_eq!((file.len(), file.inputs(), file.values()), (601, 5, 0));
        assert_eq!(file.classes(), ["-10", "0", "10"]);
        for rows in [601, 201] {
            let trainer = trainer().epochs(3).row_group(rows);
            let found = trainer.fit_groups(&threads(2), &file, &grid(7, 2)).expect("a fit");
            assert!(alike(&found, &trainer.fit(&threads(2), &in_memory, &grid(7, 2)).expect("a fit")), "{ending}");
        }
    }
    // Values, of which a sample has one or several.
    let path = folder.path().join("values.npz");
    written(&path, 601, (5, Data::F32(&x)), Data::F64(&wide[..601]));
    let file =
        SampleFile::open(&path, Wanted::Values(LabelColumn::Named("y").into())).expect("a file").expect("groups");
    let samples: Cow<'_, Samples<f64>> = file.read(100..103).expect("rows");
    assert_eq!((samples.row(1), samples.targets()), (&wide[505..510], &Targets::Values(wide[100..103].to_vec(), 1)));
    // What has to be read as a whole.
    for (name, wanted) in
        [("values.npz", Wanted::Labels(LabelColumn::Named("z").into())), ("data.csv", Wanted::Labels(Roles::default()))]
    {
        assert!(SampleFile::open(&folder.path().join(name), wanted).expect("no error").is_none(), "{name}");
    }
}

/// A file that exceeds the memory is predicted as the same numbers in memory are, and an error names its row.
#[test]
fn a_file_is_predicted_in_groups() {
    let (mut x, labels) = clouds(601, 1.5);
    let folder = tempfile::tempdir().expect("a folder");
    let samples = Samples::new(5, x.clone(), Targets::Labels(labels)).expect("samples");
    let weights = folder.path().join(WEIGHTS);
    let fit = trainer().epochs(2).fit(&threads(2), &samples, &grid(7, 1)).expect("a fit");
    fit.write_weights(&weights, &Origin::default()).expect("a file");
    let model = Model::<f32>::open(&weights).expect("a model");
    let whole = model.predict(&threads(2), 5, x.clone(), &[0, 1]).expect("predictions");
    let names: Vec<i64> = vec![0; 601];
    let open = |x: &[f32]| {
        let path = folder.path().join("data.npz");
        written(&path, 601, (5, Data::F32(x)), Data::I64(&names));
        SampleRows::open(&path, Wanted::Inputs(KnownInputs { inputs: 5, ..KnownInputs::default() }))
            .expect("a file")
            .expect("rows")
    };
    let file = open(&x);
    assert_eq!((file.len(), file.inputs(), file.values(), file.classes().len()), (601, 5, 0, 0));
    assert!(file.labels_of(0..1).is_err_and(|error| error.to_string().contains("expected targets")));
    // A sample counts 44 bytes, of which 25,000 bytes have 568 times.
    let small = Context::builder().device(false).memory_budget(100_000).build().expect("a context");
    assert_eq!(model.predict_rows(&small, &file, &[0, 1]).expect("predictions"), whole);
    x[5 * 590 + 3] = f32::NAN;
    let error = model.predict_rows(&small, &open(&x), &[0]).expect_err("not a number").to_string();
    assert!(error.contains("NaN at input 3 of sample 590"), "{error}");
}

/// Without a size, groups are such that two fit in a quarter of the memory budget.
#[test]
fn groups_follow_the_budget() {
    let samples = samples(6000);
    // A sample has 28 bytes, so all have 168 kB.
    for (budget, groups) in [(700_000, 1), (600_000, 3), (300_000, 5)] {
        let ctx = Context::builder().device(false).memory_budget(budget).threads(2).build().expect("a context");
        let trainer = trainer().epochs(1).split(Split { seed: Some(1), ..Split::default() });
        let fit = trainer.fit_groups(&ctx, &samples, &grid(7, 1)).expect("a fit");
        assert_eq!(fit.groups(), groups, "{budget} bytes");
        let memory = trainer.memory::<f32>(&ctx, 6000, 2).expect("the memory");
        assert_eq!(memory.groups, groups);
        assert!(groups == 1 || memory.host < budget / 4 + 60_000, "{memory:?}");
    }
}

#[test]
fn what_is_wrong_is_named_by_its_row() {
    let (mut x, mut labels) = clouds(601, 1.5);
    let folder = tempfile::tempdir().expect("a folder");
    let says = |message: String, wanted: &str| assert!(message.contains(wanted), "{message}\nwanted: {wanted}");
    let fit = |trainer: &Trainer, source: &dyn Source<f32>| {
        trainer.fit_groups(&threads(2), source, &grid(7, 1)).expect_err("a wrong call")
    };
    labels[450] = 3;
    let wrong = Samples::new(5, x.clone(), Targets::Labels(labels.clone())).expect("samples");
    says(fit(&trainer().row_group(201), &wrong).to_string(), "labels from 0 to 2, found 3 at sample 450");
    (labels[450], x[5 * 450 + 2]) = (0, f32::NAN);
    let path = folder.path().join("data.npz");
    let names: Vec<i64> = labels.iter().map(|label| i64::from(*label)).collect();
    written(&path, 601, (5, Data::F32(&x)), Data::I64(&names));
    let file = SampleFile::open(&path, Wanted::Labels(Roles::default())).expect("a file").expect("groups");
    says(fit(&trainer().row_group(201), &file).to_string(), "found NaN at input 2 of sample 450");
    x[5 * 450 + 2] = 1e5;
    let large = Samples::new(5, x.clone(), Targets::Labels(labels)).expect("samples");
    let f16 = trainer().scaling(Scaling::None).mixed_precision(fiedler::train::MixedPrecision::F16);
    says(fit(&f16.row_group(201), &large).to_string(), "found 100000 at input 2 of sample 450");
    let message = fit(&trainer().row_group(20), &large).to_string();
    assert!(message.starts_with("train: a group of 20 samples: expected a batch"), "{message}");
    // The memory chose the groups, so the message says how it is told otherwise.
    let small = Context::builder().device(false).memory_budget(4000).build().expect("a context");
    let message = trainer().fit_groups(&small, &large, &grid(7, 1)).expect_err("small groups").to_string();
    for wanted in
        ["train: 36 groups, of", "FIEDLER_MEMORY_BUDGET, 4000 bytes", "--row-group", ": a group of 17 samples: "]
    {
        says(message.clone(), wanted);
    }
    // No group is without the class of the others, and no group has to have two.
    let labels = (0..601).map(|i| u32::from(i >= 300)).collect();
    let sorted = Samples::new(5, x, Targets::Labels(labels)).expect("samples");
    assert!(trainer().row_group(151).fit(&threads(2), &sorted, &grid(7, 1)).is_ok());
    let unknown = vec![f64::NAN; 10];
    let path = folder.path().join("unknown.npz");
    written(&path, 10, (1, Data::F64(&unknown)), Data::F64(&unknown));
    says(
        SampleFile::open(&path, Wanted::Labels(Roles::default())).expect_err("no labels").to_string(),
        "expected finite numbers as labels",
    );
}

/// A file that becomes shorter while a training reads it ends the training with an error, after a checkpoint. With the
/// whole file, it goes on to the same end.
/// The bytes of an array in an archive differ from those that it was written with.
#[test]
fn a_damaged_archive_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("damaged.npz");
    let (x, labels) = clouds(90, 1.5);
    let labels: Vec<i64> = labels.into_iter().map(i64::from).collect();
    written(&path, 90, (x.len() / 90, Data::F32(&x)), Data::I64(&labels));
    assert!(SampleFile::open(&path, Wanted::Labels(Roles::default())).is_ok_and(|file| file.is_some()));
    let mut bytes = std::fs::read(&path).expect("the file");
    let place = bytes.windows(4).position(|four| four == x[7].to_le_bytes()).expect("a number");
    bytes[place] ^= 1;
    std::fs::write(&path, bytes).expect("a file");
    let error = SampleFile::open(&path, Wanted::Labels(Roles::default())).expect_err("a wrong checksum");
    assert!(error.to_string().contains("checksum"), "{error}");
}

#[test]
fn a_file_that_is_cut_off() {
    let (x, labels) = clouds(601, 1.5);
    let folder = tempfile::tempdir().expect("a folder");
    let names: Vec<i64> = labels.iter().map(|label| i64::from(*label)).collect();
    let (path, checkpoint) = (folder.path().join("data.safetensors"), folder.path().join("checkpoint.safetensors"));
    written(&path, 601, (5, Data::F32(&x)), Data::I64(&names));
    let bytes = std::fs::read(&path).expect("bytes");
    let trainer = trainer().row_group(201).epochs(4);
    let open = || SampleFile::open(&path, Wanted::Labels(Roles::default())).expect("a file").expect("groups");
    let whole = trainer.fit_groups(&threads(2), &open(), &grid(7, 2)).expect("a fit");
    let trainer = trainer.checkpoint(&checkpoint, Duration::MAX);
    // On the first group, in the scores of the first epoch, and later.
    for at in [8, 11, 17] {
        let file = open();
        let watched = Watched { cut: Some((at, path.clone())), ..Watched::new(&file) };
        let error = trainer.fit_groups(&threads(2), &watched, &grid(7, 2)).expect_err("a short file");
        assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error}");
        assert!(error.to_string().contains("the end of the file, in rows"), "{error}");
        std::fs::write(&path, &bytes).expect("the whole file");
        assert!(checkpoint.exists(), "read {at}: no checkpoint");
        let rest = trainer.fit_groups(&threads(2), &open(), &grid(7, 2)).expect("a fit");
        assert!(alike(&whole, &rest), "read {at}");
        std::fs::remove_file(&checkpoint).expect("a checkpoint");
    }
}
