//! Tests of the plain lines of large files, which are parsed without their reader: they have to mean what the reader
//! says, and every other line among them has to be found, with its number.

use fiedler::ErrorKind;
use fiedler::graph::Conventions;
use fiedler::io::{DataSet, NodeIds, read};
use std::fmt::Write as _;
use std::fs;
use tempfile::TempDir;

/// The number of edges, whose lines fill the buffer of the reader several times.
const EDGES: usize = 60_000;

/// Returns edges between pseudorandom nodes, whose numbers have one to five digits.
fn edges() -> impl Iterator<Item = (usize, usize, f64)> {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..EDGES).map(move |i| {
        let below = [10, 1000, 30_000][i % 3];
        (random(below) as usize, random(below) as usize, random(100_000) as f64 / 8.0)
    })
}

fn read_text(name: &str, content: &str) -> fiedler::Result<DataSet> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    read(&path, &Conventions::default())
}

/// Returns a file of lines `source target` with `line` as its line number `at`, after comments and empty lines.
fn with_line(at: usize, line: &str, weighted: bool) -> String {
    let mut text = String::new();
    for (number, (source, target, weight)) in (1..).zip(edges()) {
        match number {
            _ if number == at => writeln!(text, "{line}").unwrap(),
            _ if number % 1000 == 7 => writeln!(text, "# {number}").unwrap(),
            _ if number % 1000 == 9 => writeln!(text).unwrap(),
            _ if weighted => writeln!(text, "{source} {target} {weight}").unwrap(),
            _ => writeln!(text, "{source} {target}").unwrap(),
        }
    }
    text
}

fn line_of(error: &fiedler::Error) -> Option<u64> {
    match error.kind() {
        ErrorKind::Parse { line, .. } => *line,
        _ => None,
    }
}

/// A line that begins with a space, or has a weight with an exponent, is not plain, but means the same.
#[test]
fn plain_lines_mean_what_their_reader_says() {
    for separator in [" ", "\t", ",", ";", ", ", "  \t"] {
        for (weighted, end) in [(false, "\n"), (true, "\n"), (true, "\r\n"), (true, " \n")] {
            let (mut plain, mut other) = (String::new(), String::new());
            for (source, target, weight) in edges() {
                let ids = format!("{source}{separator}{target}");
                let weights = if weighted {
                    [format!("{separator}{weight}"), format!("{separator}{weight}e0")]
                } else {
                    Default::default()
                };
                write!(plain, "{ids}{}{end}", weights[0]).unwrap();
                write!(other, " {ids}{}{end}", weights[1]).unwrap();
            }
            let [plain, other] = [plain, other].map(|text| read_text("g.txt", &text).unwrap());
            assert_eq!(plain.graphs, other.graphs, "{separator:?} {end:?}");
            assert_eq!((plain.node_ids, plain.notices), (other.node_ids, other.notices), "{separator:?} {end:?}");
            assert_eq!(plain.graphs.weights().is_some(), weighted);
        }
    }
}

#[test]
fn another_line_among_plain_lines_is_found_with_its_number() {
    for at in [1234, 59_999] {
        for (line, weighted, words) in [
            ("1", false, "\"1\""),
            ("1 2 3", false, "two ids, as in the lines before"),
            ("1\r2", false, "CR alone"),
            ("1 2\0", false, "a NUL byte"),
            ("1 2", true, "two ids and a weight"),
            ("1 2 -3", true, "not negative"),
            ("1 2 inf", true, "finite"),
            ("1 2 1e309", true, "finite"),
            ("1 2 3 4", true, "a fourth column"),
        ] {
            let error = read_text("g.txt", &with_line(at, line, weighted)).unwrap_err();
            assert_eq!(line_of(&error), Some(at as u64), "{line:?}: {error}");
            assert!(error.to_string().contains(words), "{line:?}: {error}");
        }
    }
}

#[test]
fn unusual_ids_among_plain_lines_keep_their_names() {
    let ids = |line: &str| read_text("g.txt", &with_line(40_000, line, false)).unwrap().node_ids.expect("ids");
    // Neither number fits into 32 bits, but both are integers.
    for large in [1_u64 << 32, i64::MAX as u64] {
        let NodeIds::Integers(ids) = ids(&format!("{large} 5")) else { panic!("text") };
        assert_eq!(ids.last().copied(), Some(large as i64));
        assert!(ids.is_sorted() && ids[0] == 0);
    }
    for text in ["007", "9223372036854775808", "+7", "1.5", "seven"] {
        let NodeIds::Text(ids) = ids(&format!("{text} 5")) else { panic!("{text} as an integer") };
        assert!(ids.iter().any(|id| id == text) && ids.iter().any(|id| id == "7"), "{text}");
    }
}

#[test]
fn a_tudataset_of_plain_and_other_lines() {
    let set = |ends: [&str; 2], fault: Option<&str>| {
        let folder = TempDir::new().unwrap();
        let (mut adjacency, mut indicator) = (String::new(), String::new());
        for node in 1..=40_000 {
            let end = ends[usize::from(node % 777 == 0)];
            write!(indicator, "{}{end}", 1 + (node - 1) / 20).unwrap();
            if node % 20 != 0 {
                write!(adjacency, "{node}, {}{end}", node + 1).unwrap();
            }
            if let Some(fault) = fault.filter(|_| node == 30_001) {
                writeln!(adjacency, "{fault}").unwrap();
            }
        }
        fs::write(folder.path().join("D_A.txt"), &adjacency).unwrap();
        fs::write(folder.path().join("D_graph_indicator.txt"), indicator).unwrap();
        let at = fault.and_then(|fault| adjacency.lines().position(|line| line == fault));
        (read(folder.path(), &Conventions::default()), at.map(|at| at as u64 + 1))
    };
    let plain = set(["\n", "\n"], None).0.unwrap().graphs;
    assert_eq!((plain.len(), plain.entries()), (2000, 2 * 38_000));
    assert_eq!(set(["\n", " \x0c\n"], None).0.unwrap().graphs, plain);
    assert_eq!(set(["\r\n", "\n\n"], None).0.unwrap().graphs, plain);
    for (fault, words) in [
        ("30001, 40001", "a node number from 1 to 40000"),
        ("0, 1", "a node number from 1 to 40000"),
        ("30001, 1", "an edge within one graph"),
        ("30001", "two node numbers"),
        ("30001, 30002, 1", "two node numbers"),
    ] {
        let (error, at) = set(["\n", "\n"], Some(fault));
        let error = error.unwrap_err();
        assert!(at.is_some() && line_of(&error) == at, "{fault}: {error}");
        assert!(error.to_string().contains(words), "{fault}: {error}");
    }
}
