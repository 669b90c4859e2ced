//! What is done with an input of each target. Errors are expected; panics, aborts, and memory or time without a bound
//! are faults.
//!
//! The first byte of an input that is a file chooses its name, whose ending helps to detect its format, and the rest is
//! its content.

mod seeds;

use fiedler::arrow::{self, Columns, Shard, TableReader};
use fiedler::experiment::Spec;
use fiedler::features::Representation;
use fiedler::graph::Conventions;
use fiedler::io::{self, ReadOptions, Roles, Wanted};
use fiedler::train::Model;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

/// The names of files with graphs.
pub const GRAPHS: [&str; 21] = [
    "g.txt",
    "g.csv",
    "g.mtx",
    "g.json",
    "g.cyjs",
    "g.graphml",
    "g.gexf",
    "g.gml",
    "g.npz",
    "g.npy",
    "g.safetensors",
    "g.net",
    "g.gr",
    "g.col",
    "g.graph",
    "g.g6",
    "g.s6",
    "g.d6",
    "g.adjlist",
    "g.gz",
    "g.zst",
];
/// The names of files with arrays.
pub const ARRAYS: [&str; 3] = ["a.npy", "a.npz", "a.safetensors"];
/// The names of files with samples.
pub const SAMPLES: [&str; 5] = ["x.csv", "x.tsv", "x.txt", "x.npz", "x.safetensors"];
/// The names of tables.
pub const TABLES: [&str; 3] = ["t.parquet", "t.arrow", "t.arrows"];
/// The names of files with trained networks.
pub const MODELS: [&str; 1] = ["m.safetensors"];

/// Memory that a reader may take, in bytes.
const BUDGET: u64 = 64 << 20;

/// Begins the fuzzing of a target, with its first inputs.
pub fn start(target: &str) {
    // libFuzzer's own hook would end the process at panics that become errors, too.
    let _ = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        if !arrow::panics_are_errors() {
            eprintln!("{info}\n{}", std::backtrace::Backtrace::force_capture());
            std::process::abort();
        }
    }));
    seeds::write(target);
}

fn chosen<'a>(names: &[&'static str], input: &'a [u8]) -> Option<(&'static str, &'a [u8])> {
    let (first, content) = input.split_first()?;
    Some((names[usize::from(*first) % names.len()], content))
}

/// Writes the content to a file in memory, where the system has such a folder, and calls `read` with its path.
fn with_file(names: &[&'static str], input: &[u8], read: impl FnOnce(&Path)) {
    thread_local!(static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) });
    let Some((name, content)) = chosen(names, input) else { return };
    let path: PathBuf = FOLDER.with_borrow_mut(|folder| {
        let shared = Path::new("/dev/shm");
        let made = || if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
        folder.get_or_insert_with(|| made().expect("a folder")).path().join(name)
    });
    fs::write(&path, content).expect("room for an input");
    read(&path);
}

/// Reads graphs.
pub fn graphs(input: &[u8]) {
    let Some((name, content)) = chosen(&GRAPHS, input) else { return };
    let options = ReadOptions::default().memory_budget(BUDGET);
    match io::read_from(name, content, &Conventions::default(), &options) {
        Ok(set) => assert!(set.graphs.columns().len() <= set.graphs.entries()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Reads arrays, and their shapes.
pub fn arrays(input: &[u8]) {
    with_file(&ARRAYS, input, |path| {
        if path.extension().is_some_and(|ending| ending == "npy") {
            let _ = io::read_npy(path);
        } else {
            let _ = io::read_shapes(path);
            let _ = io::read_arrays(path);
        }
    });
}

/// Reads samples and their labels.
pub fn samples(input: &[u8]) {
    with_file(&SAMPLES, input, |path| {
        let _ = io::read_samples(path, Wanted::Labels(Roles::default()));
        let _ = io::read_samples(path, Wanted::Values(Roles::default()));
    });
}

/// Reads graphs from tables of Arrow and Parquet.
pub fn tables(input: &[u8]) {
    with_file(&TABLES, input, |path| {
        let Ok(reader) = TableReader::open(path, Shard::WHOLE, BUDGET) else { return };
        let schema = reader.schema();
        let _ = arrow::read(path, &schema, reader, &Columns::default(), &Conventions::default());
    });
}

/// Opens trained networks.
pub fn models(input: &[u8]) {
    with_file(&MODELS, input, |path| {
        let _ = Model::<f32>::open(path);
        let _ = Model::<f64>::open(path);
    });
}

/// Parses the arguments of the command, one on each line, and runs nothing.
pub fn arguments(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = fiedler_cli::accepts(std::iter::once("fiedler").chain(text.split('\n')).map(Into::into));
}

/// Reads experiments and representations, which are texts.
pub fn texts(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = Spec::parse(text, Path::new("e.toml"), Path::new("/"));
    // A list names files, too, which would be opened.
    if !text.contains(".toml") && !text.contains(".json") {
        let _ = Representation::parse_list(text);
    }
}
