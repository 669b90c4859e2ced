//! Dense Laplacians of rings.

use super::truth::{EPS, apart, both};
use super::{Calls, Use, Workloads};
use crate::bench::case::Case;
use fiedler::graph::GraphBatch;
use fiedler::graph::generate::cycle;
use fiedler::ops::Normalization;
use fiedler::ops::laplacian::{choose_laplacian, laplacian};
use fiedler::policy::Choice;
use fiedler::{Context, Result};

pub(super) struct Laplacians;

impl Workloads for Laplacians {
    fn least(&self, case: &Case) -> [f64; 2] {
        let numbers = self.numbers(case);
        [4.0 * numbers, numbers]
    }

    fn choose(&self, case: &Case, ctx: &Context, _: bool) -> Choice {
        choose_laplacian::<f32>(ctx, case.order(), 2 * case.size, case.items)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let graphs = GraphBatch::from_graphs(&vec![cycle(case.size.max(3))?; case.items])?;
        let norm = Normalization::Symmetric;
        use_them(Calls {
            resident: Some(Box::new(|| laplacian::<f32>(ctx, &graphs, norm).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| laplacian::<f32>(ctx, &graphs, norm)?.to_host(ctx).map(drop)),
            check: Box::new(|| {
                let cpu = Context::cpu();
                let (truth, found) = both(
                    || laplacian::<f64>(&cpu, &graphs, norm)?.to_host(&cpu),
                    || laplacian::<f32>(ctx, &graphs, norm)?.to_host(ctx),
                )?;
                Ok(apart(&found, &truth) / (4.0 * EPS))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[8, 32, 128, 512]
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[16, 64, 256], &[1, 100, 1000])
    }
}
