//! Weights that are not exactly f32, and weights of any magnitude: eigenvalues are those of the f64 matrix, and a power
//! of two that multiplies all weights multiplies the eigenvalues of D - W, or does not change a normalized Laplacian.

use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, on_each, suite};
use fiedler::encode::{Method, SpectralEncoder};
use fiedler::graph::{Conventions, Graph, GraphBatch, GraphRef};
use fiedler::ops::laplacian::Laplacian;
use fiedler::ops::sparse::Operator;
use fiedler::ops::{EigshOptions, Normalization, Which, eigsh, laplacian};
use fiedler::{Context, ErrorKind};
use nalgebra::DMatrix;

const ALL: [Normalization; 3] = [Normalization::Combinatorial, Normalization::Symmetric, Normalization::RandomWalk];

pub fn tests() -> Vec<Test> {
    suite(
        "weights",
        vec![
            on_cpu("eigenvalues of f64 weights are those of the f64 matrix", to_the_last_digit),
            on_cpu("a power of two multiplies the eigenvalues bit for bit", powers_of_two),
            on_each("weights of 1e-150 and 1e150", extremes),
            on_each("weights of one graph that span more than f32", wide_spans),
        ],
    )
}

/// Returns the edges of a ring with chords. The weights have all digits of f64.
fn ring(n: u32, seed: u64) -> Vec<(u32, u32, f64)> {
    let mut random = SplitMix64::new(seed);
    (0..n).flat_map(|i| [1, 7].map(|step| (i, (i + step) % n))).map(|(i, j)| (i, j, 0.1 + random.unit())).collect()
}

fn of(n: u32, edges: &[(u32, u32, f64)], scale: f64) -> fiedler::Result<Graph> {
    let edges: Vec<_> = edges.iter().map(|&(a, b, weight)| (a, b, weight * scale)).collect();
    Graph::from_weighted_edges(n as usize, &edges, &Conventions::default())
}

/// Returns the Laplacian of listed edges, whose matrix is symmetric. It is not made by the library.
fn matrix(n: u32, edges: &[(u32, u32, f64)], normalized: bool) -> DMatrix<f64> {
    let n = n as usize;
    let mut w = DMatrix::zeros(n, n);
    for &(a, b, weight) in edges {
        w[(a as usize, b as usize)] = weight;
        w[(b as usize, a as usize)] = weight;
    }
    let degrees: Vec<f64> = (0..n).map(|i| w.row(i).sum()).collect();
    DMatrix::from_fn(n, n, |i, j| match (i == j, normalized) {
        (true, false) => degrees[i],
        (true, true) => 1.0,
        (false, false) => -w[(i, j)],
        (false, true) => -w[(i, j)] / (degrees[i] * degrees[j]).sqrt(),
    })
}

fn spectrum(matrix: DMatrix<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = matrix.symmetric_eigenvalues().iter().copied().collect();
    values.sort_by(f64::total_cmp);
    values
}

fn to_the_last_digit(ctx: &Context) -> Checked {
    for n in [16, 40] {
        let edges = ring(n, 5);
        let graph: GraphBatch = of(n, &edges, 1.0)?.into();
        let rounded: Vec<_> = edges.iter().map(|&(a, b, weight)| (a, b, f64::from(weight as f32))).collect();
        for normalization in ALL {
            let normalized = normalization != Normalization::Combinatorial;
            let want = spectrum(matrix(n, &edges, normalized));
            // Each of the two backward stable methods moves an eigenvalue by a small multiple of eps |L|.
            let tolerance = f64::from(n) * f64::EPSILON * want[n as usize - 1];
            let furthest = |found: &[f64]| found.iter().zip(&want).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(furthest(&spectrum(matrix(n, &rounded, normalized))) > 1e4 * tolerance, "f32 would do");
            for method in [Method::Exact, Method::Fast] {
                let encoder = SpectralEncoder::new(8).laplacian(normalization).method(method);
                let (found, _) = encoder.encode_f64(ctx, &graph, |_| ())?;
                // The error of an iteration's eigenvalue is the square of its residual, which is at most 1e-10.
                let away = furthest(found.eigenvalues(0));
                assert!(away <= tolerance, "{n}, {normalization:?}, {method:?}: {away:e} > {tolerance:e}");
            }
            let operator = Operator::<f64>::laplacian(graph.graph(0), normalization)?;
            let options = EigshOptions::default();
            let away = furthest(&eigsh(ctx, &operator, 4, Which::Smallest, &options)?.values);
            assert!(away <= tolerance, "{n}, {normalization:?}: eigsh {away:e} > {tolerance:e}");
        }
    }
    Ok(())
}

/// An iteration does not run alike on every scale, so its results agree where weights are far from 1 and are scaled
/// before.
fn powers_of_two(ctx: &Context) -> Checked {
    let (n, k) = (40, 6);
    let edges = ring(n, 9);
    let graph: GraphBatch = of(n, &edges, 1.0)?.into();
    for method in [Method::Exact, Method::Fast] {
        let encoder = SpectralEncoder::new(k).laplacian(Normalization::Combinatorial).method(method);
        let narrow = encoder.encode(ctx, &graph)?;
        let (wide, _) = encoder.encode_f64(ctx, &graph, |_| ())?;
        for exponent in [-900_i32, -300, -101, -40, -31, -1, 1, 20, 34, 100, 301, 900] {
            if method == Method::Fast && (exponent % 2 != 0 || exponent.abs() <= 32) {
                continue;
            }
            let factor = 2_f64.powi(exponent);
            let scaled: GraphBatch = of(n, &edges, factor)?.into();
            let (found, _) = encoder.encode_f64(ctx, &scaled, |_| ())?;
            for (x, y) in found.eigenvalues.iter().zip(&wide.eigenvalues) {
                assert_eq!(x.to_bits(), (y * factor).to_bits(), "{method:?}, 2^{exponent}: {x:e} and {y:e}");
            }
            assert_eq!((found.status, &found.eigenvectors), (wide.status.clone(), &wide.eigenvectors), "2^{exponent}");
            if exponent.abs() > 110 {
                continue;
            }
            let found = encoder.encode(ctx, &scaled)?;
            for (x, y) in found.eigenvalues.iter().zip(&narrow.eigenvalues) {
                let want = (f64::from(*y) * factor) as f32;
                assert_eq!(x.to_bits(), want.to_bits(), "{method:?}, f32, 2^{exponent}: {x:e} and {y:e}");
            }
            assert_eq!(found.eigenvectors, narrow.eigenvectors, "f32, 2^{exponent}");
        }
    }
    for normalization in [Normalization::Symmetric, Normalization::RandomWalk] {
        let encoder = SpectralEncoder::new(k).laplacian(normalization);
        let (wide, _) = encoder.encode_f64(ctx, &graph, |_| ())?;
        for exponent in [-900, -10, 2, 300] {
            let scaled: GraphBatch = of(n, &edges, 2_f64.powi(exponent))?.into();
            let (found, _) = encoder.encode_f64(ctx, &scaled, |_| ())?;
            assert_eq!((found.eigenvalues, found.eigenvectors), (wide.eigenvalues.clone(), wide.eigenvectors.clone()));
        }
    }
    Ok(())
}

fn extremes(ctx: &Context) -> Checked {
    let n = 16;
    let edges = ring(n, 3);
    let usual: GraphBatch = of(n, &edges, 1.0)?.into();
    for scale in [1e-150, 1e-42, 1e38, 1e150] {
        let graph: GraphBatch = of(n, &edges, scale)?.into();
        let f32_holds = |graph: GraphRef<'_>| graph.degrees().iter().all(|&degree| (2.0 * degree) < f32::MAX.into());
        assert!(scale < 1.0 || !f32_holds(graph.graph(0)));
        for method in [Method::Exact, Method::Fast] {
            for normalization in ALL {
                let encoder = SpectralEncoder::new(4).laplacian(normalization).method(method);
                if normalization == Normalization::Combinatorial {
                    let error = encoder.encode(ctx, &graph).expect_err("f32");
                    assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error:?}");
                    assert!(error.to_string().contains("graph 0: its largest weight is"), "{error}");
                    let cpu = Context::cpu();
                    let (want, _) = encoder.encode_f64(&cpu, &usual, |_| ())?;
                    let (found, _) = encoder.encode_f64(&cpu, &graph, |_| ())?;
                    for (x, y) in found.eigenvalues(0).iter().zip(want.eigenvalues(0)) {
                        // Here, decimal factors round each weight. The norm is at most 9, and eps |L| is 2e-15.
                        assert!((x / scale - y).abs() <= 16.0 * 2e-15, "{scale:e}: {x:e} and {y}");
                    }
                    continue;
                }
                let (want, found) = (encoder.encode(ctx, &usual)?, encoder.encode(ctx, &graph)?);
                assert_eq!((found.status[0], found.components[0]), (0, 1), "{normalization:?}, {scale:e}");
                for (x, y) in found.eigenvectors.iter().zip(&want.eigenvectors) {
                    assert!((x - y).abs() <= 1e-4, "{normalization:?}, {method:?}, {scale:e}: {x} and {y}");
                }
                for (x, y) in found.eigenvalues(0).iter().zip(want.eigenvalues(0)) {
                    assert!((x - y).abs() <= 4e-6, "{normalization:?}, {method:?}, {scale:e}: {x} and {y}");
                }
            }
        }
        let error = laplacian::<f32>(ctx, &graph, Normalization::Combinatorial).expect_err("f32");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error:?}");
        let error = Operator::<f32>::laplacians(&graph, Normalization::Combinatorial).expect_err("f32");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error:?}");
        let dense = laplacian::<f32>(ctx, &graph, Normalization::Symmetric)?.to_host(ctx)?;
        let want = Laplacian::new(usual.graph(0), Normalization::Symmetric).to_dense();
        for (x, y) in dense.iter().zip(want.iter()) {
            assert!((f64::from(*x) - y).abs() <= 1e-6, "{scale:e}: {x} and {y}");
        }
        let operator = Operator::<f32>::laplacian(graph.graph(0), Normalization::Symmetric)?;
        let found = eigsh(ctx, &operator, 3, Which::Smallest, &EigshOptions::default())?;
        let want = spectrum(want);
        for (x, y) in found.values.iter().zip(&want) {
            assert!((f64::from(*x) - y).abs() <= 1e-5, "{scale:e}: {x} and {y}");
        }
    }
    Ok(())
}

/// The path with weights 1 and w. Its normalized eigenvalues are 0, 1 and 2, and the second one of D - W is about
/// 1.5 w, so small that f32 has only 0 for it.
fn wide_spans(ctx: &Context) -> Checked {
    for weight in [1e-60, 1e-150] {
        let graph: GraphBatch = of(3, &[(0, 1, 1.0), (1, 2, weight)], 1.0)?.into();
        for normalization in ALL {
            let found = SpectralEncoder::new(3).laplacian(normalization).encode(ctx, &graph)?;
            assert_eq!(found.components[0], 1);
            if normalization == Normalization::Combinatorial {
                assert!(found.status[0] != 0, "{weight:e}: {:?}", found.eigenvalues(0));
                continue;
            }
            for (x, want) in found.eigenvalues(0).iter().zip([0.0, 1.0, 2.0]) {
                assert!((x - want).abs() <= 1e-6, "{weight:e}, {normalization:?}: {:?}", found.eigenvalues(0));
            }
        }
    }
    Ok(())
}
