//! Moments of columns.

use super::input::{numbers, there};
use super::truth::{apart, both, wide};
use super::{Calls, Use, Workloads};
use crate::bench::case::Case;
use fiedler::array::Array;
use fiedler::ops::stats::{StatsOptions, choose_describe, describe};
use fiedler::policy::Choice;
use fiedler::{Axis, Context, Result, Shape};

pub(super) struct Describe;

impl Workloads for Describe {
    fn shape(&self, case: &Case) -> Shape {
        Shape::new(case.size, case.items, 1)
    }

    fn numbers(&self, case: &Case) -> f64 {
        case.size as f64 * case.items as f64
    }

    fn least(&self, case: &Case) -> [f64; 2] {
        let numbers = self.numbers(case);
        [4.0 * numbers, 12.0 * numbers]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        choose_describe::<f32>(ctx, case.shape(), resident)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let host = numbers(case)?;
        let device = there(ctx, &host)?;
        let (rows, options) = (Some(Axis::Rows), StatsOptions::default());
        use_them(Calls {
            resident: Some(Box::new(|| describe(ctx, &device, rows, options).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| describe(ctx, &host, rows, options)?.mean.to_host(ctx).map(drop)),
            check: Box::new(|| {
                let cpu = Context::cpu();
                let (truth, found) = both(
                    || describe(&cpu, &wide(&host, usize::MAX, |x: f32| f64::from(x))?, rows, options),
                    || describe(ctx, &host, rows, options),
                )?;
                let of = |found: &Array<f32>, truth: &Array<f64>| {
                    let (found, truth) = (found.to_host(ctx)?, truth.to_host(&cpu)?);
                    Ok::<_, fiedler::Error>(apart(found.as_slice(), truth.as_slice()) / 1e-5)
                };
                Ok(of(&found.mean, &truth.mean)?.max(of(&found.variance, &truth.variance)?))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[16, 1000, 100_000]
    }
}
