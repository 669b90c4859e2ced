//! Columns of samples against their formulas in f64, on every backend.
//!
//! A device computes sums in f32, so its columns are those of numbers that differ a little from the given ones. How
//! much a column may be off is therefore measured: it is computed in f64 from numbers that are moved at random by up to
//! 2^-22 of the greatest magnitude. Counts are exact unless a move changes them that moves equal numbers by the same
//! amount, and zeros not at all.

use common::random::SplitMix64;
use common::samples::{Golden, goldens, singular_values};
use common::solve::Checked;
use common::{Test, on_each, on_gpus, suite};
use fiedler::cache::Cache;
use fiedler::features::{Extractor, Representation};
use fiedler::io::{self, Data, Layers, NamedArray, Rows};
use fiedler::ops::series::{Measure, Program, SampleShape, Status};
use fiedler::{Backend, Context, ErrorKind};
use std::sync::Arc;

/// How far numbers are moved, as a share of the greatest magnitude.
const MOVED: f64 = 1.0 / (1 << 22) as f64;
/// How often they are moved. The greatest difference of so few trials is not the greatest that is possible, hence
/// [`SLACK`].
const TRIALS: u64 = 8;
const SLACK: f64 = 6.0;
/// What every column may be off: the roundings of the formulas' inputs to f32.
const ROUNDINGS: f64 = 4.0 * f32::EPSILON as f64;

/// How the names of columns begin that count.
const COUNTS: [&str; 7] =
    ["permutation_entropy", "zero_crossings", "mean_crossings", "peaks", "longest", "first_zero", "count"];

/// Every kind of column, with other parameters than those of the presets too.
const ALL: &str = "core33,tsfresh-minimal,simple_stats,rank_based,stats,spectral,matrix_norms,distribution,frequency,\
                   info,ensemble,moments,quantiles,histogram,spectrum,singular,covariance,autocorrelation,bits";
const OTHERS: [&str; 6] = [
    "raw(project=3)",
    "quantiles(q=[0, 1, 0.123], rule='higher')",
    "histogram(range=[-1, 1.5], bins=7, columns=['counts'])",
    "spectrum(columns=['power', 'magnitudes', 'bands', 'top', 'mean', 'sd', 'max', 'energy_share', 'entropy'], zero=true, \
     both_sides=true, top=9, bands=3)",
    "autocorrelation(order=4, delay=2, support=3, lags=[1, 3, 70], adjusted=false)",
    "bits(columns=['positions', 'pairs', 'runs'], first=9)",
];

pub fn tests() -> Vec<Test> {
    suite(
        "series",
        vec![
            on_each("golden samples", golden_samples),
            on_each("samples of many lengths", many_lengths),
            on_each("numbers at the edges of bins", edges_of_bins),
            on_each("strings of bits", strings_of_bits),
            on_each("a sample is computed alone", alone),
            on_gpus("limits", limits),
            on_gpus("layers of a file", layers_of_a_file),
        ],
    )
}

fn measures(lists: &[&str]) -> Vec<Measure> {
    let of = |list: &&str| Representation::parse_list(list).unwrap();
    lists.iter().flat_map(of).flat_map(|one| one.measures().to_vec()).collect()
}

/// Compares columns with those of the formulas.
struct Judge<'a> {
    program: &'a Program,
    shape: SampleShape,
    numbers: &'a [f64],
}

impl Judge<'_> {
    fn columns(&self, numbers: &[f64]) -> Vec<f64> {
        let values = singular_values(self.program, self.shape, numbers);
        let found = self.program.run(&Context::cpu(), numbers, [&values[0], &values[1]]).unwrap();
        found.values.iter().map(|&x| f64::from(x)).collect()
    }

    /// Returns how much each column changes if the numbers are moved.
    fn changes(&self, names: &[String]) -> Vec<f64> {
        let greatest = self.greatest();
        let exact = self.columns(self.numbers);
        let mut most = vec![0.0_f64; exact.len()];
        let roundings = (self.numbers.len() as f64).sqrt();
        for trial in 0..3 * TRIALS {
            let mut random = SplitMix64::new(trial);
            let moved = |&x: &f64| match trial % 3 {
                0 if x == 0.0 => x,
                0 => x + SplitMix64::new(x.to_bits() ^ random.clone().next_u64()).signed() * MOVED * greatest,
                1 => x + random.signed() * MOVED * greatest,
                _ => x + random.signed() * MOVED * greatest * 3.0 * roundings,
            };
            let numbers: Vec<f64> = self.numbers.iter().map(moved).collect();
            let equal = self.numbers.iter().all(|&x| x == self.numbers[0]);
            let columns = self.columns(&numbers).into_iter().zip(&exact).zip(names);
            for (most, ((moved, exact), name)) in most.iter_mut().zip(columns) {
                let counts = |name: &str| COUNTS.iter().any(|count| name.starts_with(count));
                let counted = match trial % 3 {
                    0 => true,
                    1 => !equal && !counts(name),
                    // The lags' sums are rounded three times for each term, each in its own way.
                    _ => name.starts_with("partial"),
                };
                if counted {
                    *most = most.max((moved - exact).abs());
                }
            }
        }
        most
    }

    fn greatest(&self) -> f64 {
        self.numbers.iter().fold(0.0_f64, |greatest, x| greatest.max(x.abs()))
    }

    /// Returns what is wrong with the columns of a sample.
    fn check(&self, found: &[f32], status: Status, wanted: &[f64]) -> Vec<String> {
        let mut wrong = Vec::new();
        let names = self.program.names();
        let (changes, scale) = (self.changes(&names), self.greatest());
        assert_eq!(found.len(), wanted.len());
        for (((name, &found), &wanted), &change) in names.iter().zip(found).zip(wanted).zip(&changes) {
            let found = f64::from(found);
            // A logarithm of a share near 1 may be off by as much, however small it is.
            let logarithm = if name.contains("entropy") || name == "flatness" { 2_f64.powi(-20) } else { 0.0 };
            // The terms of these sums are of the order of 1 and cancel.
            let cancels = ["skewness", "kurtosis", "lag", "partial"].iter().any(|sum| name.starts_with(sum));
            // Golden values are rounded in f64.
            let rounding = ROUNDINGS * if cancels { wanted.abs().max(1.0) } else { wanted.abs() }
                + 1e-12 * scale
                + 2_f64.powi(-149);
            let allowed = SLACK * change + logarithm + rounding;
            let fine = match wanted.is_finite() {
                true => (found - wanted).abs() <= allowed,
                false => found.is_nan() && wanted.is_nan() || found == wanted,
            };
            if !fine {
                let few = &self.numbers[..self.numbers.len().min(3)];
                let off = (found - wanted).abs();
                wrong.push(format!(
                    "{name} of {:?} {few:?}: {found}, not {wanted}, off by {off:e} of {allowed:e}",
                    self.shape
                ));
            }
        }
        assert_eq!(status, Status::Ok.of_columns(found), "{:?}", self.numbers);
        wrong
    }
}

fn none(wrong: &[String]) -> Checked {
    let first: Vec<&str> = wrong.iter().take(60).map(String::as_str).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{} columns:\n{}", wrong.len(), first.join("\n")).into()) }
}

fn narrow(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|&x| x as f32).collect()
}

fn golden_samples(ctx: &Context) -> Checked {
    let mut wrong = Vec::new();
    for Golden { shape, numbers, columns } in &goldens() {
        let shape = *shape;
        // All columns of a sample together, as an extraction computes them.
        let measures = columns.iter().flat_map(|(one, _)| one.measures().to_vec()).collect();
        let program = Program::new(measures, shape)?;
        let wanted: Vec<f64> = columns.iter().flat_map(|(_, values)| values.clone()).collect();
        let values = singular_values(&program, shape, numbers);
        let found = program.run(ctx, &narrow(numbers), [&values[0], &values[1]])?;
        wrong.extend(Judge { program: &program, shape, numbers }.check(&found.values, found.status[0], &wanted));
    }
    none(&wrong)
}

/// Numbers of a kind: noise, a walk, few different numbers, a tone far from zero, equal numbers, and a wide range.
fn sample(kind: usize, n: usize, random: &mut SplitMix64) -> Vec<f64> {
    let mut walk = 0.0;
    let equal = random.normal();
    let number = |i: usize| match kind {
        0 => random.normal(),
        1 => {
            walk += random.normal();
            walk
        }
        2 => random.below(7) as f64 - 3.0,
        3 => 1000.0 + (0.37 * i as f64).sin() + 0.1 * random.signed(),
        4 => equal,
        _ => random.sign() * 2.0_f64.powf(60.0 * random.signed()),
    };
    (0..n).map(number).map(|x| f64::from(x as f32)).collect()
}

fn many_lengths(ctx: &Context) -> Checked {
    let (mut random, mut wrong) = (SplitMix64::new(20), Vec::new());
    let vectors = [1, 2, 3, 5, 63, 64, 65, 500, 512, 513, 1500, 2048].map(SampleShape::Vector);
    let matrices = [(6, 5), (16, 32), (40, 50), (1, 9), (9, 1), (2, 2), (700, 2)];
    let matrices = matrices.map(|(rows, columns)| SampleShape::Matrix { rows, columns });
    for shape in vectors.into_iter().chain(matrices) {
        let lists: Vec<&str> = [ALL].into_iter().chain(OTHERS).collect();
        let program = Program::new(measures(&lists), shape)?;
        for kind in 0..6 {
            let numbers = sample(kind, shape.len(), &mut random);
            let values = singular_values(&program, shape, &numbers);
            let found = program.run(ctx, &narrow(&numbers), [&values[0], &values[1]])?;
            let judge = Judge { program: &program, shape, numbers: &numbers };
            wrong.extend(judge.check(&found.values, found.status[0], &judge.columns(&numbers)));
        }
    }
    none(&wrong)
}

/// Decimals and whole numbers lie at the edges of bins, or as near to them as f32 allows, and numbers far from zero
/// have bins of a few units of f32. Counts are those of f64.
fn edges_of_bins(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(24);
    let mut number = |kind: usize, i: usize| match kind {
        0 => (i % 11) as f64 / 10.0,
        1 => (random.normal() * 10.0).round() / 10.0,
        2 => 1e6 + random.below(40) as f64 / 16.0,
        3 => 16_777_216.0 + 2.0 * random.below(20) as f64,
        4 => 1e8 + if i == 0 { 8.0 } else { 0.0 },
        5 => 1e30,
        6 => 1e-40 * random.below(9) as f64,
        _ => -2.5,
    };
    for bins in [1, 2, 5, 7, 10, 50] {
        let list = format!("histogram(columns=['counts'], bins={bins})");
        let program = Program::new(measures(&[&list]), SampleShape::Vector(99))?;
        let numbers: Vec<f32> =
            (0..8).flat_map(|kind| (0..99).map(move |i| (kind, i))).map(|(k, i)| number(k, i) as f32).collect();
        let found = program.run(ctx, &numbers, [&[], &[]])?;
        let wide: Vec<f64> = numbers.iter().map(|&x| x.into()).collect();
        let wanted = program.run(&Context::cpu(), &wide, [&[], &[]])?;
        for (kind, (found, wanted)) in found.values.chunks(bins).zip(wanted.values.chunks(bins)).enumerate() {
            assert_eq!(found, wanted, "{bins} bins, kind {kind}");
        }
    }
    Ok(())
}

fn strings_of_bits(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(21);
    let all = "bits(columns=['ones', 'positions', 'transitions', 'runs', 'longest_ones', 'longest_zeros', 'pairs'])";
    for shape in [(1, 45), (7, 20), (80, 12), (3, 1)] {
        let shape = SampleShape::Matrix { rows: shape.0, columns: shape.1 };
        let program = Program::new(measures(&[all, OTHERS[5]]), shape)?;
        let numbers: Vec<f64> = (0..shape.len()).map(|_| random.below(2) as f64).collect();
        let found = program.run(ctx, &narrow(&numbers), [&[], &[]])?;
        let wanted = program.run(&Context::cpu(), &numbers, [&[], &[]])?;
        // Counts are exact, and so are their shares.
        assert_eq!(bits(&found.values), bits(&wanted.values), "{shape:?}");
    }
    Ok(())
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| if value.is_nan() { 0 } else { value.to_bits() }).collect()
}

/// A sample has the same bits beside any others; a NaN spoils its own sample only.
fn alone(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(22);
    for n in [48, 600] {
        let program = Program::new(measures(&["core33,info,raw(project=3)", OTHERS[4]]), SampleShape::Vector(n))?;
        let count = 21;
        let mut numbers: Vec<f32> = (0..count).flat_map(|i| narrow(&sample(i % 4, n, &mut random))).collect();
        numbers[3 * n + 5] = f32::NAN;
        numbers[7 * n] = f32::NEG_INFINITY;
        let all = program.run(ctx, &numbers, [&[], &[]])?;
        for place in [0, 3, 6, 7, 8, 20] {
            let one = program.run(ctx, &numbers[place * n..][..n], [&[], &[]])?;
            assert_eq!(bits(&one.values), bits(&all.values[place * all.width..][..all.width]), "sample {place}");
            let spoiled = place == 3 || place == 7;
            assert_eq!(all.status[place] == Status::NotFinite, spoiled, "sample {place}");
            assert_eq!(one.values.iter().all(|x| x.is_nan()), spoiled, "sample {place}");
        }
    }
    Ok(())
}

fn limits(ctx: &Context) -> Checked {
    let long = Program::new(measures(&["moments"]), SampleShape::Vector(2049))?;
    let patterns = Program::new(measures(&["autocorrelation(order=7)"]), SampleShape::Vector(20))?;
    let bins = Program::new(measures(&["histogram(bins=1025)"]), SampleShape::Vector(20))?;
    for (program, n) in [(long, 2049), (patterns, 20), (bins, 20)] {
        assert!(!program.has_kernels::<f32>());
        let refused = program.run(ctx, &vec![1.0_f32; n], [&[], &[]]).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Limit { .. }), "{refused}");
        // Where the caller does not insist on the device, the CPU computes what the kernels cannot.
        let auto = ctx.with_backend(Backend::Auto);
        assert_eq!(program.run(&auto, &vec![1.0_f32; n], [&[], &[]])?.status.len(), 1);
    }
    let wide = Program::new(measures(&["moments"]), SampleShape::Vector(20))?;
    let refused = wide.run(ctx, &[1.0_f64; 20], [&[], &[]]).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Domain { .. }), "{refused}");
    Ok(())
}

/// An extraction computes singular values on the device too, has no use for what the CPU stored, and finds its own
/// columns again.
fn layers_of_a_file(ctx: &Context) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let mut random = SplitMix64::new(23);
    let (count, shape) = (5, SampleShape::Matrix { rows: 7, columns: 6 });
    let samples: Vec<Vec<f64>> = (0..count).map(|kind| sample(kind % 3, 42, &mut random)).collect();
    let numbers = narrow(&samples.concat());
    let series: Vec<f32> = (0..count * 3000).map(|_| random.normal() as f32).collect();
    let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
    let stored =
        [array("a", vec![count, 7, 6], Data::F32(&numbers)), array("b", vec![count, 3000], Data::F32(&series))];
    io::write(&path, &stored)?;
    let data = Layers::open(&[path])?;
    let cache = Arc::new(Cache::new().packs(folder.path().join("cache"), 1 << 30));
    let list = "singular,covariance,matrix_norms";
    let extractor = |layer: &str| {
        Extractor::new(Representation::parse_list(list).unwrap()).layers(&[layer.to_owned()]).cache(Arc::clone(&cache))
    };
    extractor("a").extract(&Context::cpu(), &data)?;
    let found = extractor("a").extract(ctx, &data)?;
    assert_eq!(found.report().units, [0, 3], "the adapter's columns are not those of the CPU");
    let program = Program::new(measures(&[list]), shape)?;
    for (place, numbers) in samples.iter().enumerate() {
        let judge = Judge { program: &program, shape, numbers };
        none(&judge.check(found.row(place), found.status()[place], &judge.columns(numbers)))?;
    }
    let again = extractor("a").extract(ctx, &data)?;
    assert_eq!(again.report().units, [3, 0]);
    assert_eq!(bits(again.values()), bits(found.values()));
    // Samples beyond the kernels are an error where the device was asked for.
    let refused = extractor("b").extract(ctx, &data).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Limit { .. }), "{refused}");
    Ok(())
}
