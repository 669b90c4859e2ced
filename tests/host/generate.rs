//! Tests of generated graphs: their structure, that they depend on the seed alone, and that their spectra in closed
//! form agree with dense f64 decompositions.

use fiedler::ErrorKind;
use fiedler::graph::generate::{BlockModel, Probability, block_model, preferential_attachment, uniform};
use fiedler::graph::spectra::Family;
use fiedler::graph::{Conventions, Graph, GraphBatch, Symmetrization, generate};
use fiedler::io::{NodeIds, read, write_graph};
use fiedler::ops::laplacian::{Laplacian, Normalization};
use std::collections::{BTreeMap, BTreeSet};

fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    let view = graph.view();
    let below = |row: usize| view.neighbors(row).iter().map(move |&column| (row as u32, column));
    (0..view.nodes()).flat_map(below).filter(|(row, column)| row < column).collect()
}

/// Checks the rows of a graph, which a generator writes directly, against rows that are built from its edges in
/// another order.
fn check_rows(graph: &Graph, what: &str) {
    let mut listed = edges(graph);
    listed.reverse();
    let again = Graph::from_edges(graph.view().nodes(), &listed, &Conventions::default()).unwrap();
    assert_eq!(*graph, again, "{what}");
}

const FAMILIES: [Family; 24] = [
    Family::Path { nodes: 1 },
    Family::Path { nodes: 2 },
    Family::Path { nodes: 23 },
    Family::Cycle { nodes: 3 },
    Family::Cycle { nodes: 4 },
    Family::Cycle { nodes: 17 },
    Family::Grid { rows: 1, columns: 1 },
    Family::Grid { rows: 1, columns: 6 },
    Family::Grid { rows: 6, columns: 1 },
    Family::Grid { rows: 5, columns: 7 },
    Family::Grid { rows: 6, columns: 6 },
    Family::Torus { rows: 3, columns: 3 },
    Family::Torus { rows: 4, columns: 7 },
    Family::Torus { rows: 5, columns: 3 },
    Family::Hypercube { dimension: 0 },
    Family::Hypercube { dimension: 1 },
    Family::Hypercube { dimension: 6 },
    Family::Complete { nodes: 1 },
    Family::Complete { nodes: 2 },
    Family::Complete { nodes: 19 },
    Family::Star { nodes: 1 },
    Family::Star { nodes: 2 },
    Family::Star { nodes: 3 },
    Family::Star { nodes: 20 },
];

#[test]
fn closed_forms_are_the_dense_spectra() {
    for family in FAMILIES {
        let graph = family.graph().unwrap();
        let n = graph.view().nodes();
        for (normalization, spectrum) in [
            (Normalization::Combinatorial, Some(family.combinatorial())),
            (Normalization::Symmetric, family.normalized()),
        ] {
            let Some(spectrum) = spectrum else { continue };
            let laplacian = Laplacian::new(graph.view(), normalization);
            let mut dense: Vec<f64> = laplacian.to_dense().symmetric_eigen().eigenvalues.iter().copied().collect();
            dense.sort_by(f64::total_cmp);
            // The error of a backward stable solver is at most a small multiple of n eps |L|.
            let tolerance = 4.0 * n as f64 * f64::EPSILON * laplacian.norm_1().max(1.0);
            for k in [0, 1, 2, n / 2, n, n + 3] {
                let (smallest, largest) = (spectrum.smallest(k), spectrum.largest(k));
                let found = k.min(n);
                for (got, want) in [(&smallest, &dense[..found]), (&largest, &dense[n - found..])] {
                    assert_eq!(got.len(), found, "{family:?} {normalization:?} k = {k}");
                    let off = got.iter().zip(want).map(|(got, want)| (got - want).abs()).fold(0.0, f64::max);
                    assert!(
                        off <= tolerance,
                        "{family:?} {normalization:?} k = {k}: off by {off:e}\n{got:?}\n{want:?}"
                    );
                    assert!(got.is_sorted(), "{family:?} {normalization:?}: {got:?}");
                }
            }
        }
    }
}

/// Graphs that are too large for a dense matrix. The ends of the spectrum are compared with trigonometric formulas,
/// and the sum of the spectrum with the trace.
#[test]
fn large_closed_forms_keep_their_digits_and_multiplicities() {
    use std::f64::consts::PI;
    let near = |got: f64, want: f64| (got - want).abs() <= 4.0 * f64::EPSILON * want.abs();
    let grid = Family::Grid { rows: 1000, columns: 1000 }.combinatorial();
    let (one, two) = (4.0 * (PI / 2000.0).sin().powi(2), 4.0 * (PI / 1000.0).sin().powi(2));
    for (got, want) in grid.smallest(6).into_iter().zip([0.0, one, one, 2.0 * one, two, two]) {
        assert!(near(got, want), "{got:e} {want:e}");
    }
    assert!(near(grid.largest(1)[0], 8.0 * (PI * 999.0 / 2000.0).sin().powi(2)));
    let path = Family::Path { nodes: 1_000_000 };
    assert!(near(path.combinatorial().smallest(2)[1], 4.0 * (PI / 2e6).sin().powi(2)));
    assert!(near(path.normalized().unwrap().smallest(2)[1], 2.0 * (PI / (2.0 * 999_999.0)).sin().powi(2)));
    let cube = Family::Hypercube { dimension: 16 };
    assert_eq!(cube.combinatorial().smallest(18), [vec![0.0], vec![2.0; 16], vec![4.0]].concat());
    assert_eq!(cube.normalized().unwrap().largest(18), [vec![1.75], vec![1.875; 16], vec![2.0]].concat());
    let torus = Family::Torus { rows: 300, columns: 200 };
    let all = torus.combinatorial().smallest(usize::MAX);
    // The trace is the number of entries, which is 4 per node. The sum of 60,000 eigenvalues has a small rounding
    // error.
    assert!(all.len() == 60_000 && (all.iter().sum::<f64>() - 240_000.0).abs() < 1e-6 && all.is_sorted());
    // Even sides make the graph two-colorable, so the normalized spectrum is symmetric about 1.
    let spectrum = torus.normalized().unwrap();
    let mirrored: Vec<f64> = spectrum.largest(40).into_iter().rev().map(|x| 2.0 - x).collect();
    assert!(spectrum.smallest(40).iter().zip(&mirrored).all(|(a, b)| (a - b).abs() < 1e-14));
}

#[test]
fn families_have_the_edges_that_their_names_say() {
    for family in FAMILIES {
        let graph = family.graph().unwrap();
        let view = graph.view();
        check_rows(&graph, &format!("{family:?}"));
        assert_eq!(view.components().count, 1, "{family:?}");
        let degrees: BTreeSet<usize> = (0..view.nodes()).map(|node| view.neighbors(node).len()).collect();
        let (nodes, edges) = (view.nodes(), view.entries() / 2);
        match family {
            Family::Path { nodes: n } => assert_eq!((nodes, edges), (n, n - 1)),
            Family::Cycle { nodes: n } => assert_eq!((nodes, edges, degrees), (n, n, [2].into())),
            Family::Grid { rows: r, columns: c } => assert_eq!((nodes, edges), (r * c, r * (c - 1) + c * (r - 1))),
            Family::Torus { rows: r, columns: c } => {
                assert_eq!((nodes, edges, degrees), (r * c, 2 * r * c, [4].into()))
            }
            Family::Hypercube { dimension: d } => {
                assert_eq!((nodes, degrees), (1 << d, [d as usize].into()));
                assert!((0..nodes).all(|a| view.neighbors(a).iter().all(|&b| (a ^ b as usize).is_power_of_two())));
            }
            Family::Complete { nodes: n } => assert_eq!((nodes, edges), (n, n * (n - 1) / 2)),
            Family::Star { nodes: n } => assert_eq!((nodes, edges, view.neighbors(0).len()), (n, n - 1, n - 1)),
        }
    }
    assert_eq!(edges(&generate::grid(2, 3).unwrap()), [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]);
    assert_eq!(edges(&generate::cycle(4).unwrap()), [(0, 1), (0, 3), (1, 2), (2, 3)]);
}

fn p(text: &str) -> Probability {
    text.parse().unwrap()
}

#[test]
fn random_graphs_have_the_requested_counts() {
    for seed in 0..20 {
        for (nodes, count) in
            [(1, 0), (2, 1), (5, 3), (30, 0), (30, 100), (30, 218), (30, 430), (30, 435), (2000, 9000)]
        {
            let graph = uniform(nodes, count, seed).unwrap();
            check_rows(&graph, &format!("uniform {nodes} {count} {seed}"));
            assert_eq!((graph.view().nodes(), edges(&graph).len()), (nodes, count));
        }
        for (nodes, links) in [(2, 1), (3, 2), (50, 1), (50, 7), (50, 49), (3000, 4)] {
            let graph = preferential_attachment(nodes, links, seed).unwrap();
            let view = graph.view();
            check_rows(&graph, &format!("preferential {nodes} {links} {seed}"));
            assert_eq!((view.nodes(), view.entries() / 2), (nodes, (nodes - links) * links));
            assert_eq!(view.components().count, 1);
            // Each node after the first ones is linked to earlier ones.
            for node in links..nodes {
                assert_eq!(view.neighbors(node).partition_point(|&other| (other as usize) < node), links);
            }
        }
        let (blocks, size, within, between) = (7, 90, p("1/8"), p("0.01"));
        let graph = block_model(BlockModel { blocks, size, within, between }, seed).unwrap();
        check_rows(&graph, &format!("blocks {seed}"));
        let inside = edges(&graph).into_iter().filter(|&(a, b)| a as usize / size == b as usize / size).count() as f64;
        let outside = edges(&graph).len() as f64 - inside;
        for (found, pairs, p) in [(inside, 7.0 * 4005.0, 0.125), (outside, 21.0 * 8100.0, 0.01)] {
            let (mean, deviation) = (pairs * p, f64::sqrt(pairs * p * (1.0 - p)));
            // The bound is six standard deviations, which one seed in half a billion would exceed.
            assert!((found - mean).abs() < 6.0 * deviation, "{found} of {pairs} pairs, seed {seed}");
        }
    }
}

/// Checks the frequency of each outcome against its probability, within six standard deviations.
fn check_shares<T: Ord + std::fmt::Debug>(found: &BTreeMap<T, u32>, draws: u32, share: impl Fn(&T) -> f64) {
    let mut sum = 0.0;
    for (outcome, &times) in found {
        let share = share(outcome);
        sum += share;
        let (mean, deviation) = (f64::from(draws) * share, (f64::from(draws) * share * (1.0 - share)).sqrt());
        assert!((f64::from(times) - mean).abs() < 6.0 * deviation, "{outcome:?}: {times} of {draws}, wanted {mean}");
    }
    assert!((sum - 1.0).abs() < 1e-9, "{sum}: {found:?}");
}

#[test]
fn models_have_their_distributions() {
    const DRAWS: u32 = 40_000;
    let count = |draw: &dyn Fn(u64) -> Vec<(u32, u32)>| {
        let mut found = BTreeMap::new();
        (0..DRAWS).for_each(|seed| *found.entry(draw(seed.into())).or_insert(0) += 1);
        found
    };
    // Four nodes have 6 pairs. All C(6, 2) sets of 2 pairs are equally likely, and so are all C(6, 4) sets of 4
    // pairs. The first number is below half of the pairs and the second above, because the generator treats these
    // cases differently.
    for wanted in [2, 4] {
        let found = count(&|seed| edges(&uniform(4, wanted, seed).unwrap()));
        assert_eq!(found.len(), 15);
        check_shares(&found, DRAWS, |_| 1.0 / 15.0);
    }
    // Two blocks of two nodes: the 2 pairs within blocks are edges with probability 3/4, and the 4 pairs between
    // blocks with probability 1/3, all independently.
    let model = BlockModel { blocks: 2, size: 2, within: p("0.75"), between: p("1/3") };
    let found = count(&|seed| edges(&block_model(model, seed).unwrap()));
    assert_eq!(found.len(), 64);
    check_shares(&found, DRAWS, |edges| {
        let inside = edges.iter().filter(|(a, b)| a / 2 == b / 2).count() as i32;
        let outside = edges.len() as i32 - inside;
        0.75_f64.powi(inside)
            * 0.25_f64.powi(2 - inside)
            * (1.0 / 3.0_f64).powi(outside)
            * (2.0 / 3.0_f64).powi(4 - outside)
    });
    // Trees of four nodes: node 2 joins node 0 or 1. Node 3 joins the node of degree 2 with probability 1/2, and
    // each of the other nodes with probability 1/4.
    let found = count(&|seed| edges(&preferential_attachment(4, 1, seed).unwrap()));
    check_shares(&found, DRAWS, |edges| {
        let last = edges.iter().find(|edge| edge.1 == 3).unwrap().0;
        let hub = edges.iter().find(|edge| edge.1 == 2).unwrap().0;
        if last == hub { 0.25 } else { 0.125 }
    });
}

/// Compares FNV-1a hashes of the edges with recorded ones. So every machine and every later version has to give the
/// same graphs for a seed.
#[test]
fn random_graphs_come_from_the_seed_alone() {
    let hash = |graph: &Graph| {
        let bytes = edges(graph).into_iter().flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()].concat());
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    };
    let blocks =
        |seed| block_model(BlockModel { blocks: 5, size: 300, within: p("0.05"), between: p("1/700") }, seed).unwrap();
    let found = [
        hash(&uniform(3000, 10_000, 1).unwrap()),
        hash(&uniform(100, 4000, 1).unwrap()),
        hash(&preferential_attachment(3000, 5, 1).unwrap()),
        hash(&blocks(1)),
    ];
    assert_eq!(found, GOLDEN, "{found:#x?}");
    assert_ne!(uniform(3000, 10_000, 1).unwrap(), uniform(3000, 10_000, 2).unwrap());
    assert_ne!(preferential_attachment(3000, 5, 1).unwrap(), preferential_attachment(3000, 5, 2).unwrap());
    assert_ne!(blocks(1), blocks(2));
}

const GOLDEN: [u64; 4] = [0x5c1d_6a35_2dec_6604, 0x1a55_a286_da7c_bf15, 0xc139_ce43_7bdb_1b0c, 0xb612_101d_a23e_99a7];

#[test]
fn probabilities_are_read_exactly() {
    for (text, same) in [
        ("0.05", "1/20"),
        ("5e-2", "0.05"),
        (".5", "1/2"),
        ("1", "1/1"),
        ("0", "0/7"),
        ("1e-9", "0.000000001"),
        ("50E-2", "0.5"),
    ] {
        let model = |p| BlockModel { blocks: 1, size: 40, within: p, between: Probability::new(0, 1).unwrap() };
        let (one, other) = (block_model(model(p(text)), 1).unwrap(), block_model(model(p(same)), 1).unwrap());
        assert_eq!(one, other, "{text} {same}");
    }
    for text in [
        "",
        "-1",
        "+1",
        "1.1",
        "2/1",
        "1/0",
        "0/0",
        "a",
        "1e",
        "1e400",
        "0.0000000001",
        ".",
        "1/",
        "4294967296/4294967297",
    ] {
        assert!(matches!(text.parse::<Probability>().unwrap_err().kind(), ErrorKind::Domain { .. }), "{text}");
    }
    let sure = BlockModel { blocks: 3, size: 4, within: p("1"), between: p("1") };
    assert_eq!(block_model(sure, 5).unwrap(), generate::complete(12).unwrap());
    let never = BlockModel { within: p("0"), between: p("0"), ..sure };
    assert_eq!(block_model(never, 5).unwrap().view().entries(), 0);
    // The smallest positive probability, about 2^-32, on more than 2^32 pairs, so that some edges are expected.
    let rare = BlockModel { blocks: 1, size: 200_000, within: Probability::new(1, u32::MAX).unwrap(), between: p("0") };
    let found: usize = (0..20).map(|seed| block_model(rare, seed).unwrap().view().entries() / 2).sum();
    // The number of edges has a Poisson distribution of mean 20 x 4.66 = 93. It has to be within six standard
    // deviations.
    assert!((35..=151).contains(&found), "{found}");
}

#[test]
fn impossible_graphs_are_refused() {
    let zero = p("0");
    let model = |blocks, size| block_model(BlockModel { blocks, size, within: zero, between: zero }, 1);
    for (what, result) in [
        ("path", generate::path(0)),
        ("cycle", generate::cycle(2)),
        ("grid", generate::grid(0, 5)),
        ("grid", generate::grid(5, 0)),
        ("torus", generate::torus(2, 9)),
        ("torus", generate::torus(9, 2)),
        ("complete", generate::complete(0)),
        ("star", generate::star(0)),
        ("uniform", uniform(0, 0, 1)),
        ("uniform", uniform(4, 7, 1)),
        ("preferential", preferential_attachment(0, 1, 1)),
        ("preferential", preferential_attachment(5, 0, 1)),
        ("preferential", preferential_attachment(5, 5, 1)),
        ("blocks", model(0, 5)),
        ("blocks", model(5, 0)),
    ] {
        assert!(matches!(result.as_ref().unwrap_err().kind(), ErrorKind::Domain { .. }), "{what}: {result:?}");
    }
    for (what, result) in [
        ("path", generate::path(1 << 32)),
        ("grid", generate::grid(usize::MAX, 3)),
        ("torus", generate::torus(1 << 20, 1 << 20)),
        ("hypercube", generate::hypercube(32)),
        ("hypercube", generate::hypercube(4_000_000_000)),
        ("complete", generate::complete(u32::MAX as usize)),
        ("uniform", uniform(usize::MAX, 1, 1)),
        ("preferential", preferential_attachment(u32::MAX as usize, 1 << 30, 1)),
        ("blocks", model(usize::MAX, usize::MAX)),
    ] {
        // The graph has more entries than 32-bit indices can count, or needs more memory than the system has. The
        // error says which.
        let error = result.as_ref().unwrap_err();
        let limit = matches!(error.kind(), ErrorKind::Limit { .. });
        assert!(limit || error.to_string().contains("more memory than the system gives"), "{what}: {result:?}");
    }
}

#[test]
fn a_written_graph_is_read_back() {
    let folder = tempfile::TempDir::new().unwrap();
    let (txt, mtx) = (folder.path().join("g.txt"), folder.path().join("g.mtx"));
    let default = Conventions::default();
    let same = |graph: &Graph, path: &std::path::Path, conventions: &Conventions| {
        let data = read(path, conventions).unwrap();
        assert_eq!(data.graphs, GraphBatch::from(graph.clone()), "{}", path.display());
        assert!(data.node_ids.is_none());
    };
    for graph in [generate::grid(9, 4).unwrap(), preferential_attachment(200, 3, 1).unwrap()] {
        for path in [&txt, &mtx] {
            assert_eq!(write_graph(path, graph.view(), "two\nlines").unwrap(), 0);
            same(&graph, path, &default);
        }
    }
    // Weights that need all their digits, a node without edges, and a directed graph with a self-loop.
    let weighted = [(0, 1, 0.1), (1, 2, 16_777_215.0), (2, 4, 1.0e-30), (0, 4, 1.0)];
    let graph = Graph::from_weighted_edges(6, &weighted, &default).unwrap();
    assert_eq!(write_graph(&mtx, graph.view(), "").unwrap(), 0);
    same(&graph, &mtx, &default);
    assert_eq!(write_graph(&txt, graph.view(), "").unwrap(), 2);
    let data = read(&txt, &default).unwrap();
    assert!(matches!(data.node_ids, Some(NodeIds::Integers(ids)) if ids == [0, 1, 2, 4]));
    assert_eq!((data.graphs.nodes(), data.graphs.entries()), (4, 8));
    let keep = Conventions { symmetrization: Symmetrization::Keep, ..Conventions::networkx() };
    let directed = Graph::from_weighted_edges(4, &[(0, 1, 2.0), (2, 1, 1.0), (3, 3, 0.5), (1, 2, 3.0)], &keep).unwrap();
    for path in [&txt, &mtx] {
        write_graph(path, directed.view(), "").unwrap();
        same(&directed, path, &keep);
    }
    let loops = Conventions { symmetrization: Symmetrization::Max, ..keep };
    let looped = Graph::from_edges(3, &[(0, 1), (1, 1), (1, 2)], &loops).unwrap();
    for path in [&txt, &mtx] {
        write_graph(path, looped.view(), "").unwrap();
        same(&looped, path, &loops);
    }
    let lone = generate::path(1).unwrap();
    write_graph(&mtx, lone.view(), "").unwrap();
    same(&lone, &mtx, &default);
    let before = std::fs::read(&txt).unwrap();
    assert!(matches!(write_graph(&txt, lone.view(), "").unwrap_err().kind(), ErrorKind::Domain { .. }));
    assert_eq!(std::fs::read(&txt).unwrap(), before);
    let other = folder.path().join("g.csv");
    assert!(matches!(write_graph(&other, lone.view(), "").unwrap_err().kind(), ErrorKind::Domain { .. }));
    let nowhere = folder.path().join("no/such.mtx");
    assert!(matches!(write_graph(&nowhere, lone.view(), "").unwrap_err().kind(), ErrorKind::Io { .. }));
}
