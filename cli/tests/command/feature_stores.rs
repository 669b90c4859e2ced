//! Stored results of `fiedler features`: the user's cache, `--no-cache`, and `--resume` after a failure.

use crate::call::{Files, fiedler};
use fiedler::io::{self, Data, NamedArray, Rows};
use std::fs;
use std::path::PathBuf;
use std::process::Output;

/// The numbers of a sample, so that a block has 32 samples.
const WIDTH: usize = 8192;
const SAMPLES: usize = 80;

/// Writes an archive of one layer.
fn set(files: &Files, name: &str) -> String {
    let numbers: Vec<f32> = (0..SAMPLES * WIDTH).map(|i| (i * 7919 % 10_007) as f32).collect();
    let array = NamedArray { name: "x", rows: Rows::Other, shape: vec![SAMPLES, WIDTH], data: Data::F32(&numbers) };
    let path = files.at(name);
    io::write(PathBuf::from(&path).as_path(), &[array]).expect("written");
    path
}

fn features(files: &Files, input: &str, output: &str, more: &[&str]) -> Output {
    let list = ["--representations", "simple_stats,quantiles", "--json", "--overwrite"];
    let output = files.at(output);
    let all: Vec<&str> =
        ["features", input, "-o", &output].into_iter().chain(list).chain(more.iter().copied()).collect();
    let mut command = fiedler(&all);
    command.env("FIEDLER_CACHE_DIR", files.at("cache")).env_remove("FIEDLER_CACHE_BYTES");
    command.output().expect("it starts")
}

/// Returns the units that were found and computed.
fn units(output: Output) -> [u64; 2] {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    ["found", "computed"].map(|name| report["units"][name].as_u64().expect("a number"))
}

#[test]
fn a_second_run_finds_everything() {
    let files = Files::new();
    let input = set(&files, "set.npz");
    let bytes = |name: &str| fs::read(files.at(name)).expect("a file");
    assert_eq!(units(features(&files, &input, "plain.npz", &["--no-cache"])), [0, 6]);
    assert!(!PathBuf::from(files.at("cache")).exists());
    assert_eq!(units(features(&files, &input, "cold.npz", &[])), [0, 6]);
    assert_eq!(units(features(&files, &input, "warm.npz", &["--threads", "1"])), [6, 0]);
    assert!(bytes("cold.npz") == bytes("plain.npz") && bytes("warm.npz") == bytes("plain.npz"));
    assert_eq!(units(features(&files, &input, "plain.npz", &["--no-cache"])), [0, 6]);
    let names: Vec<_> =
        fs::read_dir(files.at("cache")).expect("a folder").map(|own| own.expect("one").path()).collect();
    assert_eq!(names, [PathBuf::from(files.at("cache/features"))]);
}

/// The last sample of the archive is damaged, which is found when it is read. What was computed before that is kept.
#[test]
fn a_run_that_failed_is_resumed() {
    let files = Files::new();
    let input = set(&files, "set.npz");
    let journal = PathBuf::from(files.at("out.npz.resume"));
    assert_eq!(units(features(&files, &input, "plain.npz", &["--no-cache"])), [0, 6]);
    let whole = fs::read(&input).expect("a file");
    let mut broken = whole.clone();
    // The directory of the archive comes after the numbers.
    broken[whole.len() - 1000] ^= 1;
    fs::write(&input, broken).expect("written");
    let resume = ["--resume", "--no-cache"];
    let failed = features(&files, &input, "out.npz", &resume);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(failed.status.code() == Some(1) && said.contains("the checksum of the archive"), "{said}");
    assert!(journal.is_dir() && !PathBuf::from(files.at("out.npz")).exists());
    fs::write(&input, whole).expect("written");
    assert_eq!(units(features(&files, &input, "out.npz", &resume)), [4, 2]);
    assert!(fs::read(files.at("out.npz")).expect("a file") == fs::read(files.at("plain.npz")).expect("a file"));
    assert!(!journal.exists(), "nothing is left to resume");
    // A run that fails at once leaves no journal.
    let failed = features(&files, &input, "other.npz", &["--resume", "--layers", "y"]);
    assert!(!failed.status.success() && !PathBuf::from(files.at("other.npz.resume")).exists());
}
