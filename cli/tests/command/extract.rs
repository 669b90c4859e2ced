//! `fiedler features`.

use crate::call::{Files, run};
use fiedler::io::{Data, NamedArray, NpyData, Rows, Tensors, write};
use npyz::npz::NpzArchive;
use std::path::Path;
use std::process::Output;

pub fn said(output: &Output) -> (Option<i32>, String) {
    let both = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&both).into_owned())
}

/// Runs the command with options that are separated by spaces.
fn features(inputs: &[&str], options: &str, output: &str) -> (Option<i32>, String) {
    let options = options.split(' ').filter(|option| !option.is_empty());
    let all: Vec<&str> = ["features", "--no-cache"]
        .into_iter()
        .chain(inputs.iter().copied())
        .chain(options)
        .chain(["-o", output])
        .collect();
    said(&run(&all))
}

pub fn done(inputs: &[&str], options: &str, output: &str) -> String {
    let (code, text) = features(inputs, options, output);
    assert_eq!(code, Some(0), "{text}");
    text
}

#[track_caller]
pub fn refused(inputs: &[&str], options: &str, output: &str, code: i32, parts: &[&str]) {
    let (found, text) = features(inputs, options, output);
    assert_eq!(found, Some(code), "{text}");
    parts.iter().for_each(|part| assert!(text.contains(part), "`{part}` is not in: {text}"));
    let temporary = std::fs::read_dir(Path::new(output).parent().expect("a folder")).expect("it exists");
    for entry in temporary {
        let name = entry.expect("an entry").file_name();
        assert!(!name.to_string_lossy().contains(".fiedler-"), "{name:?} was left behind");
    }
}

fn generated(files: &Files, name: &str, arguments: &str) -> String {
    let path = files.at(name);
    let all: Vec<&str> = ["generate"].into_iter().chain(arguments.split(' ')).chain(["-o", &path]).collect();
    assert_eq!(said(&run(&all)).0, Some(0));
    path
}

/// Returns the shape and the numbers of an array of a result. Bytes are returned as numbers.
pub fn array(path: &str, name: &str) -> (Vec<usize>, Vec<f32>) {
    if path.ends_with(".safetensors") {
        let found = Tensors::open(Path::new(path)).and_then(|file| file.array(name)).expect(name);
        let NpyData::F32(numbers) = found.data else { panic!("{name} is not in f32") };
        return (found.shape, numbers);
    }
    let mut archive = NpzArchive::open(path).expect("an npz");
    let npy = archive.by_name(name).expect("readable").unwrap_or_else(|| panic!("no array {name}"));
    let shape = npy.shape().iter().map(|&axis| usize::try_from(axis).expect("a length")).collect();
    if name == "status" {
        return (shape, npy.into_vec::<u8>().expect("bytes").into_iter().map(f32::from).collect());
    }
    (shape, npy.into_vec().expect("f32"))
}

pub fn floats(path: &str, name: &str) -> Vec<f32> {
    array(path, name).1
}

pub fn description(path: &str) -> serde_json::Value {
    let path = Path::new(path).with_extension("features.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("a description")).expect("JSON")
}

pub fn write_npz(path: &str, arrays: &[(&str, &[usize], &[f32])]) {
    let arrays: Vec<NamedArray<'_>> = arrays
        .iter()
        .map(|&(name, shape, data)| NamedArray {
            name,
            rows: Rows::Other,
            shape: shape.to_vec(),
            data: Data::F32(data),
        })
        .collect();
    write(Path::new(path), &arrays).expect("written");
}

#[test]
fn from_raw_series_to_trained_runs() {
    let files = Files::new();
    let series = generated(&files, "s.npz", "series --samples 120 --length 40");
    let (out, runs) = (files.at("f.npz"), files.at("runs"));
    let text = done(&[&series], "--representations core33,frequency", &out);
    assert!(text.contains("120 samples of 40 inputs, 47 columns"), "{text}");
    assert_eq!(array(&out, "features").0, [120, 47]);
    let about = description(&out);
    assert_eq!((about["samples"].as_u64(), about["columns"].as_array().map(Vec::len)), (Some(120), Some(47)));
    assert_eq!(about["columns"][5]["name"], "core33.q0.5");
    assert_eq!(about["representations"]["frequency"]["parts"][0]["top"], 10);
    assert_eq!(about["status"][0]["samples"], 120);
    let trained =
        run(&["train", &out, "-o", &runs, "--hidden", "8", "--epochs", "3", "--scale", "standard", "--quiet"]);
    assert_eq!(said(&trained).0, Some(0), "{}", said(&trained).1);
    // The same numbers in other formats, and through other cuts.
    let (tensors, csv) = (files.at("g.safetensors"), files.at("h.csv"));
    done(&[&series], "--representations core33,frequency --threads 1", &tensors);
    done(&[&series], "--representations core33,frequency --quiet", &csv);
    let numbers = floats(&out, "features");
    assert_eq!(floats(&tensors, "features"), numbers);
    let table = std::fs::read_to_string(&csv).expect("a table");
    assert!(
        table.starts_with("core33.mean,core33.sd,")
            && table.lines().next().is_some_and(|line| line.ends_with(",label"))
    );
    let second: Vec<f32> =
        table.lines().nth(2).expect("a row").split(',').take(47).map(|x| x.parse().expect("a number")).collect();
    assert_eq!(second, numbers[47..94]);
    let trained = run(&["train", &csv, "-o", &files.at("more"), "--hidden", "8", "--epochs", "3", "--quiet"]);
    assert_eq!(said(&trained).0, Some(0), "{}", said(&trained).1);
}

#[test]
fn layers_are_chosen_by_their_names() {
    let files = Files::new();
    let folder = generated(&files, "set", "vectors --samples 6 --classes 2");
    let file = generated(&files, "set.safetensors", "vectors --samples 6 --classes 2");
    let (one, other) = (files.at("one.npz"), files.at("other.npz"));
    done(&[&folder], "--representations spectral,info --layers *attn1.to_q*", &one);
    done(&[&file], "--representations spectral,info --layers *attn1.to_q*", &other);
    assert_eq!(array(&one, "features").0, [6, 32 * (32 + 2)]);
    // The folder has the samples of class 0 first.
    let (one_numbers, other_numbers) = (floats(&one, "features"), floats(&other, "features"));
    let width = 32 * 34;
    for (place, sample) in [0, 2, 4, 1, 3, 5].into_iter().enumerate() {
        assert_eq!(one_numbers[place * width..][..width], other_numbers[sample * width..][..width]);
    }
    let about = description(&one);
    assert_eq!(about["columns"].as_array().map(Vec::len), Some(width));
    assert!(about["columns"][0]["layer"].as_str().is_some_and(|name| name.contains("attn1.to_q")));
    refused(&[&file], "--layers attn9*", &files.at("x.npz"), 2, &["a layer that matches `attn9*`"]);
}

#[test]
fn samples_that_are_not_finite_have_a_status_and_stay() {
    let files = Files::new();
    let (input, out, filled) = (files.at("x.npz"), files.at("f.npz"), files.at("g.npz"));
    let numbers = [1.0, 2.0, 4.0, 3.0, 3.0, 3.0, 1.0, f32::NAN, 2.0, 1e30, 2e30, 3e30];
    write_npz(&input, &[("x", &[4, 3], &numbers)]);
    let options = "--representations moments(columns=['mean','skewness','energy'])";
    let text = done(&[&input], options, &out);
    assert!(text.contains("of 4 samples, 1 with undefined columns, 1 beyond f32, 1 with a NaN"), "{text}");
    assert_eq!(floats(&out, "status"), [0.0, 1.0, 3.0, 2.0]);
    let found = floats(&out, "features");
    assert_eq!((found[3], found[9], found[11]), (3.0, 2e30, f32::INFINITY));
    assert!(found[4].is_nan() && found[6..9].iter().all(|x| x.is_nan()));
    done(&[&input], &format!("{options} --undefined 0"), &filled);
    let found = floats(&filled, "features");
    assert_eq!((found[4], &found[6..9]), (0.0, &[0.0; 3][..]));
}

#[test]
fn steps_are_fitted_to_training_samples_only() {
    let files = Files::new();
    let series = generated(&files, "s.npz", "series --samples 80 --length 30");
    let steps = files.at("steps.safetensors");
    let (fitted, applied) = (files.at("a.npz"), files.at("b.npz"));
    let options = format!("--representations simple_stats --steps zscore,pca=2 --fit {steps} --fit-rows 0..40");
    done(&[&series], &options, &fitted);
    done(&[&series], &format!("--representations simple_stats --transform {steps}"), &applied);
    let found = floats(&fitted, "features");
    assert_eq!(floats(&applied, "features"), found);
    assert_eq!(array(&fitted, "features").0, [80, 2]);
    let mean = |samples: std::ops::Range<usize>| {
        samples.clone().map(|sample| f64::from(found[2 * sample])).sum::<f64>() / samples.len() as f64
    };
    assert!(mean(0..40).abs() < 1e-6 && mean(40..80).abs() > 1e-3, "{} {}", mean(0..40), mean(40..80));
    assert_eq!(description(&fitted)["steps"]["made"][1], "pca_2");
    let x = files.at("x.npz");
    refused(
        &[&series],
        &format!("--representations stats --transform {steps}"),
        &x,
        2,
        &["expected the columns of the steps"],
    );
    let steps = files.at("more.safetensors");
    refused(&[&series], &format!("--steps pca --fit {steps}"), &x, 2, &["pca without the number"]);
    refused(&[&series], &format!("--steps zscore --fit {steps} --fit-rows 70..90"), &x, 2, &["--fit-rows 70..90"]);
}

/// Computes on every adapter of the machine.
#[test]
fn an_adapter_computes_the_columns_of_the_cpu() {
    let files = Files::new();
    let (a, out) = (files.at("a.npz"), files.at("f.npz"));
    let series: Vec<f32> = (0_u16..120).map(|i| ((i * i) % 37) as f32 / 7.0).collect();
    write_npz(&a, &[("q", &[3, 40], &series)]);
    let options = "--representations core33,singular";
    done(&[&a], &format!("{options} --backend cpu --quiet"), &out);
    let wanted = floats(&out, "features");
    assert_eq!(description(&out)["side"], "cpu");
    for adapter in fiedler::Adapter::all() {
        let (found, name) = (files.at("g.npz"), &adapter.name);
        let on_it = ["-o", &found, "--overwrite", "--backend", "gpu", "--adapter", name];
        let options: Vec<&str> = options.split(' ').collect();
        let (code, text) = said(&run(&[&["features", "--no-cache", &a], &options[..], &on_it].concat()));
        assert!(code == Some(0) && text.contains(&format!(" s on {}", adapter.name)), "{name}: {text}");
        assert_eq!(description(&found)["side"], adapter.name);
        for (found, wanted) in floats(&found, "features").iter().zip(&wanted) {
            // Sums of 40 numbers in f32, and differences of them.
            assert!((found - wanted).abs() <= 1e-4 * wanted.abs().max(1.0), "{name}: {found}, not {wanted}");
        }
        // A sample beyond the kernels is an error where the device was asked for.
        let long = files.at("long.npz");
        write_npz(&long, &[("q", &[1, 2049], &vec![1.0; 2049])]);
        let (code, text) = said(&run(&[&["features", "--no-cache", &long], &on_it[..]].concat()));
        assert!(code == Some(1) && text.contains("numbers of a sample on the device"), "{text}");
    }
}

#[test]
fn mistakes_are_named_and_nothing_is_written() {
    let files = Files::new();
    let (a, b, out) = (files.at("a.npz"), files.at("b.npz"), files.at("f.npz"));
    write_npz(&a, &[("q", &[3], &[1.0, 2.0, 3.0]), ("v", &[2], &[1.0, 2.0])]);
    write_npz(&b, &[("q", &[3], &[1.0, 2.0, 3.0])]);
    refused(&[&a, &b], "", &out, 1, &["b.npz", "v"]);
    write_npz(&b, &[("q", &[4], &[1.0, 2.0, 3.0, 4.0]), ("v", &[2], &[1.0, 2.0])]);
    refused(&[&a, &b], "", &out, 1, &["b.npz", "q"]);
    refused(&[&a], "--representations spectrl", &out, 2, &["`spectrl`; did you mean `spectral`?"]);
    refused(&[&a], "--representations moments(ddoff=1)", &out, 2, &["`ddoff`; did you mean `ddof`?"]);
    refused(&[&a], "", &files.at("f.txt"), 2, &[".npz, .safetensors, .npy or .csv"]);
    assert!(!Path::new(&out).exists() && !Path::new(&files.at("f.features.json")).exists());
    write_npz(&a, &[("q", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0])]);
    refused(&[&a], "--representations quantiles(q=[2])", &out, 2, &["quantiles from 0 to 1, found 2"]);
    refused(&[&a], "--representations autocorrelation(lags=[9223372036854775807])", &out, 2, &["lags of 1 to 2^20"]);
    done(&[&a], "", &out);
    let before = std::fs::read(&out).expect("a file");
    refused(&[&a], "--representations stats", &out, 2, &["it exists already; --overwrite replaces it"]);
    assert!(std::fs::read(&out).expect("a file") == before);
    done(&[&a], "--representations stats --overwrite", &out);
    assert_eq!(array(&out, "features").0, [2, 7]);
}

#[test]
fn the_list_has_every_kind_and_preset() {
    let (code, text) = said(&run(&["features", "--list"]));
    assert_eq!(code, Some(0));
    for part in
        ["core33", "tsfresh-minimal", "ensemble", "  spectrum: ", "sum (x_i - m)^2 / (n - ddof)", "rolloff = 0.85"]
    {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

/// The file has the same numbers as an archive, column by column, and everything else is beside it.
#[test]
fn a_store_of_columns() {
    let files = Files::new();
    let series = generated(&files, "s.npz", "series --samples 5000 --length 300");
    let (wanted, out) = (files.at("wanted.npz"), files.at("f.npy"));
    for output in [&wanted, &out] {
        done(&[&series], "--representations moments,quantiles --undefined 0", output);
    }
    let (shape, numbers) = array(&wanted, "features");
    let bytes = std::fs::read(&out).expect("a file");
    let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = String::from_utf8_lossy(&bytes[10..header]);
    assert!(
        text.contains("'fortran_order': True") && text.contains(&format!("({}, {})", shape[0], shape[1])),
        "{text}"
    );
    let columns: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes[header..]);
    assert_eq!(columns.len(), numbers.len());
    for (place, number) in columns.iter().enumerate() {
        let (column, sample) = (place / shape[0], place % shape[0]);
        assert_eq!(number.to_bits(), numbers[sample * shape[1] + column].to_bits(), "{sample} {column}");
    }
    let rows = files.at("f.rows.npz");
    for name in ["status", "labels", "names"] {
        let member = |path: &str| {
            let mut archive = NpzArchive::open(path).expect("an npz");
            let npy = archive.by_name(name).expect("readable").unwrap_or_else(|| panic!("no array {name}"));
            (npy.shape().to_vec(), npy.dtype().descr())
        };
        assert_eq!(member(&rows), member(&wanted), "{name}");
    }
    assert_eq!(array(&rows, "status"), array(&wanted, "status"));
    assert!(std::fs::exists(files.at("f.features.json")).expect("a file system"));
    refused(&[&series], "--representations moments", &out, 2, &["f.npy", "--overwrite"]);
    std::fs::remove_file(&out).expect("removed");
    refused(&[&series], "--representations moments", &out, 2, &["f.features.json", "--overwrite"]);
}
