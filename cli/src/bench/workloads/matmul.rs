//! Products of square matrices.

use super::input::{numbers, there};
use super::truth::{EPS, both, few, wide};
use super::{Calls, Use, Workloads};
use crate::bench::case::Case;
use fiedler::forms::{KernelForm, MatmulForm};
use fiedler::ops::matmul::{Gemm, matmul};
use fiedler::policy::{Choice, Workload};
use fiedler::{Context, Result};

pub(super) struct Matmul;

impl Workloads for Matmul {
    fn numbers(&self, case: &Case) -> f64 {
        2.0 * case.size as f64 * case.size as f64 * case.items as f64
    }

    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items) = (case.size as f64, case.items as f64);
        [12.0 * n * n * items, 2.0 * n.powi(3) * items]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        let shape = case.shape();
        let choice = Gemm::<f32>::new().choose(ctx, shape, shape, resident);
        choice.unwrap_or_else(|_| ctx.explain(&Workload::default(), false))
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let (a, b) = (numbers(case)?, numbers(case)?);
        let (on_a, on_b) = (there(ctx, &a)?, there(ctx, &b)?);
        use_them(Calls {
            resident: Some(Box::new(|| matmul(ctx, &on_a, &on_b).and_then(|_| ctx.wait()))),
            transfers: Box::new(|| matmul(ctx, &a, &b)?.to_host(ctx).map(drop)),
            check: Box::new(|| {
                let few = few(case, case.size * case.size);
                let product = |widen: fn(f32) -> f64| {
                    let [a, b] = [&a, &b].map(|x| wide(x, few, widen));
                    matmul(&Context::cpu(), &a?, &b?)?.to_host(&Context::cpu())
                };
                // `size` has the entries of the product |A||B|. Each error is divided by the corresponding entry.
                let ((truth, size), found) = both(
                    || Ok((product(f64::from)?, product(|x| f64::from(x.abs()))?)),
                    || matmul(ctx, &a, &b)?.to_host(ctx),
                )?;
                let each = found.as_slice().iter().zip(truth.as_slice()).zip(size.as_slice());
                let shares = each.map(|((&f, t), size)| (f64::from(f) - t).abs() / size.max(f64::MIN_POSITIVE));
                let worst = shares.fold(0.0, |worst, e| if e.is_nan() { f64::INFINITY } else { e.max(worst) });
                Ok(worst / (4.0 * EPS * (case.size as f64).sqrt()))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[8, 16, 32, 64, 256, 512, 1024], &[1, 16, 256, 4096])
    }

    fn forms(&self) -> (&'static [KernelForm], &'static [usize]) {
        const FORMS: [KernelForm; 4] = [
            KernelForm::Matmul(MatmulForm::Direct),
            KernelForm::Matmul(MatmulForm::Tiny),
            KernelForm::Matmul(MatmulForm::Tile64),
            KernelForm::Matmul(MatmulForm::Tile128),
        ];
        (&FORMS, &[8, 16, 32, 64, 256, 1024])
    }
}
