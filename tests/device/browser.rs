//! Every shipped variant in the compiler of a browser: Chromium's tint, which refuses shaders that naga accepts, for
//! example because a barrier is in control flow that may not be uniform. Variants with matrix units are left out.
//!
//! The test is ignored on machines without Chromium. It fails there if `FIEDLER_REQUIRE_ADAPTERS` names SwiftShader,
//! which is a part of Chromium. `FIEDLER_CHROMIUM` names a Chromium that is not on the search path.

use common::{Test, chromium, device_free, suite};
use fiedler::ops::variants::KernelVariant;
use rayon::prelude::*;
use serde_json::Value;
use std::time::Duration;

/// A module that naga accepts and tint refuses. It is the first and the last text, so that a browser that finds no
/// errors, or none after some time, fails the test.
const REFUSED: &str = "@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        workgroupBarrier();
    }
}
";

/// The time for all variants, which take about a tenth of it on two cores.
const LIMIT: Duration = Duration::from_secs(500);

/// The directive of the kernels that are left out, because no browser has matrix units.
const MATRIX_UNITS: &str = "enable wgpu_cooperative_matrix;";

/// The number of refused variants that a failure describes.
const SHOWN: usize = 20;

pub fn tests() -> Vec<Test> {
    let test = device_free("tint accepts every variant", accepted);
    suite("browser", vec![test.ignored_because("no Chromium", chromium::missing())])
}

/// What tint says about a text, where in the text it is, and whether it refuses the text.
struct Message {
    line: usize,
    text: String,
    error: bool,
}

fn accepted() -> Result<(), String> {
    chromium::find()?;
    let variants: Vec<(String, String)> = KernelVariant::all()
        .par_iter()
        .map(|variant| Ok((variant.to_string(), variant.browser_wgsl().map_err(|e| e.to_string())?)))
        .collect::<Result<_, String>>()?;
    let (variants, left_out): (Vec<_>, Vec<_>) =
        variants.into_iter().partition(|(_, text)| !text.contains(MATRIX_UNITS));
    println!("{} variants; {} with matrix units are left out", variants.len(), left_out.len());
    let texts = || variants.iter().map(|(_, text)| text.as_str());
    let mut said = messages(&[REFUSED].into_iter().chain(texts()).chain([REFUSED]).collect::<Vec<_>>())?;
    let refused = |said: &[Message]| said.iter().any(|message| message.error);
    for end in [said.pop(), Some(said.remove(0))].into_iter().flatten() {
        if !refused(&end) {
            return Err(format!("tint did not refuse what it has to refuse:\n{REFUSED}"));
        }
    }
    let all = variants.iter().zip(&said).filter(|(_, said)| refused(said));
    let all: Vec<String> = all.map(|((name, text), said)| described(name, text, said)).collect();
    let shown = &all[..all.len().min(SHOWN)];
    match all.len() {
        0 => Ok(()),
        count => Err(format!("tint refuses {count} of {} variants:\n\n{}", variants.len(), shown.join("\n\n"))),
    }
}

/// Returns what tint says about each of the texts.
fn messages(texts: &[&str]) -> Result<Vec<Vec<Message>>, String> {
    let data = serde_json::to_string(texts).map_err(|e| e.to_string())?;
    let report = chromium::report(include_str!("browser.html"), data, LIMIT)?;
    let report: Value = serde_json::from_str(&report).map_err(|e| format!("{e}: {report}"))?;
    if let Some(error) = report["error"].as_str() {
        return Err(error.to_owned());
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let message = |value: &Value| Message {
        line: value["lineNum"].as_u64().unwrap_or(0) as usize,
        text: format!("{}: {}", value["type"].as_str().unwrap_or("?"), value["message"].as_str().unwrap_or("?")),
        error: value["type"] == "error",
    };
    let all: Vec<Vec<Message>> =
        list(&report["messages"]).iter().map(|value| list(value).iter().map(message).collect()).collect();
    if all.len() == texts.len() {
        Ok(all)
    } else {
        Err(format!("the page reports on {} texts of {}", all.len(), texts.len()))
    }
}

/// Describes a refused variant by its name and by tint's messages, each with its line.
fn described(name: &str, text: &str, said: &[Message]) -> String {
    let mut out = name.to_owned();
    for Message { line, text: words, .. } in said {
        let source = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
        out += &format!("\n  {words}\n    line {line}: {source}");
    }
    out
}
