//! Eigenvalues and eigenvectors of symmetric matrices.

use super::input::{numbers, there};
use super::truth::{EPS, both, decomposition, exact_values, some, symmetric, worst};
use super::{Calls, Use, Workloads};
use crate::bench::case::Case;
use fiedler::forms::{JacobiForm, KernelForm};
use fiedler::ops::eigen::{choose_eigh, eigh};
use fiedler::policy::Choice;
use fiedler::{Context, Result};

pub(super) struct Eigh;

impl Workloads for Eigh {
    /// Counts 9 n^3 operations per matrix, the count of Golub and Van Loan for eigenvalues and eigenvectors.
    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items) = (case.size as f64, case.items as f64);
        [4.0 * items * (2.0 * n * n + n), 9.0 * n.powi(3) * items]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        choose_eigh::<f32>(ctx, &case.orders(), resident)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let host = numbers(case)?;
        let device = there(ctx, &host)?;
        use_them(Calls {
            resident: Some(Box::new(|| eigh(ctx, &device).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| {
                let found = eigh(ctx, &host)?;
                let (vectors, values) = (found.vectors.read(ctx)?, found.values.read(ctx)?);
                vectors.wait()?;
                values.wait().map(drop)
            }),
            check: Box::new(|| {
                let (exact, bound) = (symmetric(&host, case)?, 10.0 * case.size as f64 * EPS);
                let (truth, found) = both(|| exact_values(&exact), || eigh(ctx, &host))?;
                let vectors = some(&found.vectors.to_host(ctx)?, exact.shape())?;
                let values = found.values.to_host(ctx)?;
                let error = decomposition(&exact, [&vectors, &vectors], values.as_slice(), &truth)?;
                Ok(worst(&found.certificates(ctx)?, bound)?.max(error / bound))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[8, 16, 32, 64, 128, 256], &[1, 10, 100, 1000, 10_000])
    }

    fn forms(&self) -> (&'static [KernelForm], &'static [usize]) {
        const FORMS: [KernelForm; 4] = [
            KernelForm::Eigh(JacobiForm::Tiny),
            KernelForm::Eigh(JacobiForm::Lane),
            KernelForm::Eigh(JacobiForm::Register),
            KernelForm::Eigh(JacobiForm::Workgroup),
        ];
        (&FORMS, &[4, 8, 16, 32, 64, 96, 128])
    }
}
