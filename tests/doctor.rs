//! The doctor on machines that lack something or have something wrong: each is said plainly, with the right exit status.
//!
//! A fault on purpose is named by `FIEDLER_TEST_FAULT`: `open` (the device is refused) or `kernel=NAME` (that kernel is made wrong).

#[path = "common/command.rs"]
mod command;

use command::{fiedler, run};
use fiedler::{Adapter, Backend, Context, doctor::self_test};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Where distributions put the manifests of the software drivers.
const LAVAPIPE: [&str; 2] = ["/usr/share/vulkan/icd.d/lvp_icd.x86_64.json", "/usr/share/vulkan/icd.d/lvp_icd.json"];
const SWIFTSHADER: [&str; 3] = [
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
];

fn first(paths: &[&'static str]) -> Option<&'static str> {
    paths.iter().copied().find(|path| Path::new(path).is_file())
}

/// What the doctor says as JSON, without measuring speed, and its exit status.
fn asked(arguments: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, Value) {
    let mut command = fiedler(&["doctor", "--quick", "--json"]);
    let output =
        command.args(arguments).env_remove("FIEDLER_BACKEND").envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text} {said}")))
}

fn lines(value: &Value) -> String {
    value.as_array().expect("lines").iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// How many checks there are of each side, and which families failed.
fn checks(report: &Value, on: &str) -> (usize, Vec<String>) {
    let own: Vec<&Value> = report["checks"].as_array().expect("checks").iter().filter(|c| c["on"] == on).collect();
    let failed = own.iter().filter(|check| check["ok"] == false).map(|c| c["family"].as_str().unwrap().to_owned());
    (own.len(), failed.collect())
}

/// Every family is tried.
const FAMILIES: [&str; 11] =
    ["laplacian", "eigh", "svd", "fft", "matmul", "stats", "cov", "random", "divergence", "spmm", "eigsh"];

#[test]
fn no_adapter_at_all_is_nothing_wrong() {
    for drivers in ["/dev/null", "/no/such/icd.json"] {
        let (code, report) = asked(&[], &[("VK_DRIVER_FILES", drivers)]);
        assert_eq!((code, report["ok"].as_bool()), (Some(0), Some(true)), "{report:#}");
        assert!(report["adapters"].as_array().unwrap().is_empty() && report["chosen"].is_null());
        assert!(lines(&report["notes"]).contains(&format!("VK_DRIVER_FILES={drivers}")), "{report:#}");
        assert!(lines(&report["advice"]).contains("install a Vulkan loader"), "{report:#}");
        assert!(lines(&report["advice"]).contains("unset VK_DRIVER_FILES"), "{report:#}");
        let (count, failed) = checks(&report, "cpu");
        assert!(count > FAMILIES.len() && failed.is_empty(), "{report:#}");
        for family in FAMILIES {
            assert!(report["checks"].as_array().unwrap().iter().any(|check| check["family"] == family), "{family}");
        }
    }
    // Who insists on what is not here is told so, and by name.
    let (code, report) = asked(&["--adapter", "llvmpipe"], &[("VK_DRIVER_FILES", "/dev/null")]);
    assert_eq!(code, Some(1));
    assert!(lines(&report["problems"]).contains("llvmpipe"), "{report:#}");
}

#[test]
fn a_software_adapter_alone_is_nothing_wrong() {
    let Some(drivers) = first(&LAVAPIPE) else { return eprintln!("not run: lavapipe is not here") };
    let (code, report) = asked(&[], &[("VK_DRIVER_FILES", drivers)]);
    assert!(code == Some(0) && report["chosen"].is_null(), "{report:#}");
    assert!(lines(&report["advice"]).contains("only software adapters"), "{report:#}");
    // By name it is tried, and well.
    let (code, report) = asked(&["--adapter", "llvmpipe"], &[("VK_DRIVER_FILES", drivers)]);
    let chosen = report["chosen"].as_str().expect("llvmpipe").to_owned();
    let (count, failed) = checks(&report, &chosen);
    assert!(code == Some(0) && failed.is_empty() && count == checks(&report, "cpu").0, "{report:#}");
    assert!(lines(&report["notes"]).contains("a program on the CPU"), "{report:#}");
    assert!(report["device_memory"]["peak"].as_u64().is_some_and(|bytes| bytes > 0), "{report:#}");
}

#[test]
fn two_adapters_are_told_apart() {
    let (Some(one), Some(other)) = (first(&LAVAPIPE), first(&SWIFTSHADER)) else {
        return eprintln!("not run: lavapipe or SwiftShader is not here");
    };
    let both = format!("{one}:{other}");
    for name in ["llvmpipe", "SwiftShader"] {
        let (code, report) = asked(&["--adapter", name], &[("VK_DRIVER_FILES", &both)]);
        assert_eq!(report["adapters"].as_array().unwrap().len(), 2, "{report:#}");
        assert!(report["chosen"].as_str().is_some_and(|chosen| chosen.contains(name)), "{report:#}");
        assert_eq!(code, Some(0), "{report:#}");
    }
}

#[test]
fn an_adapter_that_cannot_be_opened_is_wrong() {
    let Some(adapter) = Adapter::all().into_iter().next() else { return eprintln!("not run: no adapter") };
    let (code, report) = asked(&["--adapter", &adapter.name], &[("FIEDLER_TEST_FAULT", "open")]);
    assert!(code == Some(1) && report["chosen"].is_null(), "{report:#}");
    let problems = lines(&report["problems"]);
    assert!(problems.contains(&adapter.name) && problems.contains("cannot be opened"), "{problems}");
    // The CPU is tried all the same.
    let (count, failed) = checks(&report, "cpu");
    assert!(count > 0 && failed.is_empty(), "{report:#}");
    let error = Context::builder().adapter(adapter.name).fail_to_open(true).build().map(drop).expect_err("refused");
    assert!(error.is_device(), "{error}");
}

/// Kernels that, made wrong, show in these families; those of them that the adapter uses are tried.
const SPOILT: [(&str, &str); 13] = [
    ("Assemble", "laplacian"),
    ("Tiny6", "eigh"),
    ("Normalize", "eigh"),
    ("Panel", "svd"),
    ("Transform", "fft"),
    ("TwoTransforms", "fft"),
    ("Tiny", "matmul"),
    ("Leaf", "stats"),
    ("Covariance", "cov"),
    ("Fill", "random"),
    ("Matrix", "divergence"),
    ("Step", "spmm"),
    ("Reduce", "eigsh"),
];

#[test]
fn a_kernel_that_is_wrong_is_found_and_its_family_named() {
    let Some(adapter) = Adapter::all().into_iter().next() else { return eprintln!("not run: no adapter") };
    let builder = || Context::builder().adapter(adapter.name.clone()).backend(Backend::Gpu);
    let well = builder().profile(true).build().expect("a context");
    let wrong: Vec<_> = self_test(&well).into_iter().filter(|check| !check.ok()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let used: BTreeSet<String> =
        well.profile().unwrap().expect("a profile").kernels.into_iter().map(|kernel| kernel.kernel).collect();
    // The families in which something is wrong once this kernel is.
    let families = |kernel: &str| -> BTreeSet<&str> {
        let checks = self_test(&builder().spoil_kernel(kernel).build().expect("a context"));
        let failed: Vec<_> = checks.iter().filter(|check| !check.ok()).collect();
        assert!(failed.iter().all(|check| check.on == adapter.name), "{kernel}: the CPU has no kernels: {failed:#?}");
        failed.iter().map(|check| check.family).collect()
    };
    assert!(families("no kernel has this name").is_empty());
    let tried: Vec<_> = SPOILT.iter().filter(|(kernel, _)| used.contains(*kernel)).collect();
    for (kernel, family) in &tried {
        let found = families(kernel);
        assert!(found.contains(family), "{kernel} is wrong, and {family} is not among {found:?}");
    }
    for family in FAMILIES {
        assert!(tried.iter().any(|(_, own)| *own == family), "no kernel of {family} was tried, of {used:?}");
    }
    // All of them, by hand. Those that count and sort have no numbers to spoil, and an iteration mends some of what is wrong.
    if std::env::var_os("FIEDLER_LARGE").is_some() {
        used.iter().for_each(|kernel| eprintln!("{kernel}: {:?}", families(kernel)));
    }
}

#[test]
fn the_command_names_the_kernel_that_is_wrong_and_fails() {
    let Some(adapter) = Adapter::all().into_iter().next() else { return eprintln!("not run: no adapter") };
    if !cfg!(debug_assertions) {
        return eprintln!("not run: this build makes no faults on purpose");
    }
    let (code, report) = asked(&["--adapter", &adapter.name], &[("FIEDLER_TEST_FAULT", "kernel=Assemble")]);
    let problems = lines(&report["problems"]);
    assert!(code == Some(1) && problems.contains("laplacian on"), "{code:?} {problems}");
    assert!(lines(&report["advice"]).contains("update its driver"), "{report:#}");
}

#[test]
fn speed_is_measured_beside_its_class() {
    let output = run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let speed = report["speed"].as_array().unwrap();
    assert!(speed.len() == 1 && speed[0]["on"] == "cpu" && speed[0]["class_gives"]["class"] == "cpu", "{report:#}");
    assert!(speed[0]["copy_bytes_per_s"].as_f64().is_some_and(|found| found > 0.0), "{report:#}");
    // A timing is no reason to fail here: that it follows from what was said is enough.
    assert_eq!(output.status.code() == Some(0), report["ok"] == true);
    let output = run(&["doctor", "--quick"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for words in ["chosen: the CPU alone", "self-test", "nothing is wrong", "stored results", "memory budget"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
}
