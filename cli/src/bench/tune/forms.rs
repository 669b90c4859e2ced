//! Trials of kernel forms. A trial measures whether a form is slower than the form that replaces it if it is left out.

use super::curves::seconds;
use crate::bench::case::Case;
use crate::bench::workloads::of;
use fiedler::Context;
use fiedler::forms::KernelForm;
use fiedler::policy::{Backend, Family, GpuRates, Rates, Slower};
use fiedler::{ErrorKind, Result};
use std::time::Instant;

/// The number of values in the input of a trial. It is large enough for many items.
const NUMBERS: usize = 1 << 18;

/// Returns the forms that are slower than another form on the adapter of `ctx`. Except for the first trial, no trial
/// starts after `end`.
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
            let many = (NUMBERS / case.shape().len().max(1)).max(1);
            let case = Case { items: of(family).tried(size).unwrap_or(many), ..case };
            let mut without = Vec::new();
            for &form in forms {
                // At least one form is tried, even if no time is left.
                if tried && Instant::now() > end {
                    return Ok(found);
                }
                tried = true;
                let beaten = contexts.is_beaten(&case, &without, form, say)?;
                if !beaten {
                    continue;
                }
                without.push(form);
                let previous = if i > 0 { of(family).range(sizes[i - 1])[1] } else { f64::NAN };
                let range = of(family).range(size);
                let same = |s: &&mut Slower| s.form == form && s.sizes[1] == previous;
                match found.iter_mut().find(same) {
                    Some(before) => before.sizes[1] = range[1],
                    None => found.push(Slower { form, sizes: range }),
                }
            }
        }
    }
    Ok(found)
}

/// Opens another context with these rates on the adapter of `ctx`, in which the given kernel forms may be used
/// ([`fiedler::ContextBuilder::kernels`]). Returns `None` if the adapter cannot be opened a
/// second time, for example because the caller supplied the device.
pub(super) fn context(ctx: &Context, rates: &Rates, forms: &[KernelForm]) -> Result<Option<Context>> {
    let Some(adapter) = ctx.adapter() else { return Ok(None) };
    let builder = Context::builder().adapter(&adapter.name).backend(Backend::Gpu).rates(rates.clone());
    match builder.memory_budget(ctx.pool().budget).kernels(forms).build() {
        Ok(again) => Ok(Some(again)),
        Err(error) if matches!(error.kind(), ErrorKind::NoAdapter { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Contexts that leave out some kernel forms. Each context is opened only once, so its pipelines are compiled only
/// once.
struct Contexts<'a> {
    ctx: &'a Context,
    rates: &'a Rates,
    margin: f64,
    open: Vec<(Vec<KernelForm>, Context)>,
}

impl Contexts<'_> {
    /// Returns whether a workload uses `form` but would be faster without it. Two contexts are compared: one leaves out
    /// the forms in `without`, and the other leaves out `form` as well. The second must be faster by more than the
    /// margin.
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
        // The two contexts are measured alternately, so that a disturbance affects both.
        let mut least = [f64::INFINITY; 2];
        for _ in 0..2 {
            for (least, on) in least.iter_mut().zip([&with, &other]) {
                match seconds(case, on) {
                    Ok((seconds, ..)) => *least = least.min(seconds),
                    // A form that fails does not replace another form. If the form in use fails, the error is reported
                    // later, when the curves are measured.
                    Err(error) => {
                        log::warn!("tune: {case}: cannot compare {}: {error}", name(on));
                        return Ok(false);
                    }
                }
            }
        }
        Ok(self.margin * least[1] < least[0])
    }

    /// Returns the context that leaves out these forms.
    fn without(&mut self, forms: &[KernelForm]) -> Result<Option<Context>> {
        if let Some((_, ctx)) = self.open.iter().find(|(without, _)| without == forms) {
            return Ok(Some(ctx.clone()));
        }
        let all = |&form: &KernelForm| Slower { form, sizes: [0.0, f64::INFINITY] };
        let gpu = GpuRates { slower: forms.iter().map(all).collect(), ..self.rates.gpu.clone() };
        let opened = context(self.ctx, &Rates { gpu, ..self.rates.clone() }, &[])?;
        if let Some(ctx) = &opened {
            self.open.push((forms.to_vec(), ctx.clone()));
        }
        Ok(opened)
    }
}
