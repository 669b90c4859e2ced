//! Small eigenvalues of weighted graphs, each accurate relative to itself: golden values, and laws that hold exactly.

use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, sample, suite};
use fiedler::Context;
use fiedler::array::Real;
use fiedler::encode::{Encoding, Method, SpectralEncoder};
use fiedler::graph::{Conventions, Graph, GraphBatch};
use fiedler::ops::{Normalization, Status};
use std::collections::BTreeMap;

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];
const FAMILIES: [&str; 6] = ["bridges", "affinity", "path", "complete", "tree", "pieces"];

pub fn tests() -> Vec<Test> {
    suite(
        "relative",
        vec![
            on_each("golden values in f32", golden::<f32>),
            on_cpu("golden values in f64", golden::<f64>),
            on_cpu("weights times a power of two", powers_of_two),
            on_cpu("a small change of the weights", small_changes),
            on_cpu("the product of the eigenvalues of a tree", trees),
            on_cpu("the product of the eigenvalues of a complete graph", complete_graphs),
            on_cpu("renumbered nodes, and components side by side", rearranged),
            on_cpu("two cliques and a bridge", cliques),
            on_cpu("the smallest and the largest weights", extremes),
            on_cpu("a node on a leaf of a star by a weak edge", weak_leaf),
            on_each("random graphs are certified", random),
            on_cpu("larger random graphs are certified", larger),
        ],
    )
}

type Edges = Vec<(u32, u32, f64)>;

/// Makes the graphs of golden/relative.py. Every weight is a number of f32.
fn edges(family: &str, n: u64, seed: u64) -> Edges {
    let mut r = SplitMix64::new(seed);
    let mut found = BTreeMap::new();
    let points: Vec<[u64; 3]> =
        if family == "affinity" { (0..n).map(|_| [(); 3].map(|()| r.next_u64() % 9)).collect() } else { Vec::new() };
    let mut add = |r: &mut SplitMix64, i: u64, j: u64, exponent: i64| {
        let weight = ((1 << 23) + r.next_u64() % (1 << 23)) as f64 * 2.0_f64.powi(exponent as i32 - 23);
        found.entry((i as u32, j as u32)).or_insert(weight);
    };
    for i in 1..n {
        match family {
            "bridges" => (0..i).for_each(|j| add(&mut r, j, i, if i % 3 == j % 3 { 0 } else { -40 })),
            "affinity" => {
                for j in 0..i {
                    let square: u64 =
                        (0..3).map(|k| points[i as usize][k].abs_diff(points[j as usize][k]).pow(2)).sum();
                    add(&mut r, j, i, -(square.min(100) as i64));
                }
            }
            "path" => {
                let exponent = (r.next_u64() % 41) as i64;
                add(&mut r, i - 1, i, -exponent);
            }
            "complete" => {
                for j in 0..i {
                    let exponent = (r.next_u64() % 47) as i64;
                    add(&mut r, j, i, -exponent);
                }
            }
            "tree" => {
                let (j, exponent) = (r.next_u64() % i, (r.next_u64() % 61) as i64 - 30);
                add(&mut r, j, i, exponent);
            }
            _ => {
                let first = if i < n / 2 { 0 } else { n / 2 };
                if i > first {
                    let (j, exponent) = (first + r.next_u64() % (i - first), (r.next_u64() % 67) as i64 - 33);
                    add(&mut r, j, i, exponent);
                }
                for j in first..i {
                    if r.next_u64().is_multiple_of(4) {
                        let exponent = (r.next_u64() % 67) as i64 - 33;
                        add(&mut r, j, i, exponent);
                    }
                }
            }
        }
    }
    found.into_iter().map(|((i, j), weight)| (i, j, weight)).collect()
}

fn graph(n: u64, edges: &Edges) -> fiedler::Result<GraphBatch> {
    Ok(Graph::from_weighted_edges(n as usize, edges, &Conventions::default())?.into())
}

/// The precisions of encodings.
trait Precision: Real {
    fn encode(encoder: SpectralEncoder, ctx: &Context, graphs: &GraphBatch) -> fiedler::Result<Encoding<Self>>;
}

impl Precision for f32 {
    fn encode(encoder: SpectralEncoder, ctx: &Context, graphs: &GraphBatch) -> fiedler::Result<Encoding> {
        encoder.encode(ctx, graphs)
    }
}

impl Precision for f64 {
    fn encode(encoder: SpectralEncoder, ctx: &Context, graphs: &GraphBatch) -> fiedler::Result<Encoding<f64>> {
        Ok(encoder.encode_f64(ctx, graphs, |_| ())?.0)
    }
}

fn encode<T: Precision>(ctx: &Context, graphs: &GraphBatch, kind: Normalization) -> fiedler::Result<Encoding<T>> {
    let k = graphs.iter().map(|graph| graph.nodes()).max().unwrap_or(0);
    T::encode(SpectralEncoder::new(k).laplacian(kind).method(Method::Exact), ctx, graphs)
}

fn values<T: Real>(e: &Encoding<T>) -> Vec<f64> {
    e.eigenvalues(0).iter().map(|x| x.to_f64()).collect()
}

/// Every eigenvalue is within `4 n eps` of itself, and the first vector within `10 n eps` over the relative gap.
fn golden<T: Precision>(ctx: &Context) -> Checked {
    let lines = include_str!("golden/relative.txt").lines();
    for line in sample(ctx, lines.collect::<Vec<_>>()) {
        let (head, vector) = line.split_once(" | ").ok_or("a line without a vector")?;
        let words: Vec<&str> = head.split(' ').collect();
        let n: u64 = words[1].parse()?;
        let truth = words[3..].iter().map(|x| x.parse()).collect::<Result<Vec<f64>, _>>()?;
        let vector = vector.split(' ').map(|x| x.parse()).collect::<Result<Vec<f64>, _>>()?;
        let edges = edges(words[0], n, 7 * n + 1);
        let graph = graph(n, &edges)?;
        let kinds = if words[2] == "Combinatorial" { &ALL[..1] } else { &ALL[1..] };
        let eps = n as f64 * T::EPSILON;
        for &normalization in kinds {
            let name = format!("{} {n} {normalization:?}", words[0]);
            let e = encode::<T>(ctx, &graph, normalization)?;
            let found = values(&e);
            let null = found.len() - truth.len();
            assert_eq!(e.status[0], 0, "{name}: {:?}", e.certificate(0));
            assert!(found[..null].iter().all(|&x| x == 0.0), "{name}: {found:?}");
            for (got, want) in found[null..].iter().zip(&truth) {
                assert!((got - want).abs() <= 4.0 * eps * want, "{name}: {got:e} instead of {want:e}");
            }
            let mut want = vector.clone();
            if normalization == Normalization::RandomWalk {
                let degrees = graph.graph(0).degrees();
                want.iter_mut().zip(degrees).for_each(|(x, d)| *x /= d.sqrt());
                let length = want.iter().map(|x| x * x).sum::<f64>().sqrt();
                want.iter_mut().for_each(|x| *x /= length);
            }
            let column = e.eigenvectors(0);
            let along: f64 = want.iter().enumerate().map(|(i, x)| x * column[(i, null)].to_f64()).sum();
            let away = want.iter().enumerate().map(|(i, x)| (x * along.signum() - column[(i, null)].to_f64()).powi(2));
            let gap = truth.get(1).map_or(1.0, |next| (next - truth[0]) / (next + truth[0]));
            let away = away.sum::<f64>().sqrt();
            // A device's vectors are used where they are within 1e-4 (`encode::dense`). That of a tie is any.
            let allowed = (10.0 * eps / gap).max(if ctx.adapter().is_some() { 1e-4 } else { 0.0 });
            assert!(away <= allowed, "{name}: vector off by {away:e}, relative gap {gap:e}");
        }
    }
    Ok(())
}

/// A power of two changes no bit of combinatorial eigenvalues but their exponents, and none of normalized ones.
fn powers_of_two(ctx: &Context) -> Checked {
    for family in FAMILIES {
        let given = edges(family, 12, 3);
        for normalization in ALL {
            let of = |by: f64| -> fiedler::Result<Vec<f64>> {
                let scaled: Edges = given.iter().map(|&(i, j, weight)| (i, j, weight * by)).collect();
                Ok(values(&encode::<f64>(ctx, &graph(12, &scaled)?, normalization)?))
            };
            let (one, by) = (of(1.0)?, 2.0_f64.powi(40));
            let other: Vec<f64> = of(by)?;
            let scale = if normalization == Normalization::Combinatorial { by } else { 1.0 };
            let expected: Vec<f64> = one.iter().map(|x| x * scale).collect();
            assert_eq!(other, expected, "{family} {normalization:?}");
        }
    }
    Ok(())
}

/// Weights that change by at most a factor of 1 + d move no eigenvalue by more than d of itself (2 d if the Laplacian
/// is normalized, because both matrices of the pencil move).
fn small_changes(ctx: &Context) -> Checked {
    const D: f64 = 1e-6;
    let mut random = SplitMix64::new(5);
    for family in FAMILIES {
        let given = edges(family, 20, 4);
        let moved: Edges = given.iter().map(|&(i, j, weight)| (i, j, weight * (1.0 + D * random.unit()))).collect();
        for normalization in ALL {
            let of = |edges: &Edges| -> fiedler::Result<Vec<f64>> {
                Ok(values(&encode::<f64>(ctx, &graph(20, edges)?, normalization)?))
            };
            let allowed = if normalization == Normalization::Combinatorial { D } else { 2.0 * D };
            for (x, y) in of(&given)?.iter().zip(of(&moved)?) {
                assert!((x - y).abs() <= 1.001 * allowed * x, "{family} {normalization:?}: {x:e} and {y:e}");
            }
        }
    }
    Ok(())
}

/// The product of the nonzero eigenvalues of a tree is n times the product of its weights (Kirchhoff).
fn trees(ctx: &Context) -> Checked {
    for n in [5, 12, 31] {
        let given = edges("tree", n, n);
        let found = values(&encode::<f64>(ctx, &graph(n, &given)?, Normalization::Combinatorial)?);
        let product: f64 = given.iter().map(|&(_, _, weight)| weight).product::<f64>() * n as f64;
        let own: f64 = found[1..].iter().product();
        // n - 1 factors, each within 4 n eps.
        assert!((own - product).abs() <= 4.0 * (n * n) as f64 * f64::EPSILON * product, "{n}: {own:e} and {product:e}");
    }
    Ok(())
}

/// The spanning trees of a complete graph with weights `a_i a_j` have the total weight `prod a_i (sum a_i)^(n-2)`
/// (Cayley, Pruefer), so the product of the nonzero eigenvalues is n times as much.
fn complete_graphs(ctx: &Context) -> Checked {
    for n in [4, 9, 23, 48_u64] {
        let mut random = SplitMix64::new(n);
        let sizes: Vec<f64> = (0..n).map(|_| 2.0_f64.powi(-((random.next_u64() % 60) as i32))).collect();
        let given: Edges = (0..n as u32)
            .flat_map(|i| (0..i).map(move |j| (j, i)))
            .map(|(j, i)| (j, i, sizes[i as usize] * sizes[j as usize]))
            .collect();
        let found = values(&encode::<f64>(ctx, &graph(n, &given)?, Normalization::Combinatorial)?);
        let own: f64 = found[1..].iter().map(|x| x.log2()).sum();
        let sum: f64 = sizes.iter().sum();
        let trees = sizes.iter().map(|x| x.log2()).sum::<f64>() + (n - 2) as f64 * sum.log2();
        let wanted = trees + (n as f64).log2();
        // n - 1 factors, each within 4 n eps, and the rounding of a sum of n logarithms of up to 120.
        let bound = (n * n) as f64 * f64::EPSILON * (4.0 / std::f64::consts::LN_2 + 120.0);
        assert!((own - wanted).abs() <= bound, "{n}: 2^{own} and 2^{wanted}");
    }
    Ok(())
}

/// Other numbers of the nodes, and other components beside them, move no eigenvalue by more than its error.
fn rearranged(ctx: &Context) -> Checked {
    const N: u64 = 24;
    for family in FAMILIES {
        let given = edges(family, N, 6);
        // Multiplication by 7 modulo 24 is a permutation.
        let renumbered: Edges =
            given.iter().map(|&(i, j, weight)| (i * 7 % N as u32, j * 7 % N as u32, weight)).collect();
        let other = edges("tree", N, 7);
        let beside: Edges =
            given.iter().copied().chain(other.iter().map(|&(i, j, w)| (i + N as u32, j + N as u32, w))).collect();
        for normalization in ALL {
            let of = |n: u64, edges: &Edges| -> fiedler::Result<Vec<f64>> {
                Ok(values(&encode::<f64>(ctx, &graph(n, edges)?, normalization)?))
            };
            let own = of(N, &given)?;
            let mut together = [own.clone(), of(N, &other)?].concat();
            together.sort_by(f64::total_cmp);
            for (name, found, wanted) in
                [("renumbered", of(N, &renumbered)?, own), ("beside", of(2 * N, &beside)?, together)]
            {
                for (got, want) in found.iter().zip(&wanted) {
                    let bound = 8.0 * found.len() as f64 * f64::EPSILON * want;
                    assert!((got - want).abs() <= bound, "{name} {family} {normalization:?}: {got:e} and {want:e}");
                }
            }
        }
    }
    Ok(())
}

/// Two cliques of m nodes that are joined by an edge of weight w: the second eigenvalue is `2 w / m - O(w^2)`.
fn cliques(ctx: &Context) -> Checked {
    const M: u32 = 10;
    for w in [1e-6, 1e-12, 1e-20, 1e-30, 1e-100] {
        let mut given: Edges =
            (0..2).flat_map(|c| (0..M).flat_map(move |i| (0..i).map(move |j| (c * M + j, c * M + i, 1.0)))).collect();
        given.push((0, M, w));
        let e = encode::<f64>(ctx, &graph(2 * u64::from(M), &given)?, Normalization::Combinatorial)?;
        // Fiedler's vector is constant on each clique to first order, and the next term of the series is w^2 / 5.
        let (found, first) = (values(&e)[1], 2.0 * w / f64::from(M));
        let bound = 80.0 * f64::EPSILON * first + w * w;
        assert!((found - first).abs() <= bound, "{w:e}: {found:e} instead of {first:e}");
        let v = e.eigenvectors(0);
        assert!((0..M as usize).all(|i| v[(i, 1)] * v[(i + M as usize, 1)] < 0.0), "{w:e}: {v}");
        assert_eq!(e.status[0], 0, "{w:e}: {:?}", e.certificate(0));
    }
    Ok(())
}

fn extremes(ctx: &Context) -> Checked {
    for (small, large) in [(1e-150, 1e150), (1e-150, 1e-149), (1e149, 1e150)] {
        let given = vec![(0, 1, large), (1, 2, small), (2, 3, large)];
        for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
            let e = encode::<f64>(ctx, &graph(4, &given)?, normalization)?;
            // As in `weak`: the antisymmetric vectors belong to [1, -1; -1, 1 + 2 w] and its scaled form.
            let w = small / large;
            let second = match normalization {
                Normalization::Combinatorial => large * (2.0 * w / (1.0 + w + w.hypot(1.0))),
                _ => {
                    // The matrix [1, -c; -c, 1 + w c^2] with c^2 = 1 / (1 + w).
                    let square = 1.0 / (1.0 + w);
                    let half = w * square / 2.0;
                    2.0 * w * square / (1.0 + half + (half * half + square).sqrt())
                }
            };
            let found = values(&e)[1];
            assert!(
                (found - second).abs() <= 16.0 * f64::EPSILON * second,
                "{w:e} {normalization:?}: {found:e}, {second:e}"
            );
            assert_eq!(e.status[0], 0, "{w:e} {normalization:?}: {:?}", e.certificate(0));
        }
    }
    Ok(())
}

/// All random graphs have certified pairs.
fn random(ctx: &Context) -> Checked {
    let count = if ctx.adapter().is_none() { 40 } else { 8 };
    for family in FAMILIES {
        for seed in 0..count {
            let n = 3 + SplitMix64::new(seed).next_u64() % 30;
            let graph = graph(n, &edges(family, n, seed))?;
            for normalization in ALL {
                let name = format!("{family}, {n} nodes, seed {seed}, {normalization:?}");
                let found = encode::<f32>(ctx, &graph, normalization)?.certificate(0);
                assert_eq!(found.status, Status::Converged, "{name} in f32: {found:?}");
                let e = encode::<f64>(&Context::cpu(), &graph, normalization)?;
                let found = e.certificate(0);
                assert_eq!(found.status, Status::Converged, "{name} in f64: {found:?}");
            }
        }
    }
    Ok(())
}

/// Sparse graphs of 40 to 120 nodes with weights of six decades, whose second eigenvalue may be just so large that an
/// ordinary decomposition is hardly accurate enough.
fn larger(ctx: &Context) -> Checked {
    for seed in 0..60 {
        let mut random = SplitMix64::new(seed);
        let mut below = |count: u64| random.next_u64() % count;
        let n = 40 + below(81);
        let ends = (1..n).map(|i| (below(i), i)).collect::<Vec<_>>();
        let more = (0..2 * n).map(|_| (below(n), below(n))).filter(|(a, b)| a != b).collect::<Vec<_>>();
        let unique: BTreeMap<(u64, u64), ()> =
            ends.into_iter().chain(more).map(|(a, b)| ((a.min(b), a.max(b)), ())).collect();
        let weight = |k: u64| 10.0_f64.powf(-6.0 * (k as f64) / (1 << 20) as f64);
        let given: Edges = unique.keys().map(|&(a, b)| (a as u32, b as u32, weight(below(1 << 20)))).collect();
        let graph = graph(n, &given)?;
        for normalization in ALL {
            let found = encode::<f64>(ctx, &graph, normalization)?.certificate(0);
            assert_eq!(found.status, Status::Converged, "{n} nodes, seed {seed}, {normalization:?}: {found:?}");
        }
    }
    Ok(())
}

/// A node that hangs on a leaf of a star by a weight of 1e-20 is 0 in each random-walk vector of the eigenvalue 1: the
/// leaf is 0 because of the node, the center because of the leaf, and the node because of the center. An error at this
/// node has a residual of no more than 1e-10 of it, and D^-1/2 amplifies it by 1e10.
fn weak_leaf(ctx: &Context) -> Checked {
    for leaves in [6, 40, 109, 117, 123] {
        let mut numbers: Vec<u32> = (0..leaves + 2).collect();
        let mut random = SplitMix64::new(u64::from(leaves));
        for _ in 0..2 {
            let (center, node) = (numbers[0], numbers[1]);
            let mut given: Edges = numbers[2..].iter().map(|&leaf| (center, leaf, 1.0)).collect();
            given.push((numbers[2], node, 1e-20));
            let graph = graph(u64::from(leaves + 2), &given)?;
            let e = encode::<f64>(ctx, &graph, Normalization::RandomWalk)?;
            let (v, values) = (e.eigenvectors(0), values(&e));
            let ones: Vec<usize> = (0..values.len()).filter(|&j| (values[j] - 1.0).abs() < 1e-12).collect();
            assert_eq!(ones.len(), leaves as usize - 2, "{leaves} leaves: {values:?}");
            let worst = ones.iter().fold(0.0, |worst: f64, &j| worst.max(v[(node as usize, j)].abs()));
            assert!(worst <= 1e-9, "{leaves} leaves: {worst:e} at the node");
            assert_eq!(e.status[0], 0, "{leaves} leaves: {:?}", e.certificate(0));
            for i in (1..numbers.len()).rev() {
                numbers.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
            }
        }
    }
    Ok(())
}
