//! Tests of `fiedler run random` and `fiedler run divergence` as a user runs them.

use crate::call::run;
use npyz::npz::NpzArchive;
use npyz::{Deserialize, WriterBuilder};
use std::fs::File;
use std::path::Path;

fn done(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn array<T: Deserialize>(path: &str, name: &str) -> (Vec<u64>, Vec<T>) {
    let mut archive = NpzArchive::open(path).expect("an npz");
    let array = archive.by_name(name).expect("readable").unwrap_or_else(|| panic!("no array {name}"));
    (array.shape().to_vec(), array.into_vec().expect("of this type"))
}

fn save(path: &Path, shape: &[u64], data: &[f64]) -> String {
    let file = File::create(path).expect("a file");
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(shape).writer(file).begin_nd().expect("a header");
    writer.extend(data.iter().copied()).expect("written");
    writer.finish().expect("finished");
    path.to_str().expect("a plain path").to_owned()
}

#[test]
fn random_numbers_of_a_named_stream() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("x.npz").to_str().expect("a plain path").to_owned();
    let call = [
        "run",
        "random",
        "--shape",
        "10,6",
        "--distribution",
        "normal",
        "--seed",
        "7",
        "--stream",
        "weights",
        "-o",
        &out,
        "--overwrite",
    ];
    done(&call);
    let (shape, normals) = array::<f32>(&out, "x");
    assert_eq!(shape, [10, 6]);
    // The expected numbers come from other programs; see tests/device/random.rs.
    for (x, want) in normals.iter().zip([0.399_523_34, -0.002_892_23, -0.764_204_4, -0.766_401_3]) {
        assert!((x - want).abs() < 1e-6, "{normals:?}");
    }
    // With `--skip`, the call makes the second row alone.
    done(&[&call[..], &["--skip", "6"]].concat());
    assert_eq!(array::<f32>(&out, "x").1[..6], normals[6..12]);
    let line = done(&[
        "run",
        "random",
        "--shape",
        "5",
        "--distribution",
        "words",
        "--seed",
        "7",
        "--stream",
        "weights",
        "-o",
        &out,
        "--overwrite",
        "--time",
        "2",
    ]);
    assert_eq!(array::<i64>(&out, "x").1[..2], [0x5841_c937, 0xffb4_61e9]);
    assert!(line.contains("resident_ms"), "{line}");
    done(&["run", "random", "--shape", "2,3,4", "--low", "-2", "--high", "-1", "--wide", "-o", &out, "--overwrite"]);
    let (shape, wide) = array::<f64>(&out, "x");
    assert_eq!(shape, [2, 3, 4]);
    assert!(wide.iter().all(|x| (-2.0..-1.0).contains(x)));
    for (wrong, code, word) in [
        (vec!["--shape", "5", "--low", "1", "--high", "0"], 2, "found 1 and 0"),
        (vec!["--shape", "5", "--distribution", "words", "--wide"], 2, "32 bits"),
        (vec!["--shape", "9999999999,9999999999,9"], 2, "--shape"),
        (vec!["--shape", "99999999999"], 1, "allowed"),
    ] {
        let output = run(&[&["run", "random", "-o", &out, "--overwrite"], &wrong[..]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{wrong:?}: {said}");
        assert!(said.contains(word), "{wrong:?}: {said}");
    }
}

#[test]
fn divergences_of_rows_pairs_and_samples() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("d.npz").to_str().expect("a plain path").to_owned();
    let p = save(&folder.path().join("p.npy"), &[2, 3], &[0.5, 0.25, 0.25, 0.2, 0.3, 0.5]);
    let q = save(&folder.path().join("q.npy"), &[2, 3], &[0.25, 0.5, 0.25, 0.3, 0.3, 0.4]);
    let near = |found: &[f64], want: &[f64]| {
        let near = found.len() == want.len() && found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(near, "{found:?}, in truth {want:?}");
    };
    done(&["run", "divergence", &p, &q, "--base", "2", "-o", &out, "--overwrite"]);
    let (shape, d) = array::<f64>(&out, "d");
    assert_eq!(shape, [2]);
    // The expected numbers are from scipy.stats.entropy(p, q, base=2, axis=1) and
    // scipy.spatial.distance.jensenshannon(p[0], p[1]).
    near(&d, &[0.250_000_000_000, 0.043_971_547_299]);
    done(&["run", "divergence", &p, "--kind", "js-distance", "-o", &out, "--overwrite"]);
    let (shape, d) = array::<f64>(&out, "d");
    assert_eq!(shape, [2, 2]);
    near(&d, &[0.0, 0.235_759_349_472, 0.235_759_349_472, 0.0]);
    // The Kullback-Leibler divergence is not symmetric. Row i, column j of the result is D(p_i, p_j).
    done(&["run", "divergence", &p, "-o", &out, "--overwrite"]);
    near(&array::<f64>(&out, "d").1, &[0.0, 0.239_278_181_599, 0.218_011_910_943, 0.0]);
    // Two bins from 1 to 5: half of `these` samples are below 3, and a quarter of `those`.
    let these = save(&folder.path().join("these.npy"), &[4], &[1.0, 2.0, 3.5, 5.0]);
    let those = save(&folder.path().join("those.npy"), &[4], &[1.0, 4.0, 4.0, 5.0]);
    done(&[
        "run",
        "divergence",
        &these,
        &those,
        "--kind",
        "tv",
        "--samples",
        "2",
        "--precision",
        "f32",
        "-o",
        &out,
        "--overwrite",
    ]);
    assert_eq!(array::<f32>(&out, "d"), (vec![], vec![0.25]));
    let one = save(&folder.path().join("one.npy"), &[3], &[0.5, 0.25, 0.25]);
    done(&["run", "divergence", &one, &one, "-o", &out, "--overwrite"]);
    assert_eq!(array::<f64>(&out, "d"), (vec![], vec![0.0]));
    let wrong = save(&folder.path().join("wrong.npy"), &[2, 3], &[0.5, 0.25, -0.25, 0.2, 0.3, 0.5]);
    let output = run(&["run", "divergence", &wrong, &q, "-o", &out, "--overwrite"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("-0.25 in bin 2 of histogram 0"), "{said}");
}
