//! Fourier transforms of real columns.

use super::input::{numbers, there};
use super::truth::{both, few, spectra, wide};
use super::{Calls, Use, Workloads};
use crate::bench::case::Case;
use fiedler::ops::fft::{choose_rfft, rfft};
use fiedler::policy::Choice;
use fiedler::{Axis, Context, Result, Shape};

pub(super) struct Rfft;

impl Workloads for Rfft {
    fn shape(&self, case: &Case) -> Shape {
        Shape::new(case.size, case.items, 1)
    }

    fn numbers(&self, case: &Case) -> f64 {
        case.size as f64 * case.items as f64
    }

    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items) = (case.size as f64, case.items as f64);
        [8.0 * n * items, 2.5 * n * items * n.max(2.0).log2()]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        choose_rfft::<f32>(ctx, case.shape(), Axis::Rows, resident)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let host = numbers(case)?;
        let device = there(ctx, &host)?;
        use_them(Calls {
            resident: Some(Box::new(|| rfft(ctx, &device, Axis::Rows).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| rfft(ctx, &host, Axis::Rows)?.to_host(ctx).map(drop)),
            check: Box::new(|| {
                let cpu = Context::cpu();
                let exact = || wide(&host, few(case, case.size), |x: f32| f64::from(x));
                let (truth, found) = both(
                    || rfft(&cpu, &exact()?, Axis::Rows)?.to_host(&cpu),
                    || rfft(ctx, &host, Axis::Rows)?.to_host(ctx),
                )?;
                Ok(spectra(&found, &truth, case.size))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[4, 16, 64, 256, 1024, 4096, 16_384, 65_536]
    }
}
