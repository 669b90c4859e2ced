//! The forms of kernels by trial: where the one that would be used is slower than what comes next without it.

use super::curves::seconds;
use crate::bench::case::Case;
use crate::bench::workloads::of;
use fiedler::Context;
use fiedler::forms::KernelForm;
use fiedler::policy::{Backend, Family, GpuRates, Rates, Slower};
use fiedler::{ErrorKind, Result};
use std::time::Instant;

/// Numbers of a trial's input: many items.
const NUMBERS: usize = 1 << 18;

/// The forms that others beat on the adapter of `ctx`, as far as there is time to try.
pub(super) fn slower(
    ctx: &Context,
    rates: &Rates,
    margin: f64,
    end: Instant,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Slower>> {
    let mut contexts = Contexts { ctx, rates, margin, open: Vec::new() };
    let mut found: Vec<Slower> = Vec::new();
    let mut tried = false;
    for family in Family::MEASURED {
        let (forms, sizes) = of(family).forms();
        for (i, &size) in sizes.iter().enumerate() {
            let case = Case::new(family, size, 1);
            let case = Case { items: (NUMBERS / case.shape().len().max(1)).max(1), ..case };
            let mut without = Vec::new();
            for &form in forms {
                // One at least, however little time there is.
                if tried && Instant::now() > end {
                    return Ok(found);
                }
                tried = true;
                let beaten = contexts.is_beaten(&case, &without, form, say)?;
                if !beaten {
                    continue;
                }
                without.push(form);
                let previous = if i > 0 { sizes[i - 1] as f64 } else { f64::NAN };
                let same = |s: &&mut Slower| s.form == form && s.sizes[1] == previous;
                match found.iter_mut().find(same) {
                    Some(range) => range.sizes[1] = size as f64,
                    None => found.push(Slower { form, sizes: [size as f64; 2] }),
                }
            }
        }
    }
    Ok(found)
}

/// A context on the adapter of `ctx` with these rates; none where it cannot be opened a second time, as somebody else's device.
pub(super) fn context(ctx: &Context, rates: &Rates) -> Result<Option<Context>> {
    let Some(adapter) = ctx.adapter() else { return Ok(None) };
    let builder = Context::builder().adapter(&adapter.name).backend(Backend::Gpu).rates(rates.clone());
    match builder.memory_budget(ctx.memory_budget()).build() {
        Ok(again) => Ok(Some(again)),
        Err(error) if matches!(error.kind(), ErrorKind::NoAdapter { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Contexts without some forms, each opened once: their pipelines are compiled once.
struct Contexts<'a> {
    ctx: &'a Context,
    rates: &'a Rates,
    margin: f64,
    open: Vec<(Vec<KernelForm>, Context)>,
}

impl Contexts<'_> {
    /// Whether a workload takes less time without one more form, which it would use otherwise.
    fn is_beaten(
        &mut self,
        case: &Case,
        without: &[KernelForm],
        form: KernelForm,
        say: &mut dyn FnMut(&str),
    ) -> Result<bool> {
        let name = |ctx: &Context| {
            let choice = case.choose(ctx, true);
            choice.workload.algorithms[1].to_owned()
        };
        let Some(with) = self.without(without)? else { return Ok(false) };
        let used = name(&with);
        if !used.split(", ").any(|one| one == form.name()) {
            return Ok(false);
        }
        let Some(other) = self.without(&[without, &[form]].concat())? else { return Ok(false) };
        if name(&other) == used {
            return Ok(false);
        }
        say(&format!("{case}: {used} or {}", name(&other)));
        // In turns: what disturbs one disturbs the other.
        let mut least = [f64::INFINITY; 2];
        for _ in 0..2 {
            for (least, on) in least.iter_mut().zip([&with, &other]) {
                match seconds(case, on) {
                    Ok((seconds, ..)) => *least = least.min(seconds),
                    // What does not run takes nobody's place; the curves will say what is wrong with the other.
                    Err(error) => {
                        log::warn!("tune: {case}, {} not compared: {error}", name(on));
                        return Ok(false);
                    }
                }
            }
        }
        Ok(self.margin * least[1] < least[0])
    }

    /// The context without these forms.
    fn without(&mut self, forms: &[KernelForm]) -> Result<Option<Context>> {
        if let Some((_, ctx)) = self.open.iter().find(|(without, _)| without == forms) {
            return Ok(Some(ctx.clone()));
        }
        let all = |&form: &KernelForm| Slower { form, sizes: [0.0, f64::INFINITY] };
        let gpu = GpuRates { slower: forms.iter().map(all).collect(), ..self.rates.gpu.clone() };
        let opened = context(self.ctx, &Rates { gpu, ..self.rates.clone() })?;
        if let Some(ctx) = &opened {
            self.open.push((forms.to_vec(), ctx.clone()));
        }
        Ok(opened)
    }
}
