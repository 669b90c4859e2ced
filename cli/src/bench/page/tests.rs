//! Tests of the page as a whole. The page must be well-formed HTML for every report.

use super::*;

/// Returns a row whose times with resident data and with transfers are both `seconds`.
pub(super) fn row(workload: &str, side: &str, on_cpu: bool, seconds: Option<f64>) -> Row {
    Row {
        workload: workload.into(),
        family: workload.split('/').next().unwrap_or_default().into(),
        size: 8.0,
        items: 1.0,
        side: side.into(),
        on_cpu,
        resident: seconds,
        transfers: seconds,
        first: seconds,
        predicted: seconds,
        spread: 0.1,
        bytes: 1e3,
        flops: 1e6,
        note: String::new(),
    }
}

/// Returns a report of these rows, with ceilings for two sides.
pub(super) fn report(rows: Vec<Row>) -> Report {
    let ceiling = |side: &str| Ceiling { side: side.into(), copy: 1e10, fma: 1e11 };
    Report {
        date: "2026-01-02".into(),
        version: "1".into(),
        machine: "a machine".into(),
        command: "fiedler bench".into(),
        ceilings: vec![ceiling("CPU"), ceiling("GPU")],
        rows,
    }
}

/// Fails unless the tags nest properly, all figures are finite numbers, and the page fetches nothing.
fn check(html: &str) {
    // The contents of the script and of the style are not markup.
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = ["<style>", "<script>"].iter().filter_map(|tag| rest.find(tag)).min() {
        let end = rest[at..].find("</s").expect("it is closed") + at;
        text.push_str(&rest[..at + rest[at..].find('>').expect("a tag ends") + 1]);
        rest = &rest[end..];
    }
    text.push_str(rest);
    for word in ["NaN", "nan\"", "inf\"", ">inf", "-inf", "http:", "https:", "url(", "src="] {
        let found =
            text.replace("script-src 'unsafe", "").find(word).map(|at| text[at.saturating_sub(80)..at + 8].to_owned());
        assert_eq!(found, None, "{word}");
    }
    let mut open = Vec::new();
    for piece in text.split('<').skip(1) {
        let tag = piece.split('>').next().expect("split gives one");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().expect("split gives one");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes: <{tag}>");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes what was not open");
        } else if !tag.ends_with('/') && !["!doctype", "meta", "wbr"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

/// Returns rows for a grid of sizes and batches on the CPU and two adapters.
fn grid() -> Vec<Row> {
    let mut rows = Vec::new();
    for (i, n) in [8.0, 32.0, 128.0].into_iter().enumerate() {
        for batch in [1.0, 100.0] {
            for (side, on_cpu, factor) in [("CPU", true, 1.0), ("GPU", false, 4.0), ("iGPU", false, 2.0)] {
                let name = format!("eigh/f32/n={n}/batch={batch}");
                let gain = if on_cpu { 1.0 } else { factor / 4f64.powi(i32::try_from(i).unwrap_or(0)) };
                let mut r = row(&name, side, on_cpu, Some(1e-9 * n * n * n * batch * gain));
                (r.size, r.items) = (n, batch);
                rows.push(r);
            }
        }
    }
    rows
}

#[test]
fn a_whole_report_is_well_formed() {
    let html = page(&report(grid()));
    check(&html);
    for text in ["faster from n ≈ ", "class=\"ring", "class=\"roof\"", "eigh on iGPU", "eigh, batch 100<", "within 2×"]
    {
        assert!(html.contains(text), "{text}");
    }
    assert_eq!(html.matches("<figure>").count(), 2 + 1 + 2 + 3, "iGPU has no ceilings, so no roofline");
}

#[test]
fn text_cannot_break_out() {
    let evil = "<&\">'</script><script>alert(1)</script>";
    let mut rows = Vec::new();
    for on_cpu in [true, false] {
        let mut r = row(evil, if on_cpu { "CPU<\"" } else { "GPU<\"" }, on_cpu, Some(1e-3));
        (r.family, r.note) = (evil.into(), evil.into());
        rows.push(r);
    }
    let mut report = report(rows);
    for text in [&mut report.date, &mut report.version, &mut report.machine, &mut report.command] {
        *text = evil.into();
    }
    report.ceilings[0].side = "CPU<\"".into();
    let html = page(&report);
    check(&html);
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(html.contains("&lt;&amp;&quot;&gt;&#39;"));
}

#[test]
fn empty_lone_and_missing() {
    let mut bare = report(Vec::new());
    bare.ceilings.clear();
    check(&page(&bare));
    check(&page(&report(Vec::new())));
    check(&page(&report(vec![row("a/n=8", "CPU", true, Some(1e-3))])));
    check(&page(&report(vec![row("a/n=8", "GPU", false, Some(1e-3))])));
    let mut none = row("a/n=8", "GPU", false, None);
    none.note = "more memory than there is".into();
    let html = page(&report(vec![row("a/n=8", "CPU", true, Some(1e-3)), none]));
    check(&html);
    assert!(html.contains("more memory than there is"));
}

#[test]
fn no_value_breaks_the_page() {
    let values = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 5e-324, 1e-30, 1e30, f64::MAX, 1.0];
    for bad in values {
        for field in 0..8 {
            let mut rows = grid();
            for r in rows.iter_mut().skip(1).step_by(2).chain([&mut row("b", "CPU", true, Some(1.0))]) {
                match field {
                    0 => r.resident = Some(bad),
                    1 => r.transfers = Some(bad),
                    2 => r.predicted = Some(bad),
                    3 => r.spread = bad,
                    4 => r.bytes = bad,
                    5 => r.flops = bad,
                    6 => r.size = bad,
                    _ => r.items = bad,
                }
            }
            let mut report = report(rows);
            check(&page(&report));
            (report.ceilings[0].copy, report.ceilings[1].fma) = (bad, bad);
            check(&page(&report));
        }
        let all = |r: &mut Row| {
            (r.resident, r.transfers, r.first, r.predicted) = (Some(bad), Some(bad), Some(bad), Some(bad));
            (r.spread, r.bytes, r.flops, r.size, r.items) = (bad, bad, bad, bad, bad);
        };
        let mut rows = grid();
        rows.iter_mut().for_each(all);
        check(&page(&report(rows)));
    }
}

/// Returns the relative luminance of `#rrggbb`, as WCAG defines it.
fn luminance(color: &str) -> f64 {
    let channel = |at: usize| {
        let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).expect("two hex digits")) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

#[test]
fn colors_are_legible_in_both_schemes() {
    let css = include_str!("page.css");
    for scheme in css.split(":root {").skip(1).map(|block| block.split('}').next().expect("split gives one")) {
        let color = |name: &str| {
            let at = scheme.find(&format!("--{name}: #")).expect("it is set") + name.len() + 4;
            luminance(&scheme[at..at + 7])
        };
        let contrast = |a: &str, b: &str| {
            let (a, b) = (color(a), color(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        let marks: Vec<String> = (0..8).map(|i| format!("k{i}")).collect();
        let inks = ["fg", "soft", "flag"].into_iter().chain(marks.iter().map(String::as_str));
        for ink in inks {
            for ground in ["bg", "card", "shade"] {
                // The contrast that WCAG AA requires for text of any size.
                assert!(contrast(ink, ground) >= 4.5, "{ink} on {ground}: {:.2}", contrast(ink, ground));
            }
        }
    }
}
