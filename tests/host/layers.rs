//! Checks the layers of the library and of the command: which modules may import which other modules, where wgpu
//! and `unsafe` may occur, and that the folders of shaders match those of the operations. A room is a top-level
//! module, and its floor is its layer.
//!
//! Sources are read as tokens, without comments and strings, so a doc comment may name anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use common::source::Source;

/// The floor of the crate's root, which belongs to no layer.
const ROOT: u32 = u32::MAX;

/// The packages: folders with a `src`.
const PACKAGES: [&str; 2] = ["", "cli/"];

/// The floor of each room. A room may import rooms on lower floors. The command's rooms import the library's public
/// items by the library's name.
const FLOORS: [(&str, u32); 31] = [
    ("main", 8),
    ("commands", 8),
    ("bench", 7),
    ("doctor", 7),
    ("experiment", 7),
    ("arrow", 7),
    ("page", 6),
    ("features", 6),
    ("train", 6),
    ("encode", 5),
    ("interop", 5),
    ("io", 5),
    ("cache", 4),
    ("ops", 4),
    ("context", 3),
    ("array", 3),
    ("graph", 3),
    ("policy", 2),
    ("device", 1),
    ("cancel", 0),
    ("clock", 0),
    ("error", 0),
    ("forms", 0),
    ("extensions", 0),
    ("memory", 0),
    ("lanes", 0),
    ("order", 0),
    ("parallel", 0),
    ("profile", 0),
    ("shape", 0),
    // The crate's root joins the rooms: no room may import it, and it may import every room.
    ("lib", ROOT),
];

/// The imports that are allowed between rooms on one floor.
const SIDEWAYS: [(&str, &str); 6] = [
    ("array", "context"),
    ("cancel", "error"),
    ("io", "encode"),
    ("parallel", "error"),
    ("profile", "clock"),
    ("shape", "error"),
];

/// Families that may call the device half of the families in `CALLED`, so that a chain stays in one recording.
const CALLERS: [&str; 3] = ["laplacian", "eigen", "svd"];
const CALLED: [&str; 3] = ["jacobi", "matmul", "stats"];

/// Families that may use everything in another family: (user, used).
const DEPENDS_ON: [(&str, &str); 12] = [
    ("sparse", "laplacian"),
    ("eigsh", "sparse"),
    ("eigsh", "laplacian"),
    ("eigsh", "eigen"),
    ("pca", "stats"),
    ("pca", "eigen"),
    ("pca", "svd"),
    ("divergence", "stats"),
    ("gradient", "matmul"),
    ("gradient", "eigen"),
    ("gradient", "sparse"),
    ("series", "fft"),
];

/// The modules of `ops` that every family may use.
const COMMON: [&str; 11] = [
    "certificate",
    "columns",
    "complex",
    "convert",
    "elementary",
    "operation",
    "orthogonalize",
    "random",
    "reflectors",
    "ties",
    "twisted",
];

/// Crates that only `src/device` may name.
const DEVICE_CRATES: [&str; 7] =
    ["wgpu", "naga", "wgpu_core", "wgpu_hal", "wgpu_types", "wgpu_profiler", "wgpu_naga_bridge"];

fn floor(room: &str) -> Option<u32> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

/// Returns a line for each forbidden import in these sources.
fn wrong_imports(sources: &[Source]) -> Vec<String> {
    let reexports =
        |module: &str| sources.iter().find(|s| s.module == [module]).map(Source::reexports).unwrap_or_default();
    let (root, ops) = (reexports("lib"), reexports("ops"));
    let mut wrong = Vec::new();
    for source in sources {
        let room = source.room();
        let Some(own) = floor(room) else {
            wrong.push(format!("src/{}: the room `{room}` has no floor", source.file.display()));
            continue;
        };
        for (line, written) in source.paths() {
            let Some(first) = written.first() else { continue };
            let path = match root.get(first) {
                Some(full) => full.iter().chain(&written[1..]).cloned().collect(),
                None => written.clone(),
            };
            let why = match floor(&path[0]) {
                _ if own == ROOT => continue,
                None => "leads to no room",
                Some(_) if path[0] == room && room != "ops" => continue,
                Some(_) if path[0] == room && within_ops(source, &path[1..], &ops) => continue,
                Some(_) if path[0] == room => "is another family",
                Some(other) if other < own || SIDEWAYS.contains(&(room, &path[0])) => continue,
                Some(_) => "is not on a floor below",
            };
            wrong.push(format!("src/{}:{line}: `{}` {why}", source.file.display(), written.join("::")));
        }
    }
    wrong
}

/// Returns whether `source`, a file of `ops`, may use `ops::path`.
fn within_ops(source: &Source, path: &[String], reexports: &BTreeMap<String, Vec<String>>) -> bool {
    let Some(first) = path.first() else { return true };
    let Some(own) = source.module.get(1) else { return true }; // ops/mod.rs joins the families
    let declared_in_mod = first.starts_with(char::is_uppercase) && !reexports.contains_key(first);
    let path = reexports.get(first).map_or(path, Vec::as_slice);
    let device_half = path.get(1).is_some_and(|part| part == "gpu");
    path[0] == *own
        || COMMON.contains(&path[0].as_str())
        || DEPENDS_ON.contains(&(own.as_str(), path[0].as_str()))
        || declared_in_mod
        || device_half && CALLERS.contains(&own.as_str()) && CALLED.contains(&path[0].as_str())
}

/// Returns a line for each name or attribute that is used where it is not allowed.
fn wrong_words(source: &Source) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = |i: usize| source.tokens.get(i).map_or("", |t| t.1.as_str());
    for (i, (line, word)) in source.tokens.iter().enumerate() {
        let mut complain = |why: String| wrong.push(format!("src/{}:{line}: {why}", source.file.display()));
        if source.room() != "device" && DEVICE_CRATES.contains(&word.as_str()) {
            complain(format!("`{word}` is named outside src/device"));
        }
        // `main` of the command may set environment variables, because it does so before any thread starts. Only the
        // operating system knows whether a signal is ignored.
        let asks = source.file.ends_with("commands/interrupt.rs");
        if !["device", "main"].contains(&source.room()) && !asks && word == "unsafe" {
            complain("`unsafe` outside src/device and main.rs".into());
        }
        let attribute = i > 0 && matches!(text(i - 1), "[" | ",") && text(i + 1) == "(";
        if word == "allow" && attribute {
            let inside = source.tokens[i + 2..].iter().take_while(|t| t.1 != ")");
            if !inside.clone().any(|t| t.1 == "reason") {
                complain("`#[allow]` without a reason".into());
            }
        }
    }
    wrong
}

/// Returns the files below `folder` whose names end in `ending`, relative to it; none if the folder does not exist.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|e| e == ending) {
                out.push(path.strip_prefix(folder).expect("it is below the folder").to_path_buf());
            }
        }
    }
    out.sort();
    out
}

fn sources(package: &str) -> Vec<Source> {
    let src = common::root().join(package).join("src");
    let found: Vec<Source> = files(&src, "rs")
        .iter()
        .map(|file| Source::new(file, &fs::read_to_string(src.join(file)).expect("a readable source")))
        .collect();
    // There are at least lib.rs and the files of two rooms. If fewer files are found, this test looks in the wrong
    // folder.
    assert!(found.len() >= 5, "only {} sources under {}", found.len(), src.display());
    found
}

#[test]
fn imports_lead_to_lower_floors() {
    for package in PACKAGES {
        let sources = sources(package);
        let paths: usize = sources.iter().map(|s| s.paths().len()).sum();
        assert!(paths > 0, "no paths read from {} sources of {package}src", sources.len());
        let wrong = wrong_imports(&sources);
        assert!(wrong.is_empty(), "\nof {package}src:\n{}", wrong.join("\n"));
    }
}

#[test]
fn restricted_names_are_used_only_where_allowed() {
    for package in PACKAGES {
        let wrong: Vec<String> = sources(package).iter().flat_map(wrong_words).collect();
        assert!(wrong.is_empty(), "\nof {package}src:\n{}", wrong.join("\n"));
    }
}

#[test]
fn shaders_mirror_the_operations() {
    let (shaders, ops) = (common::root().join("shaders"), common::root().join("src/ops"));
    let declared: Vec<(PathBuf, String)> = files(&ops, "rs")
        .into_iter()
        .filter(|file| file.to_string_lossy().ends_with("kernels.rs"))
        .map(|file| (file.clone(), fs::read_to_string(ops.join(&file)).expect("a readable source")))
        .collect();
    let found = files(&shaders, "wgsl");
    assert_eq!(found.is_empty(), declared.is_empty(), "{} shaders, {} kernels.rs", found.len(), declared.len());
    for shader in found {
        let mut folders = shader.iter();
        let mut family = folders.next().expect("a relative path");
        if family == "generated" {
            family = folders.next().expect("a family's folder");
        }
        let name = shader.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        let named = declared.iter().any(|(file, text)| {
            let at_home = family == "shared" || file.starts_with(family);
            at_home && (text.contains(&format!("\"{name}\"")) || names_order(text, &name))
        });
        assert!(named, "shaders/{name} is not named in a kernels.rs of src/ops/{}", family.display());
    }
}

/// Returns whether kernels name a generated file by its order: `each order in "generated/eigen/tiny_" [2, 3]`.
fn names_order(kernels: &str, file: &str) -> bool {
    let stem = file.trim_end_matches(".wgsl");
    let (prefix, order) = stem.split_at(stem.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    let orders = kernels.split_once(&format!("in \"{prefix}\" [")).and_then(|(_, after)| after.split_once(']'));
    !order.is_empty() && orders.is_some_and(|(orders, _)| orders.split(", ").any(|one| one == order))
}

/// Returns the names that a text declares with the given word, such as `const`.
fn declared<'a>(text: &'a str, word: &str) -> BTreeSet<&'a str> {
    let name = |line: &'a str| {
        let (before, after) = line.split_once(&format!("{word} "))?;
        let visibility = before.trim_start();
        let at_start = visibility.is_empty() || visibility.starts_with("pub");
        after.split_once(':').map(|(name, _)| name).filter(|_| at_start)
    };
    text.lines().filter_map(name).collect()
}

/// Returns the constants that are declared under the same name in Rust and in WGSL, but are neither passed to the
/// shader as an override nor compared by the test of `mirrors!`.
fn unmirrored(rust: &str, wgsl: &str) -> Vec<String> {
    let both = declared(rust, "const");
    let listed = |name: &&&str| {
        rust.contains(&format!("(\"{name}\", "))
            || rust.lines().any(|line| line.trim_start().starts_with(&format!("{name} = ")))
    };
    let named: BTreeSet<&str> = declared(wgsl, "const").union(&declared(wgsl, "override")).copied().collect();
    both.intersection(&named).filter(|name| !listed(name)).map(|name| (*name).to_owned()).collect()
}

#[test]
fn constants_of_both_languages_are_compared() {
    let (shaders, ops) = (common::root().join("shaders"), common::root().join("src/ops"));
    // In Rust, only the files that declare kernels are searched. Constants of the same name in other files have
    // other meanings.
    let text = |folder: &Path, extension: &str| {
        let read = |file: PathBuf| (file.clone(), fs::read_to_string(folder.join(file)).expect("a readable source"));
        let knows = |(file, text): &(PathBuf, String)| {
            extension == "wgsl" || file.ends_with("kernels.rs") || text.contains("kernels::")
        };
        files(folder, extension).into_iter().map(read).filter(knows).map(|(_, text)| text).collect::<Vec<_>>().concat()
    };
    let shared = text(&shaders.join("shared"), "wgsl");
    for family in fs::read_dir(&ops).expect("src/ops").map(|entry| entry.expect("an entry").path()) {
        if !family.join("kernels.rs").is_file() {
            continue;
        }
        let wgsl = text(&shaders.join(family.file_name().expect("a name")), "wgsl");
        let wrong = unmirrored(&text(&family, "rs"), &format!("{shared}{wgsl}"));
        assert!(wrong.is_empty(), "{}: not in mirrors!: {}", family.display(), wrong.join(", "));
    }
    let rust = "pub(super) const A: u32 = 1;\nconst B: u32 = 2;\nconst C: u32 = 3;\nmirrors! {\n    A = A,\n}";
    assert_eq!(unmirrored(rust, "const A: u32 = 1;\noverride B: u32 = 2;\nfn f() { let C = 3; }"), ["B"]);
}

/// Returns what the rules report if the given file is added to a small source tree that has no faults.
fn judged(file: &str, text: &str) -> String {
    let house = [
        (
            "lib.rs",
            "pub mod device; pub use device::Gpu; pub use context::{Backend, Context}; pub use error::Error as Failure;",
        ),
        ("context.rs", "use crate::device::Gpu; use crate::{Gpu as G}; #[cfg(test)] mod tests { use super::*; }"),
        ("ops/mod.rs", "pub mod fft; pub use certificate::Certificate; pub use self::fft::fft; pub struct Plain;"),
    ];
    let mut sources: Vec<Source> = house.iter().map(|(file, text)| Source::new(Path::new(file), text)).collect();
    sources.push(Source::new(Path::new(file), text));
    let words = wrong_words(sources.last().expect("just pushed"));
    wrong_imports(&sources).into_iter().chain(words).collect::<Vec<_>>().join("; ")
}

#[test]
fn the_rules_accept_correct_sources() {
    for (file, text) in [
        ("array.rs", "use crate::{context::Context, device::{self, Gpu}}; fn f(x: crate::Backend) {}"),
        ("shape.rs", "use crate::error::{Error, Result};"),
        ("commands/mod.rs", "use fiedler::encode::x; use crate::bench::Case; fn f() { crate::doctor::self_test() }"),
        (
            "ops/eigen/gpu.rs",
            "use crate::ops::matmul::gpu::gemm; use super::kernels::K; use crate::ops::{Certificate, Plain};",
        ),
        ("ops/fft/cpu.rs", "use super::super::certificate::Status; pub(in crate::ops) fn f() {}"),
        (
            "policy.rs",
            "// wgpu\n/* unsafe /* crate::ops::x */ naga */ const A: &str = \"wgpu \\\" unsafe\"; const B: &str = r#\"crate::io \" x\"#;",
        ),
        (
            "graph/mod.rs",
            "fn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' } #[allow(clippy::x, reason = \"y\")] fn g() {}",
        ),
        ("device/gpu.rs", "use wgpu::Device; use super::super::error::Error; unsafe fn f() {}"),
        ("main.rs", "fn main() { unsafe { g() } }"),
    ] {
        assert_eq!(judged(file, text), "", "{file}: {text}");
    }
}

#[test]
fn the_rules_detect_violations() {
    for (file, text, want) in [
        (
            "device/gpu.rs",
            "use crate::context::Context;",
            "src/device/gpu.rs:1: `context::Context` is not on a floor below",
        ),
        ("device/gpu.rs", "\n use crate::Context;", "src/device/gpu.rs:2: `Context` is not on a floor below"),
        ("graph/mod.rs", "use crate::{error::Error, array::{Array as A, *}};", "`array::*` is not on a floor below"),
        ("policy.rs", "fn f() { let x = crate::device::open(); crate::io::read(x) }", "`io::read` is not"),
        ("encode/mod.rs", "use crate::{\n io::npz};", "`io::npz` is not on a floor below"),
        ("shape.rs", "mod tests { use super::*; } use super::array::Array;", "`array::Array` is not"),
        ("ops/fft/gpu.rs", "use crate::ops::matmul::gpu;", "`ops::matmul::gpu` is another family"),
        ("ops/eigen/gpu.rs", "use crate::ops::matmul::kernels::Gemm;", "is another family"),
        ("ops/svd/gpu.rs", "use super::super::eigen::gpu::sweep;", "`ops::eigen::gpu::sweep` is another family"),
        ("ops/eigen/mod.rs", "use crate::ops::fft;", "`ops::fft` is another family"),
        ("ops/certificate.rs", "use crate::ops::eigen::Eigh;", "is another family"),
        ("bench/mod.rs", "use crate::commands::X;", "`commands::X` is not on a floor below"),
        ("error.rs", "use crate::nowhere::X;", "`nowhere::X` leads to no room"),
        ("cellar/mod.rs", "", "the room `cellar` has no floor"),
        ("array.rs", "fn f(x: wgpu::Buffer) {}", "`wgpu` is named outside src/device"),
        ("io/mod.rs", "const A: &str = \"\"; fn f() { unsafe { g() } }", "`unsafe` outside src/device and main.rs"),
        ("commands/mod.rs", "fn f() { unsafe { g() } }", "`unsafe` outside src/device and main.rs"),
        ("io/mod.rs", "#[allow(dead_code)] fn f() {}", "`#[allow]` without a reason"),
        ("io/mod.rs", "#![cfg_attr(test, allow(dead_code))]", "`#[allow]` without a reason"),
    ] {
        let got = judged(file, text);
        assert!(got.contains(want), "{file}: {text}\n wanted: {want}\n    got: {got}");
    }
}
