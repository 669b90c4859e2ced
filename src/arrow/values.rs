//! Reads the values of columns, whatever their width.

use super::listed::Fault;
use super::wrong;
use crate::error::Result;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use half::f16;

/// Returns whether values of this type are text.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Returns a text, or `None` for null.
pub(super) fn text_at(array: &dyn Array, row: usize) -> Option<&str> {
    (!array.is_null(row)).then(|| match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row),
        _ => array.as_string_view().value(row),
    })
}

/// Returns the type of the items of lists.
pub(super) fn item(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            Some(field.data_type())
        }
        _ => None,
    }
}

/// The numbers of a column.
pub(super) struct Numbers<'a> {
    values: Values<'a>,
    nulls: Option<&'a NullBuffer>,
}

enum Values<'a> {
    /// All are null.
    Null,
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    F16(&'a [f16]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

impl<'a> Numbers<'a> {
    /// Borrows the numbers of an array.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if it has none.
    pub(super) fn of(array: &'a ArrayRef) -> Result<Self> {
        let values = match array.data_type() {
            DataType::Null => Values::Null,
            DataType::Int8 => Values::I8(array.as_primitive::<Int8Type>().values()),
            DataType::Int16 => Values::I16(array.as_primitive::<Int16Type>().values()),
            DataType::Int32 => Values::I32(array.as_primitive::<Int32Type>().values()),
            DataType::Int64 => Values::I64(array.as_primitive::<Int64Type>().values()),
            DataType::UInt8 => Values::U8(array.as_primitive::<UInt8Type>().values()),
            DataType::UInt16 => Values::U16(array.as_primitive::<UInt16Type>().values()),
            DataType::UInt32 => Values::U32(array.as_primitive::<UInt32Type>().values()),
            DataType::UInt64 => Values::U64(array.as_primitive::<UInt64Type>().values()),
            DataType::Float16 => Values::F16(array.as_primitive::<Float16Type>().values()),
            DataType::Float32 => Values::F32(array.as_primitive::<Float32Type>().values()),
            DataType::Float64 => Values::F64(array.as_primitive::<Float64Type>().values()),
            other => return Err(wrong(format!("expected a column of numbers, found {other}"))),
        };
        Ok(Self { values, nulls: array.nulls().filter(|nulls| nulls.null_count() > 0) })
    }

    fn is_null(&self, index: usize) -> bool {
        matches!(self.values, Values::Null) || self.nulls.is_some_and(|nulls| nulls.is_null(index))
    }

    /// Returns an id or a number of nodes, or `None` if it is missing. pandas makes floats of integers if some are
    /// missing, and NaN of these.
    pub(super) fn whole(&self, index: usize) -> Result<Option<i128>, Fault> {
        let floats = matches!(self.values, Values::F16(_) | Values::F32(_) | Values::F64(_));
        match self.real(index).filter(|_| floats) {
            Some(number) if number.is_nan() => Ok(None),
            Some(number) if number.fract() != 0.0 => {
                Err(Fault::bad(format!("expected a whole number, found {number}")))
            }
            _ => Ok(self.integer(index)),
        }
    }

    /// Returns an integer, or `None` for null. Numbers with a fraction are truncated.
    pub(super) fn integer(&self, index: usize) -> Option<i128> {
        if self.is_null(index) {
            return None;
        }
        Some(match self.values {
            Values::I8(all) => all[index].into(),
            Values::I16(all) => all[index].into(),
            Values::I32(all) => all[index].into(),
            Values::I64(all) => all[index].into(),
            Values::U8(all) => all[index].into(),
            Values::U16(all) => all[index].into(),
            Values::U32(all) => all[index].into(),
            Values::U64(all) => all[index].into(),
            #[expect(clippy::cast_possible_truncation, reason = "as the documentation says")]
            _ => self.real(index)? as i128,
        })
    }

    /// Returns a number in f64, or `None` for null.
    #[expect(clippy::cast_precision_loss, reason = "an integer that is a weight is rounded")]
    pub(super) fn real(&self, index: usize) -> Option<f64> {
        if self.is_null(index) {
            return None;
        }
        Some(match self.values {
            Values::F16(all) => all[index].into(),
            Values::F32(all) => all[index].into(),
            Values::F64(all) => all[index],
            Values::I64(all) => all[index] as f64,
            Values::U64(all) => all[index] as f64,
            _ => self.integer(index)? as f64,
        })
    }
}

/// The lists of a column.
pub(super) struct Lists<'a> {
    offsets: Vec<usize>,
    nulls: Option<NullBuffer>,
    pub(super) values: &'a ArrayRef,
}

impl<'a> Lists<'a> {
    /// Borrows the lists of an array.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if it has none.
    pub(super) fn of(array: &'a ArrayRef) -> Result<Self> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "offsets are valid indices")]
        let (offsets, values) = if let Some(lists) = array.as_list_opt::<i32>() {
            (lists.value_offsets().iter().map(|&offset| offset as usize).collect(), lists.values())
        } else if let Some(lists) = array.as_list_opt::<i64>() {
            (lists.value_offsets().iter().map(|&offset| offset as usize).collect(), lists.values())
        } else if let Some(lists) = array.as_fixed_size_list_opt() {
            let size = lists.value_length() as usize;
            ((0..=lists.len()).map(|row| row * size).collect(), lists.values())
        } else if *array.data_type() == DataType::Null {
            (vec![0; array.len() + 1], array)
        } else {
            return Err(wrong(format!("expected a column of lists, found {}", array.data_type())));
        };
        Ok(Self { offsets, nulls: array.logical_nulls(), values })
    }

    /// Returns the indices of the values of a list, or `None` for null.
    pub(super) fn of_row(&self, row: usize) -> Option<std::ops::Range<usize>> {
        let null = self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        (!null).then(|| self.offsets[row]..self.offsets[row + 1])
    }
}
