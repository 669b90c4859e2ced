//! Runs unit tests that need a device. A test runs once on every adapter, in a separate process for each adapter. Used
//! only in tests.

use super::{Adapter, Chosen, DeviceOptions, Gpu};
use crate::error::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The environment variable that tells the process of a trial the name of its adapter.
const TRIAL: &str = "FIEDLER_UNIT_TRIAL";
/// The text that the process of a trial prints if its adapter is absent.
const ABSENT: &str = "fiedler: this adapter is absent";
/// The environment variable that lists the adapters without which the test fails.
const REQUIRE: &str = "FIEDLER_REQUIRE_ADAPTERS";
/// The paths at which Chromium's packages install SwiftShader.
const SWIFTSHADER: [&str; 4] = [
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
    "/usr/lib/chromium-browser/vk_swiftshader_icd.json",
];

/// Returns the options of the devices of trials.
pub(crate) fn options() -> DeviceOptions {
    DeviceOptions {
        budget: 1 << 30,
        cancel: crate::cancel::Cancel::new(),
        checked: true,
        poison: true,
        profile: false,
        timestamps: true,
        kernels: Vec::new(),
        slower: Vec::new(),
        matrix_units: None,
        refused: false,
        spoiled: None,
    }
}

/// Returns the cases that this adapter tests: the two software adapters share them, as in the suites (`sample` in
/// `tests/common/harness.rs`, which has the reasons), and GPUs have all of them.
pub(crate) fn sample<T>(gpu: &Gpu, all: impl IntoIterator<Item = T>) -> Vec<T> {
    let adapter = gpu.adapter();
    let is_own = |i: usize| {
        let few = (i as f64 * 0.618_033_988_749_895).fract() < 1.0 / 3.0;
        !adapter.software || few == adapter.name.contains("SwiftShader")
    };
    all.into_iter().enumerate().filter(|(i, _)| is_own(*i)).map(|(_, case)| case).collect()
}

/// Runs `body` once for each adapter. `body` must be everything that the test function does. `module` is the
/// `module_path!()` of the test function, and `test` is its name.
///
/// # Panics
/// If the body panics, or if a required adapter is absent.
pub(crate) fn on_each_adapter(module: &str, test: &str, body: impl Fn(&Arc<Gpu>)) {
    if let Ok(adapter) = std::env::var(TRIAL) {
        match pollster::block_on(async { Gpu::open(Chosen::new(Some(&adapter)).await?, options()).await }) {
            Ok(gpu) => body(&gpu),
            Err(error) if matches!(error.kind(), ErrorKind::NoAdapter { .. }) => eprintln!("{ABSENT}"),
            Err(error) => panic!("{adapter}: {error}"),
        }
        return;
    }
    let (_, path) = module.split_once("::").expect("a module within the crate");
    let swiftshader = SWIFTSHADER.into_iter().find(|path| Path::new(path).is_file());
    let hardware = Adapter::all().into_iter().filter(|adapter| !adapter.software).map(|adapter| (adapter.name, None));
    let known = [("llvmpipe".to_owned(), None), ("SwiftShader".to_owned(), swiftshader)];
    let required = std::env::var(REQUIRE).unwrap_or_default();
    let mut adapters: Vec<(String, Option<&str>)> = known.into_iter().chain(hardware).collect();
    for name in required.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if !adapters.iter().any(|(adapter, _)| adapter.contains(name)) {
            adapters.push((name.to_owned(), None));
        }
    }
    for (adapter, drivers) in adapters {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.args([&format!("{path}::{test}"), "--exact", "--nocapture"]).env(TRIAL, &adapter);
        if let Some(drivers) = drivers {
            command.env("VK_DRIVER_FILES", drivers);
        }
        let output = command.output().expect("a process for a trial");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(output.status.success() && text.contains("1 passed"), "{test} on {adapter}:\n{text}");
        if text.contains(ABSENT) {
            let wanted = required.split(',').any(|name| !name.trim().is_empty() && adapter.contains(name.trim()));
            assert!(!wanted, "this machine has no adapter {adapter}, which {REQUIRE} names");
            eprintln!("{test}: not run on {adapter}, which is not here");
        } else {
            text.lines().filter(|line| line.starts_with("  ")).for_each(|line| eprintln!("{adapter}: {line}"));
        }
    }
}
