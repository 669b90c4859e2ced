//! Tests of graph6, sparse6 and digraph6: lines that nauty and networkx write, faults, and all graphs of up to 8 nodes,
//! which are made here.

use super::{edges, parsed, stream};
use fiedler::graph::{Conventions, Duplicates, GraphBatch, Preset, SelfLoops, Symmetrization};
use fiedler::io::{Format, ReadOptions, read_from};
use fiedler::ops::eigen::eigvalsh;
use fiedler::{Array, Context, ErrorKind, Shape, SpectralEncoder};
use std::collections::{BTreeMap, HashSet};

fn offsets(name: &str, content: &str) -> Vec<usize> {
    parsed(name, content.as_bytes()).graphs.node_offsets().to_vec()
}

/// The edges of a graph, each once.
fn pairs(graphs: &GraphBatch, graph: usize) -> Vec<(usize, usize)> {
    edges(graphs, graph).into_iter().filter(|(row, column, _)| row <= column).map(|(r, c, _)| (r, c)).collect()
}

/// networkx 3.6.1, `to_graph6_bytes` and `to_sparse6_bytes` of a path, a star, a ring of 70 nodes and others.
#[test]
fn a_line_is_a_graph() {
    let lines = ">>graph6<<Di?\n>>sparse6<<:DaX\n?\n@\n\nA_\r\nA?\n:@\n";
    let set = parsed("data", lines.as_bytes());
    assert_eq!((set.format, set.node_ids, set.notices.len()), (Format::Graph6, None, 0));
    assert_eq!(set.graphs.node_offsets(), [0, 5, 10, 10, 11, 13, 15, 16]);
    for graph in [0, 1] {
        assert_eq!(pairs(&set.graphs, graph), [(0, 1), (1, 2), (1, 3)]);
    }
    assert_eq!(pairs(&set.graphs, 4), [(0, 1)]);
    assert_eq!(set.graphs.columns().len(), 14);
    // The example of the specification, its nodes 0 to 6 with the edges 0-1, 0-2, 1-2 and 5-6; and that of graph6.
    let set = parsed("data", b":Fa@x^\nDQc");
    assert_eq!(pairs(&set.graphs, 0), [(0, 1), (0, 2), (1, 2), (5, 6)]);
    assert_eq!(pairs(&set.graphs, 1), [(0, 2), (0, 4), (1, 3), (3, 4)]);
    // The example of digraph6.
    let keep = Preset::Scipy.conventions();
    let set = read_from("data", &b"&DI?AO?\n"[..], &keep, &ReadOptions::default()).unwrap();
    let ends = [(0, 2), (0, 4), (3, 1), (3, 4)].map(|(source, target)| (source, target, 1.0));
    assert_eq!(edges(&set.graphs, 0), ends);
    // The long form of the number of nodes, also where the short one would do.
    assert_eq!(offsets("data", ":~?@E\n"), [0, 70]);
    assert_eq!(offsets("data", "~??A_\n"), [0, 2]);
    assert_eq!(offsets("g.s6", ":~~?????C\n:~~????@?\n"), [0, 4, 68]);
    // The padding of sparse6 where a node may be meant (the exception of the specification), and loops.
    let loops = Conventions { self_loops: SelfLoops::Keep, ..Conventions::default() };
    let set = read_from("data", &b":CCFV\n"[..], &loops, &ReadOptions::default()).unwrap();
    assert_eq!(pairs(&set.graphs, 0), [(0, 0), (0, 1), (2, 3)]);
}

/// networkx 3.6.1, both codes of random graphs of 2 to 33 nodes, among them those whose padding is an exception.
#[test]
fn both_codes_of_a_graph_agree() {
    for (graph6, sparse6) in [
        ("A_", ":An"),
        ("BO", ":Bo"),
        ("Bw", ":BcN"),
        ("CO", ":Co"),
        ("Cf", ":Cf@V"),
        ("DCG", ":DkI"),
        ("DRo", ":DgHI@"),
        ("G??C??", ":GwF"),
        ("GPHD@G", ":GgIiWId"),
        ("HOG??GC", ":HcA_jdj"),
        ("HO@sCo@", ":HcAgPB`?XJ~"),
        ("O???????????????O????", ":O{B"),
        ("OCO?O?CG?_GA?QgM???O?", ":OeALaWJI[SvT?QCi}R"),
        ("P???C?O@???A?A??_?????GO", ":Pf?bdjHikoGL"),
        ("P??O?KQ?K??O?P???B?K??i?", ":PdBfDEbEg_efJmHIdEeGI"),
        (
            "`????_????????A??@????????????O?A??Q????????G?????????????G???G????_????????H??_?????CC??",
            ":`b_xgQTRAO@xImFlCyLI{PIOxXF",
        ),
        (
            "`??O?O?__??C????GC??????????S?SO??@????Q??G?C@?C??`?@???GCG?O??A??PC?????_G?????????A????",
            ":`a_wwQQ?BQpCwAGhA`cOKIeswHEOO`ca{mMMHpBKsaTlP[?Z",
        ),
    ] {
        let graphs = parsed("data", format!("{graph6}\n{sparse6}\n").as_bytes()).graphs;
        assert_eq!(edges(&graphs, 0), edges(&graphs, 1), "{graph6} {sparse6}");
    }
}

/// Files of nauty's programs have no header, and a stream has no name.
#[test]
fn the_first_line_shows_the_format() {
    // Words that are graphs, too: nodes without neighbors in an adjacency list, and the header of a column of numbers.
    let set = parsed("metals.adjlist", b"Cu\nCo\n");
    assert_eq!((set.format, set.graphs.len(), set.graphs.node_offsets()), (Format::AdjacencyList, 1, &[0, 2][..]));
    let error = read_from("h.txt", &b"CO\n1.5\n2.25\n"[..], &Conventions::default(), &ReadOptions::default());
    let error = error.unwrap_err().to_string();
    assert!(!error.contains("graph6, which"), "{error}");
    let problem = read_from("d.col", &b"p edge 3\n"[..], &Conventions::default(), &ReadOptions::default());
    assert!(problem.unwrap_err().to_string().contains("d.col:1"));
    for content in ["A_\n", "@", "&A_\n", ":An\n", "\u{feff}DQc\n", "~?@", "?\n"] {
        let name = if content == "~?@" { "g.g6" } else { "standard input" };
        match stream(name, content.as_bytes()) {
            Ok(set) => assert_eq!(set.format, Format::Graph6, "{content:?}"),
            Err(error) => assert!(error.to_string().contains("begins a line in graph6"), "{error}"),
        }
    }
    // A line that is longer than what is looked at: the complete graph of 300 nodes.
    let long = format!("~?Ck{}\n", "~".repeat(7475));
    assert_eq!(offsets("standard input", &long), [0, 300]);
    for content in ["0 1\n", "a b\nb c\n", "5 3\n0 1\n1 2\n1 3\n", "A,B\n", "# c\nA B\n"] {
        assert_eq!(parsed("data", content.as_bytes()).format, Format::EdgeList, "{content:?}");
    }
}

#[test]
fn faults_are_named_with_their_line() {
    for (content, line, words) in [
        ("A_\nA\n", 2, "expected 1 characters for the edges of 2 nodes in graph6, found 0"),
        ("A_\n\nDi??\n", 3, "expected 2 characters for the edges of 5 nodes in graph6, found 3"),
        ("A_\nD i\n", 2, "graph6, which has characters from '?' to '~', found ' ' as character 2"),
        ("A_\n:D1\n", 2, "sparse6, which has characters from '?' to '~', found '1' as character 3"),
        ("A_\nD\u{e9}\n", 2, "found another byte as character 2"),
        ("A_\nA`\n", 2, "bits of 0 behind the last pair of nodes, found a bit of 1"),
        ("A_\n&A@\n", 2, "bits of 0 behind the last pair of nodes"),
        ("A_\n&A\n", 2, "expected 1 characters for the edges of 2 nodes in digraph6"),
        ("A_\n~?\n", 2, "the number of nodes, which begins a line in graph6, found its end"),
        ("A_\n:\n", 2, "the number of nodes, which begins a line in sparse6"),
        ("A_\n~~~~~~~~\n", 2, "characters for the edges of 68719476735 nodes in graph6, found 0"),
        ("A_\n:~~~~~~~~\n", 2, "expected at most 16777920 nodes for 11 characters, found 68719476737"),
        ("A_\n:D~~~~\n", 2, "edges between the 5 nodes of the line, found node 7"),
        ("A_\n;A_\n", 2, "graph6, sparse6 or digraph6, found incremental sparse6"),
        (";A_\n", 1, "found incremental sparse6, whose lines depend on the lines before; nauty's copyg"),
        ("0 1\n", 1, "graph6, which has characters from '?' to '~'"),
    ] {
        let error = stream("g.g6", content.as_bytes()).map(|set| set.graphs).expect_err(content);
        let ErrorKind::Parse { line: at, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(*at, Some(line), "{error}");
        assert!(error.to_string().contains(words), "{error} does not say {words:?}");
    }
    let error = stream("g.g6", b"").map(|set| set.graphs).unwrap_err().to_string();
    assert!(error.contains("a graph in each line, as graph6, sparse6 and digraph6 have it, found an empty"), "{error}");
    // Lines that claim nodes without end: all of them together are limited.
    let claims = ":~?~~\n".repeat(20_000);
    assert!(stream("g.s6", claims.as_bytes()).is_err());
}

/// An edge of an undirected graph counts in both directions, and once where the conventions add them up.
#[test]
fn edges_count_in_both_directions() {
    let sum =
        Conventions { symmetrization: Symmetrization::Sum, self_loops: SelfLoops::Keep, ..Conventions::default() };
    let read = |content: &str, conventions: &Conventions| {
        read_from("g.s6", content.as_bytes(), conventions, &ReadOptions::default()).map(|set| set.graphs)
    };
    for conventions in [Conventions::default(), Preset::Scipy.conventions(), sum] {
        assert_eq!(edges(&read("A_\n", &conventions).unwrap(), 0), [(0, 1, 1.0), (1, 0, 1.0)]);
    }
    assert_eq!(edges(&read(":CCFV\n", &sum).unwrap(), 0)[0], (0, 0, 1.0));
    // Parallel edges and one-way edges, which some conventions refuse, are named by their graph and their line.
    let once = Conventions { duplicates: Duplicates::Error, ..Conventions::default() };
    let error = read("A_\n:CCFV\n", &once).unwrap_err().to_string();
    let want =
        "g.s6:2: expected each edge once, found the edge from node 0 to node 1 (graph 1) 2 times, on lines 2 and 2";
    assert_eq!(error, want);
    let both = Conventions { symmetrization: Symmetrization::Error, ..Conventions::default() };
    let error = read("A_\n&AO\n", &both).unwrap_err().to_string();
    assert!(
        error.contains("g.s6:2: expected each edge with its reverse, found the edge from node 0 to node 1 (graph 1)"),
        "{error}"
    );
}

/// A graph of up to 8 nodes: the neighbors of each node as bits.
type Small = Vec<u8>;

/// Returns the graph6 code of the graph whose nodes have this order.
fn code(graph: &Small, order: &[usize]) -> u32 {
    let mut code = 0;
    for column in 1..order.len() {
        for row in 0..column {
            code = code << 1 | u32::from(graph[order[column]] >> order[row] & 1);
        }
    }
    code
}

/// Returns the smallest code among the orders that keep nodes sorted by a color that isomorphisms preserve.
fn canonical(graph: &Small) -> u32 {
    let neighbors = |node: usize| (0..graph.len()).filter(move |&other| graph[node] >> other & 1 == 1);
    let mix = |x: u64| (x ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(29);
    let mut colors = vec![1_u64; graph.len()];
    for _ in 0..4 {
        let sum =
            |node| neighbors(node).fold(mix(colors[node]), |sum, other| sum.wrapping_add(mix(mix(colors[other]))));
        colors = (0..graph.len()).map(sum).collect();
    }
    let mut order: Vec<usize> = (0..graph.len()).collect();
    order.sort_by_key(|&node| colors[node]);
    let mut least = u32::MAX;
    permute(&mut order, 0, &colors, &mut |order| least = least.min(code(graph, order)));
    least
}

/// Calls `visit` with every order that exchanges nodes of the same color from place `at` on.
fn permute(order: &mut Vec<usize>, at: usize, colors: &[u64], visit: &mut dyn FnMut(&[usize])) {
    if at == order.len() {
        return visit(order);
    }
    for other in at..order.len() {
        if colors[order[other]] == colors[order[at]] {
            order.swap(at, other);
            permute(order, at + 1, colors, visit);
            order.swap(at, other);
        }
    }
}

/// Returns all graphs of each number of nodes up to `most`, one of each class of isomorphic graphs: those of one node
/// less with another node, whose neighbors are every set of nodes.
fn graphs(most: usize) -> Vec<Vec<Small>> {
    let mut all: Vec<Vec<Small>> = vec![vec![vec![]]];
    for nodes in 1..=most {
        let (mut seen, mut found) = (HashSet::new(), Vec::new());
        for smaller in &all[nodes - 1] {
            for set in 0..1_u16 << (nodes - 1) {
                let mut graph = smaller.clone();
                for (node, row) in graph.iter_mut().enumerate() {
                    *row |= u8::try_from(set >> node & 1).unwrap() << (nodes - 1);
                }
                graph.push(u8::try_from(set).unwrap());
                if seen.insert(canonical(&graph)) {
                    found.push(graph);
                }
            }
        }
        all.push(found);
    }
    all
}

fn is_connected(graph: &Small) -> bool {
    let mut reached = 1_u8;
    for _ in 0..graph.len() {
        reached = graph
            .iter()
            .enumerate()
            .filter(|(node, _)| reached >> node & 1 == 1)
            .fold(reached, |all, (_, row)| all | row);
    }
    reached.count_ones() as usize == graph.len()
}

fn graph6(graph: &Small) -> String {
    let pairs = graph.len() * graph.len().saturating_sub(1) / 2;
    let order: Vec<usize> = (0..graph.len()).collect();
    let bits = u64::from(code(graph, &order)) << (pairs.next_multiple_of(6) - pairs);
    let digits = (0..pairs.div_ceil(6)).rev().map(|place| (bits >> (6 * place) & 63) as u8);
    let first = u8::try_from(graph.len()).unwrap();
    [first].into_iter().chain(digits).map(|digit| char::from(digit + 63)).collect()
}

/// Every graph of up to 8 nodes is read as it is, and the 11,117 connected ones of 8 nodes are encoded in one call.
#[test]
fn all_small_graphs_are_read_and_encoded() {
    let all = graphs(8);
    let counts: Vec<usize> = all.iter().map(Vec::len).collect();
    // The numbers of graphs and of connected graphs, sequences A000088 and A001349 of the OEIS.
    assert_eq!(counts, [1, 1, 2, 4, 11, 34, 156, 1044, 12346]);
    let connected: Vec<Vec<&Small>> =
        all.iter().map(|own| own.iter().filter(|graph| is_connected(graph)).collect()).collect();
    let counts: Vec<usize> = connected[1..].iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 1, 2, 6, 21, 112, 853, 11117]);
    let lines: String = all.iter().flatten().map(|graph| graph6(graph) + "\n").collect();
    let set = parsed("all.g6", lines.as_bytes());
    for (graph, small) in set.graphs.iter().zip(all.iter().flatten()) {
        let rows: Small =
            (0..graph.nodes()).map(|row| graph.neighbors(row).iter().fold(0, |all, &node| all | 1 << node)).collect();
        assert_eq!(&rows, small);
    }
    let lines: String = connected[8].iter().map(|graph| graph6(graph) + "\n").collect();
    let set = parsed("standard input", lines.as_bytes());
    assert_eq!((set.graphs.len(), set.graphs.nodes()), (11117, 8 * 11117));
    let encoding = SpectralEncoder::new(8).encode(&Context::cpu(), &set.graphs).unwrap();
    // The eigenvalue 0 is simple in a connected graph, and those of the symmetric Laplacian sum to the number of nodes.
    for values in encoding.eigenvalues.chunks(8) {
        assert!(values[0].abs() < 1e-6 && values[1] > 1e-2, "{values:?}");
        assert!((values.iter().sum::<f32>() - 8.0).abs() < 1e-4, "{values:?}");
    }
}

/// Connected graphs whose eigenvalues are integers (A064731), and graphs that share their spectrum with another
/// (A006608).
#[test]
fn integral_and_cospectral_graphs_are_as_many_as_published() {
    let (mut integral, mut cospectral) = (Vec::new(), Vec::new());
    for (nodes, all) in graphs(7).into_iter().enumerate().skip(1) {
        let lines: String = all.iter().map(|graph| graph6(graph) + "\n").collect();
        let batch = parsed("g.g6", lines.as_bytes()).graphs;
        let dense = batch.iter().flat_map(|graph| {
            (0..nodes).flat_map(move |row| {
                (0..nodes).map(move |column| f64::from(u8::from(graph.row(row).any(|(own, _)| own == column))))
            })
        });
        let dense = Array::from_vec(Shape::new(nodes, nodes, all.len()), dense.collect()).unwrap();
        let ctx = Context::cpu();
        let values = eigvalsh(&ctx, &dense).unwrap().values.to_host(&ctx).unwrap();
        let spectra: Vec<&[f64]> = values.as_slice().chunks(nodes).collect();
        let is_integral = |own: &[f64]| own.iter().all(|value| (value - value.round()).abs() < 1e-9);
        integral.push(spectra.iter().zip(&all).filter(|(own, graph)| is_connected(graph) && is_integral(own)).count());
        let mut classes: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
        for own in spectra {
            *classes.entry(own.iter().map(|value| (value * 1e7).round() as i64).collect()).or_default() += 1;
        }
        cospectral.push(classes.values().filter(|&&count| count > 1).sum::<usize>());
    }
    assert_eq!(integral, [1, 1, 1, 2, 3, 6, 7]);
    assert_eq!(cospectral, [0, 0, 0, 0, 2, 10, 110]);
}

/// Every byte of a file may be missing or changed: it is refused, or read as other graphs.
#[test]
fn damaged_lines_are_read_without_panic() {
    let content = b">>graph6<<Di?\n:DaX\n&DI?AO?\n~?@E@\n:~?@E\nA_\n:CCFV\n";
    for end in 0..content.len() {
        drop(stream("g.g6", &content[..end]));
        for bit in 0..8 {
            let mut changed = content.to_vec();
            changed[end] ^= 1 << bit;
            drop(stream("g.g6", &changed));
            drop(stream("data", &changed));
        }
    }
}

/// How fast the connected graphs of 8 nodes are read: `cargo test --test host -- --ignored rate --nocapture`. The file
/// `connected8.g6` that it leaves is for other programs.
#[test]
#[ignore = "a measurement"]
fn rate() {
    let all = graphs(8);
    let lines: String = all[8].iter().filter(|graph| is_connected(graph)).map(|graph| graph6(graph) + "\n").collect();
    std::fs::write(std::env::temp_dir().join("connected8.g6"), &lines).unwrap();
    for copies in [1, 100] {
        let lines = lines.repeat(copies);
        let began = std::time::Instant::now();
        let graphs = parsed("g.g6", lines.as_bytes()).graphs;
        let seconds = began.elapsed().as_secs_f64();
        println!("{} graphs in {seconds:.4} s, {:.0} a second", graphs.len(), graphs.len() as f64 / seconds);
        if copies == 1 {
            let (ctx, began) = (Context::cpu(), std::time::Instant::now());
            SpectralEncoder::new(8).encode(&ctx, &graphs).unwrap();
            println!("encoded in {:.4} s", began.elapsed().as_secs_f64());
        }
    }
}
