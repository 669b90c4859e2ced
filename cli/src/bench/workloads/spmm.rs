//! A sparse matrix times a dense block.

use super::input::{numbers, on_device, there};
use super::truth::{EPS, apart, both, wide};
use super::{Calls, Use, Words, Workloads};
use crate::bench::case::Case;
use fiedler::graph::generate::uniform;
use fiedler::ops::Normalization;
use fiedler::ops::sparse::{OnDevice, Operator, choose_spmm, spmm};
use fiedler::policy::Choice;
use fiedler::{Context, Result, Shape};

/// The default number of edges per node.
const LINKS: usize = 10;

pub(super) struct Spmm;

impl Workloads for Spmm {
    fn words(&self) -> Words {
        Words { size: "nodes", items: "edges", k: 32, ..Words::BATCH }
    }

    fn usual_items(&self, size: usize) -> usize {
        size.saturating_mul(LINKS)
    }

    fn most_items(&self) -> usize {
        usize::MAX
    }

    fn shape(&self, case: &Case) -> Shape {
        Shape::new(case.k, case.size, 1)
    }

    fn numbers(&self, case: &Case) -> f64 {
        2.0 * case.items as f64 + case.size as f64 * case.k as f64
    }

    fn least(&self, case: &Case) -> [f64; 2] {
        let (n, items, k) = (case.size as f64, case.items as f64, case.k as f64);
        [8.0 * items + 8.0 * n * k, 4.0 * items * k]
    }

    fn choose(&self, case: &Case, ctx: &Context, resident: bool) -> Choice {
        choose_spmm::<f32>(ctx, (case.size, 2 * case.items), case.k, resident)
    }

    fn calls(&self, case: &Case, ctx: &Context, use_them: Use<'_>) -> Result<()> {
        let graph = uniform(case.size, case.items, case.seed)?;
        let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Symmetric)?;
        let x = numbers(case)?;
        let on_x = there(ctx, &x)?;
        let held = if on_device(ctx) { Some(OnDevice::new(ctx, &operator)?) } else { None };
        use_them(Calls {
            resident: Some(Box::new(|| match &held {
                Some(held) => held.spmm(ctx, &on_x).and_then(|_| ctx.wait()),
                None => spmm(ctx, &operator, &x).map(drop),
            })),
            transfers: Box::new(|| spmm(ctx, &operator, &x)?.to_host(ctx).map(drop)),
            check: Box::new(|| {
                let cpu = Context::cpu();
                let exact = || Operator::<f64>::laplacian(graph.view(), Normalization::Symmetric);
                let (truth, found) = both(
                    || spmm(&cpu, &exact()?, &wide(&x, usize::MAX, |x: f32| f64::from(x))?)?.to_host(&cpu),
                    || spmm(ctx, &operator, &x)?.to_host(ctx),
                )?;
                // Each sum has tens of terms, with magnitudes of up to 1.
                Ok(apart(found.as_slice(), truth.as_slice()) / (64.0 * EPS))
            }),
        })
    }

    fn tuned(&self) -> &'static [usize] {
        &[100, 1000, 10_000, 100_000]
    }

    fn fewest(&self) -> Option<usize> {
        None
    }

    fn grid(&self) -> (&'static [usize], &'static [usize]) {
        (&[1000, 10_000, 100_000], &[0])
    }
}
