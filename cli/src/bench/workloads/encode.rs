//! Encodings of connected graphs with about two links per node.

use super::truth::{EPS, worst};
use super::{Calls, Use, Words, Workloads};
use crate::bench::case::Case;
use fiedler::encode::SpectralEncoder;
use fiedler::graph::GraphBatch;
use fiedler::graph::generate::{path, preferential_attachment};
use fiedler::policy::Choice;
use fiedler::{Context, Result};

pub(super) struct Encode;

impl Workloads for Encode {
    fn words(&self) -> Words {
        Words { size: "nodes", items: "graphs", k: 8, ..Words::BATCH }
    }

    fn numbers(&self, case: &Case) -> f64 {
        case.size as f64 * (case.k as f64 + 5.0) * case.items as f64
    }

    /// Counts 9 n^3 operations per graph, as [`super::eigh`] does per matrix.
    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items) = (case.size as f64, case.items as f64);
        [4.0 * n * items * (5.0 + case.k as f64), 9.0 * n.powi(3) * items]
    }

    fn choose(&self, case: &Case, ctx: &Context, _: bool) -> Choice {
        SpectralEncoder::new(case.k).choose_alike(ctx, (case.size, 4 * case.size), case.items)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let nodes = case.size;
        let graph = if nodes > 3 { preferential_attachment(nodes, 2, case.seed)? } else { path(nodes)? };
        let graphs = GraphBatch::from_graphs(&vec![graph; case.items])?;
        let encoder = SpectralEncoder::new(case.k);
        let encode = || encoder.encode(ctx, &graphs);
        use_them(Calls {
            resident: None,
            transfers: Box::new(move || encode().map(drop)),
            check: Box::new(move || {
                let found = encode()?;
                let certificates: Vec<_> = (0..found.graphs()).map(|i| found.certificate(i)).collect();
                worst(&certificates, 10.0 * case.size as f64 * EPS)
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[4, 8, 16, 32, 64, 128, 256]
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[16, 32, 64, 128, 400], &[10, 100, 1000])
    }
}
