//! Generated data sets: their bytes, their laws, and that they are read again.

use fiedler::features::generate::{Series, Strings, Vectors};
use fiedler::io::{Extent, Layers, Numbers, Roles, TableTargets, Wanted, read_samples};
use fiedler::{Cancel, Context, ErrorKind};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;
use std::fs;
use std::path::Path;

fn threads(count: usize) -> Context {
    Context::builder().device(false).threads(count).build().expect("a context")
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// A way to write a data set.
type Write<'a> = &'a dyn Fn(&Context, &Path) -> fiedler::Result<()>;

/// Every data set has these bytes, on any number of threads. The hashes were noted when the generators were written:
/// a seed gives the same data on every machine and in every later version.
#[test]
fn the_bytes_stay_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let vectors = Vectors::new(40, 10, 7).expect("vectors");
    let series = Series::new(300, 4, 700..=700, 7).expect("series");
    let ragged = Series::new(300, 4, 1..=90, 7).expect("series");
    let strings = Strings::new(5000, 30, 100, 7).expect("strings");
    let cases: [(&str, Write<'_>, &str); 7] = [
        ("v.safetensors", &|ctx, path| vectors.write(ctx, path), "9cd4314f08c9225f"),
        ("v.npz", &|ctx, path| vectors.write(ctx, path), "6c45d46ccc034951"),
        ("s.npz", &|ctx, path| series.write(ctx, path), "e01e4e13faee7955"),
        ("s.safetensors", &|ctx, path| series.write(ctx, path), "dce82b44cfbae77c"),
        ("s.csv", &|ctx, path| series.write(ctx, path), "db6fe9fe0a9b276f"),
        ("r.csv", &|ctx, path| ragged.write(ctx, path), "7b629a4f57c9aae4"),
        ("b.txt", &|ctx, path| strings.write(ctx, path), "c0eb688d44a74981"),
    ];
    let mut found = Vec::new();
    for (name, write, want) in cases {
        let path = folder.path().join(name);
        for count in [1, 3] {
            write(&threads(count), &path).expect(name);
            let bytes = fs::read(&path).expect("a file");
            found.push((name, count, hash(&bytes), want));
        }
    }
    let wrong: Vec<_> = found.iter().filter(|(_, _, hash, want)| hash != want).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Rows that are made alone, or from any sample on, are those that are made together.
#[test]
fn rows_do_not_depend_on_each_other() {
    let vectors = Vectors::new(50, 3, 5).expect("vectors");
    for layer in [0, 6, 127] {
        let numbers = vectors.layers()[layer].numbers;
        let mut all = vec![0.0; 50 * numbers];
        vectors.fill(layer, 0, &mut all);
        for (first, count) in [(0, 1), (49, 1), (3, 17), (16, 16), (15, 33)] {
            let mut some = vec![0.0; count * numbers];
            vectors.fill(layer, first, &mut some);
            assert!(some[..] == all[first * numbers..][..count * numbers], "{layer}: {count} from {first}");
        }
    }
    let series = Series::new(8, 4, 5..=40, 5).expect("series");
    for sample in 0..8 {
        let (mut long, mut short) = (vec![0.0; 40], vec![0.0; 7]);
        series.fill(sample, &mut long);
        series.fill(sample, &mut short);
        assert!(short[..] == long[..7] && (5..=40).contains(&series.length(sample)), "{sample}");
    }
}

/// Moments against the law, with bounds of about five standard errors of 12,800 vectors, which differ in their scales
/// by 18 %: of the mean square 0.0044, of the product of neighbors 0.002, of other products 0.0005.
#[test]
fn vectors_have_their_moments() {
    let vectors = Vectors::new(100, 10, 3).expect("vectors");
    let (mut sums, mut scales) = ([0.0; 4], Vec::new());
    for (layer, own) in vectors.layers().iter().enumerate() {
        let n = own.numbers;
        let mut all = vec![0.0; 100 * n];
        vectors.fill(layer, 0, &mut all);
        for x in all.chunks(n) {
            let product = |lag: usize| {
                let sum: f64 = (0..n).map(|j| f64::from(x[j]) * f64::from(x[(j + lag) % n])).sum();
                sum / n as f64 * 1e4
            };
            scales.push(product(0).sqrt());
            for (lag, sum) in sums.iter_mut().enumerate() {
                *sum += product(lag) / 12_800.0;
            }
        }
    }
    // E a^2 = 1 + 0.05^2 / 3 + 0.3^2 / 3, E b = 0.4, E b^2 = 0.4^2 + 0.035^2 / 3 + 0.2^2 / 3.
    let (scale, square) = (1.0 + (0.0025 + 0.09) / 3.0, 0.16 + (0.001_225 + 0.04) / 3.0);
    let want = [scale * (1.0 + square), scale * 0.4, 0.0, 0.0];
    for (lag, (got, want)) in sums.into_iter().zip(want).enumerate() {
        let bound = [0.022, 0.01, 0.0025, 0.0025][lag];
        assert!((got - want).abs() < bound, "lag {lag}: {got}, not {want}");
    }
    // Samples move the scale by 0.3 / sqrt 3, classes by 0.05 / sqrt 3, the weight by 0.04 and chance by about 0.03.
    let mean = scales.iter().sum::<f64>() / 12_800.0;
    let deviation = (scales.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 12_800.0).sqrt() / mean;
    assert!((deviation - 0.183).abs() < 0.012, "{deviation}");
}

/// The features of a spectrum that the note's system computes: the 10 largest magnitudes, mean, deviation, maximum and
/// the share of the energy in the 10 largest.
fn frequency(planner: &mut FftPlanner<f32>, x: &[f32]) -> [f64; 14] {
    let mut line: Vec<Complex<f32>> = x.iter().map(|&x| Complex::new(x, 0.0)).collect();
    planner.plan_fft_forward(x.len()).process(&mut line);
    let mut sizes: Vec<f64> = line.iter().map(|z| f64::from(z.norm())).collect();
    sizes.select_nth_unstable_by(9, |a, b| b.total_cmp(a));
    sizes[..10].sort_unstable_by(|a, b| b.total_cmp(a));
    let n = sizes.len() as f64;
    let (mean, energy) = (sizes.iter().sum::<f64>() / n, sizes.iter().map(|x| x * x).sum::<f64>());
    let mut made = [0.0; 14];
    made[..10].copy_from_slice(&sizes[..10]);
    made[10..].copy_from_slice(&[mean, (energy / n - mean * mean).sqrt(), sizes[0], 0.0]);
    made[13] = sizes[..10].iter().map(|x| x * x).sum::<f64>() / energy;
    made
}

/// Spectra tell classes apart better than chance, and not perfectly. The nearest mean of 35 samples of each class is
/// right for 30 to 120 of 150 others; by chance for 15, with a standard error of 4.
#[test]
fn spectra_tell_of_classes() {
    let vectors = Vectors::new(500, 10, 1).expect("vectors");
    let mut features = vec![Vec::new(); 500];
    let mut planner = FftPlanner::new();
    for (layer, own) in vectors.layers().iter().enumerate() {
        let mut all = vec![0.0; 500 * own.numbers];
        vectors.fill(layer, 0, &mut all);
        for (x, features) in all.chunks(own.numbers).zip(&mut features) {
            features.extend(frequency(&mut planner, x));
        }
    }
    let columns = features[0].len();
    for column in 0..columns {
        let mean = features[..350].iter().map(|row| row[column]).sum::<f64>() / 350.0;
        let deviation = (features[..350].iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / 350.0).sqrt();
        features.iter_mut().for_each(|row| row[column] = (row[column] - mean) / deviation);
    }
    let mut means = vec![vec![0.0; columns]; 10];
    for (sample, row) in features[..350].iter().enumerate() {
        means[vectors.class(sample)].iter_mut().zip(row).for_each(|(mean, x)| *mean += x / 35.0);
    }
    let distance = |row: &[f64], mean: &[f64]| row.iter().zip(mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>();
    let nearest = |row: &[f64]| {
        (0..10).min_by(|&a, &b| distance(row, &means[a]).total_cmp(&distance(row, &means[b]))).expect("classes")
    };
    let right = (350..500).filter(|&sample| nearest(&features[sample]) == vectors.class(sample)).count();
    assert!((30..=120).contains(&right), "{right} of 150");
}

#[test]
fn vectors_are_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let vectors = Vectors::new(12, 5, 2).expect("vectors");
    let ctx = threads(2);
    for name in ["v.safetensors", "v.npz", "set"] {
        let path = folder.path().join(name);
        vectors.write(&ctx, &path).expect(name);
        let data = Layers::open(std::slice::from_ref(&path)).expect(name);
        assert_eq!((data.len(), data.layers().len(), data.by_sample()), (12, 128, name == "set"));
        // A folder has its samples in the order of their classes.
        let order: Vec<usize> = match data.ids() {
            Some(ids) => ids.iter().map(|id| id.trim_start_matches("sample-").parse().expect("a number")).collect(),
            None => (0..12).collect(),
        };
        let labels: Vec<u32> = order.iter().map(|&sample| sample as u32 % 5).collect();
        let names = (0..5).map(|class| class.to_string()).collect();
        assert_eq!(data.targets(), &TableTargets::Labels(labels, names), "{name}");
        let all: Vec<usize> = (0..128).collect();
        let rows = data.read(&all, 0..12).expect("rows");
        for (layer, own) in vectors.layers().iter().enumerate() {
            let at = data.layers().iter().position(|layer| layer.name == own.name).expect(&own.name);
            let [r, columns] = own.shape();
            assert_eq!(
                (data.layers()[at].extent, data.layers()[at].wide),
                (Extent::Matrix { rows: r, columns }, false)
            );
            let mut want = vec![0.0; 12 * own.numbers];
            vectors.fill(layer, 0, &mut want);
            let want = order.iter().flat_map(|sample| want[sample * own.numbers..][..own.numbers].iter().copied());
            assert!(rows[at].numbers == Numbers::F32(want.collect()), "{name}: {}", own.name);
        }
    }
    let again = vectors.write(&ctx, &folder.path().join("set")).expect_err("it exists");
    assert!(matches!(again.kind(), ErrorKind::Io { .. }), "{again}");
}

#[test]
fn series_are_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let ctx = threads(2);
    let series = Series::new(40, 4, 30..=30, 9).expect("series");
    let mut want = vec![0.0; 40 * 30];
    want.chunks_mut(30).enumerate().for_each(|(sample, out)| series.fill(sample, out));
    let names: Vec<String> = (0..4).map(|class| class.to_string()).collect();
    for name in ["s.npz", "s.safetensors", "s.csv"] {
        let path = folder.path().join(name);
        series.write(&ctx, &path).expect(name);
        let data = Layers::open(std::slice::from_ref(&path)).expect(name);
        let labels = TableTargets::Labels((0..40).map(|i| i % 4).collect(), names.clone());
        assert_eq!((data.layers()[0].extent, data.targets()), (Extent::Vector(30), &labels), "{name}");
        let numbers = match &data.read(&[0], 0..40).expect("rows")[0].numbers {
            Numbers::F32(numbers) => numbers.clone(),
            Numbers::F64(numbers) => numbers.iter().map(|&x| x as f32).collect(),
        };
        assert!(numbers == want, "{name}");
        // The same data set for a training.
        let table = read_samples(&path, Wanted::Labels(Roles::default())).expect(name);
        assert_eq!((table.inputs, table.len(), &table.targets), (30, 40, &labels), "{name}");
    }
    let ragged = Series::new(40, 4, 3..=30, 9).expect("series");
    let path = folder.path().join("r.csv");
    ragged.write(&ctx, &path).expect("a table");
    let data = Layers::open(std::slice::from_ref(&path)).expect("series");
    let rows = data.read(&[0], 0..40).expect("rows").remove(0);
    let lengths: Vec<usize> = (0..40).map(|sample| ragged.length(sample)).collect();
    assert_eq!((rows.lengths, data.targets()), (Some(lengths.clone()), &TableTargets::None));
    assert!(lengths.iter().any(|&n| n < 10) && lengths.iter().any(|&n| n > 23), "{lengths:?}");
    let all = want.chunks(30).zip(lengths).flat_map(|(own, n)| own[..n].iter().map(|&x| f64::from(x)));
    let Numbers::F64(numbers) = rows.numbers else { panic!("a table") };
    // A text has the shortest decimal number that f32 rounds to its own; read as f64, it is not that number.
    assert!(numbers.iter().map(|&x| x as f32).eq(all.map(|x| x as f32)));
    let wrong = ragged.write(&ctx, &folder.path().join("r.npz")).expect_err("ragged");
    assert!(wrong.to_string().contains(".csv for series of different lengths"), "{wrong}");
}

/// Blocks are written one after the other: of 16 MiB in arrays, of 2^20 numbers and of 2^23 bits in texts.
#[test]
fn data_sets_of_several_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    let ctx = threads(2);
    for (name, samples) in [("s.safetensors", 6100), ("s.npz", 6100), ("s.csv", 1600)] {
        let series = Series::new(samples, 4, 700..=700, 6).expect("series");
        let path = folder.path().join(name);
        series.write(&ctx, &path).expect(name);
        let data = Layers::open(std::slice::from_ref(&path)).expect(name);
        assert_eq!(data.len(), samples, "{name}");
        let mut want = vec![0.0; 700];
        for sample in (0..samples).step_by(97).chain([samples - 1]) {
            series.fill(sample, &mut want);
            let same = match &data.read(&[0], sample..sample + 1).expect("a row")[0].numbers {
                Numbers::F32(numbers) => *numbers == want,
                Numbers::F64(numbers) => numbers.iter().map(|&x| x as f32).eq(want.iter().copied()),
            };
            assert!(same, "{name}: sample {sample}");
        }
    }
    let strings = Strings::new(90_000, 3, 100, 6).expect("strings");
    let path = folder.path().join("b.txt");
    strings.write(&ctx, &path).expect("a file");
    let text = fs::read_to_string(&path).expect("a text");
    assert_eq!(text.lines().count(), 90_000);
    for (sample, line) in text.lines().enumerate().step_by(997) {
        let mut want = Vec::new();
        strings.append(sample, &mut want);
        assert_eq!(line.as_bytes()[..100], want, "sample {sample}");
    }
}

/// Moments of 1000 series of 200 numbers of each law, with bounds of five standard errors.
#[test]
fn series_follow_their_laws() {
    let series = Series::new(4000, 4, 200..=200, 4).expect("series");
    let (mut rows, mut x) = (vec![Vec::new(); 4], vec![0.0_f32; 200]);
    for sample in 0..4000 {
        series.fill(sample, &mut x);
        rows[series.class(sample)].push(x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>());
    }
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (mut sum, mut count) = (0.0, 0.0);
        values.for_each(|x| (sum, count) = (sum + x, count + 1.0));
        sum / count
    };
    let near = |what: &str, got: f64, want: f64, bound: f64| {
        assert!((got - want).abs() < bound, "{what}: {got}, not {want}");
    };
    let square = |rows: &[Vec<f64>]| mean(&mut rows.iter().flatten().map(|x| x * x));
    let lagged = |rows: &[Vec<f64>], lag: usize| {
        mean(&mut rows.iter().flat_map(|x| x.iter().zip(&x[lag..])).map(|(a, b)| a * b))
    };
    // The standard error of a mean of 200,000 independent squares is sqrt(2 / 200,000) = 0.0032.
    near("white noise", square(&rows[0]), 1.0, 0.016);
    near("neighbors in white noise", lagged(&rows[0], 1), 0.0, 0.012);
    // Of an autoregression, 0.0032 * 1.96 * sqrt((1 + 0.49) / (1 - 0.49)) = 0.011; of a first element 1.96 * 0.045.
    near("autoregression", square(&rows[1]), 1.0 / 0.51, 0.054);
    near("neighbors in it", lagged(&rows[1], 1), 0.7 / 0.51, 0.054);
    near("its first element", mean(&mut rows[1].iter().map(|x| x[0] * x[0])), 1.0 / 0.51, 0.44);
    // A sine has the mean square 1/2, up to parts of a period, and its noise 1/4.
    near("sine", square(&rows[2]), 0.75, 0.02);
    near("its first element", mean(&mut rows[2].iter().map(|x| x[0] * x[0])), 0.25, 0.056);
    // E cos(2 pi f) / 2 with f uniform on [0.01, 0.2), whose standard error is 0.26 / 2 / sqrt(1000) = 0.004.
    let tau = std::f64::consts::TAU;
    near("neighbors in it", lagged(&rows[2], 1), ((tau * 0.2).sin() - (tau * 0.01).sin()) / (tau * 0.19) / 2.0, 0.025);
    let steps: Vec<Vec<f64>> = rows[3].iter().map(|x| x.windows(2).map(|pair| pair[1] - pair[0]).collect()).collect();
    near("steps of a walk", square(&steps), 1.0, 0.016);
    near("neighbors among them", lagged(&steps, 1), 0.0, 0.012);
    near("its first element", mean(&mut rows[3].iter().map(|x| x[0] * x[0])), 1.0, 0.23);
}

/// Shares of ones, copies and drifts of every device, with bounds of five standard errors.
#[test]
fn strings_follow_their_law() {
    let folder = tempfile::tempdir().expect("a folder");
    let strings = Strings::new(12_000, 6, 100, 8).expect("strings");
    let path = folder.path().join("b.txt");
    strings.write(&threads(2), &path).expect("a file");
    let text = fs::read_to_string(&path).expect("a text");
    let lines: Vec<(&str, &str)> = text.lines().map(|line| line.split_once(' ').expect("a class")).collect();
    assert_eq!(lines.len(), 12_000);
    for (device, &[bias, copies, drift]) in strings.devices().iter().enumerate() {
        let own: Vec<&[u8]> = lines.iter().skip(device).step_by(6).map(|line| line.0.as_bytes()).collect();
        let class = device % 3;
        assert!(lines.iter().skip(device).step_by(6).all(|line| line.1 == (class + 1).to_string()));
        let ranges = [(0.48, 0.52, 0.0, 0.05, 0.01), (0.54, 0.58, 0.0, 0.10, 0.02), (0.60, 0.65, 0.05, 0.15, 0.03)];
        let (b0, b1, c0, c1, d) = ranges[class];
        assert!((b0..b1).contains(&bias) && (c0..c1).contains(&copies) && drift.abs() <= d, "device {device}");
        let share = |rows: &[&[u8]]| {
            let ones: usize = rows.iter().map(|row| row.iter().filter(|&&bit| bit == b'1').count()).sum();
            ones as f64 / (100 * rows.len()) as f64
        };
        // 200,000 bits, whose copies make their sum vary more.
        let (p, error) = (share(&own), (0.25 / 2e5 * (1.0 + copies) / (1.0 - copies)).sqrt());
        assert!((p - bias).abs() < 5.0 * error, "device {device}: {p}, not {bias}");
        // The halves of the strings are 1/2 apart in i / n.
        let moved = share(&own[1000..]) - share(&own[..1000]);
        assert!((moved - drift / 2.0).abs() < 10.0 * error, "device {device}: {moved}, not {}", drift / 2.0);
        let pairs = own.iter().flat_map(|row| row.windows(2));
        let together: f64 = pairs.map(|pair| (f64::from(pair[0] - b'0') - p) * (f64::from(pair[1] - b'0') - p)).sum();
        let correlation = together / (99.0 * 2000.0) / (p * (1.0 - p));
        assert!(
            (correlation - copies).abs() < 5.0 / 198_000_f64.sqrt(),
            "device {device}: {correlation}, not {copies}"
        );
    }
    let table = read_samples(&path, Wanted::Labels(Roles::default())).expect("a data set");
    let data = Layers::open(std::slice::from_ref(&path)).expect("layers");
    assert_eq!((table.inputs, data.layers()[0].extent, &table.targets), (100, Extent::Vector(100), data.targets()));
    let bits = table.x.iter().map(|&x| x as f32).collect();
    assert!(data.read(&[0], 0..12_000).expect("rows")[0].numbers == Numbers::F32(bits));
}

#[test]
fn wrong_requests_and_cancelled_ones_leave_nothing() {
    let domain = |error: fiedler::Error, words: &str| {
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }) && error.to_string().contains(words), "{error}");
    };
    domain(Vectors::new(0, 10, 1).expect_err("no samples"), "1 or more samples, found 0");
    domain(Vectors::new(1, 0, 1).expect_err("no classes"), "1 or more classes");
    domain(Series::new(1, 5, 3..=3, 1).expect_err("no fifth law"), "1 to 4 classes, found 5");
    domain(Series::new(1, 4, 0..=3, 1).expect_err("no numbers"), "elements of the shortest series");
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is wrong")]
    domain(Series::new(1, 4, 3..=2, 1).expect_err("reversed"), "elements of the longest series");
    domain(Strings::new(5, 6, 100, 1).expect_err("idle devices"), "1 to 5 devices, found 6");
    domain(Strings::new(5, 1, 7, 1).expect_err("short strings"), "bits, found 7");
    let (folder, cancel) = (tempfile::tempdir().expect("a folder"), Cancel::new());
    let ctx = Context::builder().device(false).cancel(cancel.clone()).build().expect("a context");
    cancel.cancel();
    let vectors = Vectors::new(40, 10, 7).expect("vectors");
    for name in ["v.npz", "v.safetensors", "set"] {
        let error = vectors.write(&ctx, &folder.path().join(name)).expect_err("cancelled");
        assert!(error.is_cancelled(), "{error}");
    }
    // Neither files nor temporary ones.
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    cancel.reset();
    let missing = vectors.write(&ctx, &folder.path().join("no folder/v.npz")).expect_err("no folder");
    assert!(matches!(missing.kind(), ErrorKind::Io { .. }), "{missing}");
}
