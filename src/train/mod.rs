//! Training of many small networks at once: seeds, grids of hyperparameters, early stopping, checkpoints, and results
//! with intervals.
//!
//! A [`Trainer`] has what all runs share, [`Runs`] are rows with a seed and hyperparameters each, and [`Trainer::fit`]
//! returns a [`Fit`]. A run is a function of its row alone: it has the same bits alone and beside other runs, on any
//! number of threads, and if it was interrupted and resumed.
//!
//! [`Sgld`] samples parameters at a ladder of temperatures and bounds their expected losses. [`Gan`] trains adversarial
//! pairs.
//!
//! # From a file to results
//!
//! 1. [`read_samples`](crate::io::read_samples) reads a data set, of which [`Samples`] are made in memory, or
//!    [`SampleFile`] opens a file whose rows are read later. Both are a [`Source`].
//! 2. [`Trainer::fit_groups`] divides the samples into groups of consecutive samples (`groups.rs`), often only one.
//!    `grouped.rs` passes over all groups to check and hash them. It creates a `Running` (`running.rs`) for each run,
//!    with its replica, its samples of the present group and its counters.
//! 3. `choice.rs` chooses the side, from the costs in `ops/mlp/choice.rs` or from the checkpoint. `epochs.rs` takes
//!    the runs of a side through the groups of every epoch and adds up their scores over the groups. Meanwhile a thread
//!    reads the next group. With one group, the side itself goes through the epochs.
//! 4. On the CPU (`epochs.rs`, `ops/mlp/cpu`), threads train one run after another in rounds of about 200 ms, with at
//!    most 20 runs for each thread. Between rounds, checkpoints are written (`saving.rs`), the progress is reported,
//!    and [`Cancel`](crate::Cancel) is checked. The place where a run is interrupted does not change its bits.
//! 5. On a device (`device.rs`, `ops/mlp/gpu`), all runs that fit in its memory make their steps together. After an
//!    epoch, the host decides which runs stop and which parameters are the best so far. If checkpoints are written, a
//!    training that is interrupted first completes the epoch, because the sums of an unfinished epoch are on the
//!    device.
//! 6. [`Fit`] has the results. `files.rs` writes them, and [`Model`] reads the parameters again.
//!
//! The code of this module and of `ops/mlp` uses these words:
//!
//! | word | meaning |
//! |---|---|
//! | group | consecutive samples that are in memory together |
//! | replica | the state of a run: its parameters, the moments of its optimizer, and its counters |

mod bound;
mod checkpoint;
mod choice;
mod device;
pub(crate) mod distributions;
mod epochs;
mod files;
mod fit;
mod fitting;
mod gan;
mod grouped;
mod groups;
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
