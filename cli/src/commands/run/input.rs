//! What an operation is given: an array of a file, its type and axes checked before anything is computed, in numpy's words.

use super::Precision;
use crate::commands::Failure;
use fiedler::io::{Npy, NpyData, NpyFile};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

/// Real numbers.
pub(super) const REALS: &[&str] = &["float16", "float32", "float64"];
/// Real and complex numbers.
pub(super) const NUMBERS: &[&str] = &["float16", "float32", "float64", "complex64", "complex128"];

/// Integers and booleans: float64 to everything here.
const INTEGERS: &[&str] = &["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"];

// What help says of an input, where operations share their options and not this.
pub(super) const REAL_AXES: &str =
    "One to three axes in a .npy file: float32, float64, float16 as float32, integers and booleans as float64";
pub(super) const TWO_AXES: &str = "Two or three axes in a .npy file: float32, float64, complex64, complex128, float16 as float32, integers and booleans as float64";
pub(super) const MATRICES: &str = "`(m, n)` or `(batch, m, n)` in a .npy file: float32, float64, float16 as float32, integers and booleans as float64";
pub(super) const MATRIX: &str =
    "`(m, n)` in a .npy file, no batch: float32, float64, float16 as float32, integers and booleans as float64";
pub(super) const DECOMPOSED: &str = "`(m, n)` or `(batch, m, n)` in a .npy file: float32, float64, float16 as float32, integers and booleans as float64. \
Written beside the result, of each matrix: `residual`, `orthogonality`, `status`";

/// How many axes, and what they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes((usize, usize), &'static str);

impl Axes {
    /// Along any of which something is done.
    pub(super) const ANY: Self = Self((1, 3), "one to three axes");
    pub(super) const TWO_OR_THREE: Self = Self((2, 3), "two or three axes");
    /// Vectors too.
    pub(super) const SERIES: Self = Self((1, 3), "(n,), (m, n) or (batch, m, n)");
    pub(super) const HISTOGRAMS: Self = Self((1, 3), "(bins,), (count, bins) or (batch, count, bins)");
    pub(super) const MATRICES: Self = Self((2, 3), "(m, n) or (batch, m, n)");
    pub(super) const MATRIX: Self = Self((2, 2), "(m, n)");
    /// A vector is a matrix of one column.
    pub(super) const COLUMNS: Self = Self((2, 2), "(n, columns), a vector x as x[:, None]");

    fn counts(self) -> RangeInclusive<usize> {
        self.0.0..=self.0.1
    }
}

/// An array of a file.
#[derive(Debug)]
pub(super) struct Input<'a> {
    pub(super) file: &'a Path,
    pub(super) shape: Vec<usize>,
    /// In the precision that was asked for.
    pub(super) data: NpyData,
    /// As the file has it.
    kind: String,
    wide: bool,
}

impl<'a> Input<'a> {
    /// Reads an array of one of these types and numbers of axes; any other is a wrong call.
    pub(super) fn read(
        file: &'a Path,
        types: &[&str],
        axes: Axes,
        precision: Option<Precision>,
    ) -> Result<Self, Failure> {
        let opened = NpyFile::open(file)?;
        let wrong = |wanted: &str, found: &str| {
            Err(Failure::Call(format!("{}: expected {wanted}, found {found}", file.display())))
        };
        let name = opened.type_name();
        // Where float64 is taken, so are they.
        let whole = types.contains(&"float64") && INTEGERS.contains(&name.as_str());
        if !whole && !types.contains(&name.as_str()) {
            let (last, others) = types.split_last().unwrap_or((&"", &[]));
            return wrong(&format!("{} or {last}, integers or booleans", others.join(", ")), &name);
        }
        if !axes.counts().contains(&opened.shape().len()) {
            return wrong(axes.1, &numpy(opened.shape()));
        }
        let Npy { shape, data } = opened.read()?;
        let kind = data.name();
        let data = Precision::of(precision, data);
        let kind = if whole { format!("{name} as {}", data.name()) } else { kind.to_owned() };
        let wide = matches!(data, NpyData::F64(_) | NpyData::C128(_));
        Ok(Self { file, shape, data, kind, wide })
    }

    /// The numbers, for what works where they lie.
    pub(super) fn take(&mut self) -> NpyData {
        std::mem::replace(&mut self.data, NpyData::F32(Vec::new()))
    }

    /// f16 as f32, exactly, for what computes in no fewer bits.
    pub(super) fn widened(mut self) -> Self {
        if let NpyData::F16(data) = self.data {
            self.data = NpyData::F32(data.into_iter().map(f32::from).collect());
        }
        self
    }

    /// Whether it is computed in f64.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// The file and its shape.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.file.display(), numpy(&self.shape))
    }

    /// And its type.
    pub(super) fn described(&self) -> String {
        format!("{} {}", self.shown(), self.kind)
    }

    /// That its shape is not the wanted one.
    pub(super) fn wrong(&self, wanted: impl Display) -> Failure {
        Failure::Call(format!("{}: expected {wanted}, found {}", self.file.display(), numpy(&self.shape)))
    }
}

/// A shape as numpy prints it.
pub(super) fn numpy(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
