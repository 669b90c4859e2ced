//! Eigenpairs of sparse matrices, by every method on every backend. They are compared with closed forms and dense
//! decompositions, and their residuals are recomputed. The complete null space has to be found separately from the
//! iterated eigenpairs, and no eigenpair may claim more accuracy than it has.

mod nearest;
mod selection;
mod stiff;

use common::random::SplitMix64;
use common::solve::{Checked, alike};
use common::sparse::{Sparse, Truth, Weighted, check, check_spaces, components, tolerance, weighted};
use common::{Test, on_cpu, on_each, referee, sample, suite};
use fiedler::array::Real;
use fiedler::graph::generate::{BlockModel, Probability, block_model, preferential_attachment, uniform};
use fiedler::graph::spectra::Family;
use fiedler::graph::{Conventions, Graph, GraphBatch, IsolatedDiagonal};
use fiedler::ops::sparse::Operator;
use fiedler::ops::{Eigsh, EigshMethod, EigshOptions, Normalization, Status, Which, eigsh};
use fiedler::{Context, ErrorKind};

const BOTH: [Normalization; 2] = [Normalization::Combinatorial, Normalization::Symmetric];
const ENDS: [Which; 2] = [Which::Smallest, Which::Largest];

pub fn tests() -> Vec<Test> {
    suite(
        "eigsh",
        vec![
            on_each("closed forms", closed_forms),
            on_cpu("closed forms by every method", every_method),
            on_cpu("closed forms, large", large),
            on_each("random graphs against dense decompositions", |ctx| random_graphs::<f32>(ctx, &[150, 320])),
            on_cpu("larger random graphs in both precisions", |ctx| {
                random_graphs::<f32>(ctx, &[700])?;
                random_graphs::<f64>(ctx, &[200, 700])
            }),
            on_each("sparse symmetric matrices", symmetric::<f32>),
            on_cpu("sparse symmetric matrices in f64", symmetric::<f64>),
            on_each("the null space", null_space),
            on_each("the same seed, and another seed", seeds),
            on_each("too few products", too_few),
            on_each("values that f32 cannot separate from 0", unresolved),
            on_each("small orders and few pairs", small),
            on_cpu("pairs nearest to a value", nearest::nearest),
            on_cpu("pairs by magnitude and at both ends", |ctx| selection::random(ctx).and(selection::copies(ctx))),
            on_cpu("any scale, and maps that are known by products", selection::scales_and_maps),
            on_cpu("weakly joined clusters, and a clique with a tail", stiff::stiff),
            on_cpu("close values that are not equal", stiff::close),
            on_each("bad input is refused", refused),
        ],
    )
}

/// Whether all eigenpairs have to converge, or some may fail to converge.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    All,
    Some,
}

fn closed_form<T: Real>(
    ctx: &Context,
    family: Family,
    (normalization, which, k): (Normalization, Which, usize),
    options: &EigshOptions,
    expect: Expect,
) -> Result<Option<Eigsh<T>>, String> {
    let spectrum = match normalization {
        Normalization::Combinatorial => Some(family.combinatorial()),
        _ => family.normalized(),
    };
    let Some(spectrum) = spectrum else { return Ok(None) };
    let values = if which == Which::Smallest { spectrum.smallest(k) } else { spectrum.largest(k) };
    let what = || format!("{family:?}, {normalization:?}, {which:?}, k = {k}, {} in {}", options.method, T::NAME);
    let graph = family.graph().map_err(|e| e.to_string())?;
    let operator = Operator::<T>::laplacian(graph.view(), normalization).map_err(|e| e.to_string())?;
    let found = eigsh(ctx, &operator, k, which, options).map_err(|e| format!("{}: {e}", what()))?;
    let matrix = Sparse::laplacian(graph.view(), normalization);
    let truth =
        Truth { matrix: &matrix, values: &values, which, tolerance: tolerance::<T>(), all: expect == Expect::All };
    check(&found, truth).map_err(|e| format!("{} ({}): {e}", what(), found.method))?;
    Ok(Some(found))
}

/// Graphs of orders that are iterated: with multiplicities above the width of the block, with hubs, and with
/// eigenvalues that are close together.
fn closed_forms(ctx: &Context) -> Checked {
    for (family, k) in [
        (Family::Path { nodes: 300 }, 5),
        (Family::Cycle { nodes: 401 }, 6),
        (Family::Grid { rows: 20, columns: 27 }, 8),
        (Family::Torus { rows: 24, columns: 24 }, 9),
        (Family::Hypercube { dimension: 9 }, 10),
        (Family::Hypercube { dimension: 9 }, 14),
        (Family::Star { nodes: 700 }, 4),
        (Family::Complete { nodes: 200 }, 3),
    ] {
        for normalization in BOTH {
            for which in ENDS {
                let options = EigshOptions::default().method(EigshMethod::Chebyshev);
                let found = closed_form::<f32>(ctx, family, (normalization, which, k), &options, Expect::All)?;
                assert!(found.is_none_or(|found| found.method == EigshMethod::Chebyshev && found.products > 0));
            }
        }
    }
    Ok(())
}

/// Runs every method on matrices that it is made for. The plain methods need gaps between eigenvalues.
fn every_method(ctx: &Context) -> Checked {
    let fast = [EigshMethod::Auto, EigshMethod::Chebyshev, EigshMethod::Lanczos, EigshMethod::Dense];
    let plain = [EigshMethod::Subspace, EigshMethod::Power];
    let (cube, star) = (Family::Hypercube { dimension: 9 }, Family::Star { nodes: 500 });
    let (grid, cycle) = (Family::Grid { rows: 17, columns: 19 }, Family::Cycle { nodes: 360 });
    for normalization in BOTH {
        for which in ENDS {
            let both = |family, k, method: EigshMethod, expect| -> Result<(), String> {
                let (ask, options) = ((normalization, which, k), EigshOptions::default().method(method));
                for found in [
                    closed_form::<f32>(ctx, family, ask, &options, expect)?.map(|found| found.method),
                    closed_form::<f64>(ctx, family, ask, &options, expect)?.map(|found| found.method),
                ] {
                    let as_asked = found.is_none_or(|used| used == method || method == EigshMethod::Auto);
                    if !as_asked {
                        return Err(format!("{method} was asked for, {found:?} was used"));
                    }
                }
                Ok(())
            };
            for (family, k) in [(cube, 12), (star, 4), (grid, 7), (cycle, 6), (Family::Path { nodes: 97 }, 3)] {
                for method in fast {
                    both(family, k, method, Expect::All)?;
                }
                if which == Which::Smallest {
                    both(family, k, EigshMethod::ShiftInvert, Expect::All)?;
                }
            }
            // Neighboring eigenvalues of a hypercube are 2 apart, and the largest is 18. So an iteration reduces
            // the error by a factor of 0.9 or less per product.
            for method in plain {
                both(cube, 9, method, Expect::All)?;
                both(Family::Complete { nodes: 150 }, 4, method, Expect::All)?;
            }
            // Here the factor per product is 0.999 or more. A result need not converge, but its status must be
            // true.
            both(cycle, 4, EigshMethod::Power, Expect::Some)?;
            both(cycle, 4, EigshMethod::Subspace, Expect::Some)?;
        }
    }
    Ok(())
}

/// Large graphs, each of which the CPU solves in a few seconds.
fn large(ctx: &Context) -> Checked {
    for (family, normalization, which, k) in [
        (Family::Grid { rows: 250, columns: 400 }, Normalization::Combinatorial, Which::Smallest, 8),
        (Family::Torus { rows: 200, columns: 200 }, Normalization::Symmetric, Which::Smallest, 9),
        (Family::Path { nodes: 100_000 }, Normalization::Combinatorial, Which::Smallest, 6),
        (Family::Path { nodes: 100_000 }, Normalization::Symmetric, Which::Smallest, 6),
        (Family::Cycle { nodes: 100_000 }, Normalization::Symmetric, Which::Smallest, 5),
        (Family::Hypercube { dimension: 13 }, Normalization::Combinatorial, Which::Smallest, 16),
        (Family::Hypercube { dimension: 13 }, Normalization::Symmetric, Which::Largest, 14),
        (Family::Star { nodes: 10_000 }, Normalization::Combinatorial, Which::Smallest, 6),
        (Family::Star { nodes: 100_000 }, Normalization::Combinatorial, Which::Largest, 2),
        (Family::Complete { nodes: 1500 }, Normalization::Combinatorial, Which::Smallest, 5),
    ] {
        let ask = (normalization, which, k);
        closed_form::<f64>(ctx, family, ask, &EigshOptions::default(), Expect::All)?;
        closed_form::<f32>(ctx, family, ask, &EigshOptions::default(), Expect::Some)?;
    }
    Ok(())
}

fn probability(above: u32, below: u32) -> fiedler::Result<Probability> {
    Probability::new(above, below)
}

/// Random graphs with clusters, with hubs and without structure. They are connected or not, and some have weights
/// over twelve orders of magnitude, or self-loops.
fn random_graphs<T: Real>(ctx: &Context, sizes: &[usize]) -> Checked {
    let default = Conventions::default();
    let one = Conventions { isolated: IsolatedDiagonal::One, ..default };
    let plain = Weighted { conventions: default, spread: 0.0, loops: 0, isolated: 0 };
    for (round, &n) in sizes.iter().enumerate() {
        let seed = 7 + round as u64;
        let blocks = BlockModel { blocks: 5, size: n / 5, within: probability(1, 5)?, between: probability(1, 200)? };
        let apart = BlockModel { between: probability(0, 1)?, ..blocks };
        let hubs = preferential_attachment(n, 3, seed)?;
        let cases = [
            ("blocks", block_model(blocks, seed)?, plain),
            ("blocks, apart", block_model(apart, seed)?, plain),
            ("hubs", hubs.clone(), plain),
            ("hubs, weighted", hubs.clone(), Weighted { spread: 1.0, ..plain }),
            ("hubs, weights of 1e-6 to 1e6", hubs.clone(), Weighted { spread: 6.0, ..plain }),
            ("hubs, self-loops, isolated", hubs, Weighted { spread: 0.5, loops: 7, isolated: 5, ..plain }),
            ("thin", uniform(n, n, seed)?, plain),
            ("thin, isolated are 1", uniform(n, n, seed)?, Weighted { conventions: one, isolated: 2, ..plain }),
        ];
        for (name, graph, how) in sample(ctx, cases) {
            let graph = weighted(graph.view(), how, seed)?;
            for normalization in BOTH {
                let matrix = Sparse::laplacian(graph.view(), normalization);
                let (values, vectors) = referee::eigenpairs(&matrix.dense(), matrix.order())?;
                let operator = Operator::<T>::laplacian(graph.view(), normalization)?;
                assert_eq!(Some(operator.null_vectors()), matrix.null);
                for which in ENDS {
                    let k = 6 + if which == Which::Smallest { matrix.null.unwrap_or(0) } else { 0 };
                    let start = if which == Which::Smallest { 0 } else { matrix.order() - k };
                    let found = eigsh(ctx, &operator, k, which, &EigshOptions::default())?;
                    let values_wanted = &values[start..start + k];
                    let (tolerance, all) = (tolerance::<T>(), false);
                    let truth = Truth { matrix: &matrix, values: values_wanted, which, tolerance, all };
                    let name = format!("{name}, n = {n}, {normalization:?}, {which:?} by {}", found.method);
                    check(&found, truth).map_err(|e| format!("{name}: {e}"))?;
                    check_spaces(&found, &matrix, &values, &vectors).map_err(|e| format!("{name}: {e}"))?;
                    // If the weights span twelve orders of magnitude, f32 cannot distinguish small eigenvalues
                    // from 0, and not all iterations converge.
                    let hard = how.spread > 2.0;
                    let done = found.certificate.status == Status::Converged;
                    assert!(done || hard, "{name}: {:?} {:?} {:?}", found.values, found.residuals, found.statuses);
                }
            }
        }
    }
    Ok(())
}

/// Indefinite and diagonal matrices, the zero matrix and the identity, and matrices with scales far from 1.
fn symmetric<T: Real>(ctx: &Context) -> Checked {
    let diagonal = |n: usize, of: &dyn Fn(usize) -> f64| Sparse::new((0..n).map(|i| vec![(i, of(i))]).collect(), None);
    let cases = [
        ("indefinite", Sparse::random(260, 4, 1.0, 3)),
        ("indefinite, 1e-30", Sparse::random(260, 4, 1e-30, 4)),
        // Row sums stay below 1e30, the largest norm that the device's kernels take.
        ("indefinite, 1e28", Sparse::random(260, 4, 1e28, 5)),
        ("diagonal", diagonal(400, &|i| (i as f64 - 100.0) / 16.0)),
        ("identity", diagonal(300, &|_| 1.0)),
        ("minus two", diagonal(300, &|_| -2.0)),
        ("zero", diagonal(300, &|_| 0.0)),
        ("no entries", Sparse::new(vec![Vec::new(); 300], None)),
        ("one entry", Sparse::new((0..300).map(|i| if i == 7 { vec![(7, 3.0)] } else { Vec::new() }).collect(), None)),
    ];
    for (name, matrix) in cases {
        let n = matrix.order();
        // The referee works on the matrix scaled to norm 1, because its measures are not made for norms at the
        // ends of the range.
        let unit = if matrix.norm > 0.0 { matrix.norm } else { 1.0 };
        let scaled: Vec<f64> = matrix.dense().iter().map(|x| x / unit).collect();
        let values: Vec<f64> = referee::eigenvalues(&scaled, n)?.iter().map(|x| x * unit).collect();
        let (offsets, columns, entries) = matrix.csr::<T>();
        let operator = Operator::from_csr(offsets, columns, entries)?;
        for which in ENDS {
            for (k, method) in [(1, EigshMethod::Auto), (6, EigshMethod::Auto), (6, EigshMethod::Chebyshev)] {
                let start = if which == Which::Smallest { 0 } else { n - k };
                let truth = Truth {
                    matrix: &matrix,
                    values: &values[start..start + k],
                    which,
                    tolerance: tolerance::<T>(),
                    all: true,
                };
                let name = format!("{name}, k = {k}, {which:?} by {method}");
                let options = EigshOptions::default().method(method);
                let found = eigsh(ctx, &operator, k, which, &options).map_err(|e| format!("{name}: {e}"))?;
                check(&found, truth).map_err(|e| format!("{name}: {e}"))?;
            }
        }
    }
    Ok(())
}

/// The components are counted, their eigenvalues are exactly 0, and the iterated eigenvectors are orthogonal to
/// the null space.
fn null_space(ctx: &Context) -> Checked {
    // Three connected random graphs, a path, and isolated nodes.
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut random = SplitMix64::new(9);
    for part in 0..3_u32 {
        edges.extend((1..120).map(|i| (120 * part + i, 120 * part + random.below(i as usize) as u32)));
        edges.extend((0..200).map(|_| (120 * part + random.below(120) as u32, 120 * part + random.below(120) as u32)));
    }
    edges.extend((361..380).map(|i| (i - 1, i)));
    for isolated in [IsolatedDiagonal::Zero, IsolatedDiagonal::One] {
        let conventions = Conventions { isolated, ..Conventions::default() };
        let graph = Graph::from_edges(384, &edges, &conventions)?;
        assert_eq!(components(graph.view()), 8);
        let (parts, degree) = (graph.view().components(), graph.view().degrees());
        for normalization in BOTH {
            let matrix = Sparse::laplacian(graph.view(), normalization);
            let all_zero = normalization == Normalization::Combinatorial || isolated == IsolatedDiagonal::Zero;
            let null = if all_zero { 8 } else { 4 };
            assert_eq!(matrix.null, Some(null));
            let values = referee::eigenvalues(&matrix.dense(), 384)?;
            let operator = Operator::<f32>::laplacian(graph.view(), normalization)?;
            for method in [EigshMethod::Chebyshev, EigshMethod::Auto, EigshMethod::Lanczos, EigshMethod::Subspace] {
                for k in [1, 4, 8, 9] {
                    let found = eigsh(ctx, &operator, k, Which::Smallest, &EigshOptions::default().method(method))?;
                    let name = format!("{isolated:?}, {normalization:?}, k = {k} by {method}");
                    let (which, tolerance) = (Which::Smallest, tolerance::<f32>());
                    // The plain method is not expected to converge.
                    let all = method != EigshMethod::Subspace;
                    let truth = Truth { matrix: &matrix, values: &values[..k], which, tolerance, all };
                    check(&found, truth).map_err(|e| format!("{name}: {e}"))?;
                    let zeros = found.values.iter().filter(|&&x| x == 0.0).count();
                    assert_eq!(zeros, null.min(k), "{name}: {:?}", found.values);
                    // The eigenvectors are orthogonal to the null vector of every component, including the null
                    // vectors that were not returned.
                    for label in 0..parts.count {
                        let member = |i: usize| parts.labels[i] as usize == label;
                        let entry = |i: usize| match normalization {
                            Normalization::Combinatorial => 1.0,
                            _ => degree[i].sqrt(),
                        };
                        let norm = (0..384).filter(|&i| member(i)).map(|i| entry(i).powi(2)).sum::<f64>().sqrt();
                        for j in null.min(k)..k {
                            let along = (0..384).filter(|&i| member(i) && norm > 0.0);
                            let along: f64 = along.map(|i| f64::from(found.vectors[(i, j)]) * entry(i) / norm).sum();
                            assert!(along.abs() <= 1e-5, "{name}: vector {j} has {along:e} of component {label}");
                        }
                    }
                }
            }
        }
        // A graph of isolated nodes only: all eigenvalues are 0, or all are 1.
        let none = Graph::from_edges(500, &[], &conventions)?;
        for normalization in BOTH {
            let operator = Operator::<f32>::laplacian(none.view(), normalization)?;
            let matrix = Sparse::laplacian(none.view(), normalization);
            let value = if matrix.null == Some(500) { 0.0 } else { 1.0 };
            for which in ENDS {
                for k in [3, 500] {
                    let found = eigsh(ctx, &operator, k, which, &EigshOptions::default())?;
                    let values = vec![value; k];
                    let truth = Truth { matrix: &matrix, values: &values, which, tolerance: 2e-6, all: true };
                    check(&found, truth).map_err(|e| format!("isolated alone, {normalization:?}, k = {k}: {e}"))?;
                }
            }
        }
    }
    Ok(())
}

fn all_bits(found: &Eigsh<f32>) -> (Vec<u32>, Vec<u64>, Vec<Status>) {
    let numbers = found.values.iter().chain(found.vectors.iter()).map(|x| x.to_bits());
    (numbers.collect(), found.residuals.iter().map(|x| x.to_bits()).collect(), found.statuses.clone())
}

/// The same seed gives the same bits, and another seed gives the same eigenvalues within the accuracy.
fn seeds(ctx: &Context) -> Checked {
    let graph = preferential_attachment(400, 3, 5)?;
    let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Symmetric)?;
    let mut methods = vec![EigshMethod::Chebyshev];
    if ctx.adapter().is_none() {
        methods.extend([EigshMethod::Lanczos, EigshMethod::ShiftInvert, EigshMethod::Dense]);
    }
    for method in methods {
        let solve =
            |seed| eigsh(ctx, &operator, 6, Which::Smallest, &EigshOptions::default().method(method).seed(seed));
        let (one, again, other) = (solve(1)?, solve(1)?, solve(2)?);
        assert!(all_bits(&one) == all_bits(&again), "{method}: two runs differ");
        let iterated = method != EigshMethod::Dense;
        assert!(!iterated || all_bits(&one) != all_bits(&other), "{method}: the seed has no effect");
        for j in 0..6 {
            // Each eigenvalue differs from the true one by at most its residual, and by rounding.
            let apart = f64::from(one.values[j] - other.values[j]).abs();
            let norm = operator.bounds(0).norm;
            let allowed = (one.residuals[j] + other.residuals[j] + 4.0 * f64::from(f32::EPSILON)) * norm;
            assert!(apart <= allowed, "{method}: value {j} {apart:e} apart, allowed {allowed:e}");
        }
    }
    Ok(())
}

/// An iteration that is stopped before it converges reports this.
fn too_few(ctx: &Context) -> Checked {
    let family = Family::Torus { rows: 30, columns: 31 };
    let graph = family.graph()?;
    let matrix = Sparse::laplacian(graph.view(), Normalization::Combinatorial);
    let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
    for method in [EigshMethod::Chebyshev, EigshMethod::Subspace, EigshMethod::Power, EigshMethod::Lanczos] {
        for which in ENDS {
            for products in [0, 1, 7] {
                let options = EigshOptions::default().method(method).most_products(products);
                let found = match eigsh(ctx, &operator, 6, which, &options) {
                    Ok(found) => found,
                    // A method without any vectors has nothing to return.
                    Err(error) if method == EigshMethod::Lanczos => {
                        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                };
                let known = usize::from(which == Which::Smallest);
                let name = format!("{method}, {which:?}, {products} products");
                assert_eq!(found.certificate.status, Status::NotConverged, "{name}");
                for j in 0..6 {
                    let converged = found.statuses[j] == Status::Converged;
                    let truly =
                        matrix.residual(f64::from(found.values[j]), found.vectors.column(j).map(f64::from).as_slice());
                    assert!(converged == (j < known) || truly <= 2e-6 * matrix.norm, "{name}: pair {j}, {truly:e}");
                    let said = found.residuals[j] * matrix.norm;
                    assert!((said - truly).abs() <= 1e-6 * matrix.norm, "{name}: pair {j}, {said:e}, truly {truly:e}");
                }
            }
        }
    }
    Ok(())
}

/// The smallest eigenvalues of a path of n nodes are about (pi j / n)^2, which is 2.5e-10 for j = 1 and 200,000
/// nodes. The spacing of f32 at the largest eigenvalue, 4, is 5e-7, so f32 cannot resolve the smallest ones.
fn unresolved(ctx: &Context) -> Checked {
    // Software adapters take a minute for 20,000 nodes and 2000 products.
    let (nodes, products) = match ctx.adapter() {
        Some(adapter) if adapter.software => (20_000, 200),
        Some(_) => (20_000, 2000),
        None => (100_000, 1000),
    };
    let graph = Family::Path { nodes }.graph()?;
    let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
    let options = EigshOptions::default().method(EigshMethod::Chebyshev).most_products(products);
    let found = eigsh(ctx, &operator, 4, Which::Smallest, &options)?;
    assert!(found.values[0] == 0.0 && found.statuses[0] == Status::Converged);
    for j in 1..4 {
        assert_ne!(found.statuses[j], Status::Converged, "{:e}, {:e}", found.values[j], found.residuals[j]);
    }
    assert_ne!(found.certificate.status, Status::Converged);
    Ok(())
}

/// Graphs of no nodes, one node and two nodes; no eigenpairs, all eigenpairs, and all but one.
fn small(ctx: &Context) -> Checked {
    for nodes in [0, 1, 2, 3, 40, 97, 130] {
        let graph = if nodes == 0 {
            Graph::from_edges(0, &[], &Conventions::default())?
        } else {
            Family::Path { nodes }.graph()?
        };
        for normalization in BOTH {
            let matrix = Sparse::laplacian(graph.view(), normalization);
            let values = referee::eigenvalues(&matrix.dense(), nodes)?;
            let operator = Operator::<f32>::laplacian(graph.view(), normalization)?;
            let mut ks = vec![0, 1, 2, nodes / 2, nodes.saturating_sub(1), nodes];
            ks.retain(|&k| k <= nodes);
            for k in ks {
                for which in ENDS {
                    for method in [EigshMethod::Auto, EigshMethod::Chebyshev, EigshMethod::Dense, EigshMethod::Lanczos]
                    {
                        let name = format!("path {nodes}, {normalization:?}, k = {k}, {which:?} by {method}");
                        let options = EigshOptions::default().method(method);
                        let found = eigsh(ctx, &operator, k, which, &options).map_err(|e| format!("{name}: {e}"))?;
                        let start = if which == Which::Smallest { 0 } else { nodes - k };
                        let (tolerance, values) = (tolerance::<f32>(), &values[start..start + k]);
                        let truth = Truth { matrix: &matrix, values, which, tolerance, all: true };
                        check(&found, truth).map_err(|e| format!("{name}: {e}"))?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let graph = Family::Cycle { nodes: 300 }.graph()?;
    let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Symmetric)?;
    let default = EigshOptions::default();
    let error = |k, which, options: &EigshOptions| eigsh(ctx, &operator, k, which, options).expect_err("refused");
    let shape = error(301, Which::Smallest, &default);
    assert!(matches!(shape.kind(), ErrorKind::Shape { .. }) && shape.to_string().contains("k = 301"), "{shape}");
    for tolerance in [0.0, -1e-6, f64::NAN, f64::INFINITY] {
        let domain = error(3, Which::Smallest, &default.tolerance(tolerance));
        let told = domain.to_string().contains(&tolerance.to_string());
        assert!(matches!(domain.kind(), ErrorKind::Domain { .. }) && told, "{domain}");
    }
    let domain = error(3, Which::Largest, &default.method(EigshMethod::ShiftInvert));
    assert!(matches!(domain.kind(), ErrorKind::Domain { .. }), "{domain}");
    // Two matrices in one call.
    let two = GraphBatch::from_graphs(&[graph.clone(), graph.clone()])?;
    let shape = eigsh(ctx, &Operator::<f32>::laplacians(&two, Normalization::Symmetric)?, 2, Which::Smallest, &default);
    assert!(matches!(shape.expect_err("two matrices").kind(), ErrorKind::Shape { .. }));
    // A block of vectors that exceeds the memory budget. The sparse matrix itself is small.
    let long = Family::Path { nodes: 50_000 }.graph()?;
    let long = Operator::<f32>::laplacian(long.view(), Normalization::Symmetric)?;
    let tight = alike(ctx).memory_budget(4 << 20).build()?;
    for method in [EigshMethod::Chebyshev, EigshMethod::Dense, EigshMethod::Subspace, EigshMethod::Power] {
        let limit = eigsh(&tight, &long, 200, Which::Smallest, &default.method(method)).expect_err("beyond the budget");
        let needs = matches!(*limit.kind(), ErrorKind::Limit { needed, allowed, .. } if needed > allowed);
        assert!(needs && !limit.is_device(), "{method}: {limit}");
    }
    // The context remains usable.
    eigsh(ctx, &operator, 3, Which::Smallest, &default)?;
    if ctx.adapter().is_some() {
        // f64 is not narrowed silently.
        let wide = Operator::<f64>::laplacian(graph.view(), Normalization::Symmetric)?;
        let domain = eigsh(ctx, &wide, 3, Which::Smallest, &default).expect_err("f64 on a device");
        assert!(matches!(domain.kind(), ErrorKind::Domain { .. }), "{domain}");
    }
    Ok(())
}
