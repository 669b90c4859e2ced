//! Statistics of experiments: intervals, tests and comparisons.
//!
//! Everything here is a function of numbers in memory. Randomized tests take a seed and use Philox
//! ([`crate::ops::random`]), so the same call has the same result.
//!
//! | question | see |
//! |---|---|
//! | the mean over seeds | [`Estimate`] |
//! | a share, such as the accuracy on a test set | [`Proportion`], [`binomial_test`] |
//! | which of two settings is better, run with the same seeds | [`Paired`], [`Paired::resampled`], [`Verdict`] |
//! | which of two models is better on one test set | [`McNemar`] |
//! | several comparisons at the same time | [`holm`] |
//! | whether nothing is lost | [`Equivalence`], [`runs_needed`], [`resampled_runs_needed`] |
//! | what the best of k runs is worth | [`expected_best`] |
//! | whether two quantities are related | [`pearson`], [`spearman`] |
//! | whether one sample tends to be larger | [`mann_whitney`] |
//! | whether a claim holds | [`Bound`], [`Status`] |
//! | what a classifier confuses, and whether its probabilities are right | [`Confusion`], [`Calibration`] |
//!
//! ```
//! use fiedler::experiment::statistics::{Bound, Equivalence, Estimate, Paired, Status, Verdict};
//!
//! // The accuracies of two settings, with the same six seeds.
//! let wide = [0.91, 0.93, 0.92, 0.94, 0.90, 0.93];
//! let narrow = [0.89, 0.92, 0.90, 0.93, 0.89, 0.90];
//!
//! let mean = Estimate::of(&wide, 0.95)?;
//! assert_eq!(Bound::AtLeast(0.9).judge(mean.interval), Status::Pass);
//!
//! let compared = Paired::of(&wide, &narrow, 0.95, 7)?;
//! assert_eq!(Verdict::of(compared.interval, true), Verdict::Better);
//! assert_eq!(compared.sign_flip.p, 2.0 / 64.0); // all 2^6 signs were tried
//!
//! // The difference is real, but is it below 3 points?
//! let differences: Vec<f64> = wide.iter().zip(&narrow).map(|(a, b)| a - b).collect();
//! assert!(Equivalence::tost(&differences, 0.03, 0.05)?.equivalent);
//! # Ok::<(), fiedler::Error>(())
//! ```
//!
//! # Conventions
//!
//! - A p value belongs to a two-sided test unless its name says otherwise. A deviation divides by n - 1.
//! - What cannot be estimated from so few numbers is `None` or NaN, as the documentation of each says. NaN becomes
//!   `null` in JSON.
//! - Values have to be finite, and levels between 0 and 1. Other values are errors ([`crate::ErrorKind::Domain`]).

mod best;
mod checks;
mod claims;
mod correlation;
mod equivalence;
mod estimate;
mod masses;
mod mcnemar;
mod multiple;
mod paired;
mod permutation;
mod proportion;
mod ranks;

pub use crate::train::{Calibration, CalibrationBin, Confusion};
pub use best::expected_best;
pub(in crate::experiment) use checks::number;
pub use claims::{Bound, Interval, Status, Verdict};
pub(in crate::experiment) use correlation::every_order;
pub use correlation::{Correlation, pearson, spearman};
pub use equivalence::{Equivalence, resampled_runs_needed, runs_needed};
pub use estimate::Estimate;
pub use mcnemar::McNemar;
pub use multiple::holm;
pub use paired::{Corrected, Paired};
pub use permutation::Permutation;
pub(in crate::experiment) use permutation::Words;
pub use proportion::{BinomialTest, Proportion, binomial_test, clopper_pearson, wilson};
pub(in crate::experiment) use ranks::average_ranks;
pub use ranks::{MannWhitney, mann_whitney};
