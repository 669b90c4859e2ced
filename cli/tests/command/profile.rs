//! Tests of `--profile` as a user calls it: a table on standard error, a trace in a file, and the same outputs as
//! without it.

use crate::call::{fiedler, run};
use fiedler::Adapter;
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

const KARATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/karate.txt");

fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("it ends by itself"), text(&output.stdout), text(&output.stderr))
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a plain path").to_owned()
}

/// Writes a matrix of 40 x 40 as `numpy.save` does.
fn matrix(at: &str) {
    let header = format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 40), }");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend_from_slice(header.as_bytes());
    (0..1600).for_each(|i| bytes.extend_from_slice(&((i * 7 % 13) as f32).to_le_bytes()));
    std::fs::write(at, bytes).expect("a file");
}

#[test]
fn on_the_cpu_there_are_stages_and_no_kernels() {
    let folder = TempDir::new().unwrap();
    let (a, plain, out, trace) =
        (path(&folder, "a.npy"), path(&folder, "p.npz"), path(&folder, "c.npz"), path(&folder, "t.json"));
    matrix(&a);
    assert_eq!(said(&run(&["run", "matmul", &a, &a, "-o", &plain])).0, 0);
    // The profile was requested, so `--quiet` does not suppress it.
    let (code, stdout, stderr) =
        said(&run(&["run", "matmul", &a, &a, "-o", &out, "--overwrite", "--quiet", "--profile", &trace]));
    assert!(code == 0 && stdout.is_empty(), "{code} {stdout} {stderr}");
    assert!(stderr.contains("on the CPU, host stages only"), "{stderr}");
    for stage in ["read", "compute", "write"] {
        assert!(stderr.lines().any(|line| line.starts_with(stage)), "no {stage} in {stderr}");
    }
    assert_eq!(std::fs::read(&plain).unwrap(), std::fs::read(&out).unwrap());
    let events: Value = serde_json::from_slice(&std::fs::read(&trace).unwrap()).unwrap();
    let names: Vec<&str> = events.as_array().unwrap().iter().filter_map(|event| event["name"].as_str()).collect();
    assert!(names.contains(&"compute") && !events.to_string().contains("\"kernel\""), "{names:?}");
    // The option also works without a value before other options, and with the other commands that compute.
    for arguments in [
        vec!["run", "matmul", "--profile", "--backend", "cpu", &a, &a, "-o", &out, "--overwrite"],
        vec!["run", "random", "--shape", "10", "-o", &out, "--overwrite", "--profile"],
        vec!["run", "ceilings", "--bytes", "64K", "--rounds", "1", "--profile"],
        vec!["encode", KARATE, "-o", &out, "--overwrite", "--profile"],
    ] {
        let (code, _, stderr) = said(&run(&arguments));
        assert!(code == 0 && stderr.contains("host stages only"), "{arguments:?}: {code} {stderr}");
    }
    let (_, _, stderr) = said(&run(&["encode", KARATE, "-o", &out, "--overwrite", "--profile"]));
    assert!(["read", "encode", "write"].iter().all(|s| stderr.lines().any(|line| line.starts_with(s))), "{stderr}");
    // The parts of the encoding on the CPU, and what is in no stage.
    let (_, _, stderr) =
        said(&run(&["encode", KARATE, "-o", &out, "--overwrite", "--profile", "--no-cache", "--backend", "cpu"]));
    for stage in ["plan", "look up", "gather", "laplacian", "solve", "finish", "arrange", "keep", "other"] {
        assert!(stderr.lines().any(|line| line.starts_with(stage)), "no {stage} in {stderr}");
    }
    // Without the option, nothing is printed about a profile.
    assert!(!said(&run(&["encode", KARATE, "-o", &out, "--overwrite"])).2.contains("profile"));
}

#[test]
fn on_an_adapter_there_is_a_table_by_kernel() {
    let Some(adapter) = Adapter::all().into_iter().next() else {
        let required = std::env::var("FIEDLER_REQUIRE_ADAPTERS").is_ok_and(|names| !names.is_empty());
        assert!(!required, "there is no adapter here");
        return;
    };
    let folder = TempDir::new().unwrap();
    let (a, out, trace) = (path(&folder, "a.npy"), path(&folder, "c.npz"), path(&folder, "t.json"));
    matrix(&a);
    let place = ["--backend", "gpu", "--adapter", &adapter.name];
    for words in [
        &["run", "matmul", &a, &a, "-o", &out, "--overwrite"][..],
        &["encode", KARATE, "-o", &out, "--overwrite", "--no-cache"],
    ] {
        let arguments = [words, &place, &["--profile", &trace]].concat();
        let (code, stdout, stderr) = said(&run(&arguments));
        assert!(code == 0 && stdout.contains(&adapter.name), "{arguments:?}: {code} {stdout} {stderr}");
        for word in ["profile: kernels on", "calls", "bound GB/s", "compile", "peak device memory", "by the wall clock"]
        {
            assert!(stderr.contains(word), "no `{word}` in {stderr}");
        }
        let events: Value = serde_json::from_slice(&std::fs::read(&trace).unwrap()).unwrap();
        let kernels = events.as_array().unwrap().iter().filter(|event| event["cat"] == "kernel").count();
        assert!(kernels > 0, "{events}");
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_reported_before_the_work() {
    let folder = TempDir::new().unwrap();
    let out = path(&folder, "c.npz");
    let (nowhere, held) = (path(&folder, "no/such/t.json"), path(&folder, "folder.json"));
    std::fs::create_dir(&held).unwrap();
    for (trace, words) in [
        (nowhere.as_str(), "existing folder"),
        (&held, "found a folder"),
        ("t.txt", ".json"),
        (KARATE, "after the inputs"),
    ] {
        let (code, _, stderr) = said(&run(&["encode", KARATE, "-o", &out, "--overwrite", "--profile", trace]));
        assert!(code == 2 && stderr.contains(words) && stderr.contains(trace), "{trace}: {code} {stderr}");
        assert!(!Path::new(&out).exists(), "{trace}");
    }
    // Some failures to write the trace can only be noticed after the work. The call then fails, but the output exists.
    #[cfg(target_os = "linux")]
    {
        let (code, _, stderr) = said(
            &fiedler(&["encode", KARATE, "-o", &out, "--overwrite", "--profile", "/proc/t.json"]).output().unwrap(),
        );
        assert!(code == 1 && stderr.contains("/proc/t.json") && stderr.contains("cannot write"), "{code} {stderr}");
        assert!(Path::new(&out).exists());
    }
}

#[test]
fn text_is_written_whole_or_not_at_all() {
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("a.txt");
    fiedler::io::write_text(&at, "one").unwrap();
    fiedler::io::write_text(&at, "two").unwrap();
    assert_eq!(std::fs::read_to_string(&at).unwrap(), "two");
    let nowhere = folder.path().join("no/a.txt");
    let error = fiedler::io::write_text(&nowhere, "x").expect_err("no folder");
    assert!(error.to_string().contains("a.txt"), "{error}");
}
