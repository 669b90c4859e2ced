//! Eigenvalues of symmetric matrices.

use super::input::{numbers, there};
use super::truth::{EPS, both, exact_values, symmetric, values_apart, worst};
use super::{Calls, Use, Workloads};
use crate::bench::case::Case;
use fiedler::ops::eigen::{choose_eigvalsh, eigvalsh};
use fiedler::policy::Choice;
use fiedler::{Context, Result};

pub(super) struct Eigvalsh;

impl Workloads for Eigvalsh {
    /// Counts 4/3 n^3 operations per matrix, the count of Golub and Van Loan for eigenvalues without eigenvectors.
    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items) = (case.size as f64, case.items as f64);
        [4.0 * items * (n * n + n), 4.0 / 3.0 * n.powi(3) * items]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        choose_eigvalsh::<f32>(ctx, &case.orders(), resident)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let host = numbers(case)?;
        let device = there(ctx, &host)?;
        use_them(Calls {
            resident: Some(Box::new(|| eigvalsh(ctx, &device).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| eigvalsh(ctx, &host)?.values.to_host(ctx).map(drop)),
            check: Box::new(|| {
                let (exact, bound) = (symmetric(&host, case)?, 10.0 * case.size as f64 * EPS);
                let (truth, found) = both(|| exact_values(&exact), || eigvalsh(ctx, &host))?;
                let error = values_apart(&exact, found.values.to_host(ctx)?.as_slice(), &truth)?;
                Ok(worst(&found.certificates(ctx)?, bound)?.max(error / bound))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    }
}
