//! `fiedler generate vectors`, `series` and `strings`.

use crate::call::{Files, fiedler, run};
use fiedler::features::generate::Vectors;
use fiedler::io::{Extent, Layers, Numbers};
use std::path::{Path, PathBuf};
use std::process::Output;

fn said(output: &Output) -> (Option<i32>, String) {
    let both = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&both).into_owned())
}

fn generate(arguments: &str, output: &str) -> (Option<i32>, String) {
    let all: Vec<&str> = ["generate"].into_iter().chain(arguments.split(' ')).chain(["-o", output]).collect();
    said(&run(&all))
}

fn open(path: &str) -> Layers {
    Layers::open(&[PathBuf::from(path)]).expect(path)
}

#[test]
fn vectors_of_a_seed() {
    let files = Files::new();
    let (one, other, folder) = (files.at("one.safetensors"), files.at("other.safetensors"), files.at("folder"));
    let (code, text) = generate("vectors --samples 6 --classes 4 --seed 3", &one);
    assert!(code == Some(0) && text.contains("6 samples of 128 layers, 99648 numbers, in 4 classes"), "{text}");
    let arguments = ["generate", "vectors", "--samples", "6", "--classes", "4", "--seed", "3", "-o", &other];
    assert!(fiedler(&arguments).env("FIEDLER_THREADS", "1").output().expect("it starts").status.success());
    assert!(std::fs::read(&one).expect("a file") == std::fs::read(&other).expect("a file"));
    assert_eq!(generate("vectors --samples 6 --classes 4 --seed 3 --preset lora", &folder).0, Some(0));
    // Sample 5 is the second of class 1, so it is the fourth of the folder.
    let (file, set) = (open(&one), open(&folder));
    assert_eq!(set.ids().expect("ids")[3], "sample-5");
    let vectors = Vectors::new(6, 4, 3).expect("vectors");
    let at = file.layers().iter().position(|layer| layer.name == vectors.layers()[9].name).expect("a layer");
    assert_eq!(file.layers(), set.layers());
    let mut want = vec![0.0; vectors.layers()[9].numbers];
    vectors.fill(9, 5, &mut want);
    assert_eq!(file.read(&[at], 5..6).expect("rows")[0].numbers, Numbers::F32(want.clone()));
    assert_eq!(set.read(&[at], 3..4).expect("rows")[0].numbers, Numbers::F32(want));
    let (code, text) = generate("vectors --samples 6", &folder);
    assert!(code == Some(2) && text.contains("exists already") && text.contains("would be mixed"), "{text}");
}

#[test]
fn series_and_strings() {
    let files = Files::new();
    let (npz, csv, txt) = (files.at("s.npz"), files.at("r.csv"), files.at("b.txt"));
    let (code, text) = generate("series --samples 10 --length 20", &npz);
    assert!(code == Some(0) && text.contains("10 series of 20 numbers in 4 classes"), "{text}");
    assert_eq!((open(&npz).len(), open(&npz).layers()[0].extent), (10, Extent::Vector(20)));
    assert_eq!(generate("series --samples 10 --lengths 5..9", &csv).0, Some(0));
    assert!(matches!(open(&csv).layers()[0].extent, Extent::Ragged { longest: 6..=9 }));
    let (code, text) = generate("strings --samples 60 --devices 6 --length 24", &txt);
    assert!(code == Some(0) && text.contains("60 strings of 24 bits from 6 devices"), "{text}");
    assert_eq!((open(&txt).len(), open(&txt).layers()[0].extent), (60, Extent::Vector(24)));
    // What was generated trains.
    for data in [&npz, &txt] {
        let dir = format!("{data}.d");
        let output = run(&["train", data, "-o", &dir, "--hidden", "4", "--epochs", "2", "--batch", "4"]);
        assert!(output.status.success(), "{}", said(&output).1);
    }
}

#[test]
fn wrong_calls() {
    let files = Files::new();
    for (arguments, name, code, words) in [
        ("vectors --samples 0", "v.npz", 2, "a whole number of 1 or more"),
        ("vectors --samples 3 --preset qr", "v.npz", 2, "lora"),
        ("vectors --samples 3", "v.csv", 2, "expected an output that ends in .safetensors or .npz"),
        ("vectors --samples 3", "none/v.npz", 2, "an existing folder"),
        ("series --samples 3", "s.npz", 2, "--length"),
        ("series --samples 3 --length 5 --lengths 3..5", "s.csv", 2, "cannot be used with"),
        ("series --samples 3 --lengths 5..3", "s.csv", 2, "the lesser length first"),
        ("series --samples 3 --lengths 5", "s.csv", 2, "two lengths, such as 100..500"),
        ("series --samples 3 --lengths 3..5", "s.npz", 2, "ends in .csv"),
        ("series --samples 3 --length 5 --classes 5", "s.npz", 1, "1 to 4 classes, found 5"),
        ("strings --samples 3 --length 7", "b.txt", 1, "8 to 4294967296 bits, found 7"),
        ("strings --samples 3 --devices 4", "b.txt", 1, "1 to 3 devices, found 4"),
        ("strings --samples 3", "b.npz", 2, "ends in .txt"),
    ] {
        let (found, text) = generate(arguments, &files.at(name));
        assert!(found == Some(code) && text.contains(words), "{arguments}: {found:?} {text}");
        assert_eq!(std::fs::read_dir(files.at("")).expect("a folder").count(), 0, "{arguments}");
    }
}

/// A file that the system refuses to let grow, as on a full disk, is an error, and leaves nothing.
#[test]
#[cfg(unix)]
fn a_full_disk() {
    let files = Files::new();
    for (name, arguments) in [
        ("v.safetensors", "vectors --samples 4"),
        ("v.npz", "vectors --samples 4"),
        ("set", "vectors --samples 4"),
        ("s.csv", "series --samples 100 --length 500"),
        ("b.txt", "strings --samples 4000"),
    ] {
        let (program, output) = (env!("CARGO_BIN_EXE_fiedler"), files.at(name));
        // 64 blocks of 512 or 1024 bytes. Without the trap, the system would end the process.
        let script = format!("trap '' XFSZ; ulimit -f 64; exec '{program}' generate {arguments} -o '{output}'");
        let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
        let (code, text) = said(&output);
        assert!(code == Some(1) && text.contains("cannot write") && text.contains(name), "{name}: {code:?} {text}");
        assert_eq!(std::fs::read_dir(Path::new(&files.at(""))).expect("a folder").count(), 0, "{name}");
    }
}
