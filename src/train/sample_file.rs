//! A file as the source of a training.

use super::groups::Source;
use crate::error::Result;
use crate::io::{Findings, SampleRows, Wanted};
use crate::ops::mlp::{Number, Samples, Targets};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// A data set in a file whose rows are read when they are needed: an `.npz` without compression, or `.safetensors`.
///
/// ```
/// use fiedler::Context;
/// use fiedler::io::{self, Data, NamedArray, Roles, Rows, Wanted};
/// use fiedler::train::{Loss, Mlp, Optimizer, Runs, SampleFile, Trainer};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("points.npz");
/// let x: Vec<f32> = (0..600).map(|i| (i % 7) as f32).collect();
/// let y: Vec<i64> = (0..300).map(|i| i64::from(i % 7 < 3)).collect();
/// let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
/// io::write(&path, &[array("x", vec![300, 2], Data::F32(&x)), array("y", vec![300], Data::I64(&y))])?;
///
/// let file = SampleFile::open(&path, Wanted::Labels(Roles::default()))?.expect("a file that can be read in groups");
/// let net = Mlp::builder(file.inputs()).output(file.classes().len())?;
/// let fit = Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam)
///     .epochs(2)
///     .row_group(100)
///     .fit_groups::<f32>(&Context::cpu(), &file, &Runs::seeds(Optimizer::Adam, 1, 3)?)?;
/// assert_eq!(fit.groups(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SampleFile {
    rows: SampleRows,
}

impl SampleFile {
    /// Opens a file, or returns `None` if it has to be read as a whole ([`read_samples`](crate::io::read_samples)). If
    /// labels are wanted, all labels are read once, to find the classes.
    ///
    /// # Errors
    /// The errors of [`SampleRows::open`].
    pub fn open(path: &Path, wanted: Wanted<'_>) -> Result<Option<Self>> {
        Ok(SampleRows::open(path, wanted)?.map(|rows| Self { rows }))
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of inputs of a sample.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.rows.inputs()
    }

    /// Returns what was found out about the arrays.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        self.rows.findings()
    }

    /// Returns the number of values of a sample, or 0 if the targets are labels.
    #[must_use]
    pub fn values(&self) -> usize {
        self.rows.values()
    }

    /// Returns the names of the classes; none if the targets are values.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        self.rows.classes()
    }
}

impl<T: Number> Source<T> for SampleFile {
    fn samples(&self) -> usize {
        self.len()
    }

    fn read(&self, rows: Range<usize>) -> Result<Cow<'_, Samples<T>>> {
        let x = self.rows.inputs_of(rows.clone())?;
        let targets = match self.values() {
            0 => Targets::Labels(self.rows.labels_of(rows.clone())?),
            each => Targets::Values(self.rows.values_of(rows.clone())?, each),
        };
        Samples::from(rows.start, self.inputs(), x, targets).map(Cow::Owned)
    }
}
