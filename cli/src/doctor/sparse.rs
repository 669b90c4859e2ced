//! Sparse products and eigenpairs.

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
        Trial::new("spmm", "Laplacian of a ring of 500, its waves", ring),
        Trial::new("eigsh", "10 pairs of a hypercube of 512 nodes", cube),
    ]
}

/// The eigenvectors of a ring, each node linked to three on either side, are waves: L x = sum over j to 3 of (2 - 2 cos(j t)) x.
fn ring(ctx: &Context) -> Result<Measured> {
    let (n, waves, links) = (500_u32, [1, 3, 50, 249], 3);
    let edges: Vec<(u32, u32)> = (0..n).flat_map(|i| (1..=links).map(move |j| (i, (i + j) % n))).collect();
    let graph = Graph::from_edges(n as usize, &edges, &Conventions::default())?;
    let laplacian = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
    let angle = |wave: usize| TAU * real(wave) / f64::from(n);
    // A block lies by rows: every column of X' is a node.
    let count = waves.len();
    let entry = |at: usize| narrow((angle(waves[at % count]) * real(at / count)).cos());
    let x: Vec<f32> = (0..n as usize * count).map(entry).collect();
    let value = |wave: usize| (1..=links).map(|j| 2.0 - 2.0 * (f64::from(j) * angle(wave)).cos()).sum::<f64>();
    let truth: Vec<f64> = x.iter().enumerate().map(|(at, &x)| value(waves[at % count]) * f64::from(x)).collect();
    let found = spmm(ctx, &laplacian, &Array::from_vec(Shape::new(count, n as usize, 1), x)?)?.to_host(ctx)?;
    // x is rounded by a quarter of an eps at most, which |L| = 12 makes three of; the sum of six rounds numbers up to 6 six times, and
    // what follows numbers up to 12 twice.
    Ok(Measured { found: apart(wide(found.as_slice()), truth), allowed: (3.0 + 6.0 * 3.0 + 2.0 * 6.0) * EPS })
}

/// Eigenvalues 0 and, nine times, 2. A value is within its residual, which is promised to be 2e-6 of |L|_1 = 18.
fn cube(ctx: &Context) -> Result<Measured> {
    let graph = hypercube(9)?;
    let laplacian = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
    let options = EigshOptions::default().method(EigshMethod::Chebyshev);
    let found = ops::eigsh(ctx, &laplacian, 10, Which::Smallest, &options)?;
    let values = apart(wide(&found.values), (0..10_u8).map(|i| if i == 0 { 0.0 } else { 2.0 })) / 18.0;
    let worst = larger(values, found.certificate.residual);
    Ok(Measured { found: worst, allowed: 2e-6 })
}
