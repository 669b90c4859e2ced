//! The input of an operation: an array from a file, whose type and axes are checked before anything is computed.
//! Messages use NumPy's terms.

use super::Precision;
use crate::commands::Failure;
use fiedler::io::{Npy, NpyData, NpyFile};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

/// The real types.
pub(super) const REALS: &[&str] = &["float16", "float32", "float64"];
/// The real and complex types.
pub(super) const NUMBERS: &[&str] = &["float16", "float32", "float64", "complex64", "complex128"];

/// The integer and boolean types, which are read as float64.
const INTEGERS: &[&str] = &["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"];

// The help texts for the inputs of operations that share all options and differ only in the inputs that they accept.
pub(super) const REAL_AXES: &str =
    "One to three axes in a .npy file: float32, float64, float16 as float32, integers and booleans as float64";
pub(super) const TWO_AXES: &str = "Two or three axes in a .npy file: float32, float64, complex64, complex128, float16 as float32, integers and booleans as float64";
pub(super) const MATRICES: &str = "`(m, n)` or `(batch, m, n)` in a .npy file: float32, float64, float16 as float32, integers and booleans as float64";
pub(super) const MATRIX: &str =
    "`(m, n)` in a .npy file, no batch: float32, float64, float16 as float32, integers and booleans as float64";
pub(super) const DECOMPOSED: &str = "`(m, n)` or `(batch, m, n)` in a .npy file: float32, float64, float16 as float32, \
integers and booleans as float64. For each matrix, `residual`, `orthogonality` and `status` are written too";

/// The minimum and maximum number of axes, and a description of the shape for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes((usize, usize), &'static str);

impl Axes {
    /// For operations along any axis.
    pub(super) const ANY: Self = Self((1, 3), "one to three axes");
    pub(super) const TWO_OR_THREE: Self = Self((2, 3), "two or three axes");
    /// For statistics, which also take vectors.
    pub(super) const SERIES: Self = Self((1, 3), "(n,), (m, n) or (batch, m, n)");
    pub(super) const HISTOGRAMS: Self = Self((1, 3), "(bins,), (count, bins) or (batch, count, bins)");
    pub(super) const MATRICES: Self = Self((2, 3), "(m, n) or (batch, m, n)");
    pub(super) const MATRIX: Self = Self((2, 2), "(m, n)");
    /// For blocks of columns. A vector must be passed as a matrix with one column.
    pub(super) const COLUMNS: Self = Self((2, 2), "(n, columns), a vector x as x[:, None]");

    fn counts(self) -> RangeInclusive<usize> {
        self.0.0..=self.0.1
    }
}

/// An array from a file.
#[derive(Debug)]
pub(super) struct Input<'a> {
    pub(super) file: &'a Path,
    pub(super) shape: Vec<usize>,
    /// The data, in the precision that the call asks for.
    pub(super) data: NpyData,
    /// The type in the file.
    kind: String,
    wide: bool,
}

impl<'a> Input<'a> {
    /// Reads an array. A type or a number of axes that is not allowed is reported as a wrong call.
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
        // Operations that take float64 also take integers and booleans.
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

    /// Moves the data out, for operations that work in place.
    pub(super) fn take(&mut self) -> NpyData {
        std::mem::replace(&mut self.data, NpyData::F32(Vec::new()))
    }

    /// Converts f16 data to f32 without rounding, for operations that compute in f32 or f64.
    pub(super) fn widened(mut self) -> Self {
        if let NpyData::F16(data) = self.data {
            self.data = NpyData::F32(data.into_iter().map(f32::from).collect());
        }
        self
    }

    /// Returns whether operations on the array compute in f64.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// Returns the file's name and its shape.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.file.display(), numpy(&self.shape))
    }

    /// Returns the file's name, shape and type.
    pub(super) fn described(&self) -> String {
        format!("{} {}", self.shown(), self.kind)
    }

    /// Returns an error which says that the shape is not the expected shape.
    pub(super) fn wrong(&self, wanted: impl Display) -> Failure {
        Failure::Call(format!("{}: expected {wanted}, found {}", self.file.display(), numpy(&self.shape)))
    }
}

/// Formats a shape as NumPy does.
pub(super) fn numpy(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
