//! Reads the input of feature extraction: samples that consist of named layers of numbers.
//!
//! `files.rs` decides what the paths are. There are four kinds of sources: a file of arrays (`arrays.rs`), files each
//! of which is a sample (`sample_files.rs`), a text (`table.rs`), and layers in memory (`memory.rs`). `io/stored` finds
//! arrays in files and converts their elements to floats; [`SampleRows`](super::SampleRows) uses it too. `io/roles.rs`
//! has the rule which column of a table has the labels and which is no input, and `io/array_roles.rs` the same for
//! arrays. `io/table` reads all texts, for [`Layers`] and for [`read_samples`](super::read_samples).
//!
//! [`Layers::origins`] identifies the content of files without reading them (`origin.rs`). A caller that has stored
//! results under an origin need not read the numbers again.

mod arrays;
mod files;
mod memory;
mod origin;
mod sample_files;
mod table;

use super::roles::{Findings, MOST_SEARCHED, Roles, TargetOrigin, suspects};
use super::samples::{TableTargets, labels_of};
use super::stored::{Kind, Stored};
use crate::cache::Key;
use crate::error::{Error, Result};
use arrays::Arrays;
pub(in crate::io) use files::Format;
use files::Found;
pub(crate) use files::fits;
use memory::Memory;
use sample_files::SampleFiles;
use std::ops::Range;
use std::path::{Path, PathBuf};
use table::Table;

/// A data set of samples, each of which has an entry of every layer: a vector, a matrix, or a series of its own length.
/// Rows are read when they are asked for.
///
/// | input | samples | layers |
/// |---|---|---|
/// | `.npy` | the first axis | one, with the name of the file |
/// | `.npz`, `.safetensors` | the first axis of every array | the arrays |
/// | several `.npy`, `.npz` or `.safetensors`, a folder of them, or a pattern such as `data/*.npz` | the files, in natural order of their names | the arrays; `values` for `.npy` |
/// | a folder whose folders have such files | the files; the names of the folders are the classes | the same |
/// | a table (CSV, TSV, semicolons, white space) | the rows | `values` |
/// | lines of at least 8 bits, perhaps with a label | the lines | `bits` |
///
/// [`LabelColumn`](super::LabelColumn) says which column or array has the targets. A column or an array `id` or `ids`
/// identifies the samples, and the index of a table of pandas or R does, too; neither is a number of a sample. In a
/// file that is one sample, a target is an array of one number. Integers and text are labels, floats are values.
/// `X_train` and `X_test`, with `y_train` and `y_test`, are one layer, whose samples are those of the parts, one after
/// another.
///
/// The first row of a table is a header if none of its fields is a number and none but the first is empty, whether or
/// not they are quoted, or if its numbers count from 0 beside the name of an index or of labels. Another first row that
/// mixes words and numbers is an error, unless only its first or its last field is a word: then it is a sample with a
/// label, or a header of numbers if all other fields of the last column are numbers.
///
/// Floats of 16 bits, booleans and integers of at most 16 bits are read as f32, and tables and wider integers as f64.
/// An integer that f64 does not hold exactly, and a number in a table beyond the range of f64, is an error. NaN and
/// infinities are kept. Arrays in row-major order without compression are read in parts. Other arrays of a file
/// with many samples are read when it is opened, and kept, as tables are. An array in an archive that is read from its
/// first row to its last is compared with its checksum.
///
/// ```
/// use fiedler::io::{self, Data, Extent, Layers, NamedArray, Numbers, Rows};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("points.safetensors");
/// let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
/// let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7, 9, 7]);
/// io::write(&path, &[array("x", vec![3, 2], Data::F32(&x)), array("y", vec![3], Data::I64(&y))])?;
///
/// let data = Layers::open(&[path])?;
/// assert_eq!((data.len(), data.layers()[0].extent), (3, Extent::Vector(2)));
/// let rows = data.read(&[0], 1..3)?;
/// assert_eq!(rows[0].numbers, Numbers::F32(vec![3.0, 4.0, 5.0, 6.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Layers {
    source: Source,
    layers: Vec<Layer>,
    len: usize,
    targets: TableTargets,
    findings: Findings,
    ids: Option<Vec<String>>,
}

#[derive(Debug)]
enum Source {
    Arrays(Arrays),
    Memory(Vec<Memory>),
    Samples(SampleFiles),
    Table(Table),
}

/// A layer of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The name of the layer.
    pub name: String,
    /// What a sample has of it.
    pub extent: Extent,
    /// Whether its numbers are read as f64, because f32 does not hold all numbers of the type in the file.
    pub wide: bool,
}

/// What a sample has of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A vector of this length.
    Vector(usize),
    /// A matrix, in row-major order.
    Matrix {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A series of its own length.
    Ragged {
        /// The length of the longest series.
        longest: usize,
    },
}

/// The entries of one layer for consecutive samples.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerRows {
    /// The numbers, sample by sample.
    pub numbers: Numbers,
    /// How many numbers each sample has, if the layer is ragged.
    pub lengths: Option<Vec<usize>>,
}

/// The numbers of a layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Floats of at most 32 bits, booleans and integers of at most 16 bits.
    F32(Vec<f32>),
    /// Wider numbers.
    F64(Vec<f64>),
}

impl Layers {
    /// Opens a data set: a file, several files, a folder, or a pattern with `*` in the name of the file. All headers
    /// are read and compared, but no numbers, apart from labels, tables, and arrays that cannot be read in parts. More
    /// than two axes of a sample become one.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse), which names the file and the layer or the line, if there are no samples or
    /// no layers, the numbers of samples of two arrays differ, a sample lacks a layer of the first sample or has
    /// another shape or type of it, a file ends early, or something that has to be a number is none;
    /// [`Limit`](crate::ErrorKind::Limit) if arrays that have to be read as a whole have more than 1 GiB;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        Self::open_with(paths, Roles::default())
    }

    /// Opens a data set whose labels are in the given column or array, and of which others are left out.
    ///
    /// # Errors
    /// As for [`Layers::open`]; [`Parse`](crate::ErrorKind::Parse) if there is no such column or array.
    pub fn open_with<'a>(paths: &[PathBuf], roles: impl Into<Roles<'a>>) -> Result<Self> {
        Self::open_as(paths, roles.into(), None)
    }

    /// Does the same as [`Layers::open_with`] where `values` says whether the targets are values or labels.
    pub(crate) fn open_as(paths: &[PathBuf], roles: Roles<'_>, values: Option<bool>) -> Result<Self> {
        match files::find(paths)? {
            Found::Samples(files) => sample_files::open(files, roles, values),
            Found::Arrays(path) => arrays::open(&path, roles, values),
            Found::Text(path) => table::open(&path, roles, values),
        }
    }

    /// Looks for suspicious inputs in the vectors of a file of arrays, which are read for that if they are not many. In
    /// a table, they were found when it was opened. What is wrong with a file is left to [`Layers::read`].
    pub fn search(&mut self) {
        for at in 0..self.layers.len() {
            let Layer { name, extent: Extent::Vector(length), .. } = &self.layers[at] else { continue };
            let few = length.saturating_mul(self.len) <= MOST_SEARCHED / self.layers.len();
            if !few
                || !matches!(self.source, Source::Arrays(_) | Source::Memory(_))
                || self.findings.flattened.is_some()
            {
                continue;
            }
            // An array of one number in each sample can be left out.
            let names: Vec<String> = match length {
                1 if self.layers.len() > 1 => vec![name.clone()],
                _ => (0..*length).map(|column| format!("{name}[{column}]")).collect(),
            };
            let Ok(mut rows) = self.read(&[at], 0..self.len) else { continue };
            let numbers = match rows.swap_remove(0).numbers {
                Numbers::F32(numbers) => numbers.into_iter().map(f64::from).collect(),
                Numbers::F64(numbers) => numbers,
            };
            self.findings.suspects.extend(suspects(&names, &numbers, &self.targets, true));
        }
    }

    /// Leaves out all samples but the first `rows`, if there are more.
    #[must_use]
    pub fn first(mut self, rows: usize) -> Self {
        if rows < self.len && rows > 0 {
            self.len = rows;
            self.targets = match self.targets {
                TableTargets::Labels(mut labels, classes) => {
                    labels.truncate(rows);
                    TableTargets::Labels(labels, classes)
                }
                TableTargets::Values(mut values, each) => {
                    values.truncate(rows * each);
                    TableTargets::Values(values, each)
                }
                TableTargets::None => TableTargets::None,
            };
            if let Some(ids) = &mut self.ids {
                ids.truncate(rows);
            }
            // The first samples may be those of the first part alone.
            self.findings.parts = None;
        }
        self
    }

    /// Returns the number of samples.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no data set is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the layers.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Returns the labels or the values of the samples, or [`TableTargets::None`].
    #[must_use]
    pub fn targets(&self) -> &TableTargets {
        &self.targets
    }

    /// Returns where the targets were found, if there are any.
    #[must_use]
    pub fn target_origin(&self) -> Option<&TargetOrigin> {
        self.findings.target.as_ref()
    }

    /// Returns what was found out about the columns or the arrays: which are left out, and what is suspicious.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Returns what identifies the samples: the entries of an array or a column `id` or `ids`, or the names of the
    /// files without their endings, if every sample is a file.
    #[must_use]
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_deref()
    }

    /// Returns whether every sample is a file, so that it is best to read all layers of a sample together.
    #[must_use]
    pub fn by_sample(&self) -> bool {
        matches!(self.source, Source::Samples(_))
    }

    /// Returns, for each layer, a key of the place from which [`Layers::read`] would read samples: the paths, lengths
    /// and modification times of the files (on Unix also the inodes and the times of the last change of any kind), the
    /// name of the layer, and where its numbers are in the files. If a key is the same before and after the samples
    /// were read, these are the samples that belong to the key.
    ///
    /// The key is `None` if the numbers were read when the data set was opened, if there is no such layer or sample, or
    /// if a file was changed in the last 2 s: another change soon after it may leave the same time, since some file
    /// systems count in steps of 2 s.
    #[must_use]
    pub fn origins(&self, layers: &[usize], rows: Range<usize>) -> Vec<Option<Key>> {
        let known = rows.start <= rows.end && rows.end <= self.len;
        let files = match &self.source {
            Source::Arrays(arrays) if known => arrays.origin(),
            Source::Samples(files) if known => files.origin(rows.clone()),
            _ => None,
        };
        let key = |&layer: &usize| {
            let mut hasher = files.clone()?;
            hasher.bytes(self.layers.get(layer)?.name.as_bytes());
            match &self.source {
                Source::Arrays(arrays) => arrays.add_place(layer, rows.clone(), &mut hasher)?,
                Source::Memory(_) | Source::Samples(_) | Source::Table(_) => {}
            }
            Some(hasher.finish())
        };
        layers.iter().map(key).collect()
    }

    /// Reads consecutive samples of the layers with the given places, in the order of these places. A file that is a
    /// sample is read once. Apart from the result, at most about 1 MiB is allocated, and for samples in archives the
    /// bytes of one array.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if there is no such layer or sample; [`Parse`](crate::ErrorKind::Parse) if
    /// a file was changed after it was opened, a checksum is wrong, or f64 does not hold an integer exactly;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn read(&self, layers: &[usize], rows: Range<usize>) -> Result<Vec<LayerRows>> {
        let mut made = Vec::new();
        self.read_into(layers, rows, &mut made)?;
        Ok(made)
    }

    /// Reads as [`Layers::read`] does, into the memory of what was read before. That is faster, because the system need
    /// not provide new memory.
    ///
    /// # Errors
    /// As for [`Layers::read`]; what `made` has then is not specified.
    pub fn read_into(&self, layers: &[usize], rows: Range<usize>, made: &mut Vec<LayerRows>) -> Result<()> {
        let count = self.layers.len();
        if let Some(layer) = layers.iter().find(|&&layer| layer >= count) {
            return Err(Error::domain("read layers", format!("expected a layer below {count}, found {layer}")));
        }
        if rows.start > rows.end || rows.end > self.len {
            let what = format!("expected samples up to {}, found {} to {}", self.len, rows.start, rows.end);
            return Err(Error::domain("read layers", what));
        }
        made.resize_with(layers.len(), || LayerRows { numbers: Numbers::F32(Vec::new()), lengths: None });
        let mut each = layers.iter().zip(made.iter_mut());
        match &self.source {
            Source::Arrays(arrays) => each.try_for_each(|(&layer, made)| arrays.read(layer, rows.clone(), made)),
            Source::Memory(held) => {
                each.for_each(|(&layer, made)| held[layer].read(self.layers[layer].extent, rows.clone(), made));
                Ok(())
            }
            Source::Samples(files) => files.read(layers, rows, made),
            Source::Table(table) => {
                each.for_each(|(_, made)| table.read(rows.clone(), made));
                Ok(())
            }
        }
    }
}

impl Extent {
    /// Returns the extent of a layer whose samples have the given axes, or `None` if there are no numbers. More than
    /// two axes become one.
    fn of(axes: &[usize]) -> Option<Self> {
        let extent = match *axes {
            [] => Self::Vector(1),
            [length] => Self::Vector(length),
            [rows, columns] => Self::Matrix { rows, columns },
            _ => Self::Vector(axes.iter().try_fold(1, |product: usize, &axis| product.checked_mul(axis))?),
        };
        (extent.numbers() > 0).then_some(extent)
    }

    /// Returns how many numbers a sample has at most.
    #[must_use]
    pub fn numbers(self) -> usize {
        match self {
            Self::Vector(length) | Self::Ragged { longest: length } => length,
            Self::Matrix { rows, columns } => rows.saturating_mul(columns),
        }
    }
}

impl Numbers {
    /// Makes room for `count` numbers of a precision, whose values are not specified.
    fn resize(&mut self, wide: bool, count: usize) {
        match self {
            Self::F32(numbers) if !wide && numbers.capacity() >= count => numbers.resize(count, 0.0),
            Self::F64(numbers) if wide && numbers.capacity() >= count => numbers.resize(count, 0.0),
            // The system's zeros, which cost nothing before they are written.
            _ if wide => *self = Self::F64(vec![0.0; count]),
            _ => *self = Self::F32(vec![0.0; count]),
        }
    }

    /// Returns the number of numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(numbers) => numbers.len(),
            Self::F64(numbers) => numbers.len(),
        }
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::F32(numbers) => 4 * numbers.len() as u64,
            Self::F64(numbers) => 8 * numbers.len() as u64,
        }
    }

    /// Becomes a range of other numbers.
    fn copy(&mut self, from: &Self, range: Range<usize>) {
        self.resize(matches!(from, Self::F64(_)), range.len());
        match (self, from) {
            (Self::F32(to), Self::F32(from)) => to.copy_from_slice(&from[range]),
            (Self::F64(to), Self::F64(from)) => to.copy_from_slice(&from[range]),
            _ => {}
        }
    }
}

/// Returns the layer that an array is, whose first axis is that of the samples.
fn layer_of(path: &Path, array: &Stored) -> Result<Layer> {
    let wrong = |expected: &str, found: String| Err(Error::parse(path, None, expected, found));
    if array.kind.is_text() {
        return wrong("layers of numbers", format!("text in {}", array.name));
    }
    match Extent::of(array.shape.get(1..).unwrap_or_default()) {
        Some(extent) => Ok(Layer { name: array.name.clone(), extent, wide: array.kind.is_wide() }),
        None => {
            let found = format!("{} of shape {:?}", array.name, array.shape);
            wrong("layers with numbers in every sample", found)
        }
    }
}

/// Returns an error if two arrays have the same name, which archives allow.
pub(in crate::io) fn check_names(path: &Path, arrays: &[Stored]) -> Result<()> {
    let mut names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::parse(path, None, "each name once", format!("two arrays named {}", pair[0]))),
        None => Ok(()),
    }
}

/// Returns the targets of numbers: labels if they are integers, unless `values` says which they are.
fn targets_of(kind: Kind, numbers: Vec<f64>, values: Option<bool>) -> TableTargets {
    if values.unwrap_or(kind.is_float()) {
        return TableTargets::Values(numbers, 1);
    }
    labels_of(numbers.iter().map(|&number| kind.word(number)).collect())
}
