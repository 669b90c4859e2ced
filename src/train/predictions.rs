//! The classes that the runs of a training predict for samples of one of their parts.

use super::fit::Fit;
use super::stop::Part;
use super::trainer::Trainer;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::mlp::{Number, Samples, Work};
use crate::parallel;

impl Trainer {
    /// Returns, for each run of a fit of these samples with this trainer, the samples of a part in ascending order,
    /// each with the class that the returned parameters predict. With one output, this is class 1 if its probability
    /// exceeds 1/2. Nothing is predicted if the targets are values.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if the samples do not fit the split; [`crate::ErrorKind::Shape`] if they do not fit
    /// the network; [`crate::ErrorKind::Cancelled`].
    pub fn predictions<T: Number>(
        &self,
        ctx: &Context,
        samples: &Samples<T>,
        fit: &Fit<T>,
        part: Part,
    ) -> Result<Vec<Vec<(u32, u32)>>> {
        let program = self.fitted(samples.len(), None).program();
        samples.check(&program)?;
        if !program.loss.takes_labels() {
            return Ok(vec![Vec::new(); fit.runs().len()]);
        }
        if *fit.net() != program.net {
            return Err(Error::domain("predict", "expected a fit of the network of the trainer, found another one"));
        }
        let grouping = self.grouping(samples.len(), 1)?;
        let found = ctx.on_threads(|| {
            parallel::map(fit.runs().iter(), |_, fitted| {
                ctx.cancel().check()?;
                let counts = (grouping.counts(0), self.division);
                let mut rows = self.split.rows(0, samples.len(), counts, fitted.run.seed)[part as usize].clone();
                rows.sort_unstable();
                let mut worker = T::worker(&program);
                let mut replica = fitted.replica.clone();
                let mut classes = Vec::with_capacity(rows.len());
                let work = Work { program: &program, samples, replica: &mut replica };
                let _ = T::evaluate(&mut worker, work, &rows, &mut |p| classes.push(class(p)));
                Ok(rows.into_iter().zip(classes).collect())
            })
        });
        found.into_iter().collect()
    }
}

/// Returns the class with the greatest probability, the first of several.
fn class<T: Number>(p: &[T]) -> u32 {
    if let [p] = p {
        return u32::from(p.to_f64() > 0.5);
    }
    let greatest = (0_u32..)
        .zip(p)
        .fold((0, f64::NEG_INFINITY), |best, (class, p)| if p.to_f64() > best.1 { (class, p.to_f64()) } else { best });
    greatest.0
}
