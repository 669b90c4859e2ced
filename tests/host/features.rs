//! Columns of small samples against their formulas in f64, which `golden/features.py` evaluated with numpy, scipy,
//! tsfresh and tsxtract.

use common::samples::{Golden, goldens, singular_values};
use fiedler::Context;
use fiedler::features::{Extractor, Representation};
use fiedler::io::{self, Data, Layers, NamedArray, Rows};
use fiedler::ops::series::{Measure, Moments, Program, SampleShape, Status};

/// Columns are rounded to f32, and the formulas are evaluated in f64 in another order of operations. Differences that
/// cancel leave an error in units of the greatest number of the sample.
fn close(found: f32, wanted: f64, scale: f64) -> bool {
    let found = f64::from(found);
    if wanted.is_nan() || wanted.is_infinite() {
        return found.is_nan() && wanted.is_nan() || found == wanted;
    }
    // Half a unit of f32 at the wanted number, or half the least subnormal number.
    let rounding = wanted.abs() * 2_f64.powi(-24) + 0.5 * 2_f64.powi(-149);
    (found - wanted).abs() <= rounding * 1.001 + 1e-12 * wanted.abs().max(scale)
}

#[test]
fn every_column_is_that_of_its_formula() {
    let ctx = Context::cpu();
    let mut compared = 0;
    for Golden { shape, numbers, columns } in &goldens() {
        let shape = *shape;
        let scale = numbers.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
        for (representation, wanted) in columns {
            let names = representation.names(shape);
            assert_eq!(names.len(), wanted.len(), "{} of {shape:?}", representation.name());
            let program = Program::new(representation.measures(), shape).unwrap();
            let values = singular_values(&program, shape, numbers);
            let narrow: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
            let of_f32 = program.run(&ctx, &narrow, [&values[0], &values[1]]).unwrap();
            let found = program.run(&ctx, numbers, [&values[0], &values[1]]).unwrap();
            for ((name, &found), &wanted) in names.iter().zip(&found.values).zip(wanted) {
                let what = format!("{} {name} of {shape:?} {numbers:?}", representation.name());
                assert!(close(found, wanted, scale), "{what}: {found}, not {wanted}");
                compared += 1;
            }
            // The numbers are exact in f32.
            assert_eq!(bits(&of_f32.values), bits(&found.values));
            let any = |what: fn(&f64) -> bool| wanted.iter().any(what);
            let status = match (any(|x| x.is_infinite()), any(|x| x.is_nan())) {
                (true, _) => Status::Overflow,
                (_, true) => Status::Undefined,
                _ => Status::Ok,
            };
            assert_eq!(found.status, [status], "{} of {shape:?}", representation.name());
        }
    }
    assert!(compared > 5000, "{compared} columns");
}

/// The extractor computes the singular values of matrices itself, and finds the columns of each representation among
/// those of all.
#[test]
fn layers_of_matrices_have_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    for (place, Golden { shape, numbers, columns }) in goldens().iter().enumerate() {
        let SampleShape::Matrix { rows, columns: width } = *shape else { continue };
        // Three samples, of which the second is another one.
        let path = folder.path().join(format!("{place}.npz"));
        let other = numbers.iter().map(|x| 1.0 - 2.0 * x);
        let all: Vec<f64> = numbers.iter().copied().chain(other).chain(numbers.iter().copied()).collect();
        let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
        let stored = [array("a", vec![3, rows, width], Data::F64(&all)), array("b", vec![3, 1], Data::F64(&all[..3]))];
        io::write(&path, &stored).unwrap();
        let data = Layers::open(&[path]).unwrap();
        let representations: Vec<Representation> = (columns.iter().enumerate())
            .map(|(at, (one, _))| Representation::new(&format!("r{at}"), one.measures()))
            .collect();
        let found = Extractor::new(representations).layers(&["a".to_owned()]).extract(&Context::cpu(), &data).unwrap();
        let wanted: Vec<f64> = columns.iter().flat_map(|(_, values)| values.clone()).collect();
        let scale = numbers.iter().fold(0.0_f64, |max, x| max.max(x.abs()));
        assert_eq!(found.names().len(), wanted.len());
        for sample in [0, 2] {
            for ((name, &found), &wanted) in found.names().iter().zip(found.row(sample)).zip(&wanted) {
                assert!(close(found, wanted, scale), "{name} of {shape:?}: {found}, not {wanted}");
            }
        }
        assert_ne!(bits(found.row(1)), bits(found.row(0)));
    }
}

/// What cannot be taken, because a disk is full, ends the extraction although more blocks are being read.
#[test]
fn an_error_of_who_takes_the_columns_ends_the_extraction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let numbers = vec![1.0_f32; 9000 * 60];
    let array = NamedArray { name: "x", rows: Rows::Other, shape: vec![9000, 60], data: Data::F32(&numbers) };
    io::write(&path, &[array]).unwrap();
    let data = Layers::open(&[path]).unwrap();
    let extractor = Extractor::new(Representation::parse_list("moments").unwrap());
    let full = || fiedler::Error::domain("test", "the disk is full");
    let error = extractor.stream(&Context::cpu(), &data, |_, _, _| Err(full())).unwrap_err().to_string();
    assert!(error.contains("the disk is full"), "{error}");
}

#[test]
fn series_of_different_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.csv");
    let series: [&[f64]; 5] = [&[1.0, 2.0, 4.0], &[3.0], &[5.0, 1.0, 2.0], &[1.0, 1.5, 1.0, 2.0], &[2.0, f64::NAN]];
    let line = |series: &&[f64]| series.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    std::fs::write(&path, series.iter().map(line).collect::<Vec<_>>().join("\n")).unwrap();
    let data = Layers::open(&[path]).unwrap();
    let ctx = Context::cpu();
    let representations = || Representation::parse_list("core33,moments").unwrap();
    let found = Extractor::new(representations()).extract(&ctx, &data).unwrap();
    for (sample, series) in series.iter().enumerate() {
        let measures = representations().iter().flat_map(|one| one.measures()).collect();
        let program = Program::new(measures, SampleShape::Vector(series.len())).unwrap();
        let alone = program.run(&ctx, series, [&[], &[]]).unwrap();
        assert_eq!(bits(found.row(sample)), bits(&alone.values), "sample {sample}");
        assert_eq!(found.status()[sample], alone.status[0]);
    }
    let error = Extractor::new(Representation::parse_list("raw").unwrap()).extract(&ctx, &data).unwrap_err();
    assert!(error.to_string().contains("as many columns for every length"), "{error}");
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| if value.is_nan() { 0 } else { value.to_bits() }).collect()
}

/// A sample has the same bits beside any others, in any place, on any number of threads; a NaN spoils its own sample
/// only.
#[test]
fn a_sample_is_computed_alone() {
    let measures: Vec<_> = Representation::parse_list("core33,ensemble,moments,quantiles,histogram,raw(project=3)")
        .unwrap()
        .iter()
        .flat_map(|one| one.measures())
        .collect();
    let n = 29;
    let program = Program::new(measures, SampleShape::Vector(n)).unwrap();
    let mut state = 7_u64;
    let mut numbers: Vec<f32> = (0..100 * n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / 1e5 - 80.0
        })
        .collect();
    numbers[13 * n + 5] = f32::NAN;
    numbers[57 * n] = f32::INFINITY;
    let one = Context::builder().device(false).threads(1).build().unwrap();
    let three = Context::builder().device(false).threads(3).build().unwrap();
    let all = program.run(&one, &numbers, [&[], &[]]).unwrap();
    assert_eq!(bits(&program.run(&three, &numbers, [&[], &[]]).unwrap().values), bits(&all.values));
    for sample in 0..100 {
        let alone = program.run(&one, &numbers[sample * n..][..n], [&[], &[]]).unwrap();
        assert_eq!(bits(&alone.values), bits(&all.values[sample * all.width..][..all.width]), "sample {sample}");
        assert_eq!(alone.status[0], all.status[sample]);
        let spoiled = sample == 13 || sample == 57;
        assert_eq!(all.status[sample] == Status::NotFinite, spoiled);
        assert_eq!(alone.values.iter().all(|x| x.is_nan()), spoiled);
    }
    // Longer samples are sorted by another method, and filled up to tasks of another size.
    for n in [4095, 4096, 4097, 70_000] {
        let numbers: Vec<f64> = (0..3 * n).map(|i| ((i * 7919) % 10_007) as f64).collect();
        let program = Program::new(
            Representation::parse_list("core33,quantiles").unwrap().iter().flat_map(|one| one.measures()).collect(),
            SampleShape::Vector(n),
        )
        .unwrap();
        let all = program.run(&three, &numbers, [&[], &[]]).unwrap();
        for sample in 0..3 {
            let own = &numbers[sample * n..][..n];
            let alone = program.run(&one, own, [&[], &[]]).unwrap();
            assert_eq!(bits(&alone.values), bits(&all.values[sample * all.width..][..all.width]));
            let mut sorted = own.to_vec();
            sorted.sort_by(f64::total_cmp);
            let median = f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
            assert_eq!(alone.values[5], median as f32, "the median of {n} numbers");
        }
    }
}

#[test]
fn bad_parameters_and_shapes() {
    let refused = |list: &str, part: &str| {
        let error = Representation::parse_list(list).unwrap_err().to_string();
        assert!(error.contains(part), "{list}: {error}");
    };
    refused("quantiles(q=[1.5])", "quantiles from 0 to 1, found 1.5");
    refused("quantiles(spreads=[[0.1, -1]])", "quantiles from 0 to 1, found -1");
    refused("histogram(bins=0)", "bins, found 0");
    refused("histogram(range=[2, 1])", "a range that ascends, found 2 to 1");
    refused("histogram(epsilon=-1)", "an epsilon of 0 or more, found -1");
    refused("spectrum(top=0)", "a top of 1");
    refused("spectrum(bands=0)", "bands, found 0");
    refused("spectrum(rolloff=2)", "a rolloff from 0 to 1, found 2");
    refused("singular(top=0)", "a top of 1");
    refused("covariance(top=0)", "a top of 1");
    refused("autocorrelation(lags=[0])", "lags of 1");
    refused("autocorrelation(order=8)", "an order of 2 to 7, found 8");
    refused("autocorrelation(delay=0)", "a delay of 1");
    refused("autocorrelation(support=0)", "a support of 1");
    let none = Measure::Moments(Moments { columns: Vec::new(), ..Moments::default() });
    for measures in [vec![], vec![none]] {
        assert!(
            Program::new(measures, SampleShape::Vector(5)).unwrap_err().to_string().contains("at least one column")
        );
    }
    let moments = Representation::parse_list("moments").unwrap().remove(0).measures();
    assert!(Program::new(moments.clone(), SampleShape::Vector(0)).is_err());
    let program = Program::new(moments, SampleShape::Vector(5)).unwrap();
    let error = program.run(&Context::cpu(), &[0.0_f32; 6], [&[], &[]]).unwrap_err().to_string();
    assert!(error.contains("samples of 5 numbers each") && error.contains("6 numbers"), "{error}");
    assert_eq!(program.run::<f32>(&Context::cpu(), &[], [&[], &[]]).unwrap().status, []);
}
