//! Weakly joined clusters, which are the textbook use of a Fiedler vector. Their Laplacians have small eigenvalues
//! that are close together. The results of every method on every side are compared with closed forms, and with f64
//! decompositions wherever f64 separates the eigenvalues.

use common::random::SplitMix64;
use common::solve::Checked;
use common::sparse::{Sparse, Weighted, weighted};
use common::{Test, on_cpu, on_each, referee, sample, suite};
use fiedler::encode::{Encoding, Method, SpectralEncoder, Which};
use fiedler::graph::generate::{BlockModel, Probability, block_model, grid, path, preferential_attachment};
use fiedler::graph::{Conventions, Duplicates, Graph, GraphBatch, GraphRef, molecules};
use fiedler::ops::Normalization;
use fiedler::{Backend, Context};
use nalgebra::DMatrix;

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];
const EPS: f64 = f32::EPSILON as f64;

pub fn tests() -> Vec<Test> {
    suite(
        "weak",
        vec![
            on_each("three edges, the middle one of 1e-6", three_edges),
            on_each("clusters in a row", clusters),
            on_cpu("large clusters in a row", large_clusters),
            on_cpu("random clusters in a row", random_clusters),
            on_cpu("a long path", long_path),
            on_each("weights over twelve orders of magnitude", twelve_orders),
            on_each("weights of a Gaussian kernel", gaussian),
            on_each("ties that k cuts are flagged", cut_ties),
            on_cpu("f64 output", in_f64),
        ],
    )
}

/// The path with weights 1, 1e-6, 1. The path is symmetric about its middle, so its eigenpairs are those of two
/// matrices of order 2.
fn three_edges(ctx: &Context) -> Checked {
    let edges = [(0, 1, 1.0), (1, 2, 1e-6), (2, 3, 1.0)];
    let graph: GraphBatch = Graph::from_weighted_edges(4, &edges, &Conventions::default())?.into();
    for method in [Method::Auto, Method::Exact, Method::Fast] {
        let encoder = SpectralEncoder::new(4).laplacian(Normalization::Combinatorial).method(method);
        let e = encoder.encode(ctx, &graph)?;
        // The matrix of the antisymmetric eigenvectors is [1, -1; -1, 1 + 2 w], with the eigenvalues 1 + w -+
        // sqrt(1 + w^2).
        let w: f64 = 1e-6;
        let second = 2.0 * w / (1.0 + w + (1.0 + w * w).sqrt());
        assert_eq!((e.status[0], e.components[0], &e.tie_group[..2]), (0, 1, &[0, 1][..]), "{method:?}");
        assert!(e.eigenvalues(0)[0] == 0.0, "{method:?}: {:?}", e.eigenvalues(0));
        assert!((f64::from(e.eigenvalues(0)[1]) - second).abs() <= EPS * second, "{method:?}: {:?}", e.eigenvalues(0));
        let v = e.eigenvectors(0);
        for (i, sign) in [1.0, 1.0, -1.0, -1.0].into_iter().enumerate() {
            // The outer entries are larger by a relative w / 2, which f32 does not resolve.
            assert!((v[(i, 0)] - 0.5).abs() <= 1e-6 && (v[(i, 1)] - 0.5 * sign).abs() <= 1e-6, "{method:?}: {v}");
        }
    }
    Ok(())
}

/// Returns a row of clusters, which are complete graphs of `size` nodes. Every node of a cluster is joined with
/// every node of the next cluster by an edge. `weights` has the weight of these edges for each two adjacent
/// clusters.
fn row_of_clusters(size: usize, weights: &[f32]) -> fiedler::Result<Graph> {
    let mut edges = Vec::new();
    let node = |cluster: usize, i: usize| (cluster * size + i) as u32;
    for c in 0..=weights.len() {
        for i in 0..size {
            edges.extend((0..i).map(|j| (node(c, j), node(c, i), 1.0)));
            if c < weights.len() {
                edges.extend((0..size).map(|j| (node(c, i), node(c + 1, j), weights[c])));
            }
        }
    }
    Graph::from_weighted_edges((weights.len() + 1) * size, &edges, &Conventions::default())
}

/// Returns the smallest eigenpairs of [`row_of_clusters`], whose eigenvectors are constant on each cluster: the
/// eigenvalues, and the entries of the eigenvectors by cluster. They are the eigenpairs of C C', where C has a
/// column `sqrt(size w) (e_i - e_(i+1))` (scaled by D^-1/2) for each two adjacent clusters i and i + 1. They are
/// computed by one-sided Jacobi, which is accurate for columns of C whose norms differ greatly (Demmel and Veselic
/// 1992).
fn truth(size: usize, weights: &[f32], normalization: Normalization) -> (Vec<f64>, Vec<Vec<f64>>) {
    let (m, count) = (size as f64, weights.len() + 1);
    let w = |i: usize| weights.get(i).map_or(0.0, |&w| f64::from(w));
    let degree = |c: usize| m - 1.0 + m * (w(c) + if c > 0 { w(c - 1) } else { 0.0 });
    let scale = |c: usize| if normalization == Normalization::Combinatorial { 1.0 } else { 1.0 / degree(c).sqrt() };
    let mut columns: Vec<Vec<f64>> = (0..weights.len())
        .map(|i| {
            let mut column = vec![0.0; count];
            let long = (m * w(i)).sqrt();
            (column[i], column[i + 1]) = (long * scale(i), -long * scale(i + 1));
            column
        })
        .collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..40 {
        for i in 0..columns.len() {
            for j in 0..i {
                let (xx, yy, xy) =
                    (dot(&columns[i], &columns[i]), dot(&columns[j], &columns[j]), dot(&columns[i], &columns[j]));
                if xy.abs() <= 1e-17 * (xx * yy).sqrt() {
                    continue;
                }
                let zeta = (yy - xx) / (2.0 * xy);
                let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let (c, s) = (1.0 / t.hypot(1.0), t / t.hypot(1.0));
                let (head, tail) = columns.split_at_mut(i);
                for (x, y) in tail[0].iter_mut().zip(&mut head[j]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> = columns
        .into_iter()
        .map(|column| {
            let value = dot(&column, &column);
            // For the random-walk Laplacian, the eigenvectors of the similar symmetric matrix are scaled once
            // more.
            let rescale = |c: usize| if normalization == Normalization::RandomWalk { scale(c) } else { 1.0 };
            let entries: Vec<f64> = column.iter().enumerate().map(|(c, x)| x * rescale(c)).collect();
            let norm = (m * dot(&entries, &entries)).sqrt();
            (value, entries.iter().map(|x| x / norm).collect())
        })
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs.into_iter().unzip()
}

/// Compares the smallest eigenpairs of a row of clusters with the truth. The error of each eigenvalue is taken
/// relative to this eigenvalue.
fn check_row(ctx: &Context, size: usize, weights: &[f32], method: Method) -> Checked {
    let graph: GraphBatch = row_of_clusters(size, weights)?.into();
    let count = weights.len() + 1;
    for normalization in ALL {
        let name = format!("{count} clusters of {size}, {weights:?}, {normalization:?}, {method:?}");
        let (values, vectors) = truth(size, weights, normalization);
        for k in [count, count + 2] {
            let e = SpectralEncoder::new(k).laplacian(normalization).method(method).encode(ctx, &graph)?;
            assert!(e.status[0] == 0 && e.components[0] == 1, "{name}: {:?}", e.certificate(0));
            assert!(e.eigenvalues(0)[0] == 0.0, "{name}: {:?}", e.eigenvalues(0));
            let v = e.eigenvectors(0);
            for (j, (want, entries)) in values.iter().zip(&vectors).enumerate() {
                let got = f64::from(e.eigenvalues(0)[j + 1]);
                // The relative error of 1e-6 covers the rounding of the eigenvalue to f32, and that of the weights
                // to f32.
                assert!((got - want).abs() <= 1e-6 * want, "{name}: value {}: {got:e}, in truth {want:e}", j + 1);
                assert_eq!(e.tie_group[j + 1], j as i64 + 1, "{name}: {:?}", e.tie_group);
                let along: f64 = (0..size * count).map(|i| f64::from(v[(i, j + 1)]) * entries[i / size]).sum();
                for i in 0..size * count {
                    let (x, y) = (f64::from(v[(i, j + 1)]) * along.signum(), entries[i / size]);
                    // The bound is 1e-5, although an iteration may stop at an angle of 1e-4, because the next
                    // group of eigenvalues is far away here.
                    assert!((x - y).abs() <= 1e-5, "{name}: vector {}, node {i}: {x}, in truth {y}", j + 1);
                }
            }
        }
    }
    Ok(())
}

const WEIGHTS: [&[f32]; 7] = [
    &[1e-5],
    &[1e-12],
    &[1e-12, 3e-12],
    &[1e-12, 1e-12],
    &[1e-3, 1e-6],
    &[1e-12, 1e-9, 1e-6],
    &[1e-3, 1e-12, 1e-6, 1e-9],
];

fn clusters(ctx: &Context) -> Checked {
    for weights in WEIGHTS {
        for size in [3, 10] {
            for method in [Method::Exact, Method::Fast] {
                check_row(ctx, size, weights, method)?;
            }
        }
    }
    Ok(())
}

/// Orders that are iterated, and one order whose few eigenvectors are computed by inverse iteration.
fn large_clusters(ctx: &Context) -> Checked {
    for weights in &WEIGHTS[..6] {
        check_row(ctx, 60, weights, Method::Exact)?;
        check_row(ctx, 180, weights, Method::Fast)?;
    }
    Ok(())
}

/// Random graphs of different sizes in a row, each joined to the next by one weak edge. The whole graph has an
/// order that is iterated.
///
/// Consider the graph that has one node for each cluster. Its matrix is `C C'`, where C has a column `sqrt w (e_i
/// / sqrt m_i - e_j / sqrt m_j)` for each weak edge of weight w between clusters i and j, and m_i is the number of
/// nodes of cluster i, or its volume. The smallest eigenvalues of the whole graph equal those of this matrix up to
/// a relative error of `w / lambda`, where lambda is the smallest nonzero eigenvalue of a cluster.
fn random_clusters(ctx: &Context) -> Checked {
    let sizes = [400, 300, 200];
    for weights in [[1e-5_f32, 1e-7], [1e-9, 1e-9], [1e-9, 1e-11], [1e-12, 1e-10]] {
        let mut random = SplitMix64::new(5);
        let (mut edges, mut first) = (Vec::new(), 0);
        let mut begins = Vec::new();
        for size in sizes {
            begins.push(first as u32);
            edges.extend((1..size).map(|i| ((first + i - 1) as u32, (first + i) as u32, 1.0)));
            edges.extend(
                (0..3 * size).map(|_| ((first + random.below(size)) as u32, (first + random.below(size)) as u32, 1.0)),
            );
            first += size;
        }
        edges.retain(|(a, b, _)| a != b);
        edges.extend((0..2).map(|c| (begins[c] + 7, begins[c + 1] + 11, weights[c])));
        let conventions = Conventions { duplicates: Duplicates::Max, ..Conventions::default() };
        let graph = Graph::from_weighted_edges(first, &edges, &conventions)?;
        let degrees = graph.view().degrees();
        let cluster = |i: usize| begins.iter().filter(|&&begin| begin as usize <= i).count() - 1;
        for normalization in ALL {
            let measure = |c: usize| {
                let own = (0..first).filter(|&i| cluster(i) == c);
                if normalization == Normalization::Combinatorial {
                    own.count() as f64
                } else {
                    own.map(|i| degrees[i]).sum()
                }
            };
            let column = |c: usize| {
                let mut column = [0.0; 3];
                let w = f64::from(weights[c]).sqrt();
                (column[c], column[c + 1]) = (w / measure(c).sqrt(), -w / measure(c + 1).sqrt());
                column
            };
            // The eigenvalues are those of the Gram matrix of the two columns. The smaller one is computed as the
            // determinant, which is the product of both, divided by the larger one. This preserves its digits.
            let (x, y) = (column(0), column(1));
            let dot = |x: &[f64; 3], y: &[f64; 3]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
            let (xx, yy, xy) = (dot(&x, &x), dot(&y, &y), dot(&x, &y));
            let larger = 0.5 * (xx + yy) + (0.25 * (xx - yy).powi(2) + xy * xy).sqrt();
            let want = [(xx * yy - xy * xy) / larger, larger];
            let batch = GraphBatch::from_graphs(std::slice::from_ref(&graph))?;
            for method in [Method::Auto, Method::Fast, Method::Exact] {
                let name = format!("{weights:?}, {normalization:?}, {method:?}");
                let e = SpectralEncoder::new(8).laplacian(normalization).method(method).encode(ctx, &batch)?;
                assert!(e.status[0] == 0 && e.components[0] == 1, "{name}: {:?}", e.certificate(0));
                assert_eq!(&e.tie_group[..4], [0, 1, 2, 3], "{name}");
                for (j, want) in (1..3).zip(want) {
                    let got = f64::from(e.eigenvalues(0)[j]);
                    // The next eigenvalues are above 0.01.
                    let allowed = (1e3 * f64::from(weights[0].max(weights[1]))).max(1e-6);
                    assert!((got - want).abs() <= allowed * want, "{name}: value {j}: {got:e}, in truth {want:e}");
                }
            }
        }
    }
    Ok(())
}

/// Both ends of the spectrum of a path of n = 2000 nodes, where neighboring eigenvalues are about 1e-6 apart. The
/// eigenvectors are cosines, and the eigenvalues are `2 - 2 cos(pi j / n)`.
fn long_path(ctx: &Context) -> Checked {
    let n = 2000;
    let graph: GraphBatch = path(n)?.into();
    for which in [Which::Smallest, Which::Largest] {
        for method in [Method::Exact, Method::Fast] {
            let k = 8;
            let encoder = SpectralEncoder::new(k).laplacian(Normalization::Combinatorial).which(which).method(method);
            let e = encoder.encode(ctx, &graph)?;
            assert_eq!(e.status[0], 0, "{which:?}, {method:?}: {:?}", e.certificate(0));
            let v = e.eigenvectors(0);
            for j in 0..k {
                let place = if which == Which::Smallest { j } else { n - k + j };
                let entry = |i: usize| (std::f64::consts::PI * place as f64 * (i as f64 + 0.5) / n as f64).cos();
                let norm = (0..n).map(|i| entry(i) * entry(i)).sum::<f64>().sqrt();
                let along: f64 = (0..n).map(|i| entry(i) / norm * f64::from(v[(i, j)])).sum();
                // The bound is the cosine of an angle of 1e-3, which is ten times the angle at which the iteration
                // stops.
                assert!(along.abs() >= 1.0 - 5e-7, "{which:?}, {method:?}, vector {j}: overlap {along}");
            }
        }
    }
    Ok(())
}

/// Returns the weighted graphs of the test below: every generator, with small graphs for decompositions and larger
/// ones for iterations.
fn spread_graphs(small: bool) -> fiedler::Result<Vec<(String, Graph)>> {
    let how = Weighted { conventions: Conventions::default(), spread: 6.0, loops: 0, isolated: 0 };
    let n = if small { 45 } else { 350 };
    let (probability, none) = (Probability::new(1, 4)?, Probability::new(1, 100)?);
    let blocks = BlockModel { blocks: 3, size: n / 3, within: probability, between: none };
    let molecule = molecules(1, 5)?;
    let mut all = Vec::new();
    for seed in 0..if small { 2 } else { 1 } {
        all.push((format!("hubs {seed}"), weighted(preferential_attachment(n, 3, seed)?.view(), how, seed)?));
        all.push((format!("blocks {seed}"), weighted(block_model(blocks, seed)?.view(), how, seed)?));
        all.push((format!("grid {seed}"), weighted(grid(5, n / 5)?.view(), how, seed)?));
        all.push((format!("path {seed}"), weighted(path(n)?.view(), how, seed)?));
        if small {
            all.push((format!("molecule {seed}"), weighted(molecule.graph(0), how, seed)?));
        }
    }
    Ok(all)
}

fn twelve_orders(ctx: &Context) -> Checked {
    let (mut compared, mut pairs) = (0, 0);
    for small in [true, false] {
        let kinds = [&ALL[..1], &ALL[1..]];
        let graphs = spread_graphs(small)?.into_iter().map(|(name, graph)| (name, GraphBatch::from(graph)));
        let graphs = graphs.flat_map(|(name, graph)| kinds.map(|kinds| (name.clone(), graph.clone(), kinds)));
        for (name, graph, kinds) in sample(ctx, graphs) {
            let methods = if small { &[Method::Exact, Method::Fast][..] } else { &[Method::Fast] };
            let ends = kinds.iter().flat_map(|own| [Which::Smallest, Which::Largest].map(|which| (own, which)));
            let ways = ends.flat_map(|(own, which)| methods.iter().map(move |method| (*own, which, *method)));
            let truth = decomposed(graph.graph(0), kinds[0])?;
            for (normalization, which, method) in ways {
                let encoder = SpectralEncoder::new(6).laplacian(normalization).which(which).method(method);
                let e = encoder.encode(ctx, &graph)?;
                compared += against_f64(graph.graph(0), normalization, (which, &truth), &e)
                    .map_err(|e| format!("{name}, {normalization:?}, {which:?}, {method:?}: {e}"))?;
                pairs += 6;
            }
        }
    }
    // Some of the 6 eigenpairs of a graph are too close together for f64.
    assert!(5 * compared > pairs, "only {compared} of {pairs} vectors compared");
    Ok(())
}

/// Decomposes the symmetric matrix that is similar to a Laplacian, in f64.
fn decomposed(graph: GraphRef<'_>, normalization: Normalization) -> Result<(Vec<f64>, Vec<f64>), String> {
    let similar = if normalization == Normalization::RandomWalk { Normalization::Symmetric } else { normalization };
    let matrix = Sparse::laplacian(graph, similar);
    referee::eigenpairs(&matrix.dense(), matrix.order())
}

/// Compares an encoding with a decomposition in f64: all eigenvalues, and those eigenvectors whose eigenvalues are
/// at least 1e-8 of the largest eigenvalue away from the next ones. Returns the number of eigenvectors that were
/// compared.
fn against_f64(
    graph: GraphRef<'_>,
    normalization: Normalization,
    (which, (values, vectors)): (Which, &(Vec<f64>, Vec<f64>)),
    e: &Encoding,
) -> Result<usize, String> {
    let n = values.len();
    let largest = values[n - 1];
    let degrees = graph.degrees();
    let mut compared = 0;
    if e.status[0] != 0 {
        return Err(format!("{:?}", e.certificate(0)));
    }
    let v = e.eigenvectors(0);
    for j in 0..e.k {
        let place = if which == Which::Smallest { j } else { n - e.k + j };
        let (got, want) = (f64::from(e.eigenvalues(0)[j]), values[place]);
        // A device's unrefined eigenvalues are off by 2 eps |L| and by their rounding. The error of the f64
        // decomposition is negligible in comparison.
        if (got - want).abs() > 4.0 * EPS * largest {
            return Err(format!("value {j}: {got:e}, in truth {want:e}"));
        }
        let below = if place > 0 { want - values[place - 1] } else { f64::INFINITY };
        let above = if place + 1 < n { values[place + 1] - want } else { f64::INFINITY };
        let gap = below.min(above) / largest;
        if gap < 1e-8 {
            continue;
        }
        let mut truth: Vec<f64> = vectors[place * n..(place + 1) * n].to_vec();
        if normalization == Normalization::RandomWalk {
            truth.iter_mut().zip(&degrees).for_each(|(x, d)| *x /= d.sqrt());
            let norm = truth.iter().map(|x| x * x).sum::<f64>().sqrt();
            truth.iter_mut().for_each(|x| *x /= norm);
        }
        let along: f64 = truth.iter().enumerate().map(|(i, x)| x * f64::from(v[(i, j)])).sum();
        // The allowed angle is 1e-3, ten times the goal of an iteration in f64. A device's f32 eigenvectors are
        // used only if the gap is wide. Their angle is then about their residual, 5e-7, divided by the gap.
        let allowed = (5e-7 / gap.max(1e-4)).max(1e-3);
        let allowed = if e_is_from_f32(gap) { allowed } else { 1e-3 };
        if along.abs() < 1.0 - allowed * allowed {
            return Err(format!("vector {j} of {want:e}: overlap {along}, gap {gap:e}"));
        }
        compared += 1;
    }
    Ok(compared)
}

/// Returns whether an eigenvector with such a gap may come from a device without refinement.
fn e_is_from_f32(gap: f64) -> bool {
    gap > 1e-4
}

/// Points in the plane around three centers, joined by exp(-distance^2 / 2): weights from 1 to 1e-12 and below.
fn gaussian(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(3);
    let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    for spread in [0.3, 0.6] {
        let centers = [(0.0, 0.0), (6.0, 0.0), (0.0, 7.0)];
        let points: Vec<(f64, f64)> = centers
            .iter()
            .flat_map(|&(x, y)| (0..12).map(|_| (x, y)).collect::<Vec<_>>())
            .map(|(x, y)| (x + spread * normal(), y + spread * normal()))
            .collect();
        let mut edges = Vec::new();
        for (i, a) in points.iter().enumerate() {
            for (j, b) in points[..i].iter().enumerate() {
                let square = (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2);
                edges.push((j as u32, i as u32, (-0.5 * square).exp() as f32));
            }
        }
        let graph: GraphBatch = Graph::from_weighted_edges(points.len(), &edges, &Conventions::default())?.into();
        for normalization in ALL {
            let truth = decomposed(graph.graph(0), normalization)?;
            for method in [Method::Exact, Method::Fast] {
                let e = SpectralEncoder::new(3).laplacian(normalization).method(method).encode(ctx, &graph)?;
                against_f64(graph.graph(0), normalization, (Which::Smallest, &truth), &e)
                    .map_err(|e| format!("{spread}, {normalization:?}, {method:?}: {e}"))?;
                if normalization == Normalization::Symmetric {
                    continue; // the entries vary with the roots of the degrees
                }
                // In the plane of the two eigenvectors after the zero mode, each of the three clusters is close to
                // one point.
                let v = e.eigenvectors(0);
                let point = |c: usize| (f64::from(v[(12 * c, 1)]), f64::from(v[(12 * c, 2)]));
                for i in 0..points.len() {
                    let own = point(i / 12);
                    let away = (f64::from(v[(i, 1)]) - own.0).hypot(f64::from(v[(i, 2)]) - own.1);
                    assert!(
                        away < 1e-2,
                        "{spread}, {normalization:?}, {method:?}: node {i} is {away} from its cluster"
                    );
                }
            }
        }
    }
    Ok(())
}

/// The eigenvalues of a cycle come in pairs, and equal components have equal eigenvalues. `k` may cut such a
/// group.
fn cut_ties(ctx: &Context) -> Checked {
    let cycle: Vec<(u32, u32)> = (0..30).map(|i| (i, (i + 1) % 30)).collect();
    let apart: Vec<(u32, u32)> = (0..10).flat_map(|i| [(3 * i, 3 * i + 1), (3 * i + 1, 3 * i + 2)]).collect();
    let graphs = [&cycle, &apart].map(|edges| Graph::from_edges(30, edges, &Conventions::default()));
    let [cycle, apart] = graphs;
    let graphs = GraphBatch::from_graphs(&[cycle?, apart?])?;
    for method in [Method::Exact, Method::Fast] {
        for (k, which, want) in [
            (1, Which::Smallest, [0, 1]),
            (2, Which::Smallest, [1, 1]),
            (3, Which::Smallest, [0, 1]),
            (10, Which::Smallest, [1, 0]),
            (11, Which::Smallest, [0, 1]),
            (20, Which::Smallest, [1, 0]),
            (30, Which::Smallest, [0, 0]),
            (1, Which::Largest, [0, 1]),
            (2, Which::Largest, [1, 1]),
            (10, Which::Largest, [1, 0]),
            (21, Which::Largest, [0, 1]),
            (40, Which::Largest, [0, 0]),
        ] {
            let e = SpectralEncoder::new(k).laplacian(Normalization::Symmetric).method(method).which(which);
            let e = e.encode(ctx, &graphs)?;
            assert_eq!(e.tie_cut, want, "k = {k}, {which:?}, {method:?}");
            assert_eq!(e.uncertified(), 0);
        }
    }
    Ok(())
}

/// Output in f64 has more digits than f32 and the same ties, and it is never computed on a device.
fn in_f64(ctx: &Context) -> Checked {
    let graphs = GraphBatch::from_graphs(&[path(40)?, grid(25, 25)?])?;
    for normalization in ALL {
        let encoder = SpectralEncoder::new(5).laplacian(normalization);
        let (wide, report) = encoder.encode_f64(ctx, &graphs, |_| ())?;
        let narrow = encoder.encode(ctx, &graphs)?;
        assert_eq!((report.on_cpu, wide.uncertified()), (2, 0));
        assert_eq!((&wide.tie_group, &wide.mask, &wide.tie_cut), (&narrow.tie_group, &narrow.mask, &narrow.tie_cut));
        for g in 0..2 {
            let residual = f64::from(wide.residual[g]);
            assert!(residual <= 1e-10, "{normalization:?}, graph {g}: residual {residual:e}");
            let v: DMatrix<f64> = wide.eigenvectors(g).clone_owned();
            let away = (v - narrow.eigenvectors(g).map(f64::from)).amax();
            // An iteration with f32 output stops at angles of 1e-4.
            assert!(away <= 1e-4, "{normalization:?}, graph {g}: {away:e}");
            for (x, y) in wide.eigenvalues(g).iter().zip(narrow.eigenvalues(g)) {
                assert!((x - f64::from(*y)).abs() <= 1e-7 * x.abs() + 1e-12, "{x} and {y}");
            }
        }
    }
    let value = SpectralEncoder::new(2).laplacian(Normalization::Combinatorial).encode_f64(ctx, &graphs, |_| ())?;
    let want = 2.0 - 2.0 * (std::f64::consts::PI / 40.0).cos();
    assert!((value.0.eigenvalues(0)[1] - want).abs() <= 1e-14, "{} and {want}", value.0.eigenvalues(0)[1]);
    let insisting = Context::builder().backend(Backend::Gpu);
    if let Ok(gpu) = insisting.build() {
        assert!(SpectralEncoder::new(2).encode_f64(&gpu, &graphs, |_| ()).is_err());
    }
    Ok(())
}
