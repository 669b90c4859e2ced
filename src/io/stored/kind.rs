//! The types of elements, and their conversion to floats.

use crate::array::Real;
use half::f16;
use half::slice::HalfFloatSliceExt as _;

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Kind {
    F16,
    Bf16,
    F32,
    F64,
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// Strings of the given number of characters in UTF-32, padded with zeros.
    Text(usize),
    /// Strings of the given number of bytes in UTF-8, padded with zeros.
    Bytes(usize),
}

impl Kind {
    /// Returns the type of NumPy's type string without the byte order. `U8` is text of 8 characters there.
    pub(in crate::io) fn of_numpy(name: &str) -> Option<Self> {
        Some(match name {
            "f2" => Self::F16,
            "f4" => Self::F32,
            "f8" => Self::F64,
            "b1" => Self::Bool,
            "i1" => Self::I8,
            "u1" => Self::U8,
            "i2" => Self::I16,
            "u2" => Self::U16,
            "i4" => Self::I32,
            "u4" => Self::U32,
            "i8" => Self::I64,
            "u8" => Self::U64,
            _ => {
                let width = |letter| name.strip_prefix(letter)?.parse().ok().filter(|&width: &usize| width > 0);
                return width('U').map(Self::Text).or_else(|| width('S').map(Self::Bytes));
            }
        })
    }

    /// Returns the type of a tensor of a safetensors file.
    pub(in crate::io) fn of_tensor(name: &str) -> Option<Self> {
        Some(match name {
            "F16" => Self::F16,
            "BF16" => Self::Bf16,
            "F32" => Self::F32,
            "F64" => Self::F64,
            "BOOL" => Self::Bool,
            "I8" => Self::I8,
            "U8" => Self::U8,
            "I16" => Self::I16,
            "U16" => Self::U16,
            "I32" => Self::I32,
            "U32" => Self::U32,
            "I64" => Self::I64,
            "U64" => Self::U64,
            _ => return None,
        })
    }

    /// Returns the bytes of an element.
    pub(in crate::io) fn width(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::Text(characters) => characters.saturating_mul(4),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Returns whether f32 does not hold every number of this type.
    pub(in crate::io) fn is_wide(self) -> bool {
        matches!(self, Self::F64 | Self::I32 | Self::U32 | Self::I64 | Self::U64)
    }

    /// Returns whether the elements are floats.
    pub(in crate::io) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    pub(in crate::io) fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::Bytes(_))
    }

    /// Returns the word that a table would have for a number of this type: of a float of at most 32 bits, the shortest
    /// that is the same number in f32. Zero has no sign.
    #[expect(clippy::cast_possible_truncation, reason = "f32 holds every number of these types")]
    pub(in crate::io) fn word(self, number: f64) -> String {
        match self {
            Self::F16 | Self::Bf16 | Self::F32 => (number as f32 + 0.0).to_string(),
            _ => (number + 0.0).to_string(),
        }
    }

    /// Writes the numbers of `bytes`. Text has none. There is a loop for each type, so that it becomes SIMD
    /// instructions.
    ///
    /// # Errors
    /// The place and the value of an integer that f64 does not hold exactly.
    #[expect(clippy::cast_precision_loss, reason = "checked")]
    pub(in crate::io) fn decode<T: Real>(self, bytes: &[u8], big: bool, out: &mut [T]) -> Result<(), (usize, i128)> {
        const EXACT: u64 = 1 << 53;
        match self {
            Self::F16 => halves(bytes, big, out),
            Self::Bf16 => each(bytes, big, out, |own| {
                T::from_f64(f32::from_bits(u32::from(u16::from_le_bytes(own)) << 16).into())
            }),
            Self::F32 => each(bytes, big, out, |own| T::from_f64(f32::from_le_bytes(own).into())),
            Self::F64 => each(bytes, big, out, |own| T::from_f64(f64::from_le_bytes(own))),
            Self::Bool => each(bytes, big, out, |[own]| T::from_f64(f64::from(u8::from(own != 0)))),
            Self::I8 => each(bytes, big, out, |own| T::from_f64(i8::from_le_bytes(own).into())),
            Self::U8 => each(bytes, big, out, |[own]| T::from_f64(own.into())),
            Self::I16 => each(bytes, big, out, |own| T::from_f64(i16::from_le_bytes(own).into())),
            Self::U16 => each(bytes, big, out, |own| T::from_f64(u16::from_le_bytes(own).into())),
            Self::I32 => each(bytes, big, out, |own| T::from_f64(i32::from_le_bytes(own).into())),
            Self::U32 => each(bytes, big, out, |own| T::from_f64(u32::from_le_bytes(own).into())),
            Self::I64 => {
                check(bytes, big, i64::from_le_bytes, |x| x.unsigned_abs() <= EXACT)?;
                each(bytes, big, out, |own| T::from_f64(i64::from_le_bytes(own) as f64));
            }
            Self::U64 => {
                check(bytes, big, u64::from_le_bytes, |x| x <= EXACT)?;
                each(bytes, big, out, |own| T::from_f64(u64::from_le_bytes(own) as f64));
            }
            Self::Text(_) | Self::Bytes(_) => {}
        }
        Ok(())
    }
}

fn each<T, const N: usize>(bytes: &[u8], big: bool, out: &mut [T], number: impl Fn([u8; N]) -> T) {
    let elements = out.iter_mut().zip(bytes.as_chunks::<N>().0);
    if big {
        elements.for_each(|(out, &own)| *out = number(reversed(own)));
    } else {
        elements.for_each(|(out, &own)| *out = number(own));
    }
}

pub(super) fn reversed<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    bytes.reverse();
    bytes
}

/// Converts half-precision numbers in runs, because only the conversion of slices uses the machine's instructions.
fn halves<T: Real>(bytes: &[u8], big: bool, out: &mut [T]) {
    const RUN: usize = 2048;
    let (mut from, mut to) = ([f16::ZERO; RUN], [0.0_f32; RUN]);
    for (out, bytes) in out.chunks_mut(RUN).zip(bytes.as_chunks::<2>().0.chunks(RUN)) {
        let (from, to) = (&mut from[..bytes.len()], &mut to[..bytes.len()]);
        for (from, &own) in from.iter_mut().zip(bytes) {
            *from = f16::from_le_bytes(if big { reversed(own) } else { own });
        }
        from.convert_to_f32_slice(to);
        out.copy_from_slice(&T::widened(to));
    }
}

fn check<I: Copy + Into<i128>, const N: usize>(
    bytes: &[u8],
    big: bool,
    read: impl Fn([u8; N]) -> I,
    exact: impl Fn(I) -> bool,
) -> Result<(), (usize, i128)> {
    let elements = bytes.as_chunks::<N>().0;
    let integer = |&own: &[u8; N]| read(if big { reversed(own) } else { own });
    // Without an early end, the loop becomes SIMD instructions.
    if elements.iter().fold(true, |all, own| all & exact(integer(own))) {
        return Ok(());
    }
    let found = elements.iter().map(integer).enumerate().find(|&(_, x)| !exact(x));
    found.map_or(Ok(()), |(place, x)| Err((place, x.into())))
}
