//! Trainings that are interrupted, or that cannot write their checkpoints, and what --resume does with what they left.

use crate::call::{Files, fiedler};
#[cfg(unix)]
use crate::tables::molecules_in;
use crate::train::{said, table};
use fiedler::Adapter;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn training<'a>(data: &'a str, dir: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["train", data, "-o", dir, "--batch", "8"];
    all.extend(more);
    all
}

/// Waits until a file or folder exists.
fn wait_for(path: &str, child: &mut Child) {
    let begun = Instant::now();
    while !Path::new(path).exists() {
        assert!(begun.elapsed() < Duration::from_secs(120) && child.try_wait().expect("a status").is_none(), "{path}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn names(dir: &str) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

fn bytes(dir: &str, name: &str) -> Vec<u8> {
    std::fs::read(Path::new(dir).join(name)).expect("a file")
}

#[cfg(unix)]
fn press(child: &Child) {
    send("-INT", child);
}

#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

#[cfg(unix)]
fn ended(mut child: Child) -> (Option<i32>, String) {
    let status = child.wait().expect("a status");
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("UTF-8");
    (status.code(), said)
}

/// A checkpoint has the best parameters, the last ones and two moments, so it exceeds a limit that the results keep.
/// The one from before stays, and the training goes on and ends as it does without a limit.
#[cfg(unix)]
#[test]
fn checkpoints_that_do_not_fit_on_the_disk() {
    let files = Files::new();
    let (data, whole, parts) = (files.text("t.csv", &table(400)), files.at("whole"), files.at("parts"));
    let options = ["--hidden", "8000", "--epochs", "80", "--checkpoint", "0.02"];
    let (code, _, error) = said(&training(&data, &whole, &options));
    assert_eq!((code, error.as_str()), (0, ""));
    let mut child = fiedler(&training(&data, &parts, &options)).stdout(Stdio::null()).spawn().expect("it starts");
    wait_for(&files.at("parts/checkpoint.safetensors"), &mut child);
    child.kill().expect("killed");
    child.wait().expect("ended");
    let before = bytes(&parts, "checkpoint.safetensors");
    // In blocks of 1024 bytes. The signal is ignored, so that writing returns an error.
    let limited = |dir: &str, blocks: u32, more: &str| {
        let call = training(&data, dir, &options).join(" ");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {} {call} {more}", env!("CARGO_BIN_EXE_fiedler"));
        let mut command = Command::new("bash");
        command.args(["-c", &script]).env("FIEDLER_BACKEND", "cpu").env_remove("RUST_LOG");
        let output = command.output().expect("bash");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    // The weights have 160 kB, the checkpoint 640 kB. It is kept where the weights cannot be written.
    let (code, error) = limited(&parts, 100, "--resume");
    assert_eq!(code, Some(1), "{error}");
    let told =
        error.lines().last().is_some_and(|line| line.contains("weights.safetensors") && line.contains("--resume"));
    assert!(told, "{error}");
    assert!(bytes(&parts, "checkpoint.safetensors") == before, "the checkpoint has changed");
    let (code, error) = limited(&parts, 400, "--resume");
    assert_eq!(code, Some(0), "{error}");
    let warned = error.matches("no checkpoint: cannot write").count();
    assert!(warned == 1 && error.contains("checkpoint.safetensors"), "{error}");
    assert!(bytes(&whole, "weights.safetensors") == bytes(&parts, "weights.safetensors"));
    assert_eq!(names(&parts), ["runs.jsonl", "summary.csv", "weights.safetensors"]);
}

/// The first Ctrl-C saves a checkpoint, although none is due, and --resume goes on from it.
#[cfg(unix)]
#[test]
fn ctrl_c_saves_a_checkpoint() {
    let files = Files::new();
    let (data, whole, parts) = (files.text("t.csv", &table(400)), files.at("whole"), files.at("parts"));
    let options = ["--hidden", "64,32", "--epochs", "2000", "--checkpoint", "1000000", "--threads", "1"];
    assert_eq!(said(&training(&data, &whole, &options)).0, 0);
    let mut command = fiedler(&training(&data, &parts, &options));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_for(&parts, &mut child);
    std::thread::sleep(Duration::from_millis(100));
    press(&child);
    let (code, error) = ended(child);
    assert_eq!(code, Some(130), "{error}");
    let lines: Vec<&str> = error.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("--resume") && lines[1] == "fiedler: interrupted", "{error}");
    assert_eq!(names(&parts), ["checkpoint.safetensors"]);
    let (code, _, error) = said(&training(&data, &parts, &[&options[..], &["--resume"]].concat()));
    assert_eq!(code, 0, "{error}");
    for name in ["weights.safetensors", "runs.jsonl"] {
        assert!(bytes(&whole, name) == bytes(&parts, name), "{name} differs");
    }
}

/// SIGTERM, as Slurm and Kubernetes send it, and SIGHUP do what Ctrl-C does, and are named.
#[cfg(unix)]
#[test]
fn other_signals_save_a_checkpoint_too() {
    let files = Files::new();
    let data = files.text("t.csv", &table(400));
    for (signal, name, status) in [("-TERM", "SIGTERM", 143), ("-HUP", "SIGHUP", 129)] {
        let dir = files.at(name);
        let options = ["--hidden", "64,32", "--epochs", "200000", "--checkpoint", "1000000", "--threads", "1"];
        let mut command = fiedler(&training(&data, &dir, &options));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        wait_for(&dir, &mut child);
        std::thread::sleep(Duration::from_millis(100));
        send(signal, &child);
        let (code, error) = ended(child);
        assert_eq!(code, Some(status), "{error}");
        let lines: Vec<&str> = error.lines().collect();
        let told =
            lines.len() == 2 && lines[0].contains(&format!("stopping by {name}")) && lines[0].contains("--resume");
        assert!(told && lines[1] == format!("fiedler: ended by {name}"), "{error}");
        assert_eq!(names(&dir), ["checkpoint.safetensors"]);
    }
}

/// Other work is ended within a second, and leaves no temporary file.
#[cfg(unix)]
#[test]
fn a_signal_leaves_nothing_half_written() {
    use std::io::Write as _;
    let files = Files::new();
    let (pipe, output) = (files.at("in.arrows"), files.at("out.arrow"));
    let bytes = std::fs::read(molecules_in(&files, "all.arrows")).expect("a table");
    let parent = Path::new(&output).parent().expect("a folder").to_str().expect("a plain path").to_owned();
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for (signal, status) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)] {
        let call = ["encode", &pipe, "-o", &output, "--format", "arrow"];
        let mut child = fiedler(&call).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        // The writer stops in the middle, so that the command waits for the rest.
        let mut writer = std::fs::File::options().write(true).open(&pipe).expect("a pipe");
        writer.write_all(&bytes[..bytes.len() / 2]).expect("written");
        let begun = Instant::now();
        while !names(&parent).iter().any(|name| name.starts_with(".fiedler-")) {
            assert!(begun.elapsed() < Duration::from_secs(60), "no temporary file");
            std::thread::sleep(Duration::from_millis(5));
        }
        send(signal, &child);
        while child.try_wait().expect("a status").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(120), "{signal} does not end it");
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(writer);
        let (code, error) = ended(child);
        assert_eq!(code, Some(status), "{error}");
        assert_eq!(names(&parent), ["all.arrows", "in.arrows"], "{signal}");
    }
}

/// What `nohup` starts goes on when the terminal is closed.
#[cfg(unix)]
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let files = Files::new();
    let (data, dir) = (files.text("t.csv", &table(400)), files.at("fit"));
    let call = training(&data, &dir, &["--hidden", "64,32", "--epochs", "2000", "--threads", "1"]).join(" ");
    let script = format!("trap '' HUP; exec {} {call}", env!("CARGO_BIN_EXE_fiedler"));
    let mut command = Command::new("bash");
    command.args(["-c", &script]).env("FIEDLER_BACKEND", "cpu").env_remove("RUST_LOG");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("bash");
    wait_for(&dir, &mut child);
    send("-HUP", &child);
    let (code, error) = ended(child);
    assert!(code == Some(0) && error.is_empty(), "{code:?}: {error}");
    assert_eq!(names(&dir), ["runs.jsonl", "summary.csv", "weights.safetensors"]);
}

/// On a device, a checkpoint is saved between epochs. The first Ctrl-C waits for the end of a long one; the second does
/// not.
#[cfg(unix)]
#[test]
fn a_second_ctrl_c_ends_at_once() {
    let Some(adapter) = Adapter::all().into_iter().next() else {
        let required = std::env::var("FIEDLER_REQUIRE_ADAPTERS").is_ok_and(|names| !names.is_empty());
        assert!(!required, "there is no adapter here");
        return;
    };
    let files = Files::new();
    let (data, dir) = (files.text("t.csv", &table(400_000)), files.at("fit"));
    let place = ["--backend", "gpu", "--adapter", &adapter.name, "--hidden", "256,256", "--runs", "2"];
    let mut command = fiedler(&training(&data, &dir, &place));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_for(&dir, &mut child);
    std::thread::sleep(Duration::from_millis(500));
    press(&child);
    // Longer than the moment after which other work is ended.
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().expect("a status").is_none(), "it did not wait for the checkpoint");
    press(&child);
    let (code, error) = ended(child);
    assert!(code == Some(130) && error.ends_with("fiedler: interrupted\n"), "{code:?}: {error}");
    assert_eq!(names(&dir), [] as [String; 0]);
}

/// A finished folder is compared as an unfinished one is, and a folder without a checkpoint says what it has.
#[test]
fn resume_says_what_it_finds() {
    let files = Files::new();
    let (data, dir) = (files.text("t.csv", &table(100)), files.at("fit"));
    let call = |more: &[&str]| said(&training(&data, &dir, &[&["--epochs", "3", "--resume"], more].concat()));
    assert_eq!(call(&[]).0, 0);
    let (code, printed, error) = call(&[]);
    assert!(code == 0 && printed.contains("this training is finished"), "{printed}{error}");
    let (code, _, error) = call(&["--lr", "0.1", "--hidden", "4"]);
    assert!(code == 2 && error.contains("weights.safetensors is of another training"), "{code}: {error}");
    assert!(error.contains("layers: ") && error.contains("run 0: lr 0.1 now, 0.001 in the finished"), "{error}");
    std::fs::remove_file(files.at("fit/weights.safetensors")).expect("removed");
    std::fs::write(files.at("fit/.fiedler-1.tmp"), "half").expect("written");
    let (code, _, error) = call(&[]);
    assert!(code == 2 && error.contains("found runs.jsonl, summary.csv and neither checkpoint.safetensors"), "{error}");
    assert!(error.contains("remove the folder, and train again"), "{error}");
}
