//! Covariances of the columns of one matrix.

use super::input::{numbers, there};
use super::truth::{apart, both, wide};
use super::{Calls, Use, Words, Workloads};
use crate::bench::case::Case;
use fiedler::ops::stats::{choose_cov, cov};
use fiedler::policy::Choice;
use fiedler::{Context, Result, Shape};

pub(super) struct Cov;

impl Workloads for Cov {
    fn words(&self) -> Words {
        Words { size: "cols", items: "rows", items_first: true, ..Words::BATCH }
    }

    fn shape(&self, case: &Case) -> Shape {
        Shape::new(case.items, case.size, 1)
    }

    fn numbers(&self, case: &Case) -> f64 {
        case.size as f64 * case.items as f64
    }

    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items) = (case.size as f64, case.items as f64);
        [4.0 * n * items, n * n * items]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        choose_cov::<f32>(ctx, case.shape(), resident)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let host = numbers(case)?;
        let device = there(ctx, &host)?;
        use_them(Calls {
            resident: Some(Box::new(|| cov(ctx, &device).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| cov(ctx, &host)?.to_host(ctx).map(drop)),
            check: Box::new(|| {
                let cpu = Context::cpu();
                let (truth, found) = both(
                    || cov(&cpu, &wide(&host, usize::MAX, |x: f32| f64::from(x))?)?.to_host(&cpu),
                    || cov(ctx, &host)?.to_host(ctx),
                )?;
                // The allowed error is 1e-5 times the variance of the uniform distribution on -1..1, which is 1/3.
                Ok(apart(found.as_slice(), truth.as_slice()) / (1e-5 / 3.0))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[4, 16, 64, 256, 1024]
    }

    fn fewest(&self) -> Option<usize> {
        Some(256)
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[8, 32, 128, 512], &[1000, 20_000, 100_000])
    }
}
