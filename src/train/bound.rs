//! The generalization bound of Gibbs posteriors from the mean training loss at every inverse temperature below.

use crate::error::{Error, Result};

/// How an integral over beta is computed from values on a ladder of betas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Integral {
    /// The value at each beta counts up to the next one. The mean training loss never rises with beta, because its
    /// derivative is minus a variance, so this is never below the integral.
    #[default]
    UpperSum,
    /// The trapezoidal rule. It is closer to the integral, but it may be below it, where the mean loss is concave.
    Trapezoid,
}

impl Integral {
    /// Both rules.
    pub const ALL: [Self; 2] = [Self::UpperSum, Self::Trapezoid];

    /// Returns the name: `upper` or `trapezoid`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UpperSum => "upper",
            Self::Trapezoid => "trapezoid",
        }
    }
}

/// A bound on the expected loss at one beta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The inverse temperature.
    pub beta: f64,
    /// The mean loss of the training samples whose expected value is bounded.
    pub training: f64,
    /// The divergence KL(Q, P) of the posterior from the prior: the integral of the mean loss from 0 to beta, minus
    /// beta times the mean loss at beta. It never falls with beta, so where sampling errors make it fall, it is that of
    /// the beta before.
    pub divergence: f64,
    /// The divergence plus log(2 sqrt(n) / delta).
    pub inner: f64,
    /// The bound on the expected loss minus the training loss: 2 c + sqrt(2 c l), where c is `inner` over n and l is
    /// the training loss.
    pub gap: f64,
    /// The bound on the expected loss: the largest q with kl(l, q) <= `inner` / n. It is at most 1, and at most
    /// `training` + `gap`.
    pub expected: f64,
}

/// The mean training losses of Gibbs posteriors at increasing inverse temperatures, from which a bound follows.
///
/// P is a law of the parameters that does not depend on the samples, and Q(beta) is proportional to exp(-beta l) P,
/// where l in `[0, 1]` is the mean loss of n independent samples. For every loss in `[0, 1]` and every beta, with
/// probability at least 1 - delta over the samples,
///
/// ```text
/// kl(mean training loss, mean expected loss) <= (KL(Q, P) + log(2 sqrt(n) / delta)) / n
/// ```
///
/// where both means are over Q, and kl(p, q) is the divergence of coins with the probabilities p and q (Maurer, *A note
/// on the PAC-Bayesian theorem*, 2004). KL(Q, P) is the integral of the mean of l from 0 to beta minus beta times its
/// mean at beta, because log P exp(-beta l) has the derivative minus the mean of l (Maurer, Mirzaei and Pontil,
/// arXiv 2510.06028).
///
/// - The bound holds for one beta that is fixed beforehand. For K of them at the same time, use delta / K.
/// - The mean losses count as exact. A sampler gives estimates of them, and it samples Q only approximately; neither
///   error is part of the bound.
/// - If the exponent is another multiple of l, as with a loss that lies in `[0, 4]`, beta has to be scaled by it.
///   [`Chains::bounds`](super::Chains::bounds) does so.
///
/// ```
/// use fiedler::train::{Integral, Ladder};
///
/// let ladder = Ladder::new(&[0.0, 10.0, 100.0], &[0.5, 0.2, 0.05], 1000, 0.05)?;
/// let bounds = ladder.bounds(Integral::UpperSum);
/// // 10 * 0.5 + 90 * 0.2 - 100 * 0.05
/// assert!((bounds[2].divergence - 18.0).abs() < 1e-12);
/// assert!(bounds[2].expected > 0.05 && bounds[2].expected < 0.05 + bounds[2].gap);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    betas: Vec<f64>,
    losses: Vec<f64>,
    samples: usize,
    delta: f64,
}

impl Ladder {
    /// Creates a ladder from increasing betas, of which the first is 0, the mean training loss at each, the number of
    /// training samples, and the probability with which the bound may fail.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if there are not as many losses as betas; [`crate::ErrorKind::Domain`] if the betas
    /// do not begin with 0, do not increase or are not finite, if a loss lies outside of `[0, 1]` or is NaN, if there
    /// are no samples, or if `delta` does not lie between 0 and 1.
    pub fn new(betas: &[f64], losses: &[f64], samples: usize, delta: f64) -> Result<Self> {
        let wrong = |what: String| Err(Error::domain("bound", what));
        same_number(betas, losses)?;
        if betas.first() != Some(&0.0) {
            return wrong(format!(
                "the integral begins at 0: expected betas that begin with 0, found {}",
                betas.first().map_or_else(|| "none".to_owned(), f64::to_string)
            ));
        }
        check_increasing("bound", betas)?;
        check_losses(losses)?;
        if samples == 0 {
            return wrong("expected at least 1 training sample, found 0".to_owned());
        }
        if !(delta > 0.0 && delta < 1.0) {
            return wrong(format!("expected a delta between 0 and 1, found {delta}"));
        }
        Ok(Self { betas: betas.to_vec(), losses: losses.to_vec(), samples, delta })
    }

    /// Returns a bound at every beta on the loss that the posteriors are made from.
    #[must_use]
    pub fn bounds(&self, rule: Integral) -> Vec<Bound> {
        self.with(rule, &self.losses)
    }

    /// Returns a bound at every beta on another loss in `[0, 1]` of the same posteriors, such as the 0-1 loss, whose
    /// mean training losses are given.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if there are not as many losses as betas; [`crate::ErrorKind::Domain`] if a loss
    /// lies outside of `[0, 1]` or is NaN.
    pub fn bounds_of(&self, rule: Integral, losses: &[f64]) -> Result<Vec<Bound>> {
        same_number(&self.betas, losses)?;
        check_losses(losses)?;
        Ok(self.with(rule, losses))
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
    fn with(&self, rule: Integral, losses: &[f64]) -> Vec<Bound> {
        let n = self.samples as f64;
        let confidence = (2.0 * n.sqrt() / self.delta).ln();
        let (mut integral, mut divergence) = (0.0, 0.0_f64);
        let mut made = Vec::with_capacity(losses.len());
        for (place, (&beta, &training)) in self.betas.iter().zip(losses).enumerate() {
            if let Some(before) = place.checked_sub(1) {
                let height = match rule {
                    Integral::UpperSum => self.losses[before],
                    Integral::Trapezoid => 0.5 * (self.losses[before] + self.losses[place]),
                };
                integral += (beta - self.betas[before]) * height;
            }
            // Its derivative is beta times a variance.
            divergence = divergence.max(integral - beta * self.losses[place]);
            let inner = divergence + confidence;
            let c = inner / n;
            let gap = 2.0 * c + (2.0 * c * training).sqrt();
            made.push(Bound { beta, training, divergence, inner, gap, expected: kl_inverse(training, c) });
        }
        made
    }
}

fn same_number(betas: &[f64], losses: &[f64]) -> Result<()> {
    if betas.len() == losses.len() {
        return Ok(());
    }
    Err(Error::shape("bound", format!("{} losses, one for each beta", betas.len()), losses.len().to_string()))
}

/// Checks that betas are numbers of at least 0 that increase.
///
/// # Errors
/// [`crate::ErrorKind::Domain`]
pub(super) fn check_increasing(operation: &'static str, betas: &[f64]) -> Result<()> {
    if let Some(beta) = betas.iter().find(|beta| !(**beta >= 0.0 && beta.is_finite())) {
        return Err(Error::domain(operation, format!("expected finite betas of at least 0, found {beta}")));
    }
    match betas.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            Err(Error::domain(operation, format!("expected increasing betas, found {} after {}", pair[1], pair[0])))
        }
        None => Ok(()),
    }
}

fn check_losses(losses: &[f64]) -> Result<()> {
    match losses.iter().find(|loss| !(0.0..=1.0).contains(*loss)) {
        Some(loss) => Err(Error::domain("bound", format!("expected mean losses from 0 to 1, found {loss}"))),
        None => Ok(()),
    }
}

/// Returns kl(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q)).
fn kl(p: f64, q: f64) -> f64 {
    let term = |a: f64, b: f64| if a == 0.0 { 0.0 } else { a * (a / b).ln() };
    term(p, q) + term(1.0 - p, 1.0 - q)
}

/// Returns the largest q in `[p, 1]` with kl(p, q) <= `most`, rounded up.
fn kl_inverse(p: f64, most: f64) -> f64 {
    // kl(p, q) grows with q from p on.
    let (mut low, mut high) = (p, 1.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        if kl(p, middle) <= most {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Integral, Ladder, kl, kl_inverse};
    use crate::error::ErrorKind;

    const BETAS: [f64; 8] = [0.0, 1.0, 10.0, 30.0, 50.0, 70.0, 100.0, 200.0];

    fn ladder(loss: impl Fn(f64) -> f64) -> Ladder {
        Ladder::new(&BETAS, &BETAS.map(loss), 50, 0.05).expect("a ladder")
    }

    /// If the loss is constant, the posterior is the prior, and what is left is the confidence.
    #[test]
    fn a_constant_loss() {
        for rule in Integral::ALL {
            for bound in ladder(|_| 0.25).bounds(rule) {
                assert!(bound.divergence.abs() < 1e-12, "{bound:?}");
                let c = (2.0 * 50.0_f64.sqrt() / 0.05).ln() / 50.0;
                assert!((bound.inner - 50.0 * c).abs() < 1e-12, "{bound:?}");
                assert!((bound.gap - (2.0 * c + (0.5 * c).sqrt())).abs() < 1e-12, "{bound:?}");
                assert!((kl(0.25, bound.expected) - c).abs() < 1e-12, "{bound:?}");
            }
        }
    }

    /// With a loss of a - b beta, the trapezoidal rule is exact: the divergence is b beta^2 / 2. The upper sum adds
    /// b / 2 times the sum of the squared steps.
    #[test]
    fn a_linear_loss() {
        let (a, b) = (0.9, 0.004);
        let losses = ladder(|beta| a - b * beta);
        let (exact, above) = (losses.bounds(Integral::Trapezoid), losses.bounds(Integral::UpperSum));
        let mut squares = 0.0;
        for (place, beta) in BETAS.into_iter().enumerate() {
            squares += place.checked_sub(1).map_or(0.0, |before| (beta - BETAS[before]).powi(2));
            assert!((exact[place].divergence - b * beta * beta / 2.0).abs() < 1e-10, "{:?}", exact[place]);
            assert!((above[place].divergence - b * (beta * beta + squares) / 2.0).abs() < 1e-10, "{:?}", above[place]);
        }
        // A loss that falls convexly: the integral lies between those of the ladder and of a fine one.
        let falling = |beta: f64| 1.0 / (2.0 + beta);
        let fine: Vec<f64> = (0..=20_000).map(|i| f64::from(i) / 100.0).collect();
        let fine =
            Ladder::new(&fine, &fine.iter().map(|x| falling(*x)).collect::<Vec<_>>(), 50, 0.05).expect("a ladder");
        let exact = (202.0_f64 / 2.0).ln() - 200.0 / 202.0;
        let last = |ladder: &Ladder, rule| ladder.bounds(rule).last().expect("a bound").divergence;
        assert!((last(&fine, Integral::Trapezoid) - exact).abs() < 1e-4);
        assert!(last(&ladder(falling), Integral::UpperSum) > last(&ladder(falling), Integral::Trapezoid));
        assert!(last(&ladder(falling), Integral::Trapezoid) > exact);
    }

    /// A mean loss that rises by its sampling error does not lower the divergence.
    #[test]
    fn the_divergence_never_falls() {
        let found = Ladder::new(&[0.0, 10.0, 20.0], &[0.5, 0.1, 0.3], 50, 0.05).expect("a ladder");
        let divergences: Vec<f64> = found.bounds(Integral::UpperSum).iter().map(|bound| bound.divergence).collect();
        assert_eq!(divergences, [0.0, 4.0, 4.0]);
    }

    /// Two hypotheses with the losses 0 and 1 and equal prior probabilities: everything is known in closed form.
    #[test]
    fn two_hypotheses() {
        let betas: Vec<f64> = (0..=4000).map(|i| f64::from(i) / 500.0).collect();
        let mean = |beta: f64| 1.0 / (1.0 + beta.exp());
        let losses: Vec<f64> = betas.iter().map(|beta| mean(*beta)).collect();
        let ladder = Ladder::new(&betas, &losses, 400, 0.1).expect("a ladder");
        // The trapezoidal rule's error is at most h^2 |l''| beta / 12 = 1e-6 * 8 / 12 * 0.1.
        for (bound, beta) in ladder.bounds(Integral::Trapezoid).iter().zip(&betas) {
            let l = mean(*beta);
            assert!((bound.divergence - kl(l, 0.5)).abs() < 1e-6, "{bound:?}");
        }
        for (upper, other) in ladder.bounds(Integral::UpperSum).iter().zip(ladder.bounds(Integral::Trapezoid)) {
            assert!(upper.divergence >= other.divergence && upper.expected >= other.expected);
            assert!(upper.expected <= (upper.training + upper.gap) * (1.0 + 1e-12) && upper.expected <= 1.0);
        }
        // Another loss has the same divergence and its own training losses.
        let other = ladder.bounds_of(Integral::Trapezoid, &vec![0.0; betas.len()]).expect("bounds");
        let own = ladder.bounds(Integral::Trapezoid);
        for (other, own) in other.iter().zip(own) {
            assert_eq!(other.divergence.to_bits(), own.divergence.to_bits());
            assert!((other.expected - (1.0 - (-other.inner / 400.0).exp())).abs() < 1e-14, "{other:?}");
        }
    }

    /// The moment that the confidence 2 sqrt(n) stands for, summed directly: of e^(n kl(K / n, p)) for K successes in n
    /// trials. It is below 2 sqrt(n) for every n.
    #[test]
    fn the_confidence_covers_every_number_of_samples() {
        for n in [1_u32, 2, 3, 5, 8, 20, 50, 200] {
            let count = f64::from(n);
            let mut binomial = 1.0;
            let mut moment = 0.0;
            for k in 0..=n {
                let share = f64::from(k) / count;
                moment += binomial * share.powi(k as i32) * (1.0 - share).powi((n - k) as i32);
                binomial *= f64::from(n - k) / f64::from(k + 1);
            }
            assert!(moment <= 2.0 * count.sqrt() && moment >= count.sqrt(), "{n}: {moment}");
        }
    }

    #[test]
    fn the_inverse_is_an_inverse() {
        for p in [0.0, 1e-6, 0.1, 0.5, 0.9] {
            for most in [1e-6, 1e-3, 0.1, 1.0, 10.0] {
                let q = kl_inverse(p, most);
                // The next number below is allowed, and this one is not, if there is one below 1.
                assert!(q > p && kl(p, q.next_down()) <= most, "{p} {most}: {q}");
                assert!(kl(p, q) > most || q == 1.0, "{p} {most}: {q}");
            }
        }
        assert_eq!(kl_inverse(1.0, 0.1), 1.0);
        assert_eq!(kl_inverse(0.5, 1e6), 1.0);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let nan = f64::NAN;
        for (betas, losses, samples, delta, wanted) in [
            (&[][..], &[][..], 5, 0.1, "found none"),
            (&[1.0, 2.0], &[0.5, 0.4], 5, 0.1, "begin with 0, found 1"),
            (&[0.0, 2.0, 1.0], &[0.5, 0.4, 0.3], 5, 0.1, "found 1 after 2"),
            (&[0.0, 2.0, 2.0], &[0.5, 0.4, 0.3], 5, 0.1, "found 2 after 2"),
            (&[0.0, nan], &[0.5, 0.4], 5, 0.1, "found NaN"),
            (&[0.0, f64::INFINITY], &[0.5, 0.4], 5, 0.1, "found inf"),
            (&[0.0, 1.0], &[0.5, nan], 5, 0.1, "from 0 to 1, found NaN"),
            (&[0.0, 1.0], &[1.5, 0.5], 5, 0.1, "from 0 to 1, found 1.5"),
            (&[0.0, 1.0], &[0.5], 5, 0.1, "2 losses"),
            (&[0.0, 1.0], &[0.5, 0.4], 0, 0.1, "at least 1 training sample"),
            (&[0.0, 1.0], &[0.5, 0.4], 5, 0.0, "between 0 and 1, found 0"),
            (&[0.0, 1.0], &[0.5, 0.4], 5, 1.0, "between 0 and 1, found 1"),
            (&[0.0, 1.0], &[0.5, 0.4], 5, nan, "found NaN"),
        ] {
            let error = Ladder::new(betas, losses, samples, delta).expect_err(wanted);
            assert!(error.to_string().contains(wanted), "{error}, wanted {wanted}");
            assert!(matches!(error.kind(), ErrorKind::Domain { .. } | ErrorKind::Shape { .. }));
        }
        let ladder = Ladder::new(&[0.0, 1.0], &[0.5, 0.4], 5, 0.1).expect("a ladder");
        assert!(ladder.bounds_of(Integral::UpperSum, &[0.5]).is_err());
        assert!(ladder.bounds_of(Integral::UpperSum, &[0.5, -0.1]).is_err());
    }
}
