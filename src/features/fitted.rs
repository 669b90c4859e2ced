//! Steps whose parameters come from training samples, and are then applied to any samples.

use super::edges::Edges;
use crate::array::Array;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io::{self, Data, NamedArray, NpyData, Rows, StoredArray, Tensors};
use crate::ops::matmul::matmul;
use crate::ops::pca::pca_of_stream;
use crate::ops::series::{Status, unknown};
use crate::ops::stats::{RunningCovariance, RunningStats, StatsOptions};
use crate::policy::Backend;
use crate::shape::Shape;
use std::path::Path;
use std::str::FromStr;

/// The key of the names of the columns in the metadata of a file.
const COLUMNS: &str = "columns";
/// The key of the names of the layers with edges.
const LAYERS: &str = "layers";
/// The name of the array of edges.
const EDGES: &str = "edges";
/// The key of the checksum.
const CHECKSUM: &str = "checksum";
/// The names of the steps.
const NAMES: [&str; 2] = ["zscore", "pca"];

/// A step whose parameters are to be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Subtracts the mean of each column and divides by its standard deviation, with the denominator n. Columns that
    /// do not vary are only centered, as in scikit-learn's `StandardScaler`.
    ZScore,
    /// The coordinates along this number of principal components, as in [`pca`](fn@crate::ops::pca).
    Pca(usize),
}

impl FromStr for Step {
    type Err = Error;

    /// Reads `zscore` or `pca=K`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |found: String| Error::domain("features", format!("expected zscore or pca=K, found {found}"));
        match text.split_once('=') {
            None if text == "zscore" => Ok(Self::ZScore),
            Some(("pca", k)) => match k.parse() {
                Ok(k) if k > 0 => Ok(Self::Pca(k)),
                _ => Err(wrong(format!("`{text}`, whose K is not a number above 0"))),
            },
            _ if text == "pca" => Err(wrong("pca without the number of its components".to_owned())),
            _ => Err(wrong(unknown(text, NAMES.into_iter()))),
        }
    }
}

/// A step with its parameters.
#[derive(Clone, Debug, PartialEq)]
enum Fitted {
    /// The mean and the factor of each column.
    ZScore { mean: Vec<f64>, factor: Vec<f64> },
    /// The mean of each column, and the components, one after the other.
    Pca { mean: Vec<f64>, components: Vec<f64> },
}

/// Steps that were fitted to training samples.
///
/// ```
/// use fiedler::features::{Step, Steps};
/// use fiedler::ops::series::Status;
/// use fiedler::Context;
///
/// let (ctx, names) = (Context::cpu(), ["a".to_owned(), "b".to_owned()]);
/// let (training, status) = ([1.0, 5.0, 3.0, 5.0], [Status::Ok; 2]);
/// let steps = Steps::fit(&ctx, &[Step::ZScore], &names, |take| take(&training, &status))?;
/// assert_eq!(steps.transform(&ctx, &[5.0, 6.0])?, [3.0, 1.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    columns: Vec<String>,
    fitted: Vec<Fitted>,
    edges: Option<Edges>,
}

/// Takes the columns of some samples, and what became of each sample.
pub type TakeColumns<'a> = &'a mut dyn FnMut(&[f32], &[Status]) -> Result<()>;

impl Steps {
    /// Fits steps one after the other, each to what the steps before make of the training samples. `pass` passes all
    /// training samples on, once for each step. Only samples with the status [`Status::Ok`] are used.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if there are fewer than two samples to fit to, or principal components are
    /// more than the columns or the samples; [`Shape`](crate::ErrorKind::Shape) if samples have another number of
    /// columns than there are names; the errors of `pass`.
    pub fn fit(
        ctx: &Context,
        steps: &[Step],
        columns: &[String],
        mut pass: impl FnMut(TakeColumns<'_>) -> Result<()>,
    ) -> Result<Self> {
        let ctx = &ctx.with_backend(Backend::Cpu);
        let mut made = Self { columns: columns.to_vec(), fitted: Vec::new(), edges: None };
        for step in steps {
            let width = made.width();
            let mut used = 0_u64;
            let mut rows = |take: &mut dyn FnMut(&Array<f64>) -> Result<()>| {
                pass(&mut |values, status| {
                    let good = good(values, status, columns.len())?;
                    let rows = made.apply(ctx, good)?;
                    used += rows.shape().rows as u64;
                    if rows.shape().rows > 0 { take(&rows) } else { Ok(()) }
                })
            };
            let fitted = match *step {
                Step::ZScore => {
                    let mut stream = RunningStats::new(width, StatsOptions { ddof: 0, ..StatsOptions::default() });
                    rows(&mut |rows| stream.push(ctx, rows))?;
                    check(used)?;
                    let found = stream.finish(ctx)?;
                    let variance = found.variance.to_host(ctx)?;
                    let factor = |&variance: &f64| if variance > 0.0 { 1.0 / variance.sqrt() } else { 1.0 };
                    let factor = variance.as_slice().iter().map(factor).collect();
                    Fitted::ZScore { mean: found.mean.to_host(ctx)?.as_slice().to_vec(), factor }
                }
                Step::Pca(k) => {
                    let mut stream = RunningCovariance::new(width);
                    rows(&mut |rows| stream.push(ctx, rows))?;
                    check(used)?;
                    if k > width || k as u64 > used {
                        let what = format!(
                            "expected at most as many components as there are columns ({width}) and samples ({used}), found {k}"
                        );
                        return Err(Error::domain("features", what));
                    }
                    let found = pca_of_stream(ctx, &stream, k)?.ok()?;
                    let components = found.components.to_host(ctx)?;
                    let components = components.matrix(0).transpose().as_slice().to_vec();
                    Fitted::Pca { mean: stream.mean(ctx)?.to_host(ctx)?.as_slice().to_vec(), components }
                }
            };
            made.fitted.push(fitted);
        }
        Ok(made)
    }

    /// Adds the edges of the histograms among the columns, which were fitted to the same samples.
    #[must_use]
    pub fn with_edges(mut self, edges: Edges) -> Self {
        self.edges = Some(edges);
        self
    }

    /// Returns the edges of the histograms among the columns, if they were fitted.
    #[must_use]
    pub fn edges(&self) -> Option<&Edges> {
        self.edges.as_ref()
    }

    /// Returns the number of columns that the steps make.
    fn width(&self) -> usize {
        self.fitted.iter().fold(self.columns.len(), |width, fitted| match fitted {
            Fitted::ZScore { .. } => width,
            Fitted::Pca { components, .. } => components.len() / width,
        })
    }

    /// Returns whether there are no steps, so that columns stay as they are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fitted.is_empty()
    }

    /// Returns the names of the columns to which the steps apply.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the names of the columns that the steps make: the same, or `pca_1`, `pca_2`, ...
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self.fitted.iter().any(|fitted| matches!(fitted, Fitted::Pca { .. })) {
            true => (1..=self.width()).map(|component| format!("pca_{component}")).collect(),
            false => self.columns.clone(),
        }
    }

    /// Applies the steps to samples, sample by sample. Samples with a NaN become NaN.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the numbers are not samples with the columns of the training samples;
    /// [`Cancelled`](crate::ErrorKind::Cancelled).
    #[expect(clippy::cast_possible_truncation, reason = "columns are stored in f32")]
    pub fn transform(&self, ctx: &Context, values: &[f32]) -> Result<Vec<f32>> {
        let width = self.columns.len();
        if self.fitted.is_empty() {
            return Ok(values.to_vec());
        }
        if !values.len().is_multiple_of(width.max(1)) {
            let expected = format!("samples of {width} columns");
            return Err(Error::shape("features", expected, format!("{} numbers", values.len())));
        }
        let rows = values.iter().map(|&x| f64::from(x)).collect();
        let made = self.apply(&ctx.with_backend(Backend::Cpu), transposed(rows, width))?;
        let (rows, columns) = (made.shape().rows, made.shape().cols);
        let made = made.to_host(ctx)?;
        let made = made.as_slice();
        Ok((0..rows).flat_map(|row| (0..columns).map(move |column| made[column * rows + row] as f32)).collect())
    }

    /// Applies the steps to rows, stored column by column.
    fn apply(&self, ctx: &Context, mut columns: Vec<f64>) -> Result<Array<f64>> {
        let mut width = self.columns.len();
        let rows = columns.len() / width.max(1);
        for fitted in &self.fitted {
            let (Fitted::ZScore { mean, .. } | Fitted::Pca { mean, .. }) = fitted;
            for (place, column) in columns.chunks_mut(rows.max(1)).enumerate() {
                let factor = if let Fitted::ZScore { factor, .. } = fitted { factor[place] } else { 1.0 };
                column.iter_mut().for_each(|x| *x = (*x - mean[place]) * factor);
            }
            if let Fitted::Pca { components, .. } = fitted {
                let k = components.len() / width;
                let centered = Array::from_vec(Shape::new(rows, width, 1), columns)?;
                let components = Array::from_vec(Shape::new(width, k, 1), components.clone())?;
                columns = matmul(ctx, &centered, &components)?.to_host(ctx)?.as_slice().to_vec();
                width = k;
            }
        }
        Array::from_vec(Shape::new(rows, width, 1), columns)
    }

    /// Writes the parameters to a `.safetensors` file.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error, [`Domain`](crate::ErrorKind::Domain) for
    /// another extension.
    pub fn write(&self, path: &Path) -> Result<()> {
        check_name(path)?;
        let array = |name, shape, data| NamedArray { name, rows: Rows::Other, shape, data };
        let names: Vec<[String; 2]> = (self.fitted.iter().enumerate())
            .map(|(place, fitted)| match fitted {
                Fitted::ZScore { .. } => ["mean", "factor"].map(|part| format!("{place}.zscore.{part}")),
                Fitted::Pca { .. } => ["mean", "components"].map(|part| format!("{place}.pca.{part}")),
            })
            .collect();
        let mut arrays = vec![array(COLUMNS, vec![self.columns.len()], Data::Text(&self.columns))];
        for (fitted, [first, second]) in self.fitted.iter().zip(&names) {
            let (mean, other, shape) = match fitted {
                Fitted::ZScore { mean, factor } => (mean, factor, vec![factor.len()]),
                Fitted::Pca { mean, components } => (mean, components, vec![components.len() / mean.len(), mean.len()]),
            };
            arrays.push(array(first, vec![mean.len()], Data::F64(mean)));
            arrays.push(array(second, shape, Data::F64(other)));
        }
        if let Some(edges) = &self.edges {
            arrays.push(array(LAYERS, vec![edges.layers().len()], Data::Text(edges.layers())));
            arrays.push(array(EDGES, vec![edges.layers().len(), 2], Data::F64(edges.ends())));
        }
        let checksum = [io::checksum(&arrays)];
        arrays.push(array(CHECKSUM, vec![1], Data::Text(&checksum)));
        io::write(path, &arrays)
    }

    /// Reads parameters that [`Steps::write`] wrote.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file is another one or was changed;
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub fn read(path: &Path) -> Result<Self> {
        check_name(path)?;
        let wrong = |found: &str| Error::parse(path, None, "fitted steps", found);
        let file = Tensors::open(path)?;
        let texts = |key| file.metadata(key).and_then(|text| serde_json::from_str::<Vec<String>>(text).ok());
        let columns = texts(COLUMNS).ok_or_else(|| wrong("no names of columns"))?;
        if texts(CHECKSUM) != Some(vec![file.checksum(CHECKSUM)]) {
            return Err(wrong("other bytes than were written, which do not have their checksum"));
        }
        let mut made = Self { columns, fitted: Vec::new(), edges: None };
        let numbers = |name: String| match file.array(&name)? {
            StoredArray { data: NpyData::F64(numbers), .. } if numbers.iter().all(|x| x.is_finite()) => Ok(numbers),
            _ => Err(wrong(&format!("{name} with other elements than finite f64"))),
        };
        if let Some(layers) = texts(LAYERS) {
            made.edges = Some(Edges::new(layers, numbers(EDGES.to_owned())?).map_err(|found| wrong(&found))?);
        }
        while 2 * made.fitted.len() + usize::from(made.edges.is_some()) < file.names().count() {
            let (place, width) = (made.fitted.len(), made.width());
            let z_score = file.names().any(|name| name == format!("{place}.zscore.mean"));
            let (step, part) = if z_score { ("zscore", "factor") } else { ("pca", "components") };
            let mean = numbers(format!("{place}.{step}.mean"))?;
            let other = numbers(format!("{place}.{step}.{part}"))?;
            if mean.len() != width || width == 0 || other.is_empty() || !other.len().is_multiple_of(width) {
                return Err(wrong(&format!("parameters for {} columns in step {place}, not {width}", mean.len())));
            }
            made.fitted.push(match z_score {
                true if other.len() != width => return Err(wrong("more factors than columns")),
                true => Fitted::ZScore { mean, factor: other },
                false => Fitted::Pca { mean, components: other },
            });
        }
        Ok(made)
    }
}

fn check_name(path: &Path) -> Result<()> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors")) {
        return Ok(());
    }
    let what = format!("expected a file of fitted steps that ends in .safetensors, found {}", path.display());
    Err(Error::domain("features", what))
}

fn check(samples: u64) -> Result<()> {
    if samples < 2 {
        let what = format!("expected at least two samples without undefined columns to fit to, found {samples}");
        return Err(Error::domain("features", what));
    }
    Ok(())
}

/// Returns the samples with the status Ok, stored column by column.
fn good(values: &[f32], status: &[Status], width: usize) -> Result<Vec<f64>> {
    if values.len() != status.len() * width {
        let expected = format!("{} samples of {width} columns", status.len());
        return Err(Error::shape("features", expected, format!("{} numbers", values.len())));
    }
    let rows = values.chunks(width.max(1)).zip(status).filter(|(_, status)| **status == Status::Ok);
    Ok(transposed(rows.flat_map(|(row, _)| row.iter().map(|&x| f64::from(x))).collect(), width))
}

/// Returns a matrix stored column by column, of one that is stored row by row.
fn transposed(rows: Vec<f64>, width: usize) -> Vec<f64> {
    let count = rows.len() / width.max(1);
    (0..width)
        .flat_map(|column| (0..count).map(move |row| (row, column)))
        .map(|(row, column)| rows[row * width + column])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training() -> (Vec<f32>, Vec<Status>) {
        let mut state = 3_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 24) as f32
        };
        let rows = (0..60).flat_map(|_| {
            let (a, b) = (next(), next());
            [a, 3.0 * a + 0.1 * b, 7.0, 1e3 * b]
        });
        (rows.collect(), vec![Status::Ok; 60])
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|column| format!("c{column}")).collect()
    }

    #[test]
    fn steps_standardize_what_they_were_fitted_to_and_nothing_else() {
        let ctx = Context::cpu();
        let (mut values, mut status) = training();
        let steps = Steps::fit(&ctx, &[Step::ZScore], &names(4), |take| take(&values, &status)).unwrap();
        let made = steps.transform(&ctx, &values).unwrap();
        for column in 0..4 {
            let of = || made.iter().skip(column).step_by(4).map(|&x| f64::from(x));
            let (mean, square) = (of().sum::<f64>() / 60.0, of().map(|x| x * x).sum::<f64>() / 60.0);
            let wanted = if column == 2 { 0.0 } else { 1.0 };
            assert!(mean.abs() < 1e-6 && (square - wanted).abs() < 1e-6, "{column}: {mean} {square}");
        }
        // A sample that is not used for fitting changes no parameter, and neither does one that is not well defined.
        values.extend([1e6, f32::NAN, 1.0, 2.0]);
        status.push(Status::Undefined);
        assert_eq!(Steps::fit(&ctx, &[Step::ZScore], &names(4), |take| take(&values, &status)).unwrap(), steps);
        // The cut into chunks does not matter.
        let in_chunks = Steps::fit(&ctx, &[Step::ZScore], &names(4), |take| {
            values.chunks(28).zip(status.chunks(7)).try_for_each(|(values, status)| take(values, status))
        });
        assert_eq!(in_chunks.unwrap(), steps);
        let spoiled = steps.transform(&ctx, &[1.0, f32::NAN, 7.0, 2.0]).unwrap();
        assert!(spoiled[0].is_finite() && spoiled[1].is_nan() && spoiled[2] == 0.0);
    }

    #[test]
    fn components_are_uncorrelated_and_come_back_from_a_file() {
        let ctx = Context::cpu();
        let (values, status) = training();
        let steps = [Step::ZScore, Step::Pca(2)];
        let steps = Steps::fit(&ctx, &steps, &names(4), |take| take(&values, &status)).unwrap();
        assert_eq!(steps.names(), ["pca_1", "pca_2"]);
        let made = steps.transform(&ctx, &values).unwrap();
        let pairs: Vec<[f64; 2]> = made.chunks(2).map(|pair| [pair[0].into(), pair[1].into()]).collect();
        let sum = |of: fn(&[f64; 2]) -> f64| pairs.iter().map(of).sum::<f64>() / 60.0;
        assert!(sum(|p| p[0]).abs() < 1e-6 && sum(|p| p[1]).abs() < 1e-6 && sum(|p| p[0] * p[1]).abs() < 1e-6);
        // The first two standardized columns are nearly the same, and the fourth is nearly independent of them.
        assert!((sum(|p| p[0] * p[0]) - 2.0).abs() < 0.2 && (sum(|p| p[1] * p[1]) - 1.0).abs() < 0.2);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("steps.safetensors");
        steps.write(&path).unwrap();
        assert_eq!(Steps::read(&path).unwrap(), steps);
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 7, 40, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(Steps::read(&path).is_err(), "{length} bytes");
        }
    }

    /// Steps that do not commute give another result in another order.
    #[test]
    fn steps_are_applied_in_the_given_order() {
        let ctx = Context::cpu();
        let (values, status) = training();
        let deviation = |steps: &[Step]| {
            let steps = Steps::fit(&ctx, steps, &names(4), |take| take(&values, &status)).unwrap();
            assert_eq!(steps.names(), ["pca_1", "pca_2"]);
            let made = steps.transform(&ctx, &values).unwrap();
            let square: f64 = made.iter().step_by(2).map(|&x| f64::from(x) * f64::from(x)).sum();
            (square / 60.0).sqrt()
        };
        // Components of the columns as they are, of which one is in the hundreds, are scaled to the deviation 1; those
        // of scaled columns have the deviation of two columns that are nearly the same, the square root of 2.
        assert!((deviation(&[Step::Pca(2), Step::ZScore]) - 1.0).abs() < 1e-6, "rounding to f32");
        assert!((deviation(&[Step::ZScore, Step::Pca(2)]) - 2_f64.sqrt()).abs() < 0.1, "the columns differ a little");
        assert!(deviation(&[Step::Pca(2)]) > 100.0);
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let ctx = Context::cpu();
        let (values, status) = training();
        let refused = |steps: &[Step], count: usize, part: &str| {
            let fitted = Steps::fit(&ctx, steps, &names(4), |take| take(&values[..4 * count], &status[..count]));
            let error = fitted.unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        refused(&[Step::ZScore], 1, "at least two samples without undefined columns to fit to, found 1");
        refused(&[Step::Pca(5)], 60, "found 5");
        refused(&[Step::Pca(3)], 2, "samples (2), found 3");
        let steps = Steps::fit(&ctx, &[Step::ZScore], &names(4), |take| take(&values, &status)).unwrap();
        assert!(steps.transform(&ctx, &values[..5]).unwrap_err().to_string().contains("samples of 4 columns"));
        for (text, part) in
            [("zscor", "`zscor`; did you mean `zscore`?"), ("pca", "without the number"), ("pca=0", "`pca=0`")]
        {
            let error = text.parse::<Step>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert_eq!("pca=3".parse::<Step>().unwrap(), Step::Pca(3));
    }
}
