//! Report cards: they end in time, keep what was finished, and name what failed.

use crate::call::{Files, fiedler};
use fiedler_cli::bench::drawn;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Runs the command with faults. Returns the exit status, standard output and standard error.
fn run(arguments: &[&str], faults: &str) -> (Option<i32>, String, String) {
    let output = fiedler(&["bench"]).args(arguments).env("FIEDLER_CARD_FAULT", faults).output().expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn card(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("a card")).expect("JSON")
}

fn step<'a>(card: &'a Value, name: &str) -> &'a Value {
    let steps = card["steps"].as_array().expect("a list");
    steps.iter().find(|step| step["step"] == name).expect("a step")
}

/// A hanging item, a crash and the loss of a device cost one item each. The steps after them go on, and the whole ends
/// in time.
#[test]
fn faults_are_named_and_the_rest_is_done() {
    let files = Files::new();
    let (path, page) = (files.at("card.json"), files.at("card.html"));
    let names: Vec<String> =
        drawn(5, 2e7).unwrap().iter().map(|case| format!("{case} of seed {}", case.seed)).collect();
    let faults = format!("abort:{};lost:{};hang:{}", names[1], names[3], names[5]);
    let begun = Instant::now();
    let (code, _, err) = run(&["--card", &path, "--html", &page, "--minutes", "0.6", "--seed", "5"], &faults);
    // The time is up after 36 seconds; a busy machine may need much more to start and to end.
    assert!(begun.elapsed() < Duration::from_secs(90), "{:?}", begun.elapsed());
    let made = card(&path);
    assert!(code == Some(1) && made["complete"] == true && made["card"] == 1, "{err}");
    assert_eq!(made["faults_on_purpose"].as_array().map(Vec::len), Some(3));
    let failed = step(&made, "accuracy")["failed"].as_array().unwrap();
    for (item, why) in [(1, "its process ended"), (3, "asks for it"), (5, "no answer for")] {
        let found = failed.iter().find(|one| one["item"] == names[item].as_str()).unwrap_or_else(|| panic!("{err}"));
        assert!(found["why"].as_str().unwrap().contains(why), "{found}");
        assert!(err.contains(&names[item]), "{err}");
    }
    // The items before, between and after them have rows.
    let rows: Vec<&str> =
        made["accuracy"].as_array().unwrap().iter().map(|r| r["workload"].as_str().unwrap()).collect();
    for item in [0, 2, 4, 6] {
        assert!(rows.iter().any(|row| names[item].starts_with(row)), "{}: {rows:?}", names[item]);
    }
    assert!(made["worst_errors"][0]["error_share"].as_f64().is_some_and(|share| share <= 1.0), "{made}");
    // Without an adapter, the CPU is measured alone.
    assert_eq!((&step(&made, "facts")["status"], &step(&made, "rows")["status"]), (&"done".into(), &"skipped".into()));
    assert!(made["machine"]["threads"].as_u64().is_some_and(|threads| threads > 0) && made["adapter"].is_null());
    let statuses = made["steps"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap());
    assert!(statuses.clone().all(|status| ["done", "cut", "failed", "skipped"].contains(&status)), "{err}");
    let shown = std::fs::read_to_string(&page).unwrap();
    // A picture needs a row that was measured in time, which a busy machine may not have.
    let measured = !made["rows"].as_array().unwrap().is_empty();
    assert!(shown.contains("no answer for") && (!measured || shown.contains("<svg")), "{shown}");
}

/// What was written before the disk was full stays, and all of it is printed.
#[test]
fn a_full_disk_costs_no_measurement() {
    let files = Files::new();
    let path = files.at("card.json");
    let (code, out, err) = run(&["--card", &path, "--minutes", "0.6"], "disk:accuracy");
    assert!(code == Some(1) && err.contains("cannot write") && err.contains("card.json"), "{err}");
    let (kept, printed) = (card(&path), serde_json::from_str::<Value>(&out).expect("a card"));
    assert!(kept["complete"] == false && step(&kept, "facts")["status"] == "done", "{kept}");
    assert_eq!(step(&kept, "accuracy")["status"], "waiting");
    assert_eq!((&printed["complete"], &printed["machine"]), (&true.into(), &kept["machine"]));
}

#[test]
fn wrong_calls_are_refused_before_anything_is_measured() {
    let files = Files::new();
    let (path, there) = (files.at("card.json"), files.text("there.json", "{}"));
    for (arguments, faults, code, word) in [
        (&["--card", &path, "--minutes", "0"][..], "", 2, "0.05 to 1440"),
        (&["--card", &path, "--seed", "-1"], "", 2, "--seed"),
        (&["--card", &path, "eigh/n=3"], "", 2, "cannot be used with"),
        (&["--card", &path, "--quick"], "", 2, "cannot be used with"),
        (&["--minutes", "3"], "", 2, "--card"),
        (&["--card", "card.txt"], "", 2, ".json"),
        (&["--card", &there], "", 2, "--overwrite"),
        (&["--card", "nowhere/card.json"], "", 2, "existing folder"),
        (&["--card", &path, "--html", &there], "", 2, ".html"),
        (&["--card", &path], "hang", 2, "FIEDLER_CARD_FAULT: expected"),
        #[cfg(target_os = "linux")]
        (&["--card", "/proc/card.json"], "", 1, "/proc/card.json"),
    ] {
        let begun = Instant::now();
        let (found, _, err) = run(arguments, faults);
        assert!(found == Some(code) && err.contains(word), "{arguments:?}: {err}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{arguments:?} measured something");
    }
    assert!(!std::path::Path::new(&path).exists());
}
