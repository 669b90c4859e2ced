//! Tables with an edge in each row: ids of any kind, as in an edge list of the same edges.

use super::{added, batch, encoded, encoder, text};
use arrow_array::builder::{FixedSizeListBuilder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, UInt64Array,
};
use fiedler::arrow::{Columns, Encoder, Role, read};
use fiedler::encode::SpectralEncoder;
use fiedler::graph::{Conventions, Isolated, WeightsRef};
use fiedler::io::{DataSet, NodeIds};
use fiedler::{Context, Result};
use std::path::Path;
use std::sync::Arc;

fn integers(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn graphs_by(columns: &Columns, table: &RecordBatch) -> Result<DataSet> {
    let batches = [Ok(table.clone())].into_iter();
    read("t".as_ref(), &table.schema(), batches, columns, &Conventions::default())
}

fn graphs_of(table: &RecordBatch) -> Result<DataSet> {
    graphs_by(&Columns::default(), table)
}

fn refused(table: &RecordBatch) -> String {
    graphs_of(table).unwrap_err().to_string()
}

/// Reads the same edges from an edge list.
fn listed(lines: &str) -> Result<DataSet> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, lines).unwrap();
    fiedler::io::read(Path::new(&path), &Conventions::default())
}

fn assert_same(table: &RecordBatch, lines: &str) {
    let (made, want) = (graphs_of(table).unwrap(), listed(lines).unwrap());
    assert_eq!(made.node_ids, want.node_ids, "{lines}");
    let dense = |data: &DataSet| {
        (data.graphs.nodes(), data.graphs.columns().to_vec(), data.graphs.weights().map(WeightsRef::to_weights))
    };
    assert_eq!(dense(&made), dense(&want), "{lines}");
}

#[test]
fn the_same_edges_are_the_same_graph_as_in_an_edge_list() {
    let of = |src: ArrayRef, dst: ArrayRef| batch(vec![("src", src), ("dst", dst)]);
    assert_same(&of(integers(&[0, 1, 5]), integers(&[1, 2, 6])), "src,dst\n0,1\n1,2\n5,6\n");
    assert_same(&of(integers(&[1, 2]), integers(&[2, 3])), "src,dst\n1,2\n2,3\n");
    assert_same(&of(integers(&[0, 1]), integers(&[1, 2])), "src,dst\n0,1\n1,2\n");
    let far = of(integers(&[9_000_000_000, 1_000_000_000]), integers(&[1_000_000_000, 7]));
    assert_same(&far, "src,dst\n9000000000,1000000000\n1000000000,7\n");
    assert_same(&of(integers(&[5, -1, -1]), integers(&[-1, 3, 5])), "src,dst\n5,-1\n-1,3\n-1,5\n");
    assert_same(&of(texts(&["b", "a", "c"]), texts(&["a", "c", "d"])), "src,dst\nb,a\na,c\nc,d\n");
    // Text that is numbers, as a program writes it that reads every column as text.
    assert_same(&of(texts(&["10", "9"]), texts(&["9", "2"])), "src,dst\n10,9\n9,2\n");
    assert_same(&of(texts(&["10", "x"]), texts(&["x", "2"])), "src,dst\n10,x\nx,2\n");
    // White space around a text is no part of the id.
    assert_same(&of(texts(&[" a", "b"]), texts(&["b\t", "a "])), "src,dst\n a,b\t\nb,a \n");
    assert_same(&of(texts(&[" 10", "9"]), texts(&["9 ", "2"])), "src,dst\n 10,9\n9 ,2\n");
    let names: DictionaryArray<Int32Type> = ["b", "a"].into_iter().collect();
    assert_same(&of(Arc::new(names), texts(&["a", "c"])), "src,dst\nb,a\na,c\n");
    // Numbers that are written as text are names.
    let reals: ArrayRef = Arc::new(Float64Array::from(vec![10.0, 9.0, 2.5]));
    assert_same(&of(reals.clone(), integers(&[9, 2, 1])), "src,dst\n10.0,9\n9.0,2\n2.5,1\n");
    assert_same(&of(reals.clone(), reals), "src,dst\n10.0,10.0\n9.0,9.0\n2.5,2.5\n");
    assert_same(&of(texts(&["x", "10"]), integers(&[10, 3])), "src,dst\nx,10\n10,3\n");
    let keys = Int32Array::from(vec![1, 0]);
    let categories: ArrayRef = Arc::new(DictionaryArray::new(keys, integers(&[7, 100])));
    assert_same(&of(categories.clone(), integers(&[7, 8])), "src,dst\n100,7\n7,8\n");
    assert_same(&of(categories.clone(), categories), "src,dst\n100,100\n7,7\n");
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 3]));
    assert_same(&of(large.clone(), large.slice(0, 2)), "src,dst\n18446744073709551615,18446744073709551615\n3,3\n");
}

#[test]
fn columns_have_the_names_that_edge_lists_have() {
    let [a, b] = [integers(&[0, 1, 5]), integers(&[1, 2, 6])];
    let weights: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 0.5]));
    let want = "src,dst,weight\n0,1,1\n1,2,2\n5,6,0.5\n";
    for [source, target, weight] in [
        ["from", "to", "weight"],
        ["u", "v", "w"],
        ["source", "target", "edge_weight"],
        ["Source", "Target", "Weight"],
        ["node1", "node2", "score"],
        ["from_id", "to_id", "value"],
        ["src", "dst", "x"],
    ] {
        let table = batch(vec![(source, a.clone()), (target, b.clone()), (weight, weights.clone())]);
        assert_same(&table, want);
        let told = graphs_of(&table).unwrap().notices;
        let known = ["weight", "edge_weight"].contains(&weight);
        assert_eq!(told.len(), usize::from(!known), "{told:?}");
    }
    // Under any names, as in an edge list, which is told.
    for [source, target] in [["head", "tail"], ["x", "y"]] {
        let table = batch(vec![(source, a.clone()), (target, b.clone()), ("z", weights.clone())]);
        assert_same(&table, want);
        let told = graphs_of(&table).unwrap().notices;
        assert!(told[0].contains(&format!("the columns `{source}` and `{target}` were read as the ends")), "{told:?}");
        let table = batch(vec![(source, a.clone()), (target, b.clone())]);
        let lines = format!("{source},{target}\n0,1\n1,2\n5,6\n");
        assert_same(&table, &lines);
        let words = format!("the columns `{source}` and `{target}` were read as the ends of the edges");
        for told in [graphs_of(&table).unwrap().notices, listed(&lines).unwrap().notices] {
            assert!(told.len() == 1 && told[0].contains(&words), "{told:?}");
        }
    }
    let more =
        vec![("src", a.clone()), ("dst", b.clone()), ("kind", texts(&["u", "v", "w"])), ("n", integers(&[1, 2, 3]))];
    let told = graphs_of(&batch(more)).unwrap().notices;
    assert!(told[0].contains("the columns `kind` and `n` were not read, and every edge weighs 1"), "{told:?}");
    let times = integers(&[1_600_000_000, 1_600_000_001, 1_600_000_002]);
    let told = graphs_of(&batch(vec![("src", a.clone()), ("dst", b.clone()), ("weight", times)])).unwrap().notices;
    assert!(told[0].contains("`weight` was read as weights, though each is beyond 1e8, as timestamps are"), "{told:?}");
    // A third column beside a graph of each row has no place in an edge list.
    let table = batch(vec![("graph", integers(&[0, 0, 1])), ("src", a), ("dst", b), ("x", weights)]);
    assert!(graphs_of(&table).unwrap().graphs.weights().is_none());
}

/// The index that pandas writes, whatever it counts, is neither an end nor a weight.
#[test]
fn an_index_of_pandas_has_no_edges() {
    let [a, b, rows] = [integers(&[0, 1, 5]), integers(&[1, 2, 6]), integers(&[20, 0, 7])];
    let weights: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 0.5]));
    for index in ["__index_level_0__", "index", "Unnamed: 0", "Unnamed: 4"] {
        for [source, target] in [["src", "dst"], ["a", "b"]] {
            let plain = vec![(source, a.clone()), (target, b.clone())];
            let weighted = [plain.clone(), vec![("weight", weights.clone())]].concat();
            for (mut columns, want) in
                [(plain, "0,1\n1,2\n5,6\n"), (weighted, "src,dst,weight\n0,1,1\n1,2,2\n5,6,0.5\n")]
            {
                columns.push((index, rows.clone()));
                assert_same(&batch(columns.clone()), want);
                columns.rotate_right(1);
                assert_same(&batch(columns), want);
            }
        }
    }
    let named = batch(vec![("src", a), ("dst", b), ("__index_level_0__", rows)]);
    let told = graphs_of(&named).unwrap().notices;
    assert!(told[0].contains("`__index_level_0__` was not read"), "{told:?}");
    let unnamed = batch(vec![("", integers(&[0, 1])), ("src", integers(&[0, 1])), ("dst", integers(&[1, 2]))]);
    let words = "the column 1 (without a name) was not read, and every edge weighs 1";
    for told in [graphs_of(&unnamed).unwrap().notices, listed(",src,dst\n0,0,1\n1,1,2\n").unwrap().notices] {
        assert!(told.len() == 1 && told[0].contains(words), "{told:?}");
    }
    // The columns of the graph and of its nodes are read.
    let [a, b, one] = [[0, 1], [1, 2], [0, 0]].map(|ids| integers(&ids));
    let many = batch(vec![("graph", one), ("src", a), ("dst", b), ("num_nodes", integers(&[3, 3]))]);
    assert_eq!(graphs_of(&many).unwrap().notices.len(), 0);
}

#[test]
fn a_column_index_is_an_index_or_the_sources() {
    // Before two columns of ids, it is an index; in an edge list, if it counts the rows.
    let [a, b, index] = [integers(&[7, 8]), integers(&[8, 9]), integers(&[0, 1])];
    for name in ["index", "Unnamed: 0", ""] {
        let table = batch(vec![(name, index.clone()), ("p", a.clone()), ("q", b.clone())]);
        assert_same(&table, &format!("{name},p,q\n0,7,8\n1,8,9\n"));
        assert_same(&table, "src,dst\n7,8\n8,9\n");
    }
    // Of nearest neighbors, it is the sources.
    let near: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.5, 0.5]));
    let [index, b] = [integers(&[0, 0, 1]), integers(&[1, 2, 2])];
    let table = batch(vec![("index", index), ("neighbor", b), ("distance", near)]);
    assert_same(&table, "index,neighbor,distance\n0,1,0.5\n0,2,1.5\n1,2,0.5\n");
    assert_same(&table, "src,dst,weight\n0,1,0.5\n0,2,1.5\n1,2,0.5\n");
    // Even if it counts the rows: distances are no ids, whereas text is.
    for [near, far, other] in [["0.5", "0.25", "1.5"], ["2.0", "1.0", "3.0"]] {
        let numbers: Vec<f64> = [near, far, other].iter().map(|number| number.parse().unwrap()).collect();
        let distance: ArrayRef = Arc::new(Float64Array::from(numbers));
        let columns = [("index", integers(&[0, 1, 2])), ("neighbor", integers(&[3, 2, 4])), ("distance", distance)];
        let table = batch(columns.to_vec());
        assert_same(&table, &format!("index,neighbor,distance\n0,3,{near}\n1,2,{far}\n2,4,{other}\n"));
        assert_same(&table, &format!("src,dst,weight\n0,3,{near}\n1,2,{far}\n2,4,{other}\n"));
    }
    let table = batch(vec![("index", integers(&[0, 1])), ("p", texts(&["a", "b"])), ("q", texts(&["0.5", "a"]))]);
    assert_same(&table, "index,p,q\n0,a,0.5\n1,b,a\n");
    assert_same(&table, "src,dst\na,0.5\nb,a\n");
}

#[test]
fn columns_that_pandas_stored_as_an_index_have_no_edges() {
    let stored = |columns: Vec<(&str, ArrayRef)>, names: &str| {
        let table = batch(columns);
        let said = format!("{{\"index_columns\": {names}, \"columns\": []}}");
        let metadata: std::collections::HashMap<String, String> = [("pandas".to_owned(), said)].into_iter().collect();
        let schema = table.schema().as_ref().clone().with_metadata(metadata);
        table.with_schema(Arc::new(schema)).unwrap()
    };
    let [a, b, c] = [integers(&[0, 1]), integers(&[1, 2]), integers(&[5, 6])];
    let columns = vec![("src", a.clone()), ("dst", b.clone()), ("row_number", c.clone())];
    let told = graphs_of(&stored(columns.clone(), "[\"row_number\"]")).unwrap();
    assert!(told.graphs.weights().is_none() && told.notices[0].contains("`row_number` was not read"), "{told:?}");
    // A range is no column, and a call may name the index.
    let range = "[{\"kind\": \"range\", \"start\": 0}]";
    assert!(graphs_of(&stored(columns.clone(), range)).unwrap().graphs.weights().is_some());
    let by = Columns::default().named(Role::Weights, "row_number");
    assert!(graphs_by(&by, &stored(columns, "[\"row_number\"]")).unwrap().graphs.weights().is_some());
    // An index of pandas may have the ends.
    let columns = vec![("weight", c.clone()), ("node1", a.clone()), ("node2", b.clone())];
    let table = stored(columns, "[\"node1\", \"node2\"]");
    assert_same(&table, "node1,node2,weight\n0,1,5\n1,2,6\n");
    let error = refused(&stored(vec![("p", c), ("a", a), ("b", b)], "[\"a\", \"b\"]"));
    assert!(error.contains("an index is no end of edges"), "{error}");
}

#[test]
fn a_third_column_of_ids_or_words_has_no_weights() {
    let [a, b] = [integers(&[0, 1]), integers(&[1, 2])];
    let booleans = || Arc::new(BooleanArray::from(vec![true, false])) as ArrayRef;
    for (name, column, fields) in [
        ("id", integers(&[5, 6]), ["5", "6"]),
        ("edge_id", integers(&[5, 6]), ["5", "6"]),
        ("index", integers(&[5, 6]), ["5", "6"]),
        ("kind", texts(&["x", "y"]), ["x", "y"]),
        ("value", texts(&["x", "y"]), ["x", "y"]),
        ("kind", booleans(), ["True", "False"]),
    ] {
        let table = batch(vec![("src", a.clone()), ("dst", b.clone()), (name, column)]);
        let lines = format!("src,dst,{name}\n0,1,{}\n1,2,{}\n", fields[0], fields[1]);
        assert_same(&table, &lines);
        for told in [graphs_of(&table).unwrap(), listed(&lines).unwrap()] {
            let words = format!("the column `{name}` was not read, and every edge weighs 1");
            assert!(told.graphs.weights().is_none() && told.notices[0].contains(&words), "{:?}", told.notices);
        }
    }
    for name in ["weight", "Weight"] {
        let table = batch(vec![("src", a.clone()), ("dst", b.clone()), (name, texts(&["x", "y"]))]);
        assert!(refused(&table).contains("expected numbers in the column"), "{}", refused(&table));
        assert!(listed(&format!("src,dst,{name}\n0,1,x\n")).is_err());
    }
}

#[test]
fn a_column_of_pairs_has_an_edge_in_each_row() {
    let mut fixed = FixedSizeListBuilder::new(Int64Builder::new(), 2);
    let mut lists = ListBuilder::new(StringBuilder::new());
    for (a, b) in [(0, 1), (1, 2), (5, 6)] {
        fixed.values().append_slice(&[a, b]);
        fixed.append(true);
        lists.append_value([a, b].map(|id| Some(format!("n{id}"))));
    }
    assert_same(&batch(vec![("edge", Arc::new(fixed.finish()))]), "0,1\n1,2\n5,6\n");
    assert_same(&batch(vec![("edges", Arc::new(lists.finish()))]), "n0,n1\nn1,n2\nn5,n6\n");
    let mut lists = ListBuilder::new(Int64Builder::new());
    lists.append_value([Some(0), Some(1), Some(2)]);
    let error = graphs_of(&batch(vec![("edge_index", Arc::new(lists.finish()))])).unwrap_err().to_string();
    let words = "expected the 2 ids of an edge, found 3 in the column `edge_index` in row 1";
    assert!(error.contains(words), "{error}");
}

#[test]
fn a_missing_end_is_named_and_so_are_missing_edges() {
    let src: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), Some(1), None]));
    let dst = integers(&[1, 2, 0]);
    let error = refused(&batch(vec![("src", src), ("dst", dst.clone())]));
    assert!(
        error.contains("expected a node at each end of an edge, found null in the column `src` in row 3"),
        "{error}"
    );
    let words: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    let error = refused(&batch(vec![("graph", integers(&[4, 5, 5])), ("src", dst.clone()), ("dst", words)]));
    let place = "end of an edge in a graph at place 2, found null in the column `dst` in row 1";
    assert!(error.contains(place), "{error}");
    let error = refused(&batch(vec![("src", dst.clone()), ("dst", dst)]).slice(0, 0));
    assert!(error.contains("expected at least one edge, found none before the end"), "{error}");
}

#[test]
fn what_an_edge_list_refuses_is_refused_in_a_table() {
    let [src, dst] = [texts(&["a", "b"]), texts(&["b", "c"])];
    let ends = || vec![("src", src.clone()), ("dst", dst.clone())];
    let weighted = |weight: Option<f64>| {
        let weights: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), weight]));
        [ends(), vec![("weight", weights)]].concat()
    };
    let empty = |id: &str| vec![("src", src.clone()), ("dst", texts(&["b", id]))];
    let weight = "expected a weight that is finite and not negative, found";
    let node = "expected a node at each end of an edge, found an empty id in the column `dst` in row 2";
    for (columns, lines, words) in [
        (weighted(None), "src,dst,weight\na,b,1\nb,c,\n", format!("{weight} null in the column `weight` in row 2")),
        (
            weighted(Some(f64::NAN)),
            "src,dst,weight\na,b,1\nb,c,nan\n",
            format!("{weight} NaN in the column `weight` in row 2"),
        ),
        (
            weighted(Some(-2.0)),
            "src,dst,weight\na,b,1\nb,c,-2\n",
            format!("{weight} -2 in the column `weight` in row 2"),
        ),
        (empty(""), "src,dst\na,b\nb,\n", node.to_owned()),
        (empty(" "), "src,dst\na,b\nb, \n", node.to_owned()),
    ] {
        let error = refused(&batch(columns));
        assert!(error.contains(&words), "{error}");
        let error = listed(lines).unwrap_err().to_string();
        assert!(error.contains("t.csv:3: expected"), "{error}");
    }
    let graphs = [vec![("graph", integers(&[3, 4]))], weighted(None)].concat();
    let error = refused(&batch(graphs));
    assert!(error.contains("in a graph at place 2, found null in the column `weight` in row 1"), "{error}");
}

#[test]
fn names_of_columns_that_contradict_each_other_are_refused_as_in_an_edge_list() {
    let columns = |names: &[&'static str]| -> Vec<(&'static str, ArrayRef)> {
        (1..).zip(names).map(|(id, name)| (*name, integers(&[id, id + 1]))).collect()
    };
    for (names, words) in [
        (&["source", "dst", "target"][..], "found `dst` and `target` for one column"),
        (&["src", "from", "dst", "weight"], "found `src` and `from` for one column"),
        (&["src", "dst", "value", "score"], "found `value` and `score` for one column"),
        (&["weight", "x", "y"], "found `weight` as column 1"),
        (&["x", "source"], "found `source` as column 2"),
    ] {
        let lines = format!("{}\n{}\n", names.join(","), vec!["1"; names.len()].join(","));
        let both = [refused(&batch(columns(names))), listed(&lines).unwrap_err().to_string()];
        for error in both {
            assert!(error.contains("expected names for the columns of both ids") && error.contains(words), "{error}");
        }
    }
    // A call says which are meant.
    let by = Columns::default().named(Role::Sources, "source").named(Role::Targets, "dst");
    let made = graphs_by(&by, &batch(columns(&["source", "dst", "target"]))).unwrap();
    assert_eq!((made.node_ids, made.graphs.weights()), (Some(NodeIds::Integers(vec![1, 2, 3])), None));
    let by = Columns::default().named(Role::Weights, "score");
    let made = graphs_by(&by, &batch(columns(&["src", "dst", "value", "score"]))).unwrap();
    assert_eq!(made.graphs.weights().map(|weights| weights.at(0)), Some(4.0));
}

#[test]
fn columns_that_have_no_ids_are_refused_with_a_remedy() {
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    let booleans: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let [a, real]: [ArrayRef; 2] = [integers(&[1, 2]), Arc::new(Float64Array::from(vec![0.5, 1.0]))];
    for names in [["src", "dst"], ["u", "v"], ["x", "y"]] {
        for (column, kind) in [(&dates, "Date32"), (&booleans, "Boolean")] {
            let error = refused(&batch(vec![(names[0], a.clone()), (names[1], column.clone())]));
            let words = format!("expected ids of integers or text in the column `{}`, found {kind}", names[1]);
            assert!(error.contains(&words) && error.contains("cast the column to text"), "{error}");
        }
    }
    let by = Columns::default().named(Role::Sources, "x").named(Role::Targets, "y");
    let error = graphs_by(&by, &batch(vec![("x", dates), ("y", a.clone())])).unwrap_err().to_string();
    assert!(error.contains("in the column `x`, found Date32; cast the column to text"), "{error}");
    let advice = "an index is no end of edges: name the columns of both ids src and dst, or drop the index";
    let error = refused(&batch(vec![("Unnamed: 0", a.clone()), ("near", a.clone()), ("far", real.clone())]));
    let words = "found Unnamed: 0 (Int64), near (Int64), far (Float64)";
    assert!(error.contains(words) && error.contains(advice), "{error}");
    let error = refused(&batch(vec![("near", a), ("far", real)]));
    assert!(!error.contains(advice), "{error}");
}

#[test]
fn graphs_that_seem_to_count_from_1_are_counted() {
    // The second graph has no node 0, and the third counts from 1.
    let table = batch(vec![
        ("graph", texts(&["p", "p", "q", "q", "r", "r"])),
        ("src", integers(&[0, 1, 1, 2, 1, 2])),
        ("dst", integers(&[1, 2, 2, 3, 2, 3])),
        ("num_nodes", integers(&[3, 3, 4, 4, 3, 3])),
    ]);
    for (rows, graphs) in [(4, 2), (6, 3)] {
        let table = table.slice(0, rows);
        let data = graphs_of(&table).unwrap();
        assert_eq!(data.node_ids.is_some(), rows == 6);
        assert_eq!(data.isolated(), Isolated { nodes: 1, graphs, from_one: 1 });
        let words = format!("1 node has no edge: in 1 of {graphs} graphs node 0 alone, so ids seem to begin at 1");
        assert!(data.isolated().to_string().starts_with(&words), "{}", data.isolated());
        let told = encoder().encode_parts(&Context::cpu(), &table, |_| Ok(())).unwrap();
        assert_eq!(told, (data.isolated(), data.merged));
    }
    // An edge that is dropped names node 0, too, and without a number of nodes only what is named is a node.
    let of = |ends: [[i64; 3]; 2], more: (&'static str, ArrayRef)| {
        batch(vec![("src", integers(&ends[0])), ("dst", integers(&ends[1])), more])
    };
    let weights = || Arc::new(Float64Array::from(vec![0.0, 1.0, 2.0])) as ArrayRef;
    for table in [
        of([[0, 1, 5], [1, 2, 6]], ("weight", weights())),
        of([[0, 1, 5], [0, 2, 6]], ("num_nodes", integers(&[7; 3]))),
        of([[0, 1, 2], [0, 2, 3]], ("num_nodes", integers(&[4; 3]))),
        of([[1, 2, 3], [2, 3, 4]], ("w", weights())),
    ] {
        let data = graphs_of(&table).unwrap();
        assert_eq!(data.isolated().from_one, 0, "{table:?}");
        assert_eq!(
            encoder().encode_parts(&Context::cpu(), &table, |_| Ok(())).unwrap(),
            (data.isolated(), data.merged)
        );
    }
}

#[test]
fn each_graph_has_its_own_ids_and_the_result_has_them() {
    let table = batch(vec![
        ("graph", texts(&["p", "p", "q"])),
        ("src", integers(&[10, 20, 7])),
        ("dst", integers(&[20, 30, 10])),
    ]);
    let made = encoded(&table).unwrap();
    let names: Vec<String> = made.schema().fields().iter().take(3).map(|field| field.name().clone()).collect();
    assert_eq!(names, ["graph", "node_ids", "eigenvalues"]);
    let ids = |row: usize| made["node_ids"].as_list::<i32>().value(row).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!((ids(0), ids(1)), (vec![10, 20, 30], vec![7, 10]));
    assert_eq!(made["eigenvectors"].as_list::<i32>().value_length(0), 3);
    assert_eq!(graphs_of(&table).unwrap().node_ids, Some(NodeIds::Integers(vec![10, 20, 30, 7, 10])), "in one batch");
    // Of text and of the largest integers, in their own types.
    let made = encoded(&batch(vec![("u", texts(&["b"])), ("v", texts(&["a"]))])).unwrap();
    assert_eq!(made["node_ids"].as_list::<i32>().value(0).as_string::<i32>().value(1), "a");
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
    let made = encoded(&batch(vec![("u", large.clone()), ("v", Arc::new(UInt64Array::from(vec![1])))])).unwrap();
    assert_eq!(made["node_ids"].as_list::<i32>().value(0).as_primitive::<UInt64Type>().values(), &[u64::MAX, 1]);
    // A graph without an encoding has no ids either.
    let made = encoded(&batch(vec![("u", large), ("v", integers(&[1]))])).unwrap();
    assert!(made["node_ids"].is_null(0));
    assert!(text(&made, "error", 0).unwrap().contains("below 2^63"));
}

#[test]
fn a_number_of_nodes_counts_those_without_edges() {
    let of = |ids: [i64; 2], nodes: i64| {
        let columns = [("src", ids[0]), ("dst", ids[1]), ("num_nodes", nodes)];
        encoded(&batch(columns.map(|(name, value)| (name, integers(&[value]))).to_vec())).unwrap()
    };
    let ids =
        |made: &RecordBatch| made["node_ids"].as_list::<i32>().value(0).as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(ids(&of([1, 2], 5)), [0, 1, 2, 3, 4]);
    assert_eq!(ids(&of([1, 5], 5)), [1, 2, 3, 4, 5]);
    assert_eq!(ids(&of([70, 80], 2)), [70, 80]);
    for (ids, nodes) in [([0, 5], 5), ([70, 80], 3), ([-1, 3], 3), ([0, 1], -4), ([0, 1], 1 << 40)] {
        let made = of(ids, nodes);
        let error = text(&made, "error", 0).unwrap();
        assert!(
            error.contains(&format!("expected the ids of {nodes} nodes")) && error.contains("found 2 different ids"),
            "{error}"
        );
    }
    let made = of([0, 1], 1 << 31);
    assert_eq!(text(&made, "status", 0).as_deref(), Some("too large"));
}

#[test]
fn rows_of_lists_keep_the_numbers_of_nodes() {
    let mut lists = ListBuilder::new(Int64Builder::new());
    lists.append_value([Some(1)]);
    let src: ArrayRef = Arc::new(lists.finish());
    let table = batch(vec![("src", src.clone()), ("dst", src)]);
    assert_eq!(graphs_of(&table).unwrap().graphs.nodes(), 2);
    assert!(encoded(&table).unwrap().column_by_name("node_ids").is_none());
    let text_lists = {
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_value([Some("x")]);
        Arc::new(lists.finish()) as ArrayRef
    };
    let table = batch(vec![("src", text_lists.clone()), ("dst", text_lists)]);
    let error = encoded(&table).unwrap_err().to_string();
    assert!(error.contains("expected the columns src and dst of integers"), "{error}");
}

#[test]
fn pairs_are_found_by_the_name_that_a_call_gives() {
    let mut fixed = FixedSizeListBuilder::new(Int64Builder::new(), 2);
    fixed.values().append_slice(&[3, 4]);
    fixed.append(true);
    let table = batch(vec![("link", Arc::new(fixed.finish()))]);
    let by = Encoder::new(SpectralEncoder::new(2)).columns(Columns::default().named(Role::EdgeIndex, "link"));
    let made = by.encode_batch(&Context::cpu(), &table).unwrap();
    assert_eq!(text(&made, "status", 0).as_deref(), Some("converged"));
    assert!(encoder().encode_batch(&Context::cpu(), &table).is_err());
    assert_eq!(added(&made).num_rows(), 1);
}
