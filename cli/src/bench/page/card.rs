//! The page of a report card, which is made from the card alone: what became of its steps, its errors and its kernels,
//! above the plots of all measurements.

use super::{Ceiling, Report, Row, page};
use crate::bench::{Case, Larger};
use crate::page::numbers::{count, ratio, seconds, three};
use crate::page::{escape, section, table};
use serde_json::Value;

/// The number of kernels that are listed.
const LISTED: usize = 20;

/// Returns the whole HTML file of a report card, in the form that `docs/hardware/README.md` describes. What is missing
/// in the card is missing on the page.
#[must_use]
pub fn card(card: &Value) -> String {
    let speeds = list(&card["speed"]);
    let ceilings = speeds.iter().map(|speed| Ceiling {
        side: side(text(&speed["on"])),
        copy: number(&speed["copy_bytes_per_s"]),
        fma: number(&speed["fma_flop_per_s"]),
    });
    let (adapter, machine) = (&card["adapter"], &card["machine"]);
    let threads = machine["threads"].as_u64().map(|count| format!("{count} threads"));
    let [name, system] = ["cpu", "system"].map(|key| Some(text(&machine[key])).filter(|text| !text.is_empty()));
    let cpu = [name.map(str::to_owned), threads, system.map(str::to_owned)].into_iter().flatten();
    let cpu = cpu.collect::<Vec<String>>().join(", ");
    let gpu = ["name", "backend", "driver"].map(|key| text(&adapter[key]));
    let machine = if adapter.is_object() { format!("{cpu}; {} ({} {})", gpu[0], gpu[1], gpu[2]) } else { cpu };
    let options: String = ["minutes", "seed"]
        .iter()
        .filter_map(|name| card[*name].as_f64().map(|value| format!(" --{name} {value}")))
        .collect();
    page(&Report {
        date: text(&card["date"]).to_owned(),
        version: text(&card["fiedler"]).to_owned(),
        machine,
        command: format!("fiedler bench --card card.json{options}"),
        ceilings: ceilings.collect(),
        rows: list(&card["rows"]).iter().map(row).collect(),
        above: [steps(card), errors(card), compiled(card), timed(card)].concat(),
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The CPU has one name on the page.
fn side(name: &str) -> String {
    if name == "cpu" { "CPU".to_owned() } else { name.to_owned() }
}

fn row(row: &Value) -> Row {
    let name = text(&row["workload"]);
    let case = Case::parse(name).ok().filter(|_| Larger::parse(name).is_none());
    let side = side(text(&row["device"]));
    let ms = |key: &str| row[key].as_f64().map(|ms| ms / 1e3);
    // A row of a whole data set has neither a size nor a number of operations that a plot could show.
    Row {
        workload: name.to_owned(),
        family: name.split('/').next().unwrap_or_default().to_owned(),
        size: case.map_or(f64::NAN, |case| case.size as f64),
        items: case.map_or(f64::NAN, |case| case.items as f64),
        on_cpu: side == "CPU",
        side,
        resident: ms("ms"),
        transfers: ms("transfers_ms"),
        first: ms("first_ms"),
        predicted: ms("predicted_ms"),
        spread: number(&row["spread"]),
        bytes: number(&row["bytes"]),
        flops: number(&row["flops"]),
        note: row["wanted"].as_str().map(|wanted| format!("scaled down from {wanted}")).unwrap_or_default(),
    }
}

/// Returns a row of a table, whose first column is a heading. Of the others, those in `words` are words.
fn cells(row: &[String], words: &[usize]) -> String {
    let cell = |(at, text): (usize, &String)| {
        let text = escape(text).replace('/', "/<wbr>");
        match at {
            0 => format!("<th scope=\"row\">{text}</th>"),
            at if words.contains(&at) => format!("<td class=\"text\">{text}</td>"),
            _ => format!("<td>{text}</td>"),
        }
    };
    format!("<tr>{}</tr>\n", row.iter().enumerate().map(cell).collect::<String>())
}

/// Returns a section with one table. The columns with `true` are words.
fn tabular(title: &str, about: &str, heads: &[(&str, bool)], rows: &[Vec<String>]) -> String {
    let words: Vec<usize> = (0..heads.len()).filter(|&at| heads[at].1).collect();
    let body: String = rows.iter().map(|row| cells(row, &words)).collect();
    let made = if rows.is_empty() { Vec::new() } else { vec![table(title, "fit", heads, &body)] };
    section(title, about, "grid wide", &made, "Nothing was measured.")
}

fn steps(card: &Value) -> String {
    let row = |step: &Value| {
        let failed = list(&step["failed"]).iter().map(|one| format!("{}: {}", text(&one["item"]), text(&one["why"])));
        let mut notes: Vec<String> = failed.collect();
        notes.extend(step["why"].as_str().filter(|why| !why.is_empty()).map(str::to_owned));
        let of = step["of"].as_u64().map(|of| format!(" of {of}")).unwrap_or_default();
        let time = |key: &str| format!("{:.1} s", number(&step[key]));
        vec![
            text(&step["step"]).to_owned(),
            text(&step["status"]).to_owned(),
            format!("{}{of}", step["items"]),
            time("seconds"),
            time("share"),
            notes.join("; "),
        ]
    };
    let rows: Vec<Vec<String>> = list(&card["steps"]).iter().map(row).collect();
    let heads = [("step", true), ("status", true), ("items", false), ("time", false), ("share", false), ("note", true)];
    let complete = card["complete"] == true;
    let about = if complete { "Each step had a share of the time." } else { "The card is not complete." };
    tabular("Steps", about, &heads, &rows)
}

fn errors(card: &Value) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for worst in list(&card["worst_errors"]) {
        let name = text(&worst["workload"]);
        let share = worst["error_share"].as_f64().map_or("infinite".to_owned(), three);
        let family = name.split('/').next().unwrap_or_default();
        rows.push(vec![family.to_owned(), share, name.to_owned(), worst["seed"].to_string()]);
    }
    let checks = list(&card["self_test"]);
    let passed = checks.iter().filter(|check| check["ok"] == true).count();
    let about = format!(
        "The largest error of each family, divided by its bound, over {} shapes that were drawn from the seed. Of {} \
         checks of the self-test, {passed} passed.",
        list(&card["accuracy"]).len(),
        checks.len()
    );
    let heads = [("family", true), ("error / bound", false), ("workload", true), ("seed", false)];
    tabular("Accuracy", &about, &heads, &rows)
}

fn compiled(card: &Value) -> String {
    let kernels = card["kernels"]["compile_ms"].as_object();
    let mut all: Vec<(&String, f64)> =
        kernels.into_iter().flatten().map(|(name, ms)| (name, number(ms) / 1e3)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let whole: f64 = all.iter().map(|(_, time)| time).sum();
    let about = format!("{} variants were compiled in {}; these took longest.", all.len(), seconds(whole));
    let row = |(name, time): &(&String, f64)| vec![(*name).clone(), seconds(*time)];
    let rows: Vec<Vec<String>> = all.iter().take(LISTED).map(row).collect();
    tabular("Compilation of kernels", &about, &[("variant", true), ("time", false)], &rows)
}

fn timed(card: &Value) -> String {
    let mut rows = Vec::new();
    for row in list(&card["rows"]) {
        let kernels = list(&row["kernels"]);
        let call = number(&row["ms"]);
        for kernel in kernels.iter().take(3) {
            rows.push(vec![
                text(&row["workload"]).to_owned(),
                text(&kernel["kernel"]).to_owned(),
                count(number(&kernel["calls"])),
                seconds(number(&kernel["ms"]) / 1e3),
                ratio(number(&kernel["ms"]) / call),
                text(&row["clock"]).to_owned(),
            ]);
        }
    }
    let heads = [
        ("workload", true),
        ("kernel", true),
        ("dispatches", false),
        ("time", false),
        ("of the call", false),
        ("clock", true),
    ];
    let about = "The kernels of a call that took longest, at most three.";
    tabular("Times of kernels", about, &heads, &rows)
}

#[cfg(test)]
mod tests {
    use super::card;
    use crate::page::tests::check;
    use serde_json::json;

    #[test]
    fn a_page_is_well_formed_whatever_the_card_has() {
        check(&card(&json!({})));
        let row = |device: &str, ms: f64| {
            json!({
                "workload": "eigh/f32/n=32/batch=10", "device": device, "ms": ms, "transfers_ms": 2.0 * ms,
                "predicted_ms": ms, "spread": 0.1, "bytes": 1e6, "flops": 1e8, "clock": "timestamps",
                "kernels": [{"kernel": "Lane<8>", "calls": 2, "ms": 0.5}],
            })
        };
        let set = json!({
            "workload": "encode/f32/molecules=1000/k=8", "device": "CPU", "ms": 3.0, "wanted": "encode/f32/molecules=100000/k=8",
        });
        let html = card(&json!({
            "complete": true, "date": "2026-01-02", "minutes": 1.5, "seed": 7,
            "adapter": {"name": "A <GPU>", "backend": "vulkan", "driver": "1"}, "machine": {"cpu": "C", "threads": 2},
            "speed": [{"on": "cpu", "copy_bytes_per_s": 1e10, "fma_flop_per_s": 1e11}],
            "steps": [{"step": "rows", "status": "cut", "items": 3, "of": 9, "seconds": 1, "share": 2, "why": "time",
                       "failed": [{"item": "fft", "why": "hung"}]}],
            "worst_errors": [{"workload": "svd/f32/n=3/batch=2", "seed": 8, "error_share": null}],
            "kernels": {"compile_ms": {"fft Power (N=8)": 12.5}}, "rows": [row("A <GPU>", 1.0), row("CPU", 4.0), set],
        }));
        check(&html);
        for words in [
            "fft: hung",
            "3 of 9",
            "infinite",
            "12.5 ms",
            "Lane&lt;8&gt;",
            "0.500×",
            "A &lt;GPU&gt;",
            "scaled down from",
        ] {
            assert!(html.contains(words), "no `{words}` in {html}");
        }
        assert!(!html.contains("not complete"));
    }
}
