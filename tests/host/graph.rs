//! Tests of graphs under all conventions, and of the f64 Laplacians with which other tests compare all other
//! Laplacians.

use fiedler::ErrorKind;
use fiedler::graph::{
    Conventions, Duplicates, EdgeList, Graph, GraphBatch, GraphRef, IsolatedDiagonal, LargestComponents, Preset,
    SelfLoops, Symmetrization, WeightsRef, molecules,
};
use fiedler::ops::laplacian::{Laplacian, Normalization};
use nalgebra::DMatrix;

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];

fn undirected(nodes: usize, edges: &[(u32, u32)]) -> Graph {
    Graph::from_edges(nodes, edges, &Conventions::default()).unwrap()
}

/// Returns W as a dense matrix.
fn adjacency(graph: GraphRef<'_>) -> DMatrix<f64> {
    DMatrix::from_fn(graph.nodes(), graph.nodes(), |row, column| graph.weight(row, column))
}

fn keep(change: impl FnOnce(&mut Conventions)) -> Conventions {
    let mut conventions =
        Conventions { symmetrization: Symmetrization::Keep, self_loops: SelfLoops::Keep, ..Conventions::default() };
    change(&mut conventions);
    conventions
}

/// Returns the edge lists that `golden/laplacians.py` passed to the other libraries.
fn golden_edges(graph: &str, weighted: bool) -> EdgeList {
    let edges: &[(u32, u32, f32)] = match graph {
        "undirected" => {
            &[(0, 1, 2.0), (1, 0, 2.0), (1, 2, 0.5), (2, 1, 0.5), (2, 0, 1.0), (0, 2, 1.0), (2, 3, 4.0), (3, 2, 4.0)]
        }
        "directed" => &[(0, 1, 1.0), (1, 2, 2.0), (2, 0, 3.0), (0, 2, 0.25), (3, 0, 1.5), (1, 4, 4.0)],
        "untidy" => {
            &[(0, 1, 1.0), (0, 0, 3.0), (1, 0, 1.0), (1, 2, 2.0), (1, 2, 0.5), (2, 1, 2.0), (2, 1, 0.5), (3, 3, 2.0)]
        }
        other => panic!("no graph {other}"),
    };
    let mut list = EdgeList::new(5).unwrap();
    for &(source, target, weight) in edges {
        if weighted {
            list.push_weighted(source, target, weight);
        } else {
            list.push(source, target);
        }
    }
    list
}

#[test]
fn presets_reproduce_the_matrices_of_their_libraries() {
    let text = include_str!("golden/laplacians.txt");
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut compared = 0;
    while let Some(title) = lines.next() {
        let [preset, normalization, graph] = title.split(' ').collect::<Vec<_>>()[..] else { panic!("{title}") };
        let rows: Vec<f64> =
            lines.by_ref().take(5).flat_map(|row| row.split(' ').map(|x| x.parse::<f64>().unwrap())).collect();
        let want = DMatrix::from_row_slice(5, 5, &rows);
        let normalization = match normalization {
            "combinatorial" => Normalization::Combinatorial,
            "symmetric" => Normalization::Symmetric,
            "random-walk" => Normalization::RandomWalk,
            other => panic!("{other}"),
        };
        let conventions = preset.parse::<Preset>().unwrap().conventions();
        let batch = GraphBatch::from_edge_list(golden_edges(graph, preset != "dgl"), &conventions).unwrap();
        let got = Laplacian::new(batch.graph(0), normalization).to_dense();
        // The entries are of order 1 and result from a few f64 operations, whose order differs from that of the
        // other library.
        assert!((&got - &want).amax() <= 4.0 * f64::EPSILON * want.amax(), "{title}: {got} is not {want}");
        compared += 1;
    }
    assert_eq!(compared, 24, "three graphs, eight matrices each");
}

#[test]
fn presets_have_names() {
    for preset in Preset::ALL {
        assert_eq!(preset.to_string().parse::<Preset>().unwrap(), preset);
    }
    let error = "SciPy".parse::<Preset>().unwrap_err().to_string();
    assert!(error.contains("scipy, networkx, pyg or dgl"), "{error}");
}

#[test]
fn default_counts_an_edge_once_whatever_order_and_direction() {
    let want = undirected(3, &[(0, 1), (1, 2)]);
    for edges in [&[(1, 2), (0, 1)][..], &[(1, 0), (2, 1), (1, 2), (1, 2), (0, 0)]] {
        assert_eq!(undirected(3, edges), want);
    }
    let conventions = Conventions::default();
    let one = Graph::from_weighted_edges(2, &[(0, 1, 2.0), (1, 0, 5.0), (0, 1, 3.0)], &conventions).unwrap();
    assert_eq!(adjacency(one.view()), DMatrix::from_row_slice(2, 2, &[0.0, 5.0, 5.0, 0.0]));
}

#[test]
fn symmetrizations_follow_their_formulas() {
    let edges = [(0, 1, 3.0), (1, 0, 1.0), (1, 2, 4.0), (2, 2, 2.0)];
    let with = |symmetrization| {
        let conventions = keep(|c| c.symmetrization = symmetrization);
        adjacency(Graph::from_weighted_edges(3, &edges, &conventions).unwrap().view())
    };
    let w = DMatrix::from_row_slice(3, 3, &[0.0, 3.0, 0.0, 1.0, 0.0, 4.0, 0.0, 0.0, 2.0]);
    assert_eq!(with(Symmetrization::Keep), w);
    assert_eq!(with(Symmetrization::Sum), &w + w.transpose());
    assert_eq!(with(Symmetrization::Mean), (&w + w.transpose()) / 2.0);
    assert_eq!(with(Symmetrization::Max), w.zip_map(&w.transpose(), f64::max));
    let conventions = keep(|c| c.symmetrization = Symmetrization::Error);
    let error = Graph::from_weighted_edges(3, &edges, &conventions).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Domain { .. }));
    assert!(error.to_string().contains("from node 0 to node 1 has the weight 3, its reverse 1"), "{error}");
    assert!(Graph::from_edges(2, &[(0, 1)], &conventions).is_err(), "one direction alone is asymmetric");
    assert!(Graph::from_edges(2, &[(0, 1), (1, 0)], &conventions).is_ok());
}

#[test]
fn duplicates_follow_their_rule() {
    let edges = [(0, 1, 2.0), (0, 1, 5.0), (0, 1, 3.0)];
    let with = |duplicates| {
        let graph = Graph::from_weighted_edges(2, &edges, &keep(|c| c.duplicates = duplicates))?;
        Ok::<_, fiedler::Error>(graph.view().weight(0, 1))
    };
    assert_eq!(with(Duplicates::Sum).unwrap(), 10.0);
    assert_eq!(with(Duplicates::Max).unwrap(), 5.0);
    assert_eq!(with(Duplicates::First).unwrap(), 2.0);
    assert_eq!(with(Duplicates::Last).unwrap(), 3.0);
    let error = with(Duplicates::Error).unwrap_err();
    assert!(error.to_string().contains("the edge from node 0 to node 1 is listed 3 times"), "{error}");
}

#[test]
fn summed_duplicates_give_an_unweighted_list_weights() {
    let conventions = keep(|c| c.duplicates = Duplicates::Sum);
    let plain = Graph::from_edges(2, &[(0, 1), (1, 0)], &conventions).unwrap();
    assert!(plain.view().all_weights().is_none());
    let twice = Graph::from_edges(2, &[(0, 1), (0, 1), (1, 0)], &conventions).unwrap();
    assert_eq!(twice.view().all_weights(), Some(WeightsRef::F32(&[2.0, 1.0])));
}

/// Sums of f32 are f32 only if they have few digits.
#[test]
fn sums_and_means_of_weights_are_in_f64() {
    let of = |edges: &[(u32, u32, f64)], change: fn(&mut Conventions)| {
        Graph::from_weighted_edges(2, edges, &keep(change)).unwrap().view().weight(0, 1)
    };
    let duplicates = [(0, 1, 0.1), (0, 1, 0.2), (0, 1, 0.3)];
    assert_eq!(of(&duplicates, |c| c.duplicates = Duplicates::Sum).to_bits(), (0.1_f64 + 0.2 + 0.3).to_bits());
    assert_eq!(of(&duplicates, |c| c.duplicates = Duplicates::Max), 0.3);
    let both = [(0, 1, 0.1), (1, 0, 0.2)];
    assert_eq!(of(&both, |c| c.symmetrization = Symmetrization::Sum), 0.1 + 0.2);
    assert_eq!(of(&both, |c| c.symmetrization = Symmetrization::Mean), 0.05 + 0.1);
    let small: Vec<(u32, u32, f32)> = vec![(0, 1, 1.0), (0, 1, f32::EPSILON / 2.0)];
    let sum = keep(|c| c.duplicates = Duplicates::Sum);
    let graph = Graph::from_weighted_edges(2, &small, &sum).unwrap();
    assert_eq!(graph.view().all_weights(), Some(WeightsRef::F64(&[1.0 + f64::from(f32::EPSILON) / 2.0])));
    let graph = Graph::from_weighted_edges(2, &[(0, 1, 1e38_f32), (0, 1, 3e38)], &sum).unwrap();
    assert_eq!(graph.view().weight(0, 1), f64::from(1e38_f32) + f64::from(3e38_f32));
    for weight in [1e-150, 1e150] {
        let graph = Graph::from_weighted_edges(2, &[(0, 1, weight), (0, 1, weight)], &sum).unwrap();
        assert_eq!(graph.view().all_weights(), Some(WeightsRef::F64(&[2.0 * weight])));
    }
}

#[test]
fn unit_weights_are_implicit_and_zero_weights_are_no_edges() {
    let conventions = Conventions::default();
    let graph = Graph::from_weighted_edges(3, &[(0, 1, 1.0), (1, 2, 0.0)], &conventions).unwrap();
    assert_eq!(graph, undirected(3, &[(0, 1)]));
    assert_eq!(graph.view().components().count, 2);
}

#[test]
fn self_loops_are_kept_or_dropped() {
    let edges = [(0, 0), (0, 1)];
    let kept = Conventions { self_loops: SelfLoops::Keep, ..Conventions::default() };
    assert_eq!(Graph::from_edges(2, &edges, &kept).unwrap().view().degrees(), [2.0, 1.0]);
    assert_eq!(undirected(2, &edges).view().degrees(), [1.0, 1.0]);
}

#[test]
fn bad_edges_are_errors_that_say_which() {
    let conventions = Conventions::default();
    for (edges, words) in [
        (vec![(0, 1, 1.0), (0, 3, 1.0)], "edge 1 (0, 3) names a node that is not among the 3"),
        (vec![(u32::MAX, 0, 1.0)], "edge 0 (4294967295, 0)"),
        (vec![(0, 1, f64::NAN)], "edge 0 has the weight NaN"),
        (vec![(0, 1, f64::INFINITY)], "edge 0 has the weight inf"),
        (vec![(0, 1, -0.5)], "edge 0 has the weight -0.5"),
    ] {
        let error = Graph::from_weighted_edges(3, &edges, &conventions).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let sum = Conventions { duplicates: Duplicates::Sum, ..conventions };
    assert!(Graph::from_weighted_edges(2, &[(0, 1, f64::MAX), (0, 1, f64::MAX)], &sum).is_err());
    let sum = Conventions { symmetrization: Symmetrization::Sum, ..conventions };
    let error = Graph::from_weighted_edges(2, &[(0, 1, f64::MAX), (1, 0, f64::MAX)], &sum).unwrap_err().to_string();
    assert!(error.contains("nodes 0 and 1 add up to more than a 64-bit float holds"), "{error}");

    let mut list = EdgeList::batch(vec![0, 2, 4]).unwrap();
    list.push(1, 2);
    let error = GraphBatch::from_edge_list(list, &conventions).unwrap_err();
    assert!(error.to_string().contains("joins two graphs"), "{error}");
    assert!(EdgeList::batch(vec![]).is_err());
    assert!(EdgeList::batch(vec![1, 2]).is_err());
    assert!(EdgeList::batch(vec![0, 2, 1]).is_err());
    let error = EdgeList::new(1 << 32).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { needed: 0x1_0000_0000, .. }), "{error:?}");
}

#[test]
fn empty_graphs_are_valid() {
    for nodes in 0..3 {
        let graph = undirected(nodes, &[]);
        let view = graph.view();
        assert_eq!((view.nodes(), view.entries(), view.components().count), (nodes, 0, nodes));
        for normalization in ALL {
            let laplacian = Laplacian::new(view, normalization);
            assert_eq!(laplacian.to_dense(), DMatrix::zeros(nodes, nodes));
            assert_eq!(laplacian.norm_1(), 0.0);
            assert!(laplacian.symmetric());
        }
    }
    let none = GraphBatch::from_edge_list(EdgeList::batch(vec![0]).unwrap(), &Conventions::default()).unwrap();
    assert!(none.is_empty() && none.iter().next().is_none());
    assert_eq!(GraphBatch::from_graphs(&[]).unwrap(), none);
    let some = GraphBatch::from_edge_list(EdgeList::batch(vec![0, 0, 2, 2]).unwrap(), &Conventions::default()).unwrap();
    assert_eq!(some.iter().map(|graph| graph.nodes()).collect::<Vec<_>>(), [0, 2, 0]);
}

#[test]
fn a_batch_holds_its_graphs_unchanged() {
    let conventions = Conventions::default();
    let graphs = [
        undirected(3, &[(0, 1), (1, 2)]),
        undirected(0, &[]),
        Graph::from_weighted_edges(2, &[(0, 1, 2.5)], &conventions).unwrap(),
        undirected(2, &[(1, 0)]),
    ];
    let batch = GraphBatch::from_graphs(&graphs).unwrap();
    assert_eq!((batch.len(), batch.nodes(), batch.entries()), (4, 7, 8));
    assert_eq!(batch.node_offsets(), [0, 3, 3, 5, 7]);
    for (own, batched) in graphs.iter().zip(batch.iter()) {
        assert_eq!(adjacency(own.view()), adjacency(batched));
        assert_eq!(own.view().columns(), batched.columns());
    }
    // The same batch is made from one list that has the edges in mixed order.
    let mut list = EdgeList::batch(vec![0, 3, 3, 5, 7]).unwrap();
    list.push(6, 5);
    list.push(1, 0);
    list.push_weighted(3, 4, 2.5);
    list.push(2, 1);
    assert_eq!(GraphBatch::from_edge_list(list, &conventions).unwrap(), batch);

    let other = Graph::from_edges(1, &[], &Conventions::pyg()).unwrap();
    assert!(GraphBatch::from_graphs(&[undirected(1, &[]), other]).is_err(), "conventions differ");
}

#[test]
fn symmetry_is_detected() {
    let keep = keep(|_| ());
    let view = |edges: &[(u32, u32, f32)]| Graph::from_weighted_edges(3, edges, &keep).unwrap();
    let (same, other, one) =
        (view(&[(0, 1, 2.0), (1, 0, 2.0)]), view(&[(0, 1, 2.0), (1, 0, 1.0)]), view(&[(0, 1, 1.0), (2, 2, 1.0)]));
    assert!(same.view().is_symmetric() && !other.view().is_symmetric() && !one.view().is_symmetric());
    for normalization in ALL {
        assert!(Laplacian::new(same.view(), normalization).symmetric());
        assert!(!Laplacian::new(one.view(), normalization).symmetric());
    }
    assert!(!Laplacian::new(other.view(), Normalization::Combinatorial).symmetric());
    // Every row of this W has one entry. Multiplying by D^-1 makes the matrix symmetric, but multiplying by D^-1/2
    // on both sides does not.
    assert!(!Laplacian::new(other.view(), Normalization::Symmetric).symmetric());
    assert!(Laplacian::new(other.view(), Normalization::RandomWalk).symmetric());
    // The random-walk matrix is symmetric only if neighbors have equal degrees.
    let path = undirected(3, &[(0, 1), (1, 2)]);
    assert!(!Laplacian::new(path.view(), Normalization::RandomWalk).symmetric());
    assert!(Laplacian::new(path.view(), Normalization::Symmetric).symmetric());
}

#[test]
fn components_are_counted_and_labeled_by_their_lowest_nodes() {
    let graph = undirected(7, &[(5, 1), (2, 4), (4, 6), (1, 3)]);
    let components = graph.view().components();
    assert_eq!(components.count, 3);
    assert_eq!(components.labels, [0, 1, 2, 1, 2, 1, 2]);
    let directed = Graph::from_edges(3, &[(2, 0)], &keep(|_| ())).unwrap();
    assert_eq!(directed.view().components().labels, [0, 1, 0]);
}

#[test]
fn the_largest_component_of_each_graph_is_selected() {
    // The graphs of the batch: a triangle 1-3-5 with weights next to the path 0-2-4 and an edge; an empty graph; a
    // single edge; two nodes without an edge; and a connected graph.
    let weighted = [(1, 3, 2.0), (3, 5, 4.0), (5, 1, 8.0), (0, 2, 1.0), (2, 4, 1.0), (6, 7, 1.0)];
    let conventions = Conventions::default();
    let graphs = [
        Graph::from_weighted_edges(8, &weighted, &conventions).unwrap(),
        undirected(0, &[]),
        undirected(3, &[(0, 2)]),
        undirected(2, &[]),
        undirected(2, &[(0, 1)]),
    ];
    let batch = GraphBatch::from_graphs(&graphs).unwrap();
    let largest = batch.largest_components();
    // Among components of equal size, the one with the lowest node remains: the path, whose weights are all 1.
    assert_eq!(largest.nodes, [0, 2, 4, 8, 10, 11, 13, 14]);
    assert_eq!(largest.graphs.node_offsets(), [0, 3, 3, 5, 6, 8]);
    assert_eq!((largest.graphs.weights(), largest.graphs.conventions()), (None, conventions));
    for (graph, want) in largest.graphs.iter().zip([
        undirected(3, &[(0, 1), (1, 2)]),
        undirected(0, &[]),
        undirected(2, &[(0, 1)]),
        undirected(1, &[]),
        undirected(2, &[(0, 1)]),
    ]) {
        assert_eq!(adjacency(graph), adjacency(want.view()));
    }
    // With one more node, the triangle's component is the larger one. It keeps its weights.
    let more = [&weighted[..], &[(5, 6, 16.0)]].concat();
    let graph = Graph::from_weighted_edges(8, &more, &conventions).unwrap();
    let LargestComponents { graphs, nodes, .. } = GraphBatch::from(graph.clone()).largest_components();
    assert_eq!(nodes, [1, 3, 5, 6, 7]);
    for (i, &row) in nodes.iter().enumerate() {
        for (j, &column) in nodes.iter().enumerate() {
            assert_eq!(graphs.graph(0).weight(i, j), graph.view().weight(row, column), "{row} {column}");
        }
    }
    // A connected graph remains the same, bit for bit; directions do not split components.
    let molecules = molecules(5, 3).unwrap();
    assert_eq!(molecules.largest_components().graphs, molecules);
    let directed = Graph::from_edges(4, &[(2, 0), (2, 3)], &Conventions::scipy()).unwrap();
    let LargestComponents { graphs, nodes, .. } = GraphBatch::from(directed).largest_components();
    assert_eq!((nodes, graphs.graph(0).neighbors(1)), (vec![0, 2, 3], &[0, 2][..]));
}

/// Checks the mathematical laws of Laplacians on graphs with weights and isolated nodes, and that the methods of a
/// Laplacian agree with its dense matrix.
#[test]
fn laplacians_obey_their_laws() {
    let conventions = Conventions { isolated: IsolatedDiagonal::One, ..Conventions::default() };
    let edges = [(0, 1, 0.3), (1, 2, 7.5), (2, 0, 1.0), (3, 4, 0.01)];
    let graph = Graph::from_weighted_edges(6, &edges, &conventions).unwrap();
    let w = adjacency(graph.view());
    let d = DMatrix::from_diagonal(&w.column_sum());
    for normalization in ALL {
        let laplacian = Laplacian::new(graph.view(), normalization);
        let dense = laplacian.to_dense();
        let tolerance = 8.0 * f64::EPSILON * laplacian.norm_1();
        let d = &d;
        let power = |p: f64| d.map_diagonal(|d| if d > 0.0 { d.powf(p) } else { 0.0 });
        let scaled = |left: f64, right: f64| {
            DMatrix::identity(6, 6) - DMatrix::from_diagonal(&power(left)) * &w * DMatrix::from_diagonal(&power(right))
        };
        let want = match normalization {
            Normalization::Combinatorial => d - &w,
            Normalization::Symmetric => scaled(-0.5, -0.5),
            // Node 5 has degree 0, so D^-1 D is 0 for it instead of 1. This has no effect, because its column is
            // zero.
            Normalization::RandomWalk => scaled(-1.0, 0.0),
        };
        assert!((&dense - want).amax() <= tolerance, "{normalization:?}");
        assert_eq!(laplacian.norm_1(), dense.column_iter().map(|c| c.lp_norm(1)).fold(0.0, f64::max));

        let x: Vec<f64> = (0..6).map(|i| f64::from(i) - 2.2).collect();
        let mut y = vec![f64::NAN; 6];
        laplacian.apply(&x, &mut y).unwrap();
        let want = &dense * nalgebra::DVector::from_vec(x.clone());
        assert!(want.iter().zip(&y).all(|(a, b)| (a - b).abs() <= tolerance * 6.0));
        assert!(matches!(laplacian.apply(&x[1..], &mut y).unwrap_err().kind(), ErrorKind::Shape { .. }));

        // The zero mode is the vector of ones, or D^1/2 times this vector.
        let mut kernel = vec![1.0; 6];
        kernel[5] = 0.0;
        if normalization == Normalization::Symmetric {
            kernel = d.diagonal().iter().map(|d| d.sqrt()).collect();
        }
        laplacian.apply(&kernel, &mut y).unwrap();
        assert!(y.iter().all(|y| y.abs() <= tolerance * 3.0), "{normalization:?} {y:?}");
    }
}

#[test]
fn similarity_maps_symmetric_eigenvectors_to_random_walk_ones() {
    let edges = [(0, 1, 0.3), (1, 2, 7.5), (2, 0, 1.0), (3, 4, 0.01), (2, 3, 2.0)];
    let graph = Graph::from_weighted_edges(6, &edges, &Conventions::default()).unwrap();
    let symmetric = Laplacian::new(graph.view(), Normalization::Symmetric);
    let walk = Laplacian::new(graph.view(), Normalization::RandomWalk);
    let eigen = symmetric.to_dense().symmetric_eigen();
    let scale = symmetric.similarity_scale();
    assert_eq!(scale[5], 1.0, "isolated");
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        let x: Vec<f64> = vector.iter().zip(&scale).map(|(v, s)| v * s).collect();
        let mut y = vec![0.0; 6];
        walk.apply(&x, &mut y).unwrap();
        // The elements of D^-1/2 are up to 10 here, so the errors of the products are larger by this factor.
        assert!(x.iter().zip(&y).all(|(x, y)| (y - value * x).abs() <= 100.0 * f64::EPSILON * walk.norm_1()));
    }
}

#[test]
fn molecules_have_the_sizes_degrees_and_rings_of_molecules() {
    let batch = molecules(2000, 1).unwrap();
    assert_eq!(batch.len(), 2000);
    let mut sizes = std::collections::BTreeSet::new();
    for graph in batch.iter() {
        sizes.insert(graph.nodes());
        assert_eq!(graph.components().count, 1);
        assert!(graph.is_symmetric() && graph.degrees().iter().all(|&degree| (1.0..=4.0).contains(&degree)));
    }
    assert_eq!(sizes.into_iter().collect::<Vec<_>>(), (10..=37).collect::<Vec<_>>());
    let rings = batch.entries() as f64 / 2.0 / 2000.0 - batch.nodes() as f64 / 2000.0 + 1.0;
    assert!((2.0..5.0).contains(&rings), "{rings} rings a molecule");
}

/// Compares with recorded graphs. So every machine and every later version has to give the same graphs for a seed.
#[test]
fn molecules_come_from_the_seed_alone() {
    let one = molecules(1, 7).unwrap();
    let edges: Vec<(usize, u32)> = (0..one.nodes())
        .flat_map(|row| one.graph(0).neighbors(row).iter().map(move |&column| (row, column)))
        .filter(|&(row, column)| row < column as usize)
        .collect();
    assert_eq!(edges, GOLDEN_MOLECULE);
    assert_eq!(molecules(50, 7).unwrap(), molecules(50, 7).unwrap());
    assert_eq!(molecules(50, 7).unwrap().graph(0).columns(), one.columns());
    assert_ne!(molecules(50, 7).unwrap(), molecules(50, 8).unwrap());
    assert!(molecules(0, 7).unwrap().is_empty());
}

#[rustfmt::skip]
const GOLDEN_MOLECULE: &[(usize, u32)] = &[
    (0, 1), (0, 2), (2, 3), (2, 7), (3, 4), (3, 5), (4, 9), (4, 15), (5, 6), (5, 10), (6, 13), (6, 16), (7, 8), (7, 17),
    (8, 20), (10, 11), (10, 23), (11, 12), (11, 26), (12, 13), (13, 14), (17, 18), (17, 28), (18, 19), (19, 20),
    (19, 22), (20, 21), (22, 27), (23, 24), (24, 25), (25, 26), (25, 29),
];

/// The order of a list matters only for edges that are listed several times. A list in the order of its sources or of
/// its targets is read in another way than other lists.
#[test]
fn the_order_of_the_list_does_not_matter() {
    let mut listed: Vec<(u32, u32, f32)> = Vec::new();
    for i in 0..60_u32 {
        // Some edges are listed twice, some in both directions, some from a node to itself.
        let (source, target) = (i * 7 % 11, i * i % 13);
        listed.extend(
            [(source, target, 1.0 + i as f32), (target, source, i as f32 / 3.0)].iter().take(1 + i as usize % 2),
        );
    }
    let unique = |edges: &[(u32, u32, f32)]| {
        let mut edges = edges.to_vec();
        edges.sort_by_key(|edge| (edge.0, edge.1));
        edges.dedup_by_key(|edge| (edge.0, edge.1));
        edges
    };
    let both =
        |edges: Vec<(u32, u32, f32)>| edges.iter().flat_map(|&(a, b, w)| [(a, b, w), (b, a, w)]).collect::<Vec<_>>();
    let lists = [listed.clone(), unique(&listed), unique(&both(unique(&listed))), both(vec![(3, 1, 2.0), (2, 0, 5.0)])];
    for (i, list) in lists.iter().enumerate() {
        for symmetrization in [
            Symmetrization::Keep,
            Symmetrization::Sum,
            Symmetrization::Mean,
            Symmetrization::Max,
            Symmetrization::Error,
        ] {
            for duplicates in [Duplicates::Sum, Duplicates::Max, Duplicates::First, Duplicates::Last, Duplicates::Error]
            {
                let conventions = Conventions { symmetrization, duplicates, ..Conventions::default() };
                let of = |list: &[(u32, u32, f32)]| {
                    Graph::from_weighted_edges(13, list, &conventions).map_err(|e| e.to_string())
                };
                let (mut by_source, mut by_target) = (list.clone(), list.clone());
                by_source.sort_by_key(|edge| edge.0);
                by_target.sort_by_key(|edge| edge.1);
                let want = of(list);
                assert_eq!(of(&by_source), want, "list {i}, {symmetrization:?}, {duplicates:?}");
                assert_eq!(of(&by_target), want, "list {i}, {symmetrization:?}, {duplicates:?}");
            }
        }
    }
}
