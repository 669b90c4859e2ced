//! Heat kernels and PageRank of large graphs, which walks serve instead of eigenpairs.

use crate::structural::{close, in_f64};
use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_cpu, suite};
use fiedler::encode::StructuralEncoder;
use fiedler::graph::generate::{star, torus};
use fiedler::graph::{Conventions, Graph, GraphBatch, IsolatedDiagonal};
use fiedler::ops::Normalization;
use fiedler::{Context, ErrorKind};

pub fn tests() -> Vec<Test> {
    suite(
        "structural_walks",
        vec![
            on_cpu("they agree with eigenpairs", walks),
            on_cpu("closed forms on a torus", on_a_torus),
            on_cpu("what would take days is refused", refused),
        ],
    )
}

/// Without invariants, which need eigenpairs, walks serve these graphs. Both are right to f64.
fn walks(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(58);
    let tree = |n: usize, random: &mut SplitMix64| -> Vec<(u32, u32, f64)> {
        (1..n).map(|i| (random.below(i) as u32, i as u32, 1.0 + random.unit())).collect()
    };
    for isolated in [IsolatedDiagonal::Zero, IsolatedDiagonal::One] {
        let conventions = Conventions { isolated, ..Conventions::default() };
        // A tree, a small graph, and two trees with isolated nodes beside them.
        let graphs = GraphBatch::from_graphs(&[
            Graph::from_weighted_edges(600, &tree(600, &mut random), &conventions)?,
            Graph::from_weighted_edges(9, &tree(9, &mut random), &conventions)?,
            Graph::from_weighted_edges(700, &tree(650, &mut random)[20..], &conventions)?,
            Graph::from_edges(300, &[], &conventions)?,
        ])?;
        for (normalization, dropped) in [Normalization::Combinatorial, Normalization::RandomWalk]
            .into_iter()
            .flat_map(|own| [(own, false), (own, true)])
        {
            let encoder = StructuralEncoder::new().heat_kernel(&[0.0, 0.2, 2.0]).pagerank(&[0.3, 1.0]);
            let encoder = encoder.laplacian(normalization).drop_trivial(dropped);
            let found = in_f64(&encoder, ctx, &graphs)?;
            let by_pairs = in_f64(&encoder.invariants(true), ctx, &graphs)?;
            for (array, (found, want)) in
                [(&found.heat_kernel, &by_pairs.heat_kernel), (&found.pagerank, &by_pairs.pagerank)]
                    .into_iter()
                    .enumerate()
            {
                assert_eq!(found.len(), want.len());
                for (found, want) in found.iter().zip(want) {
                    // n eps of the eigenpairs, and as many roundings as a walk has steps.
                    close(
                        *found,
                        *want,
                        700.0 * f64::EPSILON,
                        &format!("array {array}, {normalization:?}, {isolated:?}"),
                    )?;
                }
            }
        }
    }
    Ok(())
}

/// The diagonals on a torus, all of whose nodes are alike, are the means over its eigenvalues. In f32, the series end
/// sooner.
fn on_a_torus(ctx: &Context) -> Checked {
    let (rows, columns) = (40_usize, 33_usize);
    let graphs: GraphBatch = torus(rows, columns)?.into();
    let encoder = StructuralEncoder::new().heat_kernel(&[0.5, 3.0]).pagerank(&[0.15]);
    let (wide, narrow) = (in_f64(&encoder, ctx, &graphs)?, encoder.encode(ctx, &graphs)?);
    let wave = |i: usize, n: usize| (2.0 * std::f64::consts::PI * i as f64 / n as f64).cos();
    let values = (0..rows).flat_map(|i| (0..columns).map(move |j| 4.0 - 2.0 * wave(i, rows) - 2.0 * wave(j, columns)));
    let mean = |f: &dyn Fn(f64) -> f64| values.clone().map(f).sum::<f64>() / (rows * columns) as f64;
    let heat = [0.5, 3.0].map(|time| mean(&|value| (-time * value).exp()));
    let pagerank = mean(&|value| 0.15 / (0.15 + 0.85 * value / 4.0));
    for node in 0..rows * columns {
        for (t, &want) in heat.iter().enumerate() {
            close(wide.heat_kernel[node * 2 + t], want, 100.0 * f64::EPSILON, "heat kernel")?;
            close(narrow.heat_kernel[node * 2 + t].into(), want, f64::from(f32::EPSILON) * want, "heat kernel in f32")?;
        }
        close(wide.pagerank[node], pagerank, 100.0 * f64::EPSILON, "pagerank")?;
        close(narrow.pagerank[node].into(), pagerank, f64::from(f32::EPSILON) * pagerank, "pagerank in f32")?;
    }
    Ok(())
}

fn refused(ctx: &Context) -> Checked {
    let star: GraphBatch = star(200_000)?.into();
    let error = StructuralEncoder::new().heat_kernel(&[1.0]).encode(ctx, &star).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Limit { .. }) && error.to_string().contains("walks of graph 0"),
        "{error}"
    );
    Ok(())
}
