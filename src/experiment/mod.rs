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
