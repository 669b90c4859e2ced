//! `fiedler encode` with tables: files and pipes, in and out, in parts, and what is refused.

use crate::call::{Files, fiedler, run};
use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use fiedler::arrow::{Kind, Shard, TableReader, TableWriter, batches_of};
use fiedler::graph::molecules;
use npyz::npz::NpzArchive;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Arc;

fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Writes a table of 60 molecules in six batches.
pub(crate) fn molecules_in(files: &Files, name: &str) -> String {
    let path = files.at(name);
    let table = batches_of(&molecules(60, 3).unwrap(), None).next().unwrap().unwrap();
    let kind = Kind::of_name(Path::new(&path)).unwrap();
    TableWriter::create(path.as_ref(), kind, &table.schema(), |writer| {
        (0..6).try_for_each(|part| writer.write(&table.slice(10 * part, 10)))
    })
    .unwrap();
    path
}

fn read(path: &str) -> Vec<RecordBatch> {
    TableReader::open(path.as_ref(), Shard::WHOLE, 1 << 30).unwrap().collect::<Result<_, _>>().unwrap()
}

fn eigenvalues(batches: &[RecordBatch]) -> Vec<u32> {
    let lists = batches.iter().flat_map(|batch| batch["eigenvalues"].as_list::<i32>().iter());
    lists.flat_map(|list| bits(&list.unwrap())).collect()
}

fn bits(values: &dyn Array) -> Vec<u32> {
    values.as_primitive::<Float32Type>().iter().map(|value| value.unwrap_or(f32::NAN).to_bits()).collect()
}

/// Runs the command with bytes on standard input.
fn piped(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = fiedler(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The command may end before it has read everything.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn merged_edges_are_told_of_graphs_and_of_tables() {
    let files = Files::new();
    let (mixed, table) = (files.at("g.txt"), files.at("g.arrows"));
    std::fs::write(&mixed, "0 1\n1 0\n1 2\n").unwrap();
    let ends = [vec![0, 1, 1], vec![1, 0, 2]].map(|ends| Arc::new(Int64Array::from(ends)) as ArrayRef);
    let batch = RecordBatch::try_from_iter(["src", "dst"].into_iter().zip(ends)).unwrap();
    let kind = Kind::of_name(Path::new(&table)).unwrap();
    TableWriter::create(table.as_ref(), kind, &batch.schema(), |writer| writer.write(&batch)).unwrap();
    let outputs = ["o.npz", "o.parquet"].map(|name| files.at(name));
    for (input, output) in [(&mixed, &outputs[0]), (&mixed, &outputs[1]), (&table, &outputs[1])] {
        let call = |more: &[&str]| run(&[&["encode", "-k", "2", input, "-o", output, "--overwrite"], more].concat());
        let words = "1 of 2 edges is listed in one direction, the others in both; each was taken for undirected.";
        let (status, text) = said(&call(&[]));
        assert_eq!((status, text.matches(words).count()), (Some(0), 1), "{text}");
        let found = call(&["--json"]);
        let report: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
        assert_eq!((report["notices"].as_array().map(Vec::len), found.stderr.len()), (Some(1), 0), "{report}");
        assert!(report["notices"][0].as_str().is_some_and(|notice| notice.ends_with(words)), "{report}");
        assert_eq!(call(&["--quiet"]).stderr.len(), 0);
    }
}

#[test]
fn tables_have_what_the_arrays_have() {
    let files = Files::new();
    let (input, npz) = (molecules_in(&files, "in.parquet"), files.at("o.npz"));
    // Every command reads the graphs of a table.
    assert_eq!(said(&run(&["encode", &input, "-o", &npz, "-k", "4"])).0, Some(0));
    let want: Vec<f32> = NpzArchive::open(&npz).unwrap().by_name("eigenvalues").unwrap().unwrap().into_vec().unwrap();
    let want: Vec<u32> =
        want.iter().map(|value| if value.is_nan() { f32::NAN.to_bits() } else { value.to_bits() }).collect();
    assert_eq!(want.len(), 240);
    for (from, to) in
        [("in.parquet", "o.parquet"), ("in.arrow", "o.arrow"), ("in.arrows", "o.arrows"), ("in.arrow", "p.parquet")]
    {
        let (input, output) = (molecules_in(&files, from), files.at(to));
        let done = run(&["encode", &input, "-o", &output, "-k", "4"]);
        assert_eq!(said(&done), (Some(0), String::new()), "{from}");
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(text.contains("60 graphs, 4 eigenpairs each; all converged"), "{text}");
        assert_eq!(eigenvalues(&read(&output)), want, "{from} to {to}");
    }
    // What becomes a table was symmetrized once.
    let weighted = files.text("w.txt", "0 1 2.0\n1 2 0.5\n2 2 4.0\n");
    for options in
        [&["--symmetrize", "sum"][..], &["--preset", "networkx"], &["--symmetrize", "mean", "--preset", "dgl"]]
    {
        let call = |output: &str| {
            let all = ["encode", &weighted, "-o", output, "--overwrite", "-k", "3", "--laplacian", "combinatorial"];
            assert_eq!(said(&run(&[&all[..], options].concat())).0, Some(0));
        };
        let (npz, table) = (files.at("w.npz"), files.at("w.arrow"));
        call(&npz);
        call(&table);
        let want: Vec<f32> =
            NpzArchive::open(&npz).unwrap().by_name("eigenvalues").unwrap().unwrap().into_vec().unwrap();
        assert_eq!(eigenvalues(&read(&table)), want.into_iter().map(f32::to_bits).collect::<Vec<_>>(), "{options:?}");
    }
    // Graphs of other files become tables, too, with the ids of their nodes.
    let (edges, table) = (files.text("g.csv", "source,target\nx,y\ny,z\n"), files.at("g.parquet"));
    assert_eq!(said(&run(&["encode", &edges, "-o", &table, "-k", "2"])).0, Some(0));
    let batch = &read(&table)[0];
    let ids = batch["node_ids"].as_list::<i32>().value(0);
    assert_eq!(ids.as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["x", "y", "z"]);
}

/// Writes a table with an edge in each row.
fn table_of_edges(files: &Files, name: &str, columns: [ArrayRef; 2]) -> String {
    let [src, dst] = columns;
    let (path, table) = (files.at(name), RecordBatch::try_from_iter([("src", src), ("dst", dst)]).unwrap());
    let kind = Kind::of_name(Path::new(&path)).unwrap();
    TableWriter::create(path.as_ref(), kind, &table.schema(), |writer| writer.write(&table)).unwrap();
    path
}

#[test]
fn the_same_edges_are_the_same_graph_in_a_table_and_in_an_edge_list() {
    use arrow_array::StringArray;
    let files = Files::new();
    let integers = |all: &[i64]| -> ArrayRef { Arc::new(Int64Array::from(all.to_vec())) };
    let texts = |all: &[&str]| -> ArrayRef { Arc::new(StringArray::from(all.to_vec())) };
    for (at, columns, lines, words) in [
        (0, [integers(&[0, 1, 5]), integers(&[1, 2, 6])], "0,1\n1,2\n5,6\n", "1 graph, 5 nodes, 3 edges; "),
        (1, [integers(&[1_000_000_000, 7]), integers(&[7, 8])], "1000000000,7\n7,8\n", "1 graph, 3 nodes, 2 edges; "),
        (2, [texts(&["ann", "bob"]), texts(&["bob", "cy"])], "ann,bob\nbob,cy\n", "1 graph, 3 nodes, 2 edges; "),
    ] {
        let csv = files.text(&format!("g{at}.csv"), &format!("src,dst\n{lines}"));
        let parquet = table_of_edges(&files, &format!("g{at}.parquet"), columns);
        let of = |input: &str, name: &str| {
            let output = files.at(&format!("{at}-{name}"));
            let done = run(&["encode", input, "-o", &output, "-k", "2"]);
            assert_eq!(said(&done), (Some(0), String::new()), "{input}");
            (output, String::from_utf8_lossy(&done.stdout).into_owned())
        };
        let ((a, said_of_csv), (b, said_of_table)) = (of(&csv, "a.npz"), of(&parquet, "b.npz"));
        assert!(said_of_csv.contains(words) && said_of_table.contains(words), "{said_of_csv}{said_of_table}");
        assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap(), "{lines}");
        // As tables, with the names of the nodes.
        let ((a, _), (b, _)) = (of(&csv, "a.parquet"), of(&parquet, "b.parquet"));
        let (a, b) = (&read(&a)[0], &read(&b)[0]);
        for name in ["eigenvalues", "eigenvectors", "components", "residual", "node_ids"] {
            assert!(a.column_by_name(name) == b.column_by_name(name), "{name} of {lines}");
        }
    }
}

#[test]
fn numbers_of_nodes_that_no_edge_has_are_told_of() {
    let files = Files::new();
    let bytes: Vec<u8> = [1_i64, 2, 3, 2, 3, 4].iter().flat_map(|node| node.to_le_bytes()).collect();
    let array = files.npy("edge_index.npy", "<i8", &[2, 3], &bytes);
    let words = "1 node has no edge: node 0 alone, so ids seem to begin at 1";
    for name in ["o.npz", "o.arrow"] {
        let done = run(&["encode", &array, "-o", &files.at(name), "-k", "2"]);
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(text.contains(words), "{text}");
    }
    let mut ends = ["src", "dst"].map(|name| {
        let mut lists = arrow_array::builder::ListBuilder::new(arrow_array::builder::Int32Builder::new());
        lists.append_value([Some(0), Some(if name == "dst" { 5 } else { 0 })]);
        (name, Arc::new(lists.finish()) as ArrayRef)
    });
    let table = RecordBatch::try_from_iter(ends.each_mut().map(|(name, column)| (*name, column.clone()))).unwrap();
    let input = files.at("rows.arrow");
    TableWriter::create(input.as_ref(), Kind::File, &table.schema(), |writer| writer.write(&table)).unwrap();
    let done = run(&["encode", &input, "-o", &files.at("rows.parquet"), "-k", "2"]);
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(text.contains("1 graph (4 nodes have no edge), 2 eigenpairs; "), "{text}");
}

#[test]
fn a_pipe_has_the_bytes_of_the_file_and_none_beside() {
    let files = Files::new();
    let (input, output) = (molecules_in(&files, "in.arrows"), files.at("o.arrows"));
    assert_eq!(said(&run(&["encode", &input, "-o", &output])).0, Some(0));
    let bytes = std::fs::read(&input).unwrap();
    let done = piped(&["encode", "-", "-o", "-", "--format", "arrow"], &bytes);
    assert!(done.stdout == std::fs::read(&output).unwrap(), "{:?}", said(&done));
    assert!(said(&done).1.starts_with("standard input: 60 graphs"), "{:?}", said(&done));
    let json = piped(&["encode", "-", "-o", "-", "--format", "arrow", "--json"], &bytes);
    assert!(json.stdout == done.stdout);
    let report: serde_json::Value = serde_json::from_str(&said(&json).1).expect("one JSON object");
    assert_eq!((report["graphs"].as_u64(), report["refused"].as_u64()), (Some(60), Some(0)));
}

#[test]
fn a_reader_that_has_enough_ends_the_command_quietly() {
    let files = Files::new();
    let path = files.at("many.arrows");
    let table = batches_of(&molecules(4000, 3).unwrap(), None).next().unwrap().unwrap();
    TableWriter::create(path.as_ref(), Kind::Stream, &table.schema(), |writer| {
        (0..40).try_for_each(|part| writer.write(&table.slice(100 * part, 100)))
    })
    .unwrap();
    let mut command = fiedler(&["encode", &path, "-o", "-", "--format", "arrow"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(said(&child.wait_with_output().unwrap()), (Some(0), String::new()));
}

#[test]
fn shards_are_the_table() {
    let files = Files::new();
    let input = molecules_in(&files, "in.arrow");
    let whole = files.at("whole.arrow");
    assert_eq!(said(&run(&["encode", &input, "-o", &whole])).0, Some(0));
    let whole = read(&whole);
    for i in 1..=4 {
        let output = files.at(&format!("{i}.arrow"));
        assert_eq!(said(&run(&["encode", &input, "-o", &output, "--shard", &format!("{i}/4")])).0, Some(0));
        let own: Vec<_> = whole.iter().skip(i - 1).step_by(4).cloned().collect();
        assert_eq!(read(&output), own, "shard {i}");
    }
}

#[test]
fn a_truncated_stream_names_its_batch_and_leaves_no_file() {
    let files = Files::new();
    let input = molecules_in(&files, "in.arrows");
    let bytes = std::fs::read(&input).unwrap();
    let output = files.at("o.parquet");
    let done = piped(&["encode", "-", "-o", &output, "--format", "arrow"], &bytes[..bytes.len() * 2 / 3]);
    let (code, text) = said(&done);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("standard input") && text.contains("of the Arrow IPC stream"), "{text}");
    assert!(!Path::new(&output).exists());
}

#[test]
fn rows_without_encoding_are_told_of() {
    let files = Files::new();
    let (input, output) = (files.at("in.arrow"), files.at("o.arrow"));
    let mut ends = ["src", "dst"].map(|name| {
        let mut lists = arrow_array::builder::ListBuilder::new(arrow_array::builder::Int32Builder::new());
        lists.append_value([Some(0)]);
        lists.append_value([Some(if name == "dst" { -1 } else { 0 })]);
        lists.append_value([Some(1)]);
        (name, Arc::new(lists.finish()) as ArrayRef)
    });
    let columns = ends.each_mut().map(|(name, column)| (*name, column.clone()));
    let table = RecordBatch::try_from_iter(columns).unwrap();
    TableWriter::create(input.as_ref(), Kind::File, &table.schema(), |writer| writer.write(&table)).unwrap();
    let (code, text) = said(&run(&["encode", &input, "-o", &output]));
    assert_eq!(code, Some(3), "{text}");
    assert!(
        text.contains("1 graph has no encoding") && text.contains("row 2: expected nodes that count from 0, found -1"),
        "{text}"
    );
    assert_eq!(read(&output)[0].num_rows(), 3);
    // Where there are no rows, a graph that is none is an error.
    let (code, text) = said(&run(&["encode", &input, "-o", &files.at("o.npz")]));
    assert_eq!(code, Some(1));
    assert!(text.contains("in.arrow") && text.contains("place 2"), "{text}");
}

#[test]
fn columns_and_layouts_are_as_asked_for() {
    let files = Files::new();
    let input = molecules_in(&files, "in.arrow");
    let output = files.at("o.arrow");
    let call = |more: &[&str]| said(&run(&[&["encode", &input, "-o", &output, "--overwrite"], more].concat()));
    assert_eq!(call(&["--no-edges", "--layout", "fixed", "-k", "3"]).0, Some(0));
    let batch = &read(&output)[0];
    assert_eq!(batch.schema().field(0).name(), "num_nodes");
    assert_eq!(batch["eigenvectors"].as_list::<i32>().values().as_fixed_size_list().value_length(), 3);
    assert_eq!(call(&["--column", "src=dst", "--column", "dst=src"]).0, Some(0));
    let (code, text) = call(&["--column", "src=a", "--column", "dst=b"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("expected a column `a`, found num_nodes, src, dst"), "{text}");
    let (code, text) = call(&["--column", "from=src"]);
    assert!(code == Some(2) && text.contains("expected ROLE=NAME"), "{text}");
    let (code, text) = call(&["--shard", "5/4"]);
    assert!(code == Some(2) && text.contains("expected I/N with I from 1 to N"), "{text}");
}

#[test]
fn a_table_of_edges_without_rows_is_refused_as_an_edge_list_is() {
    let files = Files::new();
    let ends = || Arc::new(Int64Array::from(Vec::<i64>::new())) as ArrayRef;
    let (input, output) = (table_of_edges(&files, "in.parquet", [ends(), ends()]), files.at("o.parquet"));
    for output in [&output, &files.at("o.npz")] {
        let (code, text) = said(&run(&["encode", &input, "-o", output, "-k", "2"]));
        assert!(code == Some(1) && text.contains("in.parquet: expected at least one edge"), "{code:?} {text}");
        assert!(!Path::new(output).exists());
    }
    assert_eq!(said(&run(&["encode", &input, "-o", &output, "-k", "2", "--shard", "1/2"])).0, Some(0));
}

#[test]
fn options_of_tables_want_tables() {
    let files = Files::new();
    let (edges, npz, table) = (files.text("g.txt", "0 1\n"), files.at("o.npz"), files.at("o.arrow"));
    let table_in = molecules_in(&files, "in.arrow");
    for (call, why) in [
        (
            &["encode", &edges, "-o", &npz, "--no-edges"][..],
            "--no-edges: expected an output in .parquet, .arrow or .arrows",
        ),
        (&["encode", &edges, "-o", "-"], "-o -: expected --format arrow"),
        (&["encode", &edges, "-o", &table, "--shard", "1/2"], "--shard: expected a table, found"),
        (
            &["encode", &edges, "-o", "-", "--format", "arrow", "--resume"],
            "--resume: expected an output that is a file",
        ),
        (&["encode", &table_in, "-o", &table, "--largest-component"], "--largest-component: expected graphs"),
        (&["encode", &table_in, "-o", &table_in], "expected an output other than the input"),
        (&["encode", &edges, "-o", &files.at("o.txt")], ".parquet"),
    ] {
        let (code, text) = said(&run(call));
        assert!(code == Some(2) && text.contains(why), "{call:?}: {code:?} {text}");
    }
}

/// Where a file is damaged, Arrow's reader may panic. That is an error as any other, in one line.
#[test]
fn panics_of_readers_are_errors() {
    let files = Files::new();
    let path = molecules_in(&files, "t.arrows");
    let good = std::fs::read(&path).unwrap();
    let is_damage = |at: usize| {
        let mut bytes = good.clone();
        bytes[at..at + 8].fill(0x2a);
        std::fs::write(&path, &bytes).unwrap();
        let outcome: fiedler::Result<Vec<_>> =
            TableReader::open(path.as_ref(), Shard::WHOLE, 1 << 30).and_then(Iterator::collect);
        outcome.is_err_and(|error| error.to_string().contains("damage: "))
    };
    let damaged = (0..good.len() - 8).step_by(8).find(|&at| is_damage(at));
    assert!(damaged.is_some(), "no damage makes the reader panic");
    let (status, said) = said(&run(&["encode", &path, "-k", "2", "-o", &files.at("out.arrows"), "--backend", "cpu"]));
    assert_eq!((status, said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("damage: ") && !said.contains("panicked"), "{said}");
}
