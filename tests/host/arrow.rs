//! Tests of tables: every form in which they list graphs, rows that are no graphs, and files.

mod files;
mod ids;

use arrow_array::builder::{FixedSizeListBuilder, Int32Builder, Int64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int32Array, Int64Array, LargeListArray, ListArray, RecordBatch, StringArray,
    UInt16Array,
};
use fiedler::arrow::{Columns, Encoder, FeatureEncoder, Role, Runs, batches_of, read};
use fiedler::encode::SpectralEncoder;
use fiedler::features::Representation;
use fiedler::graph::{Conventions, Graph, GraphBatch, Symmetrization, molecules};
use fiedler::io::Format;
use fiedler::{Backend, Context, Result};
use std::sync::Arc;

type Edges<'a> = &'a [(i64, i64)];

/// A triangle with a tail, a single edge between five nodes, and no edges.
const GRAPHS: [(i64, Edges<'static>); 3] = [(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]), (5, &[(0, 4)]), (2, &[])];

fn lists(items: &[&[i64]]) -> ListArray {
    let mut lists = ListBuilder::new(Int64Builder::new());
    items.iter().for_each(|item| lists.append_value(item.iter().copied().map(Some)));
    lists.finish()
}

fn ends(graphs: &[(i64, Edges<'_>)]) -> [Vec<Vec<i64>>; 2] {
    let of = |pick: fn(&(i64, i64)) -> i64| graphs.iter().map(|(_, edges)| edges.iter().map(pick).collect()).collect();
    [of(|edge| edge.0), of(|edge| edge.1)]
}

fn column(lists_of: &[Vec<i64>]) -> ListArray {
    lists(&lists_of.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn counts(graphs: &[(i64, Edges<'_>)]) -> ArrayRef {
    Arc::new(graphs.iter().map(|(nodes, _)| Some(*nodes)).collect::<Int64Array>())
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn table(graphs: &[(i64, Edges<'_>)]) -> RecordBatch {
    let [src, dst] = ends(graphs);
    batch(vec![("src", Arc::new(column(&src))), ("dst", Arc::new(column(&dst))), ("num_nodes", counts(graphs))])
}

fn encoder() -> Encoder {
    Encoder::new(SpectralEncoder::new(3))
}

fn encoded(table: &RecordBatch) -> Result<RecordBatch> {
    encoder().encode_batch(&Context::cpu(), table)
}

/// The columns that were added.
fn added(made: &RecordBatch) -> RecordBatch {
    let from = made.schema().index_of("eigenvalues").unwrap();
    made.project(&(from..made.num_columns()).collect::<Vec<_>>()).unwrap()
}

fn text(made: &RecordBatch, name: &str, row: usize) -> Option<String> {
    let column = made[name].as_string::<i32>();
    column.is_valid(row).then(|| column.value(row).to_owned())
}

#[test]
fn every_form_lists_the_same_graphs() {
    let want = added(&encoded(&table(&GRAPHS)).unwrap());
    let [src, dst] = ends(&GRAPHS);
    // Two lists in one column, as PyTorch Geometric has an edge_index.
    let mut index = ListBuilder::new(ListBuilder::new(Int64Builder::new()));
    // A list of pairs.
    let mut pairs = ListBuilder::new(FixedSizeListBuilder::new(Int32Builder::new(), 2));
    for (src, dst) in src.iter().zip(&dst) {
        for end in [src, dst] {
            index.values().append_value(end.iter().copied().map(Some));
        }
        index.append(true);
        for (&a, &b) in src.iter().zip(dst) {
            pairs.values().values().append_slice(&[a, b].map(|end| i32::try_from(end).unwrap()));
            pairs.values().append(true);
        }
        pairs.append(true);
    }
    let large = |column: &ListArray| -> ArrayRef {
        let offsets = column.value_offsets().iter().map(|&offset| i64::from(offset)).collect::<Vec<_>>();
        let field = arrow_schema::Field::new_list_field(arrow_schema::DataType::Int64, true);
        Arc::new(LargeListArray::new(
            Arc::new(field),
            arrow_buffer::OffsetBuffer::new(offsets.into()),
            column.values().clone(),
            None,
        ))
    };
    let (src, dst) = (column(&src), column(&dst));
    let small = |column: &ListArray| -> ArrayRef {
        let values = column.values().as_primitive::<Int64Type>().iter().map(|v| v.map(|v| u16::try_from(v).unwrap()));
        let field = arrow_schema::Field::new_list_field(arrow_schema::DataType::UInt16, true);
        Arc::new(ListArray::new(
            Arc::new(field),
            column.offsets().clone(),
            Arc::new(values.collect::<UInt16Array>()),
            None,
        ))
    };
    let n = || ("num_nodes", counts(&GRAPHS));
    for (form, table) in [
        ("edge_index", batch(vec![("edge_index", Arc::new(index.finish())), n()])),
        ("pairs", batch(vec![("edge_index", Arc::new(pairs.finish())), n()])),
        ("large lists", batch(vec![("src", large(&src)), ("dst", large(&dst)), n()])),
        ("16 bits", batch(vec![("source", small(&src)), ("target", small(&dst)), n()])),
    ] {
        assert_eq!(added(&encoded(&table).unwrap()), want, "{form}");
    }
    // Columns by other names, and integers that the names alone would not make a table of.
    let named = batch(vec![("a", Arc::new(src.clone())), ("b", Arc::new(dst.clone())), ("c", counts(&GRAPHS))]);
    let columns = Columns::default().named(Role::Sources, "a").named(Role::Targets, "b").named(Role::NodeCount, "c");
    let made = encoder().columns(columns).encode_batch(&Context::cpu(), &named).unwrap();
    assert_eq!(added(&made), want);
    // Rows of a slice begin elsewhere in the same memory.
    assert_eq!(added(&encoded(&table(&GRAPHS).slice(1, 2)).unwrap()), want.slice(1, 2));
    // Without the number of nodes, it is that of the largest node and one.
    let alone = batch(vec![("src", Arc::new(src)), ("dst", Arc::new(dst))]);
    let made = encoded(&alone).unwrap();
    assert_eq!(added(&made).slice(0, 2), want.slice(0, 2));
    assert_eq!(made["eigenvectors"].as_list::<i32>().value_length(2), 0);
}

fn long(rows: &[(&str, i64, i64, f64)]) -> RecordBatch {
    batch(vec![
        ("graph", Arc::new(rows.iter().map(|row| Some(row.0)).collect::<StringArray>())),
        ("src", Arc::new(rows.iter().map(|row| Some(row.1)).collect::<Int64Array>())),
        ("dst", Arc::new(rows.iter().map(|row| Some(row.2)).collect::<Int64Array>())),
        ("weight", Arc::new(rows.iter().map(|row| Some(row.3)).collect::<Float64Array>())),
    ])
}

const LONG: [(&str, i64, i64, f64); 6] =
    [("b", 0, 1, 1.0), ("b", 1, 2, 2.0), ("b", 2, 0, 1.0), ("a", 0, 1, 1.0), ("c", 1, 0, 1.0), ("c", 2, 1, 0.5)];

#[test]
fn a_table_of_edges_has_a_row_for_each_graph() {
    let made = encoded(&long(&LONG)).unwrap();
    assert_eq!(made["graph"].as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["b", "a", "c"]);
    let conventions = Conventions::default();
    for (row, (nodes, edges)) in
        [(3, &[(0, 1, 1.0), (1, 2, 2.0), (2, 0, 1.0)][..]), (2, &[(0, 1, 1.0)]), (3, &[(1, 0, 1.0), (2, 1, 0.5)])]
            .into_iter()
            .enumerate()
    {
        let graph = Graph::from_weighted_edges(nodes, edges, &conventions).unwrap();
        let encoding = SpectralEncoder::new(3).encode(&Context::cpu(), &graph.into()).unwrap();
        let values = made["eigenvalues"].as_list::<i32>().value(row);
        let values: Vec<f32> = values.as_primitive::<Float32Type>().iter().flatten().collect();
        assert_eq!(values, encoding.eigenvalues(0)[..nodes.min(3)]);
    }
    // Without a column `graph`, the table is one graph.
    let one = long(&LONG[..3]).project(&[1, 2, 3]).unwrap();
    let made_of_one = encoded(&one).unwrap();
    assert_eq!(made_of_one.num_rows(), 1);
    assert_eq!(added(&made_of_one), added(&made).slice(0, 1));
}

#[test]
fn counts_may_be_floats_names_dictionaries_and_lists_all_null() {
    // pandas makes floats of integers if some are missing.
    let [src, dst] = ends(&GRAPHS);
    let (src, dst): (ArrayRef, ArrayRef) = (Arc::new(column(&src)), Arc::new(column(&dst)));
    let made = |nodes: [f64; 3]| {
        let nodes: ArrayRef = Arc::new(Float64Array::from(nodes.to_vec()));
        encoded(&batch(vec![("src", src.clone()), ("dst", dst.clone()), ("num_nodes", nodes)])).unwrap()
    };
    let want = added(&encoded(&table(&GRAPHS)).unwrap());
    assert_eq!(added(&made([4.0, 5.0, 2.0])), want);
    assert_eq!(added(&made([f64::NAN, f64::NAN, 2.0])), want);
    assert!(text(&made([4.5, 5.0, 2.0]), "error", 0).unwrap().contains("a whole number, found 4.5"));
    // Of a table of edges, the count is missing in every row, or the same in all rows of a graph.
    let nodes = |count: f64| {
        let nodes: ArrayRef = Arc::new(Float64Array::from(vec![count; LONG.len()]));
        let rows = long(&LONG);
        let columns = ["graph", "src", "dst", "weight"].map(|name| (name, rows[name].clone()));
        encoded(&batch([&columns[..], &[("num_nodes", nodes)]].concat())).unwrap()
    };
    assert_eq!(added(&nodes(f64::NAN)), added(&encoded(&long(&LONG)).unwrap()));
    assert_eq!(nodes(3.0)["components"].as_primitive::<Int64Type>().values(), &[1, 2, 1]);
    // Text is often a dictionary.
    let rows = long(&LONG);
    let names: arrow_array::DictionaryArray<arrow_array::types::Int32Type> = LONG.iter().map(|row| row.0).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("graph", Arc::new(names)),
        ("src", rows["src"].clone()),
        ("dst", rows["dst"].clone()),
        ("weight", rows["weight"].clone()),
    ];
    assert_eq!(added(&encoded(&batch(columns)).unwrap()), added(&encoded(&rows).unwrap()));
    // A partition without rows, or without edges, has columns of no type.
    let none = |rows: usize| -> ArrayRef { Arc::new(arrow_array::NullArray::new(rows)) };
    assert_eq!(encoded(&batch(vec![("src", none(0)), ("dst", none(0))])).unwrap().num_rows(), 0);
    let nulls = encoded(&batch(vec![("src", none(2)), ("dst", none(2))])).unwrap();
    assert!(text(&nulls, "error", 1).unwrap().contains("found null"));
    let field = Arc::new(arrow_schema::Field::new_list_field(arrow_schema::DataType::Null, true));
    let empty = |_: usize| -> ArrayRef {
        let offsets = arrow_buffer::OffsetBuffer::from_lengths([0, 0]);
        Arc::new(ListArray::new(Arc::clone(&field), offsets, none(0), None))
    };
    let nodes: ArrayRef = Arc::new(Int64Array::from(vec![3, 1]));
    let made = encoded(&batch(vec![("src", empty(0)), ("dst", empty(1)), ("num_nodes", nodes)])).unwrap();
    assert_eq!(made["components"].as_primitive::<Int64Type>().values(), &[3, 1]);
}

#[test]
fn a_stream_of_edges_is_cut_at_graphs_alone() {
    let whole = encoded(&long(&LONG)).unwrap();
    for cut in 0..=LONG.len() {
        for second in cut..=LONG.len() {
            let mut runs = Runs::new(Columns::default());
            let mut parts = Vec::new();
            for rows in [&LONG[..cut], &LONG[cut..second], &LONG[second..]] {
                parts.extend(runs.push(long(rows)).unwrap());
            }
            parts.extend(runs.finish().unwrap());
            let made: Vec<_> = parts.iter().map(|part| encoded(part).unwrap()).collect();
            let mut row = 0;
            for part in made {
                assert_eq!(part, whole.slice(row, part.num_rows()), "cut at {cut} and {second}");
                row += part.num_rows();
            }
            assert_eq!(row, 3, "cut at {cut} and {second}");
        }
    }
    let again = [&LONG[..], &[("b", 0, 1, 1.0)]].concat();
    let error = encoded(&long(&again)).unwrap_err().to_string();
    assert!(error.contains("consecutive rows") && error.contains("graph \"b\" again"), "{error}");
    let mut runs = Runs::new(Columns::default());
    runs.push(long(&LONG)).unwrap();
    let error = runs.push(long(&[("b", 0, 1, 1.0)])).unwrap_err().to_string();
    assert!(error.contains("graph \"b\" again"), "{error}");
}

#[test]
fn a_row_that_is_no_graph_says_why_and_spoils_no_other() {
    let good: Edges<'_> = &[(0, 1), (1, 2)];
    let bad: [(i64, Edges<'_>, &str, &str); 5] = [
        (2, &[(0, 1), (1, 2)], "bad input", "an edge names node 2, and the graph has 2 nodes"),
        (3, &[(0, -1)], "bad input", "count from 0, found -1"),
        (-4, &[], "bad input", "expected from 0 to 4294967295 nodes, found -4"),
        (1 << 40, &[(0, 1)], "bad input", "found 1099511627776"),
        (1 << 31, &[(0, 1)], "too large", "the memory budget allows"),
    ];
    let mut rows = vec![(3, good)];
    bad.iter().for_each(|row| rows.extend([(row.0, row.1), (3, good)]));
    let made = encoded(&table(&rows)).unwrap();
    let want = added(&encoded(&table(&[(3, good)])).unwrap());
    for (i, (_, _, status, why)) in bad.iter().enumerate() {
        assert_eq!(text(&made, "status", 2 * i + 1).as_deref(), Some(*status));
        let error = text(&made, "error", 2 * i + 1).unwrap();
        assert!(error.contains(why), "{error}");
        for name in ["eigenvalues", "eigenvectors", "residual", "components"] {
            assert!(made[name].is_null(2 * i + 1), "{name}");
        }
        assert_eq!(added(&made).slice(2 * i + 2, 1), want);
    }
    assert_eq!(added(&made).slice(0, 1), want);
}

#[test]
fn nulls_and_lists_that_do_not_fit_are_faults_of_their_row() {
    let mut src = ListBuilder::new(Int64Builder::new());
    let mut dst = ListBuilder::new(Int64Builder::new());
    let mut weight = ListBuilder::new(arrow_array::builder::Float32Builder::new());
    src.append_value([Some(0)]);
    dst.append_value([Some(1)]);
    weight.append_null(); // every edge weighs 1
    src.append_null();
    dst.append_value([Some(1)]);
    weight.append_null();
    src.append_value([Some(0), Some(1)]);
    dst.append_value([Some(1)]);
    weight.append_null();
    src.append_value([Some(0), None]);
    dst.append_value([Some(1), Some(2)]);
    weight.append_null();
    src.append_value([Some(0)]);
    dst.append_value([Some(1)]);
    weight.append_value([Some(1.0), Some(2.0)]);
    src.append_value([Some(0)]);
    dst.append_value([Some(1)]);
    weight.append_value([Some(f32::NAN)]);
    src.append_value([Some(0)]);
    dst.append_value([Some(1)]);
    weight.append_value([Some(-2.0)]);
    let columns: Vec<(&str, ArrayRef)> =
        vec![("src", Arc::new(src.finish())), ("dst", Arc::new(dst.finish())), ("weight", Arc::new(weight.finish()))];
    let made = encoded(&batch(columns)).unwrap();
    assert_eq!((text(&made, "status", 0).as_deref(), text(&made, "error", 0)), (Some("converged"), None));
    for (row, why) in [
        (1, "expected a list of edges, found null"),
        (2, "as many targets as sources, found 1 and 2"),
        (3, "a node at each end of an edge, found null"),
        (4, "a weight for each of 1 edges, found 2"),
        (5, "finite and not negative, found NaN at (0, 1)"),
        (6, "finite and not negative, found -2 at (0, 1)"),
    ] {
        let error = text(&made, "error", row).unwrap_or_default();
        assert!(error.contains(why), "row {row}: {error}");
    }
}

#[test]
fn what_the_conventions_or_the_budget_refuse_is_a_fault_of_its_row() {
    let conventions = Conventions { symmetrization: Symmetrization::Error, ..Conventions::default() };
    let both: Edges<'_> = &[(0, 1), (1, 0)];
    let rows = table(&[(2, both), (2, &[(0, 1)]), (2, both)]);
    let made = encoder().conventions(conventions).encode_batch(&Context::cpu(), &rows).unwrap();
    assert_eq!(text(&made, "status", 1).as_deref(), Some("bad input"));
    assert!(text(&made, "error", 1).unwrap().contains("its reverse 0"));
    assert_eq!(added(&made).slice(0, 1), added(&made).slice(2, 1));
    // A graph of 200 nodes takes more than a megabyte if it is decomposed whole.
    let edges: Vec<(i64, i64)> = (0..199).map(|node| (node, node + 1)).collect();
    let exact = Encoder::new(SpectralEncoder::new(3).method(fiedler::encode::Method::Exact));
    let ctx = Context::builder().backend(Backend::Cpu).memory_budget(1 << 20).build().unwrap();
    let made = exact.encode_batch(&ctx, &table(&[(2, both), (200, &edges), (2, both)])).unwrap();
    assert_eq!(text(&made, "status", 1).as_deref(), Some("too large"));
    assert_eq!(text(&made, "status", 2).as_deref(), Some("converged"));
}

#[test]
fn tables_without_graphs_are_refused_in_words() {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let ends: ArrayRef = Arc::new(lists(&[&[0]]));
    let real: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let refused = |columns: Vec<(&str, ArrayRef)>| encoded(&batch(columns)).unwrap_err().to_string();
    for (columns, why) in [
        (
            vec![("id", numbers.clone())],
            "expected the columns src and dst of integers, of text or of lists of integers, or edge_index; found id (Int32)",
        ),
        (vec![("a", real.clone()), ("b", real.clone())], "found a (Float64), b (Float64)"),
        (vec![("src", ends.clone()), ("dst", numbers.clone())], "expected the columns src and dst"),
        (vec![("src", ends.clone()), ("dst", ends.clone()), ("status", words.clone())], "expected no column `status`"),
    ] {
        let error = refused(columns);
        assert!(error.contains(why), "{error}");
    }
    let named = |columns: Columns| {
        encoder().columns(columns).encode_batch(&Context::cpu(), &table(&GRAPHS)).unwrap_err().to_string()
    };
    let error = named(Columns::default().named(Role::Weights, "w"));
    assert!(error.contains("expected a column `w`, found src, dst, num_nodes"), "{error}");
    let error = named(Columns::default().named(Role::Weights, "num_nodes"));
    assert!(error.contains("expected lists of numbers in the column `num_nodes`, found Int64"), "{error}");
    let error = named(Columns::default().named(Role::Sources, "nope"));
    assert!(error.contains("expected a column `nope`, found src, dst, num_nodes"), "{error}");
    // A column that is found by its name alone has to be of a type that fits, or graphs would be merged in silence.
    let one: ArrayRef = Arc::new(Int64Array::from(vec![0]));
    let long = |more: (&'static str, ArrayRef)| vec![("src", one.clone()), ("dst", one.clone()), more];
    for (columns, why) in [
        (long(("graph", real.clone())), "expected integers or text in the column `graph`, found Float64"),
        (long(("weight", words.clone())), "expected numbers in the column `weight`, found Utf8"),
        (long(("num_nodes", words.clone())), "expected integers in the column `num_nodes`, found Utf8"),
    ] {
        let error = refused(columns);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn the_schema_is_known_before_and_says_how_it_was_computed() {
    let (ctx, table) = (Context::cpu(), table(&GRAPHS));
    for encoder in [
        encoder(),
        encoder().fixed_size(true),
        encoder().in_f64(true),
        encoder().with_edges(false),
        Encoder::new(SpectralEncoder::new(0)),
        Encoder::new(SpectralEncoder::new(2).walk_steps(4)).fixed_size(true),
    ] {
        let made = encoder.encode_batch(&ctx, &table).unwrap();
        assert_eq!(made.schema(), encoder.schema(&ctx, &table.schema()).unwrap());
        let none = encoder.encode_batch(&ctx, &table.slice(0, 0)).unwrap();
        assert_eq!((none.schema(), none.num_rows()), (made.schema(), 0));
        for key in ["version", "numerics", "settings", "side", "adapter", "simd"] {
            assert!(made.schema().metadata().contains_key(&format!("fiedler.{key}")), "{key}");
        }
    }
    assert_eq!(encoder().with_edges(false).encode_batch(&ctx, &table).unwrap().schema().field(0).name(), "num_nodes");
    let wide = encoder().in_f64(true).encode_batch(&ctx, &table).unwrap();
    let values = wide["eigenvalues"].as_list::<i32>().value(1);
    assert_eq!(values.as_primitive::<Float64Type>().value(0), 0.0);
}

#[test]
fn graphs_are_the_same_from_a_table() {
    let graphs = molecules(30, 4).unwrap();
    let batches: Vec<RecordBatch> = batches_of(&graphs, None).collect::<Result<_>>().unwrap();
    let schema = batches[0].schema();
    let conventions = Conventions::default();
    let again = |batches: Vec<RecordBatch>| {
        read("set.parquet".as_ref(), &schema, batches.into_iter().map(Ok), &Columns::default(), &conventions)
    };
    let data = again(vec![batches[0].slice(0, 11), batches[0].slice(11, 19)]).unwrap();
    assert_eq!((data.graphs, data.format, data.name.as_str()), (graphs, Format::Table, "set"));
    let bad = table(&[(2, &[(0, 1)]), (1, &[(0, 1)])]);
    let error = read("set.parquet".as_ref(), &bad.schema(), [Ok(bad)].into_iter(), &Columns::default(), &conventions);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("set.parquet") && error.contains("place 2") && error.contains("names node 1"), "{error}");
    let none = again(Vec::new()).unwrap();
    assert_eq!(none.graphs.len(), 0);
}

#[test]
fn features_of_rows_do_not_depend_on_their_batch() {
    let ctx = Context::cpu();
    let mut series = ListBuilder::new(arrow_array::builder::Float64Builder::new());
    for row in 0..40_i32 {
        series.append_value((0..3 + row % 7).map(|i| Some(f64::from((row * 31 + i * 17) % 23))));
    }
    series.append_null();
    let ids: ArrayRef = Arc::new((0..41).map(Some).collect::<Int32Array>());
    let columns: Vec<(&str, ArrayRef)> = vec![("id", ids), ("x", Arc::new(series.finish()))];
    let table = batch(columns);
    let encoder = FeatureEncoder::new(Representation::parse_list("moments(columns=['mean', 'sd'])").unwrap()).unwrap();
    let whole = encoder.features_batch(&ctx, &table).unwrap();
    for cut in [1, 13, 40] {
        let parts = [table.slice(0, cut), table.slice(cut, 41 - cut)];
        let [a, b] = parts.map(|part| encoder.features_batch(&ctx, &part).unwrap());
        assert_eq!((whole.slice(0, cut), whole.slice(cut, 41 - cut)), (a, b));
    }
    let mean = whole["moments.mean"].as_primitive::<Float32Type>();
    assert_eq!(mean.value(0), (0.0 + 17.0 + 11.0) / 3.0);
    assert_eq!((mean.is_null(40), text(&whole, "status", 40).as_deref()), (true, Some("bad input")));
    assert_eq!(text(&whole, "status", 0).as_deref(), Some("ok"));

    let of_graphs = FeatureEncoder::new(Representation::parse_list("graph(top=2, walks=2)").unwrap()).unwrap();
    let rows = self::table(&[(3, &[(0, 1), (1, 2)]), (2, &[(0, 5)]), (2, &[(0, 1)])]);
    let made = of_graphs.features_batch(&ctx, &rows).unwrap();
    assert!(text(&made, "error", 1).unwrap().contains("names node 5"));
    assert_eq!(made.slice(2, 1), of_graphs.features_batch(&ctx, &rows.slice(2, 1)).unwrap());
    let graphs = GraphBatch::from(Graph::from_edges(3, &[(0, 1), (1, 2)], &Conventions::default()).unwrap());
    let extractor =
        fiedler::features::GraphExtractor::new(Representation::parse_list("graph(top=2, walks=2)").unwrap());
    let extracted = extractor.unwrap().extract(&ctx, &graphs, |_| ()).unwrap();
    for (name, value) in extracted.names().iter().zip(extracted.row(0)) {
        assert_eq!(made[name.as_str()].as_primitive::<Float32Type>().value(0).to_bits(), value.to_bits(), "{name}");
    }
    let error = of_graphs.features_batch(&ctx, &table).unwrap_err().to_string();
    assert!(error.contains("expected the columns src and dst"), "{error}");
    assert!(
        FeatureEncoder::new(Representation::parse_list("moments(columns=['mean']),graph(top=1)").unwrap()).is_err()
    );
}
