//! `fiedler features` with histograms whose edges are fitted to training samples.

use crate::call::Files;
use crate::extract::{array, description, done, floats, refused, write_npz};

const SAMPLES: usize = 20;
const LIST: &str = "--representations histogram(range='fitted',bins=4,columns=['counts']),moments(columns=['mean'])";

/// Writes samples of two layers, whose numbers grow from sample to sample.
fn set(files: &Files, name: &str, layers: [&str; 2]) -> String {
    let path = files.at(name);
    let x: Vec<f32> = (0..SAMPLES * 6).map(|i| i as f32).collect();
    let z: Vec<f32> = x.iter().map(|x| -2.0 * x).collect();
    write_npz(&path, &[(layers[0], &[SAMPLES, 6], &x), (layers[1], &[SAMPLES, 6], &z)]);
    path
}

#[test]
fn edges_come_from_training_rows_and_are_kept() {
    let files = Files::new();
    let (input, steps) = (set(&files, "x.npz", ["x", "z"]), files.at("steps.safetensors"));
    let (fitted, applied) = (files.at("a.npz"), files.at("b.npz"));
    done(&[&input], &format!("{LIST} --fit {steps} --fit-rows 0..8"), &fitted);
    let (shape, found) = array(&fitted, "features");
    assert_eq!(shape, [20, 10]);
    for (sample, row) in found.chunks(10).enumerate() {
        for counts in [&row[..4], &row[4..8]] {
            assert_eq!(counts.iter().sum::<f32>(), if sample < 8 { 6.0 } else { 0.0 }, "sample {sample}: {row:?}");
        }
    }
    // The ranges are 0 to 47 and -94 to 0.
    assert_eq!((&found[..4], &found[4..8]), (&[6.0, 0.0, 0.0, 0.0][..], &[0.0, 0.0, 0.0, 6.0][..]));
    let about = description(&fitted);
    assert_eq!(about["edges"], serde_json::json!({"x": [0.0, 47.0], "z": [-94.0, 0.0]}));
    assert_eq!(about["representations"]["histogram"]["parts"][0]["range"], "fitted");
    assert!(about.get("steps").is_none());
    done(&[&input], &format!("{LIST} --transform {steps}"), &applied);
    assert!(std::fs::read(&applied).expect("a file") == std::fs::read(&fitted).expect("a file"));
    assert_eq!(description(&applied)["edges"], about["edges"]);
    // With steps, these are fitted to the counts within the edges.
    let (more, standard) = (files.at("more.safetensors"), files.at("c.npz"));
    done(&[&input], &format!("{LIST} --steps zscore --fit {more} --fit-rows 0..8"), &standard);
    let again = files.at("d.npz");
    done(&[&input], &format!("{LIST} --transform {more}"), &again);
    let found = floats(&standard, "features");
    assert_eq!(floats(&again, "features"), found);
    let mean = (0..8).map(|sample| found[10 * sample]).sum::<f32>() / 8.0;
    assert!(mean.abs() < 1e-6, "{mean}");
}

#[test]
fn mistakes_say_what_to_do() {
    let files = Files::new();
    let (input, steps, out) = (set(&files, "x.npz", ["x", "z"]), files.at("steps.safetensors"), files.at("f.npz"));
    refused(&[&input], LIST, &out, 2, &["--fit FILE", "--transform FILE", "range=\"fitted\""]);
    done(&[&input], &format!("{LIST} --fit {steps}"), &files.at("a.npz"));
    let other = set(&files, "w.npz", ["x", "w"]);
    refused(&[&other], &format!("{LIST} --transform {steps}"), &out, 2, &["expected the columns of the steps", ".w."]);
    // One layer, whose name the columns do not have, and which has edges of its own.
    let one = files.at("one.safetensors");
    done(&[&input], &format!("{LIST} --layers x --fit {one}"), &files.at("b.npz"));
    refused(
        &[&input],
        &format!("{LIST} --layers z --transform {one}"),
        &out,
        1,
        &["edges of the layer z, found those of x"],
    );
    let plain = LIST.replace("range='fitted',", "");
    let wanted = ["a histogram with range=\"fitted\", as in the file, found none"];
    refused(&[&input], &format!("{plain} --transform {steps}"), &out, 2, &wanted);
    let without = files.at("without.safetensors");
    done(&[&input], &format!("{plain} --steps zscore --fit {without}"), &files.at("c.npz"));
    refused(
        &[&input],
        &format!("{LIST} --transform {without}"),
        &out,
        2,
        &["the fitted edges of histograms, found none"],
    );
    let nothing = files.at("nothing.safetensors");
    refused(&[&input], &format!("{plain} --fit {nothing}"), &out, 2, &["--fit: expected --steps", "nothing to fit"]);
    let mut bytes = std::fs::read(&steps).expect("a file");
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    std::fs::write(&steps, &bytes).expect("written");
    refused(&[&input], &format!("{LIST} --transform {steps}"), &out, 1, &["steps.safetensors", "checksum"]);
    assert!(!std::path::Path::new(&out).exists());
}
