//! `fiedler encode` of signed graphs and of magnetic Laplacians: what each format of the output has, and what is
//! refused.

use crate::call::{Files, run};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use fiedler::arrow::{Shard, TableReader};
use fiedler::io::read_shapes;
use npyz::npz::NpzArchive;
use serde_json::Value;

/// A directed cycle of four nodes, with a chord back that both directions list.
const DIRECTED: &str = "0 1\n1 2\n2 3\n3 0\n0 2\n2 0\n";
const SIGNED: &str = "0 1 1.5\n1 2 -2\n2 0 0.25\n3 4 -1e-3\n";

fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(arguments);
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

fn done(arguments: &[&str]) -> String {
    let (code, words) = said(arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {words}");
    words
}

/// Returns the parts of the complex eigenvectors of a table with one row for each node, and checks its titles.
fn parts(csv: &str, k: usize) -> Vec<f32> {
    let text = std::fs::read_to_string(csv).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let titles = lines.next().unwrap();
    let at = titles.iter().position(|title| *title == "eigenvector_1_real").unwrap();
    let named: Vec<String> =
        (1..=k).flat_map(|i| ["real", "imaginary"].map(|part| format!("eigenvector_{i}_{part}"))).collect();
    assert_eq!(titles[at..at + 2 * k], named[..]);
    lines.flat_map(|row| row[at..at + 2 * k].iter().map(|x| x.parse().unwrap()).collect::<Vec<_>>()).collect()
}

/// Returns whether an .npz file, whose arrays are not compressed, has complex eigenvectors with these bytes.
fn npz_has(path: &str, kind: &str, bytes: &[u8]) -> bool {
    let arrays = read_shapes(path.as_ref()).unwrap();
    let own = arrays.iter().find(|(name, ..)| name == "eigenvectors").unwrap();
    let file = std::fs::read(path).unwrap();
    own.1 == kind && (bytes.is_empty() || file.windows(bytes.len()).any(|some| some == bytes))
}

#[test]
fn every_format_has_the_same_complex_numbers() {
    let files = Files::new();
    let input = files.text("in.txt", DIRECTED);
    let out = |name: &str| files.at(name);
    for name in ["o.npz", "o.safetensors", "o.csv", "o.parquet"] {
        done(&["encode", &input, "-o", &out(name), "-k", "3", "--charge", "0.2"]);
    }
    // .csv has two columns for each eigenvector.
    let want = parts(&out("o.csv"), 3);
    assert_eq!(want.len(), 24);
    assert!(want.chunks_exact(2).any(|x| x[1].abs() > 0.1));
    let bytes: Vec<u8> = want.iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(npz_has(&out("o.npz"), "<c8", &bytes));
    // .safetensors: the length of a header, the header, and the elements.
    let file = std::fs::read(out("o.safetensors")).unwrap();
    let (length, rest) = file.split_first_chunk().unwrap();
    let (header, elements) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let own = &serde_json::from_slice::<Value>(header).unwrap()["eigenvectors"];
    assert_eq!((&own["dtype"], &own["shape"]), (&"C64".into(), &serde_json::json!([4, 3])));
    let begin = own["data_offsets"][0].as_u64().unwrap() as usize;
    assert_eq!(elements[begin..begin + 96], bytes);
    // A table has two columns.
    let batch = TableReader::open(out("o.parquet").as_ref(), Shard::WHOLE, 1 << 30).unwrap().next().unwrap().unwrap();
    let numbers = |name: &str| -> Vec<f32> {
        let nodes = batch[name].as_list::<i32>().value(0);
        let all = nodes.as_list::<i32>().iter().map(|row| row.unwrap());
        all.flat_map(|row| row.as_primitive::<Float32Type>().values().to_vec()).collect()
    };
    let (re, im) = (numbers("eigenvectors"), numbers("eigenvectors_imaginary"));
    assert_eq!(re.into_iter().zip(im).flat_map(<[f32; 2]>::from).collect::<Vec<_>>(), want);
    let settings = batch.schema().metadata()["fiedler.settings"].clone();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(
        (&settings["charge"], &settings["flows"], &settings["signed"]),
        (&0.2.into(), &true.into(), &false.into())
    );
    // The table that was written lists the edges in their directions, so it can be encoded again.
    let narrow = files.at("edges.arrow");
    done(&["encode", &input, "-o", &narrow, "-k", "1", "--charge", "0.2"]);
    let edges = TableReader::open(narrow.as_ref(), Shard::WHOLE, 1 << 30).unwrap().next().unwrap().unwrap();
    assert_eq!(edges["src"].as_list::<i32>().value(0).len(), 6);
    // In f64, .npz has complex128.
    done(&["encode", &input, "-o", &out("wide.npz"), "-k", "3", "--charge", "0.2", "--precision", "f64"]);
    assert!(npz_has(&out("wide.npz"), "<c16", &[]));
    let (code, words) =
        said(&["encode", &input, "-o", &out("wide.safetensors"), "--charge", "0.2", "--precision", "f64"]);
    assert!(code == Some(1) && words.contains("safetensors has no complex128; write .npz"), "{words}");
}

#[test]
fn without_directions_the_numbers_are_real() {
    let files = Files::new();
    let input = files.text("in.txt", "0 1\n1 0\n1 2\n2 1\n");
    let (plain, charged) = (files.at("plain.npz"), files.at("charged.csv"));
    done(&["encode", &input, "-o", &plain, "-k", "2"]);
    done(&["encode", &input, "-o", &charged, "-k", "2", "--charge", "0.3"]);
    let mut archive = NpzArchive::open(&plain).unwrap();
    let real: Vec<f32> = archive.by_name("eigenvectors").unwrap().unwrap().into_vec().unwrap();
    assert_eq!(parts(&charged, 2), real.iter().flat_map(|&x| [x, 0.0]).collect::<Vec<_>>());
}

#[test]
fn signed_graphs() {
    let files = Files::new();
    let input = files.text("in.txt", SIGNED);
    let out = files.at("out.npz");
    let (code, words) = said(&["encode", &input, "-o", &out]);
    assert!(code == Some(1) && words.contains("expected a weight that is finite and not negative"), "{words}");
    done(&["encode", &input, "-o", &out, "-k", "5", "--signed", "--laplacian", "combinatorial"]);
    let mut archive = NpzArchive::open(&out).unwrap();
    let values: Vec<f32> = archive.by_name("eigenvalues").unwrap().unwrap().into_vec().unwrap();
    let components: Vec<i64> = archive.by_name("components").unwrap().unwrap().into_vec().unwrap();
    // The triangle is not balanced; the pair is, and its other eigenvalue is twice the weight.
    assert_eq!((components[0], values[0]), (2, 0.0));
    assert!((values[1] - 2e-3).abs() < 1e-9 && values[2] > 0.1, "{values:?}");
    let vectors: Vec<f32> = archive.by_name("eigenvectors").unwrap().unwrap().into_vec().unwrap();
    let half = 0.5_f32.sqrt();
    assert!((vectors[3 * 5] - half).abs() < 1e-6 && (vectors[4 * 5] + half).abs() < 1e-6, "{vectors:?}");
    // A weight may be anything finite, in every format that has weights.
    let gml = files.text("in.gml", "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight -2.5 ] ]\n");
    done(&["encode", &gml, "-o", &out, "--overwrite", "--signed"]);
    let bad = files.text("bad.txt", "0 1 nan\n");
    let (code, words) = said(&["encode", &bad, "-o", &out, "--overwrite", "--signed"]);
    assert!(code == Some(1) && words.contains("expected a weight that is finite, found"), "{words}");
}

#[test]
fn wrong_calls() {
    let files = Files::new();
    let (input, out) = (files.text("in.txt", DIRECTED), files.at("out.npz"));
    let call = |options: &[&str]| said(&[&["encode", &input, "-o", &out], options].concat());
    for (options, what) in [
        (&["--charge", "0.6"][..], "expected a charge from 0 to 0.5"),
        (&["--charge", "nan"], "expected a charge from 0 to 0.5"),
        (&["--charge", "-0.1"], "expected a charge from 0 to 0.5"),
        (&["--charge", "0.1", "--symmetrize", "sum"], "expected --symmetrize max, mean or error, found sum"),
        (&["--charge", "0.1", "--backend", "gpu"], "expected --backend cpu or auto, found gpu"),
    ] {
        let (code, words) = call(options);
        assert!(code == Some(2) && words.contains(what), "{options:?}: {words}");
    }
    // --resume compares what the output has.
    done(&["encode", &input, "-o", &out]);
    let (code, words) = call(&["--resume", "--charge", "0.1"]);
    assert!(code == Some(2) && words.contains("complex eigenvectors"), "{words}");
}
