//! Complex Fourier transforms of columns.

use super::input::{complex, on_device};
use super::truth::{FromNarrow, both, few, spectra, wide};
use super::{Calls, Use, Words, Workloads};
use crate::bench::case::Case;
use fiedler::forms::{FftForm, KernelForm};
use fiedler::ops::fft::{choose_fft, fft};
use fiedler::policy::Choice;
use fiedler::{Axis, Context, Result, Shape};
use num_complex::Complex;

pub(super) struct Fft;

impl Workloads for Fft {
    fn words(&self) -> Words {
        Words { numbers: "c64", ..Words::BATCH }
    }

    fn shape(&self, case: &Case) -> Shape {
        Shape::new(case.size, case.items, 1)
    }

    fn numbers(&self, case: &Case) -> f64 {
        2.0 * case.size as f64 * case.items as f64
    }

    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items) = (case.size as f64, case.items as f64);
        [16.0 * n * items, 5.0 * n * items * n.max(2.0).log2()]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        choose_fft::<f32>(ctx, case.shape(), Axis::Rows, resident)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let host = complex(case)?;
        let device = if on_device(ctx) { host.to_device(ctx)? } else { host.clone() };
        use_them(Calls {
            resident: Some(Box::new(|| fft(ctx, &device, Axis::Rows).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| fft(ctx, &host, Axis::Rows)?.to_host(ctx).map(drop)),
            check: Box::new(|| {
                let cpu = Context::cpu();
                let exact = || wide(&host, few(case, case.size), Complex::<f64>::from_narrow);
                let (truth, found) = both(
                    || fft(&cpu, &exact()?, Axis::Rows)?.to_host(&cpu),
                    || fft(ctx, &host, Axis::Rows)?.to_host(ctx),
                )?;
                Ok(spectra(&found, &truth, case.size))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[4, 16, 64, 256, 1024, 4096, 16_384, 65_536]
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[64, 256, 1000, 1024, 4096, 65_536], &[1, 16, 256, 4096])
    }

    fn forms(&self) -> (&'static [KernelForm], &'static [usize]) {
        const FORMS: [KernelForm; 3] =
            [KernelForm::Fft(FftForm::Long), KernelForm::Fft(FftForm::Known), KernelForm::Fft(FftForm::Narrow)];
        (&FORMS, &[256, 1024, 4096, 65_536])
    }
}
