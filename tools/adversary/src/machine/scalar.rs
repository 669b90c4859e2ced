//! Operations on one lane's words that are neither float nor memory.

use super::finding::Kind;
use super::operator::{Binary, Ternary, Unary, Unpack};
use half::f16;

/// Returns the result of an operation of one operand.
pub(crate) fn unary(op: Unary, a: u32) -> u32 {
    let signed = a.cast_signed();
    match op {
        Unary::BoolNot => u32::from(a == 0),
        Unary::BitNot => !a,
        Unary::INeg => signed.wrapping_neg().cast_unsigned(),
        Unary::FNeg => a ^ 0x8000_0000,
        Unary::ToBool => u32::from(a != 0),
        Unary::FToBool => u32::from(f32::from_bits(a) != 0.0),
        // Rust's conversions saturate, as WGSL's do.
        Unary::FToI => (f32::from_bits(a) as i32).cast_unsigned(),
        Unary::FToU => f32::from_bits(a) as u32,
        Unary::IToF => (signed as f32).to_bits(),
        Unary::UToF => (a as f32).to_bits(),
        Unary::IAbs => signed.wrapping_abs().cast_unsigned(),
        Unary::ISign => signed.signum().cast_unsigned(),
        Unary::CountOnes => a.count_ones(),
        Unary::CountLeadingZeros => a.leading_zeros(),
        Unary::CountTrailingZeros => a.trailing_zeros(),
        Unary::ReverseBits => a.reverse_bits(),
        Unary::FirstLeadingU => a.checked_ilog2().unwrap_or(u32::MAX),
        Unary::FirstLeadingI => (if signed < 0 { !a } else { a }).checked_ilog2().unwrap_or(u32::MAX),
        Unary::FirstTrailing if a == 0 => u32::MAX,
        Unary::FirstTrailing => a.trailing_zeros(),
        Unary::Pack(part) => unpack(part, a),
        Unary::Float(_) => 0,
    }
}

/// Returns what is wrong with the operand, if anything.
pub(crate) fn check_unary(op: Unary, a: u32) -> Option<Kind> {
    let value = f32::from_bits(a);
    let wrong = match op {
        Unary::FToI => !(-2_147_483_904.0 < value && value < 2_147_483_648.0),
        Unary::FToU => !(-1.0 < value && value < 4_294_967_296.0),
        _ => false,
    };
    wrong.then_some(Kind::Conversion)
}

/// Returns the result of an operation of two operands. What WGSL leaves open is as it has it for run time.
pub(crate) fn binary(op: Binary, a: u32, b: u32) -> u32 {
    let (x, y) = (a.cast_signed(), b.cast_signed());
    match op {
        Binary::IAdd { .. } => a.wrapping_add(b),
        Binary::ISub { .. } => a.wrapping_sub(b),
        Binary::IMul { .. } => a.wrapping_mul(b),
        Binary::IDiv => x.checked_div(y).unwrap_or(x).cast_unsigned(),
        Binary::UDiv => a.checked_div(b).unwrap_or(a),
        Binary::IRem => x.checked_rem(y).unwrap_or(0).cast_unsigned(),
        Binary::URem => a.checked_rem(b).unwrap_or(0),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => a.wrapping_shl(b),
        Binary::ShiftRightI => x.wrapping_shr(b).cast_unsigned(),
        Binary::ShiftRightU => a.wrapping_shr(b),
        Binary::Equal => (a == b).into(),
        Binary::NotEqual => (a != b).into(),
        Binary::ILess => (x < y).into(),
        Binary::ULess => (a < b).into(),
        Binary::ILessEqual => (x <= y).into(),
        Binary::ULessEqual => (a <= b).into(),
        Binary::IMin => x.min(y).cast_unsigned(),
        Binary::IMax => x.max(y).cast_unsigned(),
        Binary::UMin => a.min(b),
        Binary::UMax => a.max(b),
        Binary::Pack(part) => b | pack(part, a),
        Binary::PackClamp(part @ Unpack::I8(_)) => b | pack(part, x.clamp(-128, 127).cast_unsigned()),
        Binary::PackClamp(part) => b | pack(part, a.min(255)),
        Binary::Dot4I8 => dot(a, b, |byte| i32::from(byte.cast_signed())),
        Binary::Dot4U8 => dot(a, b, i32::from),
        _ => 0,
    }
}

/// Returns what is wrong with the operands, if anything. `overflow` says whether overflow counts.
pub(crate) fn check_binary(op: Binary, a: u32, b: u32, overflow: bool) -> Option<Kind> {
    let (x, y) = (a.cast_signed(), b.cast_signed());
    match op {
        Binary::IDiv | Binary::IRem if y == 0 => Some(Kind::DivisionByZero),
        Binary::UDiv | Binary::URem if b == 0 => Some(Kind::DivisionByZero),
        Binary::IDiv | Binary::IRem if x.checked_div(y).is_none() => Some(Kind::DivisionOverflow),
        Binary::ShiftLeft | Binary::ShiftRightI | Binary::ShiftRightU if b >= 32 => Some(Kind::Shift),
        _ if !overflow => None,
        Binary::IAdd { signed: true } if x.checked_add(y).is_none() => Some(Kind::Overflow),
        Binary::ISub { signed: true } if x.checked_sub(y).is_none() => Some(Kind::Overflow),
        Binary::IMul { signed: true } if x.checked_mul(y).is_none() => Some(Kind::Overflow),
        _ => None,
    }
}

/// Whether [`check_binary`] can find anything.
pub(crate) fn is_checked(op: Binary, overflow: bool) -> bool {
    match op {
        Binary::IDiv | Binary::UDiv | Binary::IRem | Binary::URem => true,
        Binary::ShiftLeft | Binary::ShiftRightI | Binary::ShiftRightU => true,
        Binary::IAdd { signed } | Binary::ISub { signed } | Binary::IMul { signed } => signed && overflow,
        _ => false,
    }
}

/// Returns the result of an operation of three operands.
pub(crate) fn ternary(op: Ternary, [a, b, c]: [u32; 3]) -> u32 {
    match op {
        Ternary::Select => {
            if a != 0 {
                b
            } else {
                c
            }
        }
        Ternary::IClamp => a.cast_signed().max(b.cast_signed()).min(c.cast_signed()).cast_unsigned(),
        Ternary::UClamp => a.max(b).min(c),
        Ternary::ExtractU => match range(b, c) {
            (_, 0) => 0,
            (offset, count) => a << (32 - offset - count) >> (32 - count),
        },
        Ternary::ExtractI => match range(b, c) {
            (_, 0) => 0,
            (offset, count) => ((a << (32 - offset - count)).cast_signed() >> (32 - count)).cast_unsigned(),
        },
        _ => 0,
    }
}

/// Returns the offset and the number of bits, clamped to the word.
fn range(offset: u32, count: u32) -> (u32, u32) {
    let offset = offset.min(32);
    (offset, count.min(32 - offset))
}

/// Whether bits are named past the end of the word.
pub(crate) fn is_past_end(offset: u32, count: u32) -> bool {
    u64::from(offset) + u64::from(count) > 32
}

pub(crate) fn insert_bits(base: u32, bits: u32, offset: u32, count: u32) -> u32 {
    let (offset, count) = range(offset, count);
    if count == 0 {
        return base;
    }
    let mask = u32::MAX >> (32 - count) << offset;
    base & !mask | bits << offset & mask
}

fn unpack(part: Unpack, word: u32) -> u32 {
    let byte = |i: u8| word.to_le_bytes()[usize::from(i)];
    let half = |i: u8| (word >> (16 * u32::from(i))) as u16;
    let float = match part {
        Unpack::I8(i) => return i32::from(byte(i).cast_signed()).cast_unsigned(),
        Unpack::U8(i) => return byte(i).into(),
        Unpack::Snorm8(i) => (f32::from(byte(i).cast_signed()) / 127.0).max(-1.0),
        Unpack::Unorm8(i) => f32::from(byte(i)) / 255.0,
        Unpack::Snorm16(i) => (f32::from(half(i).cast_signed()) / 32767.0).max(-1.0),
        Unpack::Unorm16(i) => f32::from(half(i)) / 65535.0,
        Unpack::Float16(i) => f16::from_bits(half(i)).to_f32(),
    };
    float.to_bits()
}

/// Returns a value at its place in a word that is zero otherwise.
fn pack(part: Unpack, value: u32) -> u32 {
    let float = f32::from_bits(value);
    let scaled = |low: f32, scale: f32| (float.clamp(low, 1.0) * scale + 0.5).floor() as i32;
    match part {
        Unpack::I8(i) | Unpack::U8(i) => (value & 0xff) << (8 * i),
        Unpack::Snorm8(i) => (scaled(-1.0, 127.0).cast_unsigned() & 0xff) << (8 * i),
        Unpack::Unorm8(i) => (scaled(0.0, 255.0).cast_unsigned() & 0xff) << (8 * i),
        Unpack::Snorm16(i) => (scaled(-1.0, 32767.0).cast_unsigned() & 0xffff) << (16 * i),
        Unpack::Unorm16(i) => (scaled(0.0, 65535.0).cast_unsigned() & 0xffff) << (16 * i),
        Unpack::Float16(i) => u32::from(f16::from_f32(float).to_bits()) << (16 * i),
    }
}

fn dot(a: u32, b: u32, value: impl Fn(u8) -> i32) -> u32 {
    let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(a, b)| value(a) * value(b));
    products.sum::<i32>().cast_unsigned()
}
