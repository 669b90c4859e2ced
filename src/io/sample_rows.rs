//! Reads some rows of a data set of arrays without the others.

use super::array_file::ArrayFile;
use super::layers::Format;
use super::roles::{Findings, MOST_SEARCHED, Suspicion, suspects};
use super::samples::{FINITE_LABELS, TableTargets, Wanted, roles_of};
use super::stored::{Stored, archive};
use crate::array::Real;
use crate::error::{Error, Result};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The rows whose targets are read at a time when the classes are found.
const SCANNED: usize = 1 << 16;
/// The most classes that are kept in memory.
const MOST_CLASSES: usize = 1 << 20;

/// The inputs and targets of a file, of which rows can be read without the others: an `.npz` whose arrays are not
/// compressed, or `.safetensors`. The arrays have the names that [`read_samples`](super::read_samples) looks for.
#[derive(Debug)]
pub struct SampleRows {
    path: PathBuf,
    file: Mutex<File>,
    len: usize,
    inputs: usize,
    /// The number of values of a sample, or 0 for labels.
    values: usize,
    x: Stored,
    /// The targets, unless inputs alone are wanted.
    y: Option<Stored>,
    /// The classes and their names, in order.
    classes: Vec<f64>,
    names: Vec<String>,
    findings: Findings,
}

impl SampleRows {
    /// Opens a file, or returns `None` if it has to be read as a whole: because its format is another one, its arrays
    /// are compressed or in Fortran order, or it does not have the arrays that are expected, of which
    /// [`read_samples`](super::read_samples) tells more. If labels are wanted, all labels are read, to find the
    /// classes, which are in numeric order.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if a label is not a finite number, or if there are more than 2^20 classes;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error, or a checksum of an archive is wrong.
    pub fn open(path: &Path, wanted: Wanted<'_>) -> Result<Option<Self>> {
        let format = Format::of(path).filter(|format| *format != Format::Npy);
        // What is wrong with a file is told where it is read as a whole.
        let Some((mut file, format)) = ArrayFile::open(path).ok().zip(format) else { return Ok(None) };
        let Ok(roles) = roles_of(path, &file.names(), wanted) else { return Ok(None) };
        let Some(x) = roles.input().and_then(|at| file.array(at).ok()) else { return Ok(None) };
        let y = match roles.target.first().map(|&at| file.array(at)) {
            Some(Ok(y)) => Some(y),
            Some(Err(_)) => return Ok(None),
            None => None,
        };
        let [len, axes @ ..] = &x.shape[..] else { return Ok(None) };
        let (len, inputs): (usize, usize) = (*len, axes.iter().product());
        let flattened = (axes.len() > 1).then(|| axes.to_vec());
        if axes.is_empty()
            || [Some(&x), y.as_ref()].into_iter().flatten().any(|array| array.begin.is_none() || array.kind.is_text())
        {
            return Ok(None);
        }
        let labeled = matches!(wanted, Wanted::Labels(_));
        let mut values = 0;
        if let Some(y) = &y {
            values = y.shape.iter().skip(1).product();
            if y.shape.first() != Some(&len) || values == 0 || labeled && values > 1 {
                return Ok(None);
            }
        }
        if len == 0 || inputs == 0 {
            return Ok(None);
        }
        if format == Format::Npz {
            check_sums(path)?;
        }
        let mut left_out = roles.left_out;
        let parts = file.parts(len, &mut left_out)?;
        let (path, file, values) = (path.to_owned(), Mutex::new(file.file), if labeled { 0 } else { values });
        let (classes, names) = (Vec::new(), Vec::new());
        let findings =
            Findings { target: roles.origin, left_out, flattened, parts, of_arrays: true, ..Findings::default() };
        let mut made = Self { path, file, len, inputs, values, x, y, classes, names, findings };
        if labeled {
            made.find_classes()?;
        }
        if made.y.is_some() && len.saturating_mul(inputs) <= MOST_SEARCHED {
            made.findings.suspects = made.suspects(&roles.layers[0].0)?;
        }
        Ok(Some(made))
    }

    /// Looks for what is suspicious about the inputs.
    fn suspects(&self, layer: &str) -> Result<Vec<(String, Suspicion)>> {
        let names: Vec<String> = (0..self.inputs).map(|at| format!("{layer}[{at}]")).collect();
        let targets = match self.values {
            0 => TableTargets::Labels(self.labels_of(0..self.len)?, self.names.clone()),
            each => TableTargets::Values(self.values_of(0..self.len)?, each),
        };
        Ok(suspects(&names, &self.inputs_of::<f64>(0..self.len)?, &targets, self.findings.flattened.is_none()))
    }

    fn find_classes(&mut self) -> Result<()> {
        let mut found: Vec<f64> = Vec::new();
        for first in (0..self.len).step_by(SCANNED) {
            let rows = first..(first + SCANNED).min(self.len);
            for (row, value) in rows.clone().zip(self.numbers(self.targets()?, rows)?) {
                found.push(self.class(row, value)?);
            }
            found.sort_unstable_by(f64::total_cmp);
            found.dedup();
            if found.len() > MOST_CLASSES {
                return Err(self.wrong(format!("at most {MOST_CLASSES} classes"), "more".to_owned()));
            }
        }
        let kind = self.targets()?.kind;
        self.names = found.iter().map(|&class| kind.word(class)).collect();
        self.classes = found;
        Ok(())
    }

    /// Returns the number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of inputs of a sample.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Returns what was found out about the arrays.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Returns the number of values of a sample, or 0 if the targets are labels or were not wanted.
    #[must_use]
    pub fn values(&self) -> usize {
        self.values
    }

    /// Returns the names of the classes; none if the targets are values.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.names
    }

    /// Reads the inputs of rows, row by row.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file has become shorter, or if a 64-bit float cannot represent an
    /// integer; [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn inputs_of<T: Real>(&self, rows: Range<usize>) -> Result<Vec<T>> {
        self.numbers(&self.x, rows)
    }

    /// Reads the values of rows, row by row.
    ///
    /// # Errors
    /// The same as for [`SampleRows::inputs_of`], and [`Parse`](crate::ErrorKind::Parse) if inputs alone were wanted.
    pub fn values_of<T: Real>(&self, rows: Range<usize>) -> Result<Vec<T>> {
        self.numbers(self.targets()?, rows)
    }

    /// Reads the labels of rows, as places in the list of the classes.
    ///
    /// # Errors
    /// The same as for [`SampleRows::values_of`], and [`Parse`](crate::ErrorKind::Parse) if the file was changed and
    /// has another class now.
    pub fn labels_of(&self, rows: Range<usize>) -> Result<Vec<u32>> {
        let label = |(row, value)| {
            let class = self.class(row, value)?;
            let place = self.classes.binary_search_by(|own| own.total_cmp(&class)).ok();
            let place = place.and_then(|place| u32::try_from(place).ok());
            let found = || format!("{class} as label of sample {row}");
            place.ok_or_else(|| self.wrong("the classes that the file had when it was opened", found()))
        };
        rows.clone().zip(self.numbers(self.targets()?, rows)?).map(label).collect()
    }

    fn targets(&self) -> Result<&Stored> {
        self.y.as_ref().ok_or_else(|| self.wrong("targets", "a file that was opened for its inputs".to_owned()))
    }

    fn numbers<T: Real>(&self, array: &Stored, rows: Range<usize>) -> Result<Vec<T>> {
        let mut made = vec![T::from_f64(0.0); rows.len() * array.columns()];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        array.read_rows(&self.path, &mut *file, rows, &mut |_| {}, &mut made)?;
        Ok(made)
    }

    /// Returns the class that a label is. Zero has one sign.
    fn class(&self, row: usize, value: f64) -> Result<f64> {
        let found = || format!("{value} as label of sample {row}");
        if value.is_finite() { Ok(value + 0.0) } else { Err(self.wrong(FINITE_LABELS, found())) }
    }

    fn wrong(&self, expected: impl Into<String>, found: String) -> Error {
        Error::parse(&self.path, None, expected, found)
    }
}

/// Reads an archive once, because its checksums are those of whole arrays.
fn check_sums(path: &Path) -> Result<()> {
    let refused = |error| Error::io("read", path, error);
    let mut archive = archive(path)?;
    for member in 0..archive.len() {
        let mut member = archive.by_index(member).map_err(|error| refused(error.into()))?;
        std::io::copy(&mut member, &mut std::io::sink()).map_err(refused)?;
    }
    Ok(())
}
