//! Tests of the page as a whole. The page must be well-formed HTML for every report.

use super::*;
use crate::page::tests::check;

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
        above: String::new(),
    }
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
