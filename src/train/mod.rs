//! Training of many small networks at once: seeds, grids of hyperparameters, early stopping, checkpoints, and results
//! with intervals.
//!
//! A [`Trainer`] has what all runs share, [`Runs`] are rows with a seed and hyperparameters each, and [`Trainer::fit`]
//! returns a [`Fit`]. A run is a function of its row alone: it has the same bits alone and beside other runs, on any
//! number of threads, and if it was interrupted and resumed.
//!
//! [`Sgld`] samples parameters at a ladder of temperatures and bounds their expected losses. [`Gan`] trains adversarial
//! pairs.

mod bound;
mod checkpoint;
mod choice;
mod device;
pub(crate) mod distributions;
mod files;
mod fit;
mod fitting;
mod gan;
mod grouped;
mod groups;
mod journey;
mod model;
mod predictions;
mod running;
mod runs;
mod sample_file;
mod saving;
mod schedule;
mod sgld;
mod spec;
mod split;
mod statistics;
mod stop;
mod trainer;

pub use crate::ops::mlp::{
    Activation, Calibration, CalibrationBin, Confusion, Hyper, Init, Layer, Loss, MixedPrecision, Mlp, MlpBuilder,
    Norm, Number, Optimizer, Samples, Scores, Targets, Tensor,
};
pub use bound::{Bound, Integral, Ladder};
pub use choice::{Memory, OnDeviceMemory};
pub use files::{LOG, Origin, SUMMARY, WEIGHTS};
pub(crate) use fit::{FEW, parts_of_one_class, unchosen};
pub use fit::{Fit, Fitted};
pub use gan::{FittedPair, Gan, GanFit, grid};
pub use groups::Source;
pub use model::Model;
pub use running::{Epoch, RunStatus};
pub use runs::{Run, Runs};
pub use sample_file::SampleFile;
pub use schedule::Schedule;
pub use sgld::{BOUNDS, Chains, Law, Sgld};
pub(crate) use split::Division;
pub use split::{Fold, Split};
pub use statistics::Summary;
pub(crate) use statistics::moments;
pub use stop::{Metric, Part, Stop};
pub use trainer::{OnProgress, Progress, Scaling, Trainer};
