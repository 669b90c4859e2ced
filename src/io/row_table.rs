//! Writes a table of numbers with a row for each sample, some rows at a time.

use super::atomic::write_whole;
use super::named::{Data, NamedArray, Rows, write_floats};
use super::samples::TableTargets;
use super::{npy, npz, safetensors};
use crate::error::{Error, Result};
use serde_json::{Map, json};
use std::fmt::Write as _;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use zip::ZipWriter;

/// A table of numbers that is not in memory, and what its samples are.
#[derive(Clone, Copy, Debug)]
pub struct RowTable<'a> {
    /// The number of rows.
    pub samples: usize,
    /// The names of the columns.
    pub columns: &'a [String],
    /// The classes or values of the samples.
    pub targets: &'a TableTargets,
    /// What identifies the samples.
    pub ids: Option<&'a [String]>,
    /// The numbers of training, validation and test samples, if they come one after another.
    pub parts: Option<[usize; 3]>,
}

/// Takes the numbers of the next rows, row by row, and a byte for each row that says what became of it.
pub type TakeRows<'a> = &'a mut dyn FnMut(&[f32], &[u8]) -> Result<()>;

impl RowTable<'_> {
    /// Writes the table, whose rows `rows` passes on in order.
    ///
    /// `.npz` and `.safetensors` files have the arrays `features` (samples, columns), `status`, `labels` or `targets`,
    /// `ids`, `parts`, and `names`, those of the columns. Labels that are not integers are numbered, and `classes` has
    /// their names; safetensors files have text in their metadata, as JSON lists. A `.csv` file has the columns under
    /// their names, and the label or value as the last column. A `.npy` file has the features in column-major order, so
    /// that a program that maps it into memory reads some columns without the others; the other arrays are in
    /// [`RowTable::beside`].
    ///
    /// The file is either written completely or not at all.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) for another extension; [`Shape`](crate::ErrorKind::Shape) if `rows` passes
    /// on another number of rows or columns; [`Io`](crate::ErrorKind::Io) if the operating system reports an error; the
    /// errors of `rows`.
    pub fn write(&self, path: &Path, rows: impl FnOnce(TakeRows<'_>) -> Result<()>) -> Result<()> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("npz") => self.write_npz(path, rows),
            Some("safetensors") => self.write_safetensors(path, rows),
            Some("npy") => self.write_npy(path, rows),
            Some("csv") => self.write_csv(path, rows),
            _ => {
                let found = path.display();
                Err(Error::domain(
                    "write",
                    format!("expected a name that ends in .npz, .safetensors, .npy or .csv, found {found}"),
                ))
            }
        }
    }

    /// Returns the file that has the other arrays beside a `.npy` file: the same name with the ending `.rows.npz`.
    #[must_use]
    pub fn beside(path: &Path) -> PathBuf {
        path.with_extension("rows.npz")
    }

    /// Passes rows on to `put` and returns the bytes of all rows, after checking their number.
    fn collect(
        &self,
        rows: impl FnOnce(TakeRows<'_>) -> Result<()>,
        put: &mut dyn FnMut(&[f32], usize) -> Result<()>,
    ) -> Result<Vec<u8>> {
        let mut status = Vec::with_capacity(self.samples);
        let width = self.columns.len();
        rows(&mut |numbers, of| {
            if numbers.len() != of.len() * width || status.len() + of.len() > self.samples {
                let expected = format!("{} rows of {width} columns", self.samples);
                let found = format!("{} numbers in {} rows", numbers.len(), of.len());
                return Err(Error::shape("write", expected, found));
            }
            put(numbers, status.len())?;
            status.extend_from_slice(of);
            Ok(())
        })?;
        if status.len() != self.samples {
            return Err(Error::shape("write", format!("{} rows", self.samples), status.len().to_string()));
        }
        Ok(status)
    }

    fn write_npz(&self, path: &Path, rows: impl FnOnce(TakeRows<'_>) -> Result<()>) -> Result<()> {
        let refused = |error| Error::io("write", path, error);
        write_whole(path, |out| {
            let write_all = |archive: &mut ZipWriter<_>| {
                let bytes = 4 * (self.samples as u64) * (self.columns.len() as u64);
                archive.start_file("features.npy", npz::options(bytes)).map_err(|e| refused(npz::io_error(e)))?;
                npy::write_header(archive, "<f4", &[self.samples, self.columns.len()]).map_err(refused)?;
                let status = self.collect(rows, &mut |numbers, _| write_floats(numbers, archive).map_err(refused))?;
                About::of(self).arrays(&status, self).iter().try_for_each(|array| {
                    let (name, options) = (format!("{}.npy", array.name), npz::options(npz::bytes(array)));
                    archive.start_file(name, options).map_err(|error| refused(npz::io_error(error)))?;
                    npy::write(archive, array).map_err(refused)
                })
            };
            npz::write_archive(out, write_all, refused)
        })
    }

    fn write_safetensors(&self, path: &Path, rows: impl FnOnce(TakeRows<'_>) -> Result<()>) -> Result<()> {
        let refused = |error| Error::io("write", path, error);
        let about = About::of(self);
        let no_status = vec![0; self.samples];
        let arrays = about.arrays(&no_status, self);
        let mut metadata = Map::new();
        let (mut wide, mut narrow) = (Vec::new(), Vec::new());
        for array in &arrays {
            match array.data {
                Data::Text(words) => {
                    metadata.insert(array.name.into(), json!(words).to_string().into());
                }
                Data::U8(_) => narrow.push((array.name, "U8", 1, &array.shape[..])),
                Data::F64(_) => wide.push((array.name, "F64", 8, &array.shape[..])),
                _ => wide.push((array.name, "I64", 8, &array.shape[..])),
            }
        }
        let shape = [self.samples, self.columns.len()];
        // The widest elements come first, so that every array is aligned.
        let all = wide.into_iter().chain([("features", "F32", 4, &shape[..])]).chain(narrow);
        let header = safetensors::header_of(all, metadata)?;
        write_whole(path, |out| {
            out.write_all(&header).map_err(refused)?;
            for array in arrays.iter().filter(|array| matches!(array.data, Data::I64(_) | Data::F64(_))) {
                array.data.write_little_endian(out).map_err(refused)?;
            }
            let status = self.collect(rows, &mut |numbers, _| write_floats(numbers, out).map_err(refused))?;
            out.write_all(&status).map_err(refused)
        })
    }

    fn write_npy(&self, path: &Path, rows: impl FnOnce(TakeRows<'_>) -> Result<()>) -> Result<()> {
        let refused = |error| Error::io("write", path, error);
        let width = self.columns.len();
        write_whole(path, |out| {
            npy::write_header_of(out, "<f4", &[self.samples, width], true).map_err(refused)?;
            let begin = out.stream_position().map_err(refused)?;
            let mut column = Vec::new();
            let status = self.collect(rows, &mut |numbers, first| {
                for place in 0..width {
                    column.clear();
                    column.extend(numbers.iter().skip(place).step_by(width));
                    let offset = 4 * (place as u64 * self.samples as u64 + first as u64);
                    out.seek(SeekFrom::Start(begin + offset)).map_err(refused)?;
                    write_floats(&column, out).map_err(refused)?;
                }
                Ok(())
            })?;
            // Before the features get their name, so that they never are without it.
            super::write(&Self::beside(path), &About::of(self).arrays(&status, self))
        })
    }

    fn write_csv(&self, path: &Path, rows: impl FnOnce(TakeRows<'_>) -> Result<()>) -> Result<()> {
        let refused = |error| Error::io("write", path, error);
        let width = self.columns.len();
        write_whole(path, |out| {
            let mut table = csv::Writer::from_writer(out);
            let target = match self.targets {
                TableTargets::Labels(..) => vec!["label".to_owned()],
                TableTargets::Values(_, each) => (0..*each).map(|i| format!("target_{i}")).collect(),
                TableTargets::None => Vec::new(),
            };
            let wrong = |error: csv::Error| refused(io::Error::other(error));
            table.write_record(self.columns.iter().chain(&target)).map_err(wrong)?;
            let mut cell = String::new();
            self.collect(rows, &mut |numbers, first| {
                for (sample, row) in (first..).zip(numbers.chunks(width.max(1))) {
                    for number in row {
                        cell.clear();
                        // The shortest text that parses to the same number.
                        let _ = write!(cell, "{number:?}");
                        table.write_field(&cell).map_err(wrong)?;
                    }
                    match self.targets {
                        TableTargets::Labels(labels, names) => {
                            table.write_field(&names[labels[sample] as usize]).map_err(wrong)?;
                        }
                        TableTargets::Values(values, each) => {
                            for value in &values[sample * each..][..*each] {
                                table.write_field(format!("{value:?}")).map_err(wrong)?;
                            }
                        }
                        TableTargets::None => {}
                    }
                    table.write_record(None::<&[u8]>).map_err(wrong)?;
                }
                Ok(())
            })?;
            table.flush().map_err(refused)
        })
    }
}

/// What a file has beside the rows, owned.
struct About {
    labels: Vec<i64>,
    classes: Vec<String>,
    parts: Vec<i64>,
}

impl About {
    fn of(table: &RowTable<'_>) -> Self {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let parts = table.parts.iter().flatten().map(|&samples| count(samples)).collect();
        let TableTargets::Labels(labels, names) = table.targets else {
            return Self { labels: Vec::new(), classes: Vec::new(), parts };
        };
        let numbers: Option<Vec<i64>> = names.iter().map(|name| name.parse().ok()).collect();
        match numbers {
            Some(numbers) => {
                let labels = labels.iter().map(|&label| numbers[label as usize]).collect();
                Self { labels, classes: Vec::new(), parts }
            }
            None => Self { labels: labels.iter().map(|&label| label.into()).collect(), classes: names.clone(), parts },
        }
    }

    fn arrays<'a>(&'a self, status: &'a [u8], table: &'a RowTable<'a>) -> Vec<NamedArray<'a>> {
        let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
        let samples = table.samples;
        let mut arrays = vec![array("status", vec![samples], Data::U8(status))];
        match table.targets {
            TableTargets::Labels(..) => arrays.push(array("labels", vec![samples], Data::I64(&self.labels))),
            TableTargets::Values(values, each) => {
                arrays.push(array("targets", vec![samples, *each], Data::F64(values)));
            }
            TableTargets::None => {}
        }
        if !self.classes.is_empty() {
            arrays.push(array("classes", vec![self.classes.len()], Data::Text(&self.classes)));
        }
        if let Some(ids) = table.ids {
            arrays.push(array("ids", vec![samples], Data::Text(ids)));
        }
        if !self.parts.is_empty() {
            arrays.push(array("parts", vec![3], Data::I64(&self.parts)));
        }
        arrays.push(array("names", vec![table.columns.len()], Data::Text(table.columns)));
        arrays
    }
}
