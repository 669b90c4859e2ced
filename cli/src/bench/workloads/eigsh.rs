//! A few eigenpairs of the Laplacian of a square grid.

use super::truth::{apart, both, worst};
use super::{Calls, Use, Words, Workloads};
use crate::bench::case::Case;
use fiedler::graph::generate::grid;
use fiedler::ops::eigsh::{EigshOptions, choose_eigsh, eigsh};
use fiedler::ops::sparse::Operator;
use fiedler::ops::{Normalization, Which};
use fiedler::policy::Choice;
use fiedler::{Context, Result};

pub(super) struct FewPairs;

impl Workloads for FewPairs {
    fn words(&self) -> Words {
        Words { size: "grid", items: "", k: 16, ..Words::BATCH }
    }

    fn most_k(&self, size: usize) -> usize {
        size.saturating_mul(size)
    }

    fn numbers(&self, case: &Case) -> f64 {
        5.0 * case.size as f64 * case.size as f64
    }

    fn least(&self, case: &Case) -> [f64; 2] {
        let nodes = case.size as f64 * case.size as f64;
        [20.0 * nodes, 100.0 * 10.0 * nodes * case.k as f64]
    }

    fn choose(&self, case: &Case, ctx: &Context, _: bool) -> Choice {
        let entries = 4 * case.size * case.size.saturating_sub(1);
        choose_eigsh::<f32>(ctx, (case.size * case.size, entries), case.k)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let graph = grid(case.size, case.size)?;
        let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Symmetric)?;
        let options = EigshOptions::default();
        let find = || eigsh(ctx, &operator, case.k, Which::Smallest, &options);
        use_them(Calls {
            resident: None,
            transfers: Box::new(|| find().map(drop)),
            check: Box::new(|| {
                let exact = || Operator::<f64>::laplacian(graph.view(), Normalization::Symmetric);
                let (truth, found) =
                    both(|| eigsh(&Context::cpu(), &exact()?, case.k, Which::Smallest, &options), find)?;
                // The 1-norm of these Laplacians is about 2. An eigenvalue is no farther from an exact one than the
                // residual, unless an iteration missed it.
                let tolerance = options.tolerance_in::<f32>();
                let apart = apart(&found.values, &truth.values) / 2.0;
                Ok(worst(&[found.certificate], tolerance)?.max(apart / tolerance))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[24, 48, 96]
    }

    fn fewest(&self) -> Option<usize> {
        None
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[24, 48, 96], &[1])
    }
}
