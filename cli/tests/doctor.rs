//! `fiedler doctor` on machines that lack something or have a fault. Each problem has to be reported plainly, with
//! the right exit status.
//!
//! `FIEDLER_TEST_FAULT` names a deliberate fault: `open` (the device cannot be opened) or `kernel=NAME` (the named
//! kernel computes wrong results).

#[path = "command/call.rs"]
mod call;

use call::{fiedler, run};
use fiedler::ops::variants::KernelVariant;
use fiedler::policy::{CpuRates, GpuRates, Machine, Tuning};
use fiedler::{Adapter, Backend, Context};
use fiedler_cli::doctor::self_test;
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use tempfile::TempDir;

fn main() -> std::process::ExitCode {
    let linux = if cfg!(target_os = "linux") { None } else { Some("a loader whose drivers VK_DRIVER_FILES hides") };
    let faults = if cfg!(debug_assertions) { None } else { Some("a build that makes faults on purpose") };
    let missing = |there: bool, what: &'static str| if there { None } else { Some(what) };
    let any = missing(adapter().is_some(), "an adapter");
    let lavapipe = missing(first(&LAVAPIPE).is_some(), "lavapipe");
    let both = lavapipe.or(missing(first(&SWIFTSHADER).is_some(), "SwiftShader"));
    let trials = vec![
        trial("a missing adapter is not a problem", linux, no_adapter_at_all_is_nothing_wrong),
        trial(
            "a software adapter alone is not a problem",
            linux.or(lavapipe),
            a_software_adapter_alone_is_nothing_wrong,
        ),
        trial("two adapters are distinguished", linux.or(both), two_adapters_are_told_apart),
        trial(
            "an adapter that cannot be opened is a problem",
            any.or(faults),
            an_adapter_that_cannot_be_opened_is_wrong,
        ),
        trial("a wrong kernel is found", any, a_kernel_that_is_wrong_is_found_and_its_family_named),
        trial(
            "the command names the family and fails",
            any.or(faults),
            the_command_names_the_family_that_is_wrong_and_fails,
        ),
        trial("kernels are compiled", any, kernels_are_compiled_and_named_around_each),
        trial("no adapter to compile on, or no kernel of that name", None, nothing_to_compile),
        trial("the state of tuning", None, the_state_of_tuning_is_told),
        trial("the state of an adapter's tuning", any, the_state_of_an_adapters_tuning_is_told),
        trial(
            "a lack of memory is not reported as a wrong result",
            None,
            what_has_no_memory_is_not_called_a_wrong_result,
        ),
        trial("speed compared with its class", None, speed_is_measured_beside_its_class),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Makes a trial. If `missing` names something that the trial needs, the trial is ignored, or it fails if adapters
/// are required.
fn trial(name: &str, missing: Option<&'static str>, test: fn()) -> Trial {
    let required = std::env::var("FIEDLER_REQUIRE_ADAPTERS").is_ok_and(|names| !names.is_empty());
    let run = move || match missing {
        Some(what) => Err(format!("{what} is not here").into()),
        None => {
            test();
            Ok(())
        }
    };
    Trial::test(name, run).with_ignored_flag(missing.is_some() && !required)
}

/// The paths at which distributions install the manifest of the software driver.
const LAVAPIPE: [&str; 2] = ["/usr/share/vulkan/icd.d/lvp_icd.x86_64.json", "/usr/share/vulkan/icd.d/lvp_icd.json"];
const SWIFTSHADER: [&str; 3] = [
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib64/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
];

fn first(paths: &[&'static str]) -> Option<&'static str> {
    paths.iter().copied().find(|path| Path::new(path).is_file())
}

/// Returns the adapter that is tested, which is the best one. SwiftShader is used only if there is no other,
/// because its compiler takes twenty seconds for these tests.
fn adapter() -> Option<Adapter> {
    Adapter::all().into_iter().min_by_key(|adapter| adapter.name.contains("SwiftShader"))
}

/// Runs the doctor without measuring speed. Returns its exit status and its report as JSON.
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

/// Returns the problems in a report, each with its remedy.
fn problems(report: &Value) -> String {
    let problem = |problem: &Value| {
        let part = |key: &str| problem[key].as_str().filter(|text| !text.is_empty()).expect("a text").to_owned();
        format!("{} -> {}", part("what"), part("what_to_do"))
    };
    report["problems"].as_array().expect("problems").iter().map(problem).collect::<Vec<_>>().join("\n")
}

/// Returns the number of checks on a side, and the families that failed.
fn checks(report: &Value, on: &str) -> (usize, Vec<String>) {
    let own: Vec<&Value> = report["checks"].as_array().expect("checks").iter().filter(|c| c["on"] == on).collect();
    let failed = own.iter().filter(|check| check["ok"] == false).map(|c| c["family"].as_str().unwrap().to_owned());
    (own.len(), failed.collect())
}

/// All families of operations. The doctor tests each of them.
const FAMILIES: [&str; 11] =
    ["laplacian", "eigh", "svd", "fft", "matmul", "stats", "cov", "random", "divergence", "spmm", "eigsh"];

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
        assert!(report["without_adapter"].as_str().is_some_and(|why| !why.contains("fiedler doctor")), "{report:#}");
        for family in FAMILIES {
            assert!(report["checks"].as_array().unwrap().iter().any(|check| check["family"] == family), "{family}");
        }
    }
    // If a required adapter is missing, the report says so and names it.
    let (code, report) = asked(&["--adapter", "llvmpipe"], &[("VK_DRIVER_FILES", "/dev/null")]);
    assert_eq!(code, Some(1));
    let said = problems(&report);
    assert!(said.contains("llvmpipe") && said.contains("leave --adapter"), "{said}");
    assert!(report["without_adapter"].as_str().is_some_and(|why| why.contains("llvmpipe")), "{report:#}");
    let (code, report) = asked(&["--backend", "gpu"], &[("VK_DRIVER_FILES", "/dev/null")]);
    assert!(code == Some(1) && problems(&report).contains("leave --backend gpu"), "{report:#}");
}

fn a_software_adapter_alone_is_nothing_wrong() {
    let drivers = first(&LAVAPIPE).expect("lavapipe");
    let (code, report) = asked(&[], &[("VK_DRIVER_FILES", drivers)]);
    assert!(code == Some(0) && report["chosen"].is_null(), "{report:#}");
    assert!(lines(&report["advice"]).contains("only software adapters"), "{report:#}");
    // A software adapter is tested if it is named, and it passes.
    let (code, report) = asked(&["--adapter", "llvmpipe"], &[("VK_DRIVER_FILES", drivers)]);
    let chosen = report["chosen"].as_str().expect("llvmpipe").to_owned();
    let (count, failed) = checks(&report, &chosen);
    assert!(code == Some(0) && failed.is_empty() && count == checks(&report, "cpu").0, "{report:#}");
    assert!(lines(&report["notes"]).contains("a program on the CPU"), "{report:#}");
    assert!(report["device_memory"]["peak"].as_u64().is_some_and(|bytes| bytes > 0), "{report:#}");
}

fn two_adapters_are_told_apart() {
    let both = [first(&LAVAPIPE), first(&SWIFTSHADER)].map(|drivers| drivers.expect("both")).join(":");
    for name in ["llvmpipe", "SwiftShader"] {
        let (code, report) = asked(&["--adapter", name], &[("VK_DRIVER_FILES", &both)]);
        assert_eq!(report["adapters"].as_array().unwrap().len(), 2, "{report:#}");
        assert!(report["chosen"].as_str().is_some_and(|chosen| chosen.contains(name)), "{report:#}");
        assert_eq!(code, Some(0), "{report:#}");
    }
}

fn an_adapter_that_cannot_be_opened_is_wrong() {
    let adapter = adapter().expect("an adapter");
    let error = Context::builder().adapter(&adapter.name).fail_to_open(true).build().map(drop).expect_err("refused");
    assert!(error.is_device(), "{error}");
    let (code, report) = asked(&["--adapter", &adapter.name], &[("FIEDLER_TEST_FAULT", "open")]);
    assert!(code == Some(1) && report["chosen"].is_null(), "{report:#}");
    let said = problems(&report);
    assert!(said.contains(&adapter.name) && said.contains("cannot be opened") && said.contains("driver"), "{said}");
    assert!(report["without_adapter"].as_str().is_some_and(|why| why.contains("cannot be opened")), "{report:#}");
    // The report calls the fault deliberate.
    assert!(lines(&report["notes"]).contains("on purpose"), "{report:#}");
    // The CPU is tested even if the device has a fault.
    let (count, failed) = checks(&report, "cpu");
    assert!(count > 0 && failed.is_empty(), "{report:#}");
    // A hardware adapter that cannot be opened is a problem even if it is not named. A software adapter that
    // cannot be opened is a problem only if it is named.
    let (code, _) = asked(&[], &[("FIEDLER_TEST_FAULT", "open")]);
    assert_eq!(code, Some(i32::from(!adapter.software)));
    let output = fiedler(&["doctor", "--quick"]).env("FIEDLER_TEST_FAULT", "opne").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "a fault of no known name");
}

/// Names of kernels, each with a family whose check fails if the kernel is wrong. Only the kernels that the
/// adapter uses are tested.
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

fn a_kernel_that_is_wrong_is_found_and_its_family_named() {
    let adapter = adapter().expect("an adapter");
    let builder = || Context::builder().adapter(adapter.name.clone()).backend(Backend::Gpu);
    let well = builder().profile(true).build().expect("a context");
    let wrong: Vec<_> = self_test(&well).into_iter().filter(|check| !check.ok()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let used: BTreeSet<String> =
        well.profile().unwrap().expect("a profile").kernels.into_iter().map(|kernel| kernel.kernel).collect();
    // Returns the families that fail if this kernel is wrong.
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
    // For manual runs: tries all kernels. Some faults are not noticed, because kernels that count and sort have no
    // numbers to change, and because an iteration corrects some errors.
    if std::env::var_os("FIEDLER_LARGE").is_some() {
        used.iter().for_each(|kernel| eprintln!("{kernel}: {:?}", families(kernel)));
    }
}

fn the_command_names_the_family_that_is_wrong_and_fails() {
    let adapter = adapter().expect("an adapter");
    let (code, report) = asked(&["--adapter", &adapter.name], &[("FIEDLER_TEST_FAULT", "kernel=Assemble")]);
    let said = problems(&report);
    assert!(
        code == Some(1) && said.contains("laplacian on") && said.contains("update the adapter's driver"),
        "{code:?} {said}"
    );
    let (_, failed) = checks(&report, &adapter.name);
    assert_eq!(failed, ["laplacian"]);
    // The report as text has the row of the problem, its meaning, the remedy, and the number of problems.
    let mut command = fiedler(&["doctor", "--quick", "--adapter", &adapter.name]);
    let output =
        command.env_remove("FIEDLER_BACKEND").env("FIEDLER_TEST_FAULT", "kernel=Assemble").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let row = text.lines().find(|line| line.starts_with("  laplacian")).expect("a row").to_owned();
    assert!(row.contains("WRONG"), "{row}");
    for words in ["WRONG: laplacian on", "what to do: use --backend cpu", "on purpose"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("doctor: one thing is wrong") && !text.contains("nothing is wrong"), "{said}");
    narrow(&text);
}

fn kernels_are_compiled_and_named_around_each() {
    let adapter = adapter().expect("an adapter");
    let folder = TempDir::new().expect("a temporary folder");
    let statistics = folder.path().join("isa.txt");
    let mut command = fiedler(&["doctor", "--compile", "eigsh", "--adapter", &adapter.name, "--json"]);
    let output = command.env_remove("FIEDLER_BACKEND").env("ISA_OUT", &statistics).output().expect("it starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert!(output.status.success() && report["ok"] == true && report["adapter"] == adapter.name, "{report}");
    let variants = KernelVariant::all().into_iter().filter(|variant| variant.family() == "eigsh");
    let given: Vec<String> = variants.filter(|v| v.is_for(&adapter)).map(|v| v.to_string()).collect();
    assert!(given.len() > 10 && report["families"][0]["compiled"] == given.len(), "{report}");
    // The file names each kernel and its budget before it is compiled, and the outcome after it.
    let text = std::fs::read_to_string(statistics).expect("the lines");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3 * given.len(), "{text}");
    for (three, name) in lines.chunks(3).zip(&given) {
        assert_eq!(three[0], format!("KERNEL {name}"));
        assert!(three[1].starts_with("BUDGET registers=") && three[2].starts_with("END OK "), "{three:?}");
    }
    let folder = folder.path().to_str().expect("a plain path");
    let mut command = fiedler(&["doctor", "--compile", "roofline", "--adapter", &adapter.name]);
    let output = command.env_remove("FIEDLER_BACKEND").env("ISA_OUT", folder).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains(&format!("ISA_OUT: cannot write {folder}")), "{said}");
}

fn nothing_to_compile() {
    for (arguments, code, words) in [
        (&["doctor", "--compile", "--backend", "cpu"][..], 1, "there is no adapter to compile on"),
        (&["doctor", "--compile", "nonsense"], 2, "--compile nonsense: no kernel variant has this in its name"),
        (&["doctor", "--compile", "--quick"], 2, "cannot be used with"),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && said.contains(words), "{arguments:?}: {said}");
    }
}

/// Checks that every line fits 80 columns, except for a longer path.
fn narrow(text: &str) {
    for line in text.lines() {
        let words = line.split_whitespace().map(|word| word.chars().count()).max().unwrap_or_default();
        assert!(line.chars().count() <= 80 || words > 60, "{line}");
    }
}

/// Returns what the doctor reports about the tuning of each side, in a cache folder.
fn tuning(folder: &TempDir, arguments: &[&str]) -> (Vec<Value>, String) {
    let (code, report) = asked(arguments, &[("FIEDLER_CACHE_DIR", folder.path().to_str().unwrap())]);
    assert_eq!(code, Some(0), "{report:#}");
    (report["tuning"].as_array().expect("a list").clone(), lines(&report["advice"]))
}

fn the_state_of_tuning_is_told() {
    let folder = TempDir::new().unwrap();
    let cpu = Context::cpu();
    let kept = folder.path().join("tuning");
    let (all, advice) = tuning(&folder, &["--backend", "cpu"]);
    assert!(all.len() == 1 && all[0]["of"] == "cpu" && all[0]["state"] == "none", "{all:?}");
    assert!(advice.contains("run `fiedler tune`"), "{advice}");
    let file = Tuning::Cpu(rates(&cpu).0).save(&kept, &Machine::cpu(cpu.threads()), "2026-11-20").unwrap();
    let (all, advice) = tuning(&folder, &["--backend", "cpu"]);
    assert!(all[0]["state"] == "measured" && all[0]["date"] == "2026-11-20", "{all:?}");
    assert!(!advice.contains("fiedler tune"), "{advice}");
    let mut command = fiedler(&["doctor", "--quick"]);
    let output = command.env("FIEDLER_CACHE_DIR", folder.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("cpu: measured 2026-11-20"));
    // A damaged tuning file, and the tuning file of another machine.
    let whole = std::fs::read_to_string(&file).unwrap();
    for (text, why) in
        [(&whole[..whole.len() / 2], "no JSON"), (&whole.replace("\"cpu\"", "\"gpu\""), "measured on gpu")]
    {
        std::fs::write(&file, text).unwrap();
        let (all, advice) = tuning(&folder, &["--backend", "cpu"]);
        assert!(all[0]["state"] == "ignored" && all[0]["why"].as_str().unwrap().contains(why), "{all:?}");
        assert!(advice.contains("run `fiedler tune`"), "{advice}");
    }
}

/// Returns rates that a tuning file may hold. The default rates lack some of the numbers, but a tuning file has
/// all of them.
fn rates(cpu: &Context) -> (CpuRates, GpuRates) {
    let mut rates = (cpu.policy().rates.cpu.clone(), cpu.policy().rates.gpu.clone());
    (rates.0.copy, rates.0.fma, rates.0.fresh) = (1e10, 1e11, 1e9);
    (rates.1.copy, rates.1.fma, rates.1.handover) = (1e11, 1e12, 1e-5);
    rates
}

/// The doctor reports the state of the tuning file of an adapter, which is separate from that of the CPU.
fn the_state_of_an_adapters_tuning_is_told() {
    let adapter = adapter().expect("an adapter");
    let folder = TempDir::new().unwrap();
    let cpu = Context::cpu();
    let kept = folder.path().join("tuning");
    let rates = rates(&cpu);
    Tuning::Cpu(rates.0).save(&kept, &Machine::cpu(cpu.threads()), "2026-11-20").unwrap();
    let named = ["--adapter", adapter.name.as_str()];
    let (all, advice) = tuning(&folder, &named);
    assert!(all.len() == 2 && all[0]["state"] == "measured" && all[1]["state"] == "none", "{all:?}");
    assert!(advice.contains(&format!("fiedler tune --adapter '{}'", adapter.name)), "{advice}");
    let machine = Machine::adapter(&adapter.name, &adapter.backend, &adapter.driver);
    Tuning::Gpu(rates.1).save(&kept, &machine, "2026-11-21").unwrap();
    let (all, advice) = tuning(&folder, &named);
    assert!(all[1]["date"] == "2026-11-21" && !advice.contains("fiedler tune"), "{all:?} {advice}");
    // The sizes from which the adapter is faster than the CPU are reported only for an adapter that `auto` may
    // choose.
    let turns = |as_gpu: &str| {
        let folder = folder.path().to_str().unwrap();
        asked(&named, &[("FIEDLER_CACHE_DIR", folder), ("FIEDLER_SOFTWARE_AS_GPU", as_gpu)]).1
    };
    assert_eq!(lines(&turns("0")["advice"]).contains("eigh, n = 32"), !adapter.software);
    let report = turns("1");
    assert!(lines(&report["advice"]).contains("eigh, n = 32: "), "{report:#}");
    assert_eq!(report["turns_at"].as_array().map(Vec::len), Some(3));
}

fn what_has_no_memory_is_not_called_a_wrong_result() {
    let (code, report) = asked(&["--backend", "cpu"], &[("FIEDLER_MEMORY_BUDGET", "64K")]);
    let said = problems(&report);
    assert!(code == Some(1) && said.contains("could not be tested") && !said.contains("is wrong"), "{said}");
    assert!(said.lines().all(|line| line.contains("-> raise FIEDLER_MEMORY_BUDGET")), "{said}");
    let (code, _) = asked(&["--backend", "cpu"], &[("FIEDLER_MEMORY_BUDGET", "64M")]);
    assert_eq!(code, Some(0), "what is promised to be enough is");
}

fn speed_is_measured_beside_its_class() {
    let output = run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let speed = report["speed"].as_array().unwrap();
    assert!(speed.len() == 1 && speed[0]["on"] == "cpu" && speed[0]["class_gives"]["class"] == "cpu", "{report:#}");
    assert!(speed[0]["copy_bytes_per_s"].as_f64().is_some_and(|found| found > 0.0), "{report:#}");
    // A slow machine must not make this test fail, so it only checks that the exit status agrees with the report.
    assert_eq!(output.status.code() == Some(0), report["ok"] == true);
    let output = run(&["doctor", "--quick"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for words in ["chosen: the CPU alone", "self-test", "nothing is wrong", "stored results", "memory budget"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    narrow(&text);
}
