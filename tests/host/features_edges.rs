//! Edges of histograms that are fitted to training samples: they come from these samples and layers alone, have the
//! same bins as a `range` that is given, and are kept in a file.

use fiedler::cache::Cache;
use fiedler::features::{Edges, Extracted, Extractor, Representation, Step, Steps};
use fiedler::io::{self, Data, Layers, NamedArray, Rows};
use fiedler::ops::series::Status;
use fiedler::{Context, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const SAMPLES: usize = 12;
const WIDTH: usize = 40;
const LIST: &str = "histogram(range='fitted', bins=5, columns=['counts', 'entropy'])";

fn numbers(scale: f32, shift: f32) -> Vec<f32> {
    (0..SAMPLES * WIDTH).map(|i| scale * ((i * 7919 % 1009) as f32 / 1009.0 - 0.5) + shift).collect()
}

fn set(folder: &TempDir, file: &str, layers: &[(&str, &[f32])]) -> Layers {
    let path = folder.path().join(file);
    let arrays: Vec<NamedArray<'_>> = layers
        .iter()
        .map(|&(name, data)| NamedArray {
            name,
            rows: Rows::Other,
            shape: vec![SAMPLES, data.len() / SAMPLES],
            data: Data::F32(data),
        })
        .collect();
    io::write(&path, &arrays).unwrap();
    Layers::open(&[path]).unwrap()
}

fn extractor(list: &str) -> Extractor {
    Extractor::new(Representation::parse_list(list).unwrap())
}

fn fitted(data: &Layers, rows: std::ops::Range<usize>) -> Edges {
    extractor(LIST).fit_edges(&Context::cpu(), data, rows).unwrap()
}

fn bits(found: &Extracted) -> Vec<u32> {
    found.values().iter().map(|x| x.to_bits()).collect()
}

/// Returns the least and the greatest of some numbers.
fn ends(numbers: &[f32]) -> (f64, f64) {
    let all = || numbers.iter().map(|&x| f64::from(x));
    (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
}

#[test]
fn edges_depend_on_the_training_samples_only() {
    let folder = TempDir::new().unwrap();
    let mut x = numbers(2.0, 0.0);
    let before = fitted(&set(&folder, "a.npz", &[("x", &x)]), 2..7);
    assert_eq!(before.iter().collect::<Vec<_>>(), [("x", ends(&x[2 * WIDTH..7 * WIDTH]))]);
    // Other samples may be anything.
    x[..2 * WIDTH].fill(1e30);
    x[7 * WIDTH..].fill(f32::NAN);
    assert_eq!(fitted(&set(&folder, "b.npz", &[("x", &x)]), 2..7), before);
    x[2 * WIDTH] = 5.0;
    let moved = fitted(&set(&folder, "c.npz", &[("x", &x)]), 2..7);
    assert_eq!(moved.iter().next().unwrap().1.1, 5.0);
    // An entry with a NaN is left out as a whole.
    x[2 * WIDTH + 1] = f32::NAN;
    let data = set(&folder, "d.npz", &[("x", &x)]);
    assert_eq!(fitted(&data, 2..7).iter().collect::<Vec<_>>(), [("x", ends(&x[3 * WIDTH..7 * WIDTH]))]);
    let error = extractor(LIST).fit_edges(&Context::cpu(), &data, 7..9).unwrap_err().to_string();
    assert!(error.contains("finite numbers of x in the training samples, found none"), "{error}");
    assert!(extractor(LIST).fit_edges(&Context::cpu(), &data, 7..13).is_err());
}

#[test]
fn every_layer_has_the_bins_of_its_own_range() {
    let (folder, ctx) = (TempDir::new().unwrap(), Context::cpu());
    let (x, y) = (numbers(2.0, 0.0), numbers(1e3, 4e3));
    let data = set(&folder, "a.npz", &[("x", &x), ("z", &y)]);
    let edges = fitted(&data, 0..6);
    assert_eq!(edges.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["x", "z"]);
    let found = extractor(LIST).edges(edges.clone()).extract(&ctx, &data).unwrap();
    for (layer, (low, high)) in edges.iter() {
        let list = format!("histogram(range=[{low:?}, {high:?}], bins=5, columns=['counts', 'entropy'])");
        let own = extractor(&list).layers(&[layer.to_owned()]).extract(&ctx, &data).unwrap();
        let place = 6 * usize::from(layer == "z");
        for sample in 0..SAMPLES {
            let (row, own) = (&found.row(sample)[place..][..6], own.row(sample));
            assert_eq!(
                row.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                own.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            );
            // All numbers of the training samples are in a bin.
            let counted: f32 = row[..5].iter().sum();
            assert!(if sample < 6 { counted == WIDTH as f32 } else { counted <= WIDTH as f32 });
        }
    }
    let about = extractor(LIST).edges(edges.clone()).description(&ctx, &data).unwrap();
    assert_eq!(about["representations"]["histogram"]["parts"][0]["range"], "fitted");
    let (low, high) = edges.iter().nth(1).unwrap().1;
    assert_eq!(about["edges"]["z"], serde_json::json!([low, high]));
    // Edges of a representation that has no use for them are not described.
    let about = extractor("moments").edges(edges).description(&ctx, &data).unwrap();
    assert!(about.get("edges").is_none());
}

#[test]
fn what_is_stored_belongs_to_its_range() {
    let (folder, store, ctx) = (TempDir::new().unwrap(), TempDir::new().unwrap(), Context::cpu());
    // Two layers with the same numbers, which have the same units unless their ranges differ.
    let x = numbers(2.0, 0.0);
    let data = set(&folder, "a.npz", &[("x", &x), ("z", &x)]);
    let other = set(&folder, "b.npz", &[("x", &numbers(2.0, 0.5)), ("z", &numbers(3.0, 0.0))]);
    let run = |edges: &Edges, stored: bool| {
        let extractor = extractor(LIST).edges(edges.clone());
        let cache = || Arc::new(Cache::new().packs(store.path(), 1 << 30));
        let extractor = if stored { extractor.cache(cache()) } else { extractor };
        extractor.extract(&ctx, &data).unwrap()
    };
    let (own, others) = (fitted(&data, 0..6), fitted(&other, 0..6));
    let plain = [run(&own, false), run(&others, false)];
    assert_ne!(bits(&plain[0]), bits(&plain[1]));
    for round in 0..2 {
        for (edges, plain) in [&own, &others].into_iter().zip(&plain) {
            let found = run(edges, true);
            assert_eq!(bits(&found), bits(plain));
            assert!(round == 0 || found.report().units == [2, 0], "{:?}", found.report());
        }
    }
    // A given range finds what a fitted one with the same edges has stored.
    let (low, high) = own.iter().next().unwrap().1;
    let list = format!("histogram(range=[{low:?}, {high:?}], bins=5, columns=['counts', 'entropy'])");
    let cache = Arc::new(Cache::new().packs(store.path(), 1 << 30));
    let found = extractor(&list).cache(cache).extract(&ctx, &data).unwrap();
    assert_eq!((found.report().units, bits(&found)), ([2, 0], bits(&plain[0])));
}

#[test]
fn equal_numbers_and_extreme_ones() {
    let folder = TempDir::new().unwrap();
    let edges = |x: &[f32]| fitted(&set(&folder, "x.npz", &[("x", x)]), 0..SAMPLES).iter().next().unwrap().1;
    assert_eq!(edges(&[3.0; SAMPLES]), (2.5, 3.5));
    assert_eq!(edges(&[-0.0; SAMPLES]), (-0.5, 0.5));
    let (low, high) = edges(&[1e30; SAMPLES]);
    assert!(low < f64::from(1e30_f32) && f64::from(1e30_f32) < high);
    let table = folder.path().join("wide.csv");
    std::fs::write(&table, "1e308,-1e308\n").unwrap();
    let data = Layers::open(&[table]).unwrap();
    let error = extractor(LIST).fit_edges(&Context::cpu(), &data, 0..1).unwrap_err().to_string();
    assert!(error.contains("edges that f64 holds"), "{error}");
}

#[test]
fn series_and_samples_in_files_have_edges_too() {
    let (folder, ctx) = (TempDir::new().unwrap(), Context::cpu());
    let table = folder.path().join("s.csv");
    std::fs::write(&table, "1,2,4\n9\n5,nan,-7\n-3,0.5,1,1\n").unwrap();
    let data = Layers::open(&[table]).unwrap();
    assert_eq!(fitted(&data, 0..4).iter().collect::<Vec<_>>(), [("values", (-3.0, 9.0))]);
    assert_eq!(fitted(&data, 1..2).iter().collect::<Vec<_>>(), [("values", (8.5, 9.5))]);
    let found = extractor(LIST).edges(fitted(&data, 0..1)).extract(&ctx, &data).unwrap();
    assert_eq!(found.status(), [Status::Ok, Status::Ok, Status::NotFinite, Status::Ok]);
    assert_eq!((found.row(0)[..5].iter().sum::<f32>(), found.row(1)[..5].iter().sum::<f32>()), (3.0, 0.0));
    let files: Vec<PathBuf> = (0..70).map(|i| folder.path().join(format!("s{i}.npz"))).collect();
    for (i, path) in files.iter().enumerate() {
        let (x, y) = ([i as f32, 0.0], [-(i as f32)]);
        let array = |name, data| NamedArray { name, rows: Rows::Other, shape: vec![], data };
        let mut arrays = [array("x", Data::F32(&x)), array("z", Data::F32(&y))];
        (arrays[0].shape, arrays[1].shape) = (vec![2], vec![1]);
        io::write(path, &arrays).unwrap();
    }
    let data = Layers::open(&files).unwrap();
    assert!(data.by_sample());
    assert_eq!(fitted(&data, 3..67).iter().collect::<Vec<_>>(), [("x", (0.0, 66.0)), ("z", (-66.0, -3.0))]);
}

#[test]
fn missing_edges_and_those_of_other_layers_are_refused() {
    let (folder, ctx) = (TempDir::new().unwrap(), Context::cpu());
    let (x, y) = (numbers(2.0, 0.0), numbers(1e3, 4e3));
    let data = set(&folder, "a.npz", &[("x", &x), ("z", &y)]);
    let error = extractor(LIST).extract(&ctx, &data).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    assert!(error.to_string().contains("--fit FILE") && error.to_string().contains("fit_edges"), "{error}");
    let of_x = extractor(LIST).layers(&["x".to_owned()]).fit_edges(&ctx, &data, 0..3).unwrap();
    let of_z = extractor(LIST).layers(&["z".to_owned()]).edges(of_x.clone());
    let error = of_z.extract(&ctx, &data).unwrap_err().to_string();
    assert!(error.contains("fitted edges of the layer z, found those of x"), "{error}");
    // The name of the only layer does not matter, since that of an array in an .npy file is the name of the file.
    let alone = set(&folder, "b.npz", &[("w", &x)]);
    let under_its_name = extractor(LIST).layers(&["x".to_owned()]).edges(of_x.clone()).extract(&ctx, &data).unwrap();
    let under_another = extractor(LIST).edges(of_x).extract(&ctx, &alone).unwrap();
    assert_eq!(under_another.values(), under_its_name.values());
    for (list, part) in [
        ("histogram(range='fited')", "the range `fited`; did you mean `fitted`?"),
        ("histogram(range='fitted', bins=0)", "1 to 2^20 bins"),
        ("moments(range='fitted')", "the parameter `range`"),
    ] {
        let error = Representation::parse_list(list).unwrap_err().to_string();
        assert!(error.contains(part), "{list}: {error}");
    }
}

#[test]
fn edges_are_kept_with_the_steps() {
    let (folder, ctx) = (TempDir::new().unwrap(), Context::cpu());
    let data = set(&folder, "a.npz", &[("x", &numbers(2.0, 0.0)), ("z", &numbers(1e3, 4e3))]);
    let edges = fitted(&data, 0..6);
    let extractor = extractor(LIST).edges(edges.clone());
    let names = extractor.names(&ctx, &data).unwrap();
    let path = folder.path().join("steps.safetensors");
    for steps in [&[][..], &[Step::ZScore], &[Step::ZScore, Step::Pca(2)]] {
        let fit = Steps::fit(&ctx, steps, &names, |take| {
            extractor.stream(&ctx, &data, |values, status, _| take(values, status)).map(|_| ())
        });
        let fit = fit.unwrap();
        assert!(fit.edges().is_none() && fit.is_empty() == steps.is_empty());
        let fit = fit.with_edges(edges.clone());
        fit.write(&path).unwrap();
        let back = Steps::read(&path).unwrap();
        assert_eq!((back.edges(), &back), (Some(&edges), &fit));
        let values = extractor.extract(&ctx, &data).unwrap();
        assert_eq!(back.transform(&ctx, values.values()).unwrap(), fit.transform(&ctx, values.values()).unwrap());
        // A change of any byte is noticed.
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            std::fs::write(&path, &damaged).unwrap();
            if let Ok(read) = Steps::read(&path) {
                assert_eq!(read, fit, "byte {at} of {}", whole.len());
            }
        }
        for length in [0, 9, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let error = Steps::read(&path).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error}");
        }
    }
}
