//! Singular values and vectors of square matrices.

use super::input::{numbers, there};
use super::truth::{EPS, both, decomposition, few, some, transposed, wide, worst};
use super::{Calls, Use, Workloads};
use crate::bench::case::Case;
use fiedler::ops::svd::{Vectors, choose_svd, svd, svdvals};
use fiedler::policy::Choice;
use fiedler::{Context, Result};

pub(super) struct Svd;

impl Workloads for Svd {
    /// Counts 22 n^3 operations per matrix, the count of Golub and Van Loan for U, S and V.
    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items) = (case.size as f64, case.items as f64);
        [4.0 * items * (3.0 * n * n + n), 22.0 * n.powi(3) * items]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        choose_svd::<f32>(ctx, case.shape(), Vectors::Thin, resident)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let host = numbers(case)?;
        let device = there(ctx, &host)?;
        use_them(Calls {
            resident: Some(Box::new(|| svd(ctx, &device, Vectors::Thin).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| {
                let found = svd(ctx, &host, Vectors::Thin)?;
                let (u, vh, s) = (found.u.read(ctx)?, found.vh.read(ctx)?, found.s.read(ctx)?);
                u.wait()?;
                vh.wait()?;
                s.wait().map(drop)
            }),
            check: Box::new(|| {
                let bound = 15.0 * case.size as f64 * EPS;
                let exact = wide(&host, few(case, case.size * case.size), |x: f32| f64::from(x))?;
                let cpu = Context::cpu();
                let (truth, found) = both(
                    || Ok(svdvals(&cpu, &exact)?.s.to_host(&cpu)?.as_slice().to_vec()),
                    || svd(ctx, &host, Vectors::Thin),
                )?;
                let (u, vh) = (found.u.to_host(ctx)?, found.vh.to_host(ctx)?);
                let vectors = [&some(&u, exact.shape())?, &transposed(&some(&vh, exact.shape())?)?];
                let error = decomposition(&exact, vectors, found.s.to_host(ctx)?.as_slice(), &truth)?;
                Ok(worst(&found.certificates(ctx)?, bound)?.max(error / bound))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[2, 4, 8, 16, 32, 64, 128, 256]
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[8, 16, 32, 64, 128], &[1, 10, 100, 1000, 10_000])
    }
}
