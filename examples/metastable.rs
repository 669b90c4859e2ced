//! The slow time scales of a metastable Markov chain whose rates span 15 decades, beside their closed form.
//!
//! States sit in the valleys of a landscape: 4 regions of 4 basins of 4 states. The rate between two states is that of
//! the highest barrier between them (dynamics on an ultrametric space; Ogielski and Stein, Phys. Rev. Lett. 55, 1985).
//! The generator is the negative Laplacian of the rates, so the time scales are the reciprocals of its eigenvalues.

use fiedler::encode::{Method, SpectralEncoder};
use fiedler::ops::Status;
use fiedler::prelude::*;

/// The rates within a basin, between the basins of a region, and between regions.
const RATES: [f64; 3] = [1.0, 1e-7, 1e-15];
const BRANCHES: u32 = 4;

/// Returns the eigenvalue of the modes that tell the parts of a region of the given level from each other: the rate of
/// the level times the size of the region, and for each level above, its rate times the number of states that it adds.
fn eigenvalue(level: usize) -> f64 {
    let size = |level: usize| f64::from(BRANCHES).powi(level as i32 + 1);
    let above = RATES.iter().enumerate().skip(level + 1);
    size(level) * RATES[level] + above.map(|(level, rate)| (size(level) - size(level - 1)) * rate).sum::<f64>()
}

fn main() -> fiedler::Result<()> {
    let states = BRANCHES.pow(RATES.len() as u32);
    let level = |i: u32, j: u32| (0..).find(|&level| i / BRANCHES.pow(level + 1) == j / BRANCHES.pow(level + 1));
    let rate = |i: u32, j: u32| RATES[level(i, j).unwrap_or(0) as usize];
    let edges: Vec<_> = (0..states).flat_map(|i| (0..i).map(move |j| (j, i))).collect();
    let edges: Vec<_> = edges.into_iter().map(|(j, i)| (j, i, rate(i, j))).collect();
    let chain = GraphBatch::from(Graph::from_weighted_edges(states as usize, &edges, &Conventions::default())?);

    let encoder = SpectralEncoder::new(states as usize).laplacian(Normalization::Combinatorial).method(Method::Exact);
    let ctx = Context::new()?;
    let wide = encoder.encode_f64(&ctx, &chain, |_| ())?.0;
    let narrow = encoder.encode(&ctx, &chain)?;
    assert_eq!([wide.certificate(0).status, narrow.certificate(0).status], [Status::Converged; 2]);

    println!("time scale   closed form   off by (f64, f32)   modes");
    // The slowest first. Of the modes of a level, one place each is enough: they have one eigenvalue.
    let mut first = 1;
    for level in (0..RATES.len()).rev() {
        let modes = (BRANCHES as usize - 1) * (BRANCHES as usize).pow((RATES.len() - 1 - level) as u32);
        let (truth, found) = (eigenvalue(level), wide.eigenvalues(0)[first]);
        let off = [found, f64::from(narrow.eigenvalues(0)[first])].map(|x| (x / truth - 1.0).abs());
        println!("{:.4e}   {:.4e}    {:7.0e}  {:7.0e}    {modes}", 1.0 / found, 1.0 / truth, off[0], off[1]);
        assert!(off[0] < 1e-13 && off[1] < 1e-5);
        first += modes;
    }
    Ok(())
}
