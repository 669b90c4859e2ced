//! Tests of sparse products and eigenpairs.

use super::{EPS, Measured, Trial, apart, larger, narrow, real, wide};
use fiedler::Context;
use fiedler::Result;
use fiedler::Shape;
use fiedler::array::Array;
use fiedler::graph::generate::hypercube;
use fiedler::graph::{Conventions, Graph};
use fiedler::ops::sparse::{Operator, spmm};
use fiedler::ops::{self, EigshMethod, EigshOptions, Normalization, Which};
use std::f64::consts::TAU;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        Trial::new("spmm", "Laplacian times waves on a ring of 500", ring),
        Trial::new("eigsh", "10 eigenpairs of a 512-node hypercube", cube),
    ]
}

/// Multiplies the Laplacian of a ring by waves. Each node is linked to its three nearest neighbors in both directions,
/// and the eigenvectors are waves: for a wave x with the angle t between adjacent nodes, L x = (sum over j = 1, 2, 3 of
/// 2 - 2 cos(j t)) x.
fn ring(ctx: &Context) -> Result<Measured> {
    let (n, waves, links) = (500_u32, [1, 3, 50, 249], 3);
    let edges: Vec<(u32, u32)> = (0..n).flat_map(|i| (1..=links).map(move |j| (i, (i + j) % n))).collect();
    let graph = Graph::from_edges(n as usize, &edges, &Conventions::default())?;
    let laplacian = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
    let angle = |wave: usize| TAU * real(wave) / f64::from(n);
    // The array holds the transpose X' of the block X. Each column of X' belongs to one node.
    let count = waves.len();
    let entry = |at: usize| narrow((angle(waves[at % count]) * real(at / count)).cos());
    let x: Vec<f32> = (0..n as usize * count).map(entry).collect();
    let value = |wave: usize| (1..=links).map(|j| 2.0 - 2.0 * (f64::from(j) * angle(wave)).cos()).sum::<f64>();
    let truth: Vec<f64> = x.iter().enumerate().map(|(at, &x)| value(waves[at % count]) * f64::from(x)).collect();
    let found = spmm(ctx, &laplacian, &Array::from_vec(Shape::new(count, n as usize, 1), x)?)?.to_host(ctx)?;
    // Rounding x causes an error of at most eps / 4, which the factor |L| = 12 turns into 3 eps. The sum of six terms
    // makes six rounding errors in values of up to 6, and the two operations after the sum round values of up to 12.
    Ok(Measured { found: apart(wide(found.as_slice()), truth), allowed: (3.0 + 6.0 * 3.0 + 2.0 * 6.0) * EPS })
}

/// Checks the ten smallest eigenvalues of the hypercube, which are 0 once and 2 nine times. The error of an eigenvalue
/// is at most its residual. The promised bound on the residual is 2e-6 |L|_1, where |L|_1 = 18.
fn cube(ctx: &Context) -> Result<Measured> {
    let graph = hypercube(9)?;
    let laplacian = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
    let options = EigshOptions::default().method(EigshMethod::Chebyshev);
    let found = ops::eigsh(ctx, &laplacian, 10, Which::Smallest, &options)?;
    let values = apart(wide(&found.values), (0..10_u8).map(|i| if i == 0 { 0.0 } else { 2.0 })) / 18.0;
    let worst = larger(values, found.certificate.residual);
    Ok(Measured { found: worst, allowed: 2e-6 })
}
