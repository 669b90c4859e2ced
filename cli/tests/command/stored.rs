//! Stored results of the command: a run with a filled cache equals a run with an empty cache; `--no-cache`;
//! `--resume` after a kill and after Ctrl-C; two simultaneous runs; and folders that cannot be written.

use fiedler::graph::generate::preferential_attachment;
use fiedler::graph::{Graph, GraphBatch};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A separate folder for the input, the output and the cache of a test.
struct Place(TempDir);

impl Place {
    /// Makes a folder with a data set of `graphs` graphs of `nodes` nodes.
    fn new(graphs: u64, nodes: usize) -> Self {
        let place = Self(TempDir::new().unwrap());
        let graphs: Vec<Graph> = (0..graphs).map(|seed| preferential_attachment(nodes, 3, seed).unwrap()).collect();
        fiedler::io::write_tudataset(&place.at("set"), &GraphBatch::from_graphs(&graphs).unwrap()).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn encode(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fiedler"));
        for name in ["FIEDLER_ADAPTER", "FIEDLER_MEMORY_BUDGET", "FIEDLER_CACHE_BYTES", "RUST_LOG"] {
            command.env_remove(name);
        }
        command.env("FIEDLER_BACKEND", "cpu").env("FIEDLER_CACHE_DIR", self.at("cache"));
        command.arg("encode").arg(self.at("set")).arg("-o").arg(self.at(out)).args(["--overwrite", "--json"]);
        // `exact`, because n^3 determines the cache blocks here.
        command.args(["--method", "exact"]).args(more);
        command
    }

    fn run(&self, out: &str, more: &[&str]) -> serde_json::Value {
        report(self.encode(out, more).output().unwrap())
    }

    fn bytes(&self, out: &str) -> Vec<u8> {
        std::fs::read(self.at(out)).unwrap()
    }
}

fn report(output: Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// Returns the counts of cache blocks that were resumed, found in the cache, and missed.
fn blocks(report: &serde_json::Value) -> [u64; 3] {
    ["resumed", "cached", "missed"].map(|name| report["blocks"][name].as_u64().unwrap())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn warm_runs_equal_cold_ones_and_no_cache_neither_reads_nor_writes() {
    // Each graph of 400 nodes is a cache block, because a block has 2^25 operations on average and a graph counts
    // 400^3.
    let place = Place::new(6, 400);
    let plain = place.run("plain.npz", &["--no-cache"]);
    assert!(blocks(&plain) == [0, 0, 0] && !place.at("cache").exists(), "{plain}");
    let cold = place.run("cold.npz", &[]);
    assert_eq!((blocks(&cold), &cold["stored"], &cold["on_cpu"]), ([0, 0, 6], &0.into(), &6.into()));
    let warm = place.run("warm.npz", &[]);
    assert_eq!((blocks(&warm), &warm["stored"], &warm["on_cpu"]), ([0, 6, 0], &6.into(), &0.into()));
    let kept = entries(&place.at("cache"));
    assert_eq!(kept.len(), 6);
    std::fs::write(&kept[0], b"something else").unwrap();
    let ignored = place.run("ignored.npz", &["--no-cache"]);
    assert!(blocks(&ignored) == [0, 0, 0] && std::fs::read(&kept[0]).unwrap() == b"something else");
    // The damaged entry is dropped, reported once and computed again; with `--quiet` nothing is reported.
    let output = place.encode("mended.npz", &[]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.matches("dropped").count() == 1 && said.contains(kept[0].to_str().unwrap()), "{said}");
    let mended = report(output);
    assert_eq!((blocks(&mended), &mended["blocks"]["damaged"]), ([0, 5, 1], &1.into()));
    std::fs::write(&kept[0], b"something else").unwrap();
    let output = place.encode("quiet.npz", &["--quiet"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty() && output.stdout.is_empty());
    // With another memory budget, the batch is cut differently, but the same cache blocks are found.
    let small = report(place.encode("small.npz", &[]).env("FIEDLER_MEMORY_BUDGET", "64M").output().unwrap());
    assert_eq!(blocks(&small), [0, 6, 0]);
    for out in ["cold.npz", "warm.npz", "ignored.npz", "mended.npz", "quiet.npz", "small.npz"] {
        assert_eq!(place.bytes(out), place.bytes("plain.npz"), "{out}");
    }
    // With other parameters, no stored block is found.
    assert_eq!(blocks(&place.run("other.npz", &["-k", "9"])), [0, 0, 6]);
    let line = Command::new(env!("CARGO_BIN_EXE_fiedler"))
        .args(["encode", place.at("set").to_str().unwrap(), "-o", place.at("line.npz").to_str().unwrap()])
        .args(["--method", "exact"])
        .env("FIEDLER_BACKEND", "cpu")
        .env("FIEDLER_CACHE_DIR", place.at("cache"))
        .env_remove("FIEDLER_CACHE_BYTES")
        .output()
        .unwrap();
    let line = String::from_utf8_lossy(&line.stdout).into_owned();
    assert!(line.contains("computed before") && line.contains("6 of 6 blocks from the cache"), "{line}");
}

#[test]
fn the_environment_bounds_the_cache() {
    let place = Place::new(1, 100);
    let with = |bytes: &str| place.encode("out.npz", &[]).env("FIEDLER_CACHE_BYTES", bytes).output().unwrap();
    assert_eq!(blocks(&report(with("0"))), [0, 0, 0]);
    assert!(!place.at("cache").exists());
    // A cache of this size is too small for the only cache block.
    assert_eq!((blocks(&report(with("1K"))), blocks(&report(with("1K")))), ([0, 0, 1], [0, 0, 1]));
    assert_eq!((blocks(&report(with("1M"))), blocks(&report(with("1M")))), ([0, 0, 1], [0, 1, 0]));
    let doctor = |bytes: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fiedler"));
        command.args(["doctor", "--json"]).env("FIEDLER_BACKEND", "cpu").env("FIEDLER_CACHE_BYTES", bytes);
        report(command.env("FIEDLER_CACHE_DIR", place.at("cache")).output().unwrap())["stored_results"].clone()
    };
    assert_eq!((doctor("1G"), doctor("0")), (place.at("cache").to_str().into(), serde_json::Value::Null));
    let output = with("plenty");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("512M or 2G, found `plenty`"));
}

#[test]
fn two_runs_at_once_on_one_cache_are_both_right() {
    // Each graph is a cache block, because 330^3 exceeds 2^25.
    let place = Place::new(20, 330);
    place.run("plain.npz", &["--no-cache"]);
    for round in 0..3 {
        let start = |out: &str| place.encode(out, &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let both = [start("a.npz"), start("b.npz")];
        for child in both {
            let output = child.wait_with_output().unwrap();
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            let found = blocks(&report(output));
            assert!(found[1] + found[2] == 20 && (round == 0 || found[1] == 20), "round {round}: {found:?}");
        }
        assert_eq!(place.bytes("a.npz"), place.bytes("plain.npz"));
        assert_eq!(place.bytes("b.npz"), place.bytes("plain.npz"));
    }
    assert_eq!(entries(&place.at("cache")).len(), 20);
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_once() {
    let place = Place::new(6, 400);
    std::fs::write(place.at("file"), b"").unwrap();
    let output = place.encode("out.npz", &[]).env("FIEDLER_CACHE_DIR", place.at("file/below")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.lines().count() == 1 && said.contains("goes on without stored results"), "{said}");
    assert_eq!(blocks(&report(output)), [0, 0, 6]);
    place.run("plain.npz", &["--no-cache"]);
    assert_eq!(place.bytes("out.npz"), place.bytes("plain.npz"));
}

/// Sends SIGINT, as Ctrl-C does, and waits. Returns the exit status and the text on standard error.
#[cfg(unix)]
fn interrupt(mut child: std::process::Child) -> (Option<i32>, String) {
    use std::io::Read as _;
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (status.code(), said)
}

/// Returns all files of the folder except those named in `before`.
fn left(place: &Place, before: &[&str]) -> Vec<PathBuf> {
    entries(place.0.path()).into_iter().filter(|path| !before.iter().any(|name| path.ends_with(name))).collect()
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_only_finished_results() {
    let place = Place::new(60, 500);
    let journal = place.at("out.npz.resume");
    let mut command = place.encode("out.npz", &["--no-cache", "--resume", "--threads", "1"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !entries(&journal).iter().any(|path| path.extension().is_some_and(|ending| ending == "entry")) {
        assert!(started.elapsed() < Duration::from_secs(120), "no piece is kept");
        std::thread::sleep(Duration::from_millis(1));
    }
    let (code, said) = interrupt(child);
    assert_eq!((code, said.as_str()), (Some(130), "fiedler: interrupted\n"));
    assert_eq!(left(&place, &["set"]), std::slice::from_ref(&journal));
    let kept = place.run("out.npz", &["--no-cache", "--resume"]);
    let [resumed, _, missed] = blocks(&kept);
    assert!(resumed > 0 && resumed + missed == 60, "{kept}");
    place.run("plain.npz", &["--no-cache"]);
    assert_eq!(place.bytes("out.npz"), place.bytes("plain.npz"));

    // A single matrix takes seconds, during which nothing checks for an interrupt.
    let n = 2500_u64;
    let numbers: Vec<u8> = (0..n * n).flat_map(|i: u64| ((i % 1009).pow(2) as f64).to_le_bytes()).collect();
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {n}), }}");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(118_u16.to_le_bytes());
    file.extend(format!("{header:<117}\n").bytes());
    std::fs::write(place.at("large.npy"), [file, numbers].concat()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fiedler"));
    command.env("FIEDLER_BACKEND", "cpu").env_remove("RUST_LOG").args(["run", "svd"]);
    command.arg(place.at("large.npy")).arg("-o").arg(place.at("svd.npz"));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // After this time, the run has started on any machine, and is far from its end.
    std::thread::sleep(Duration::from_secs(1));
    let (code, said) = interrupt(child);
    assert_eq!((code, said.as_str()), (Some(130), "fiedler: interrupted\n"));
    assert_eq!(left(&place, &["set", "large.npy", "out.npz", "plain.npz"]), [] as [PathBuf; 0]);
}

#[test]
fn a_killed_run_continues_from_its_journal() {
    // Each graph is a cache block, because 500^3 exceeds 2^25. 17 blocks are computed at a time.
    let place = Place::new(60, 500);
    let (out, journal) = (place.at("out.npz"), place.at("out.npz.resume"));
    place.run("plain.npz", &["--no-cache"]);
    let resume = ["--no-cache", "--resume"];
    // One thread, so that the run does not end before it can be killed on a machine with many cores.
    let mut command = place.encode("out.npz", &resume);
    let mut child = command.env("RAYON_NUM_THREADS", "1").stdout(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !entries(&journal).iter().any(|path| path.extension().is_some_and(|ending| ending == "entry")) {
        assert!(
            started.elapsed() < Duration::from_secs(120) && child.try_wait().unwrap().is_none(),
            "no piece is kept"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success() && !out.exists());
    let kept =
        entries(&journal).into_iter().filter(|path| path.extension().is_some_and(|e| e == "entry")).count() as u64;
    assert!((1..60).contains(&kept), "{kept}");
    // Without `--resume`, the journal is neither read nor changed. With other parameters, no result in the
    // journal fits.
    assert_eq!(blocks(&place.run("out.npz", &["--no-cache"])), [0, 0, 0]);
    assert!(journal.is_dir());
    std::fs::remove_file(&out).unwrap();
    let mut copy = Vec::new();
    for path in entries(&journal) {
        copy.push((path.clone(), std::fs::read(path).unwrap()));
    }
    assert_eq!(blocks(&place.run("out.npz", &["--no-cache", "--resume", "-k", "5"])), [0, 0, 60]);
    assert!(!journal.exists());
    std::fs::create_dir(&journal).unwrap();
    copy.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
    // A damaged entry is computed again.
    std::fs::write(&copy.iter().find(|(path, _)| path.extension().is_some_and(|e| e == "entry")).unwrap().0, b"")
        .unwrap();
    let found = place.run("out.npz", &resume);
    assert_eq!((blocks(&found), &found["stored"]), ([kept - 1, 0, 61 - kept], &(kept - 1).into()));
    assert_eq!(place.bytes("out.npz"), place.bytes("plain.npz"));
    assert!(!journal.exists(), "{:?}", entries(&journal));
    assert!(!place.at("cache").exists());
    // With both the cache and `--resume`, results from the cache are also written to the journal. The journal is
    // removed when the output is complete.
    assert_eq!(blocks(&place.run("out.npz", &["--resume"])), [0, 0, 60]);
    assert_eq!(blocks(&place.run("out.npz", &["--resume"])), [0, 60, 0]);
    assert!(!journal.exists() && place.bytes("out.npz") == place.bytes("plain.npz"));
    // A call that fails before it finishes any graph leaves no journal. A call first checks that the journal can
    // be created.
    let failed = place.encode("late.npz", &["--resume", "-k", "18446744073709551615"]).output().unwrap();
    assert!(failed.status.code() == Some(1) && !place.at("late.npz.resume").exists());
    std::fs::write(place.at("taken.npz.resume"), b"").unwrap();
    let taken = place.encode("taken.npz", &["--resume"]).output().unwrap();
    assert!(taken.status.code() == Some(2) && String::from_utf8_lossy(&taken.stderr).contains("--resume"));
}
