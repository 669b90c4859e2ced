//! Experiments: grids of trainings with statistics that a reader can check.
//!
//! A [`Spec`] is read from a file that describes the whole experiment: the data set, the representations, the network,
//! its training, a grid, and what is compared. [`Experiment`] runs it in a folder, keeps what is finished, and makes a
//! [`Report`] of it. A [`Verification`] checks claims about this crate. [`tournament`] compares groups of bit strings.
//!
//! ```
//! use fiedler::Context;
//! use fiedler::experiment::{Experiment, Spec};
//! use std::path::Path;
//!
//! let text = r#"
//!     features = ["moments", "frequency"]
//!     experiment = { name = "series", repeats = 3 }
//!     data.generate = { kind = "series", samples = 120, length = 40 }
//!     model.hidden = [8]
//!     train.epochs = 3
//!     compare.by = ["features"]
//! "#;
//! let folder = tempfile::tempdir()?;
//! let spec = Spec::parse(text, Path::new("series.toml"), Path::new("."))?;
//! let experiment = Experiment::new(spec, folder.path().join("series"));
//! experiment.run(&Context::cpu())?;
//! let report = experiment.report()?;
//! assert_eq!((report.finished, report.configurations.len(), report.comparisons.len()), (6, 2, 1));
//! println!("{}", report.to_markdown());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From a file to a report
//!
//! 1. `spec` reads the file. Its serde types are the form of the file. What is not given is set to its default, and
//!    everything that does not depend on the data is checked. `grid.rs` makes the configurations ([`Cell`]) and the
//!    runs ([`Row`]). The id of a row is a hash of everything that decides its result but the numbers of the data set.
//! 2. `tables.rs` opens the data set, and computes the columns of several configurations in one read
//!    ([`Extractor`](crate::features::Extractor)): as many as fit in half of the memory budget. `groups.rs` puts runs
//!    together that differ in hyperparameters and seeds only. They are one call of a
//!    [`Trainer`](crate::train::Trainer).
//! 3. `run.rs` has the order of these steps. `store.rs` has the folder: a lock, a file with the finished runs of each
//!    group (`record.rs`), and checkpoints. A call trains only rows that have no finished run.
//! 4. `report` computes the statistics from the finished runs alone. `statistics` is about numbers only. The page of a
//!    report is in the command (`cli/src/experiment`).
//! 5. `verify` checks claims. Each kind of claim has a file, which returns estimates, intervals and the rule.
//! 6. [`tournament`] has a file for each score (`kl.rs`, `qgan.rs`, `c2st.rs`), and `relation.rs` says what a score is
//!    worth. Of the other parts of this module, it uses `statistics` only.

mod grid;
mod groups;
mod plan;
mod record;
mod report;
mod run;
mod spec;
pub mod statistics;
mod store;
mod tables;
pub mod tournament;
mod verify;

pub use grid::{Cell, Row};
pub use plan::{Plan, PlannedFeatures, PlannedGroup};
pub use record::{CurvePoint, PartRecord, Record};
pub use report::{
    Best, CellReport, ComparisonReport, CurveReport, MARKDOWN, MeanBand, REPORT, RUNS, Report, SUMMARY, TimesReport,
};
pub use run::{Experiment, OnProgress, Progress, Times};
pub use spec::{
    ActivationName, Compare, Data, Feature, Generated, Head, InitName, LossName, Model, NormName, OptimizerName,
    OptimizerTable, Patterns, PrecisionName, Quick, ScaleName, ScheduleTable, Settings, Spec, SplitBy, SplitTable,
    StopTable, Training,
};
pub use store::{clear, is_unbegun};
pub use verify::{Claim, Kind, Verification, Verified};
