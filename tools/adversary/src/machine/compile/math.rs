//! Functions of mathematics, as operations of scalars.

use super::super::op::{Op, Reg};
use super::super::operator::{Binary, Float1, Ternary, Unary, Unpack};
use super::types::unsupported;
use super::{Compiler, Result};
use naga::{Expression, Handle, MathFunction as M, ScalarKind, TypeInner};

impl Compiler<'_> {
    pub(super) fn math(&mut self, function: M, arguments: &[Handle<Expression>]) -> Result<Vec<Reg>> {
        let kind = self.kind(arguments[0]);
        let mut operands = Vec::new();
        for &argument in arguments {
            operands.push(self.words_of(argument)?);
        }
        if let Some(op) = unary(function, kind) {
            return Ok(operands[0].iter().map(|&a| self.unary(op, a)).collect());
        }
        if let Some(op) = binary(function, kind) {
            return Ok(self.zip(&operands, |this, [a, b, ..]| this.binary(op, a, b)));
        }
        if let Some(op) = ternary(function, kind) {
            return Ok(self.zip(&operands, |this, [a, b, c, _]| this.ternary(op, a, b, c)));
        }
        if let Some(parts) = unpack(function) {
            return Ok(parts.iter().map(|&part| self.unary(Unary::Pack(part), operands[0][0])).collect());
        }
        if let Some((parts, clamp)) = pack(function) {
            let mut word = self.constant(0);
            for (&part, &value) in parts.iter().zip(&operands[0]) {
                word = self.binary(if clamp { Binary::PackClamp(part) } else { Binary::Pack(part) }, value, word);
            }
            return Ok(vec![word]);
        }
        let (a, b) = (&operands[0], operands.get(1));
        let b = b.unwrap_or(a);
        Ok(match function {
            M::InsertBits => self.zip(&operands, |this, [base, bits, offset, count]| {
                let dst = this.register();
                this.op(Op::InsertBits { dst, base, bits, offset, count });
                dst
            }),
            M::Modf => self.pair(a, Float1::ModfFract, Float1::ModfWhole),
            M::Frexp => self.pair(a, Float1::FrexpFract, Float1::FrexpExp),
            M::Dot if kind == ScalarKind::Float => vec![self.dot(a, b)],
            M::Dot => {
                let mut sum = self.binary(Binary::IMul { signed: false }, a[0], b[0]);
                for (&a, &b) in a.iter().zip(b).skip(1) {
                    let product = self.binary(Binary::IMul { signed: false }, a, b);
                    sum = self.binary(Binary::IAdd { signed: false }, sum, product);
                }
                vec![sum]
            }
            M::Cross => [(1, 2), (2, 0), (0, 1)]
                .map(|(i, j)| {
                    let second = self.binary(Binary::FMul, a[j], b[i]);
                    self.ternary(Ternary::MulSub, a[i], b[j], second)
                })
                .to_vec(),
            M::Length => vec![self.length(a)],
            M::Distance => {
                let difference = self.zip(&operands, |this, [a, b, ..]| this.binary(Binary::FSub, a, b));
                vec![self.length(&difference)]
            }
            M::Normalize => {
                let length = self.length(a);
                a.iter().map(|&x| self.binary(Binary::FDiv, x, length)).collect()
            }
            M::Reflect => {
                let dot = self.dot(a, b);
                let twice = self.binary(Binary::FAdd, dot, dot);
                self.zip(&operands, |this, [x, n, ..]| this.ternary(Ternary::NegMulAdd, twice, n, x))
            }
            M::FaceForward => {
                let dot = self.dot(b, &operands[2]);
                let zero = self.constant(0);
                let toward = self.binary(Binary::FLess, dot, zero);
                let turn = |this: &mut Self, &x: &Reg| {
                    let negative = this.unary(Unary::FNeg, x);
                    this.ternary(Ternary::Select, toward, x, negative)
                };
                a.iter().map(|x| turn(self, x)).collect()
            }
            M::Transpose => {
                let &TypeInner::Matrix { columns, rows, .. } = self.inner(arguments[0]) else {
                    return unsupported("transpose of what is no matrix");
                };
                let (columns, rows) = (columns as usize, rows as usize);
                (0..rows).flat_map(|row| (0..columns).map(move |column| a[column * rows + row])).collect()
            }
            M::Outer => b
                .iter()
                .flat_map(|&y| a.iter().map(move |&x| (x, y)))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|(x, y)| self.binary(Binary::FMul, x, y))
                .collect(),
            M::Determinant => {
                let order = (1..=4).find(|n| n * n == a.len()).unwrap_or(0);
                let columns: Vec<usize> = (0..order).collect();
                vec![self.determinant(a, order, 0, &columns)]
            }
            other => return unsupported(format!("{other:?}")),
        })
    }

    /// Applies an operation to each component. Scalars take part in all.
    fn zip(&mut self, operands: &[Vec<Reg>], op: impl Fn(&mut Self, [Reg; 4]) -> Reg) -> Vec<Reg> {
        let count = operands.iter().map(Vec::len).max().unwrap_or(0);
        let component = |i: usize, k: usize| operands.get(k).map_or(super::NONE, |words| words[i.min(words.len() - 1)]);
        (0..count).map(|i| op(self, std::array::from_fn(|k| component(i, k)))).collect()
    }

    fn pair(&mut self, operand: &[Reg], first: Float1, second: Float1) -> Vec<Reg> {
        let ops = operand.iter().map(|&a| (first, a)).chain(operand.iter().map(|&a| (second, a)));
        ops.map(|(op, a)| self.unary(Unary::Float(op), a)).collect()
    }

    fn length(&mut self, vector: &[Reg]) -> Reg {
        if let [x] = *vector {
            return self.unary(Unary::Float(Float1::Abs), x);
        }
        let square = self.dot(vector, vector);
        self.unary(Unary::Float(Float1::Sqrt), square)
    }

    /// Expands a determinant by its first row.
    fn determinant(&mut self, matrix: &[Reg], order: usize, row: usize, columns: &[usize]) -> Reg {
        let at = |column: usize| matrix[column * order + row];
        if let [column] = *columns {
            return at(column);
        }
        let mut sum = self.constant(0);
        for (i, &column) in columns.iter().enumerate() {
            let rest: Vec<usize> = columns.iter().copied().filter(|&other| other != column).collect();
            let minor = self.determinant(matrix, order, row + 1, &rest);
            let op = if i % 2 == 0 { Ternary::MulAdd } else { Ternary::NegMulAdd };
            sum = self.ternary(op, at(column), minor, sum);
        }
        sum
    }
}

fn unary(function: M, kind: ScalarKind) -> Option<Unary> {
    let signed = kind == ScalarKind::Sint;
    Some(match function {
        M::Abs if signed => Unary::IAbs,
        M::Sign if signed => Unary::ISign,
        M::CountOneBits => Unary::CountOnes,
        M::CountLeadingZeros => Unary::CountLeadingZeros,
        M::CountTrailingZeros => Unary::CountTrailingZeros,
        M::ReverseBits => Unary::ReverseBits,
        M::FirstLeadingBit if signed => Unary::FirstLeadingI,
        M::FirstLeadingBit => Unary::FirstLeadingU,
        M::FirstTrailingBit => Unary::FirstTrailing,
        _ if kind == ScalarKind::Float => Unary::Float(match function {
            M::Abs => Float1::Abs,
            M::Sign => Float1::Sign,
            M::Floor => Float1::Floor,
            M::Ceil => Float1::Ceil,
            M::Round => Float1::Round,
            M::Trunc => Float1::Trunc,
            M::Fract => Float1::Fract,
            M::Saturate => Float1::Saturate,
            M::Sqrt => Float1::Sqrt,
            M::InverseSqrt => Float1::InverseSqrt,
            M::Exp => Float1::Exp,
            M::Exp2 => Float1::Exp2,
            M::Log => Float1::Log,
            M::Log2 => Float1::Log2,
            M::Sin => Float1::Sin,
            M::Cos => Float1::Cos,
            M::Tan => Float1::Tan,
            M::Asin => Float1::Asin,
            M::Acos => Float1::Acos,
            M::Atan => Float1::Atan,
            M::Sinh => Float1::Sinh,
            M::Cosh => Float1::Cosh,
            M::Tanh => Float1::Tanh,
            M::Asinh => Float1::Asinh,
            M::Acosh => Float1::Acosh,
            M::Atanh => Float1::Atanh,
            M::Radians => Float1::Radians,
            M::Degrees => Float1::Degrees,
            M::QuantizeToF16 => Float1::QuantizeToF16,
            _ => return None,
        }),
        _ => return None,
    })
}

fn binary(function: M, kind: ScalarKind) -> Option<Binary> {
    Some(match (function, kind) {
        (M::Min, ScalarKind::Float) => Binary::FMin,
        (M::Min, ScalarKind::Sint) => Binary::IMin,
        (M::Min, _) => Binary::UMin,
        (M::Max, ScalarKind::Float) => Binary::FMax,
        (M::Max, ScalarKind::Sint) => Binary::IMax,
        (M::Max, _) => Binary::UMax,
        (M::Pow, _) => Binary::Pow,
        (M::Atan2, _) => Binary::Atan2,
        (M::Step, _) => Binary::Step,
        (M::Ldexp, _) => Binary::Ldexp,
        (M::Dot4I8Packed, _) => Binary::Dot4I8,
        (M::Dot4U8Packed, _) => Binary::Dot4U8,
        _ => return None,
    })
}

fn ternary(function: M, kind: ScalarKind) -> Option<Ternary> {
    Some(match (function, kind) {
        (M::Clamp, ScalarKind::Float) => Ternary::FClamp,
        (M::Clamp, ScalarKind::Sint) => Ternary::IClamp,
        (M::Clamp, _) => Ternary::UClamp,
        (M::Fma, _) => Ternary::Fma,
        (M::Mix, _) => Ternary::Mix,
        (M::SmoothStep, _) => Ternary::SmoothStep,
        (M::ExtractBits, ScalarKind::Sint) => Ternary::ExtractI,
        (M::ExtractBits, _) => Ternary::ExtractU,
        _ => return None,
    })
}

const SNORM8: [Unpack; 4] = [Unpack::Snorm8(0), Unpack::Snorm8(1), Unpack::Snorm8(2), Unpack::Snorm8(3)];
const UNORM8: [Unpack; 4] = [Unpack::Unorm8(0), Unpack::Unorm8(1), Unpack::Unorm8(2), Unpack::Unorm8(3)];
const I8: [Unpack; 4] = [Unpack::I8(0), Unpack::I8(1), Unpack::I8(2), Unpack::I8(3)];
const U8: [Unpack; 4] = [Unpack::U8(0), Unpack::U8(1), Unpack::U8(2), Unpack::U8(3)];
const SNORM16: [Unpack; 2] = [Unpack::Snorm16(0), Unpack::Snorm16(1)];
const UNORM16: [Unpack; 2] = [Unpack::Unorm16(0), Unpack::Unorm16(1)];
const FLOAT16: [Unpack; 2] = [Unpack::Float16(0), Unpack::Float16(1)];

fn unpack(function: M) -> Option<&'static [Unpack]> {
    Some(match function {
        M::Unpack4x8snorm => &SNORM8,
        M::Unpack4x8unorm => &UNORM8,
        M::Unpack2x16snorm => &SNORM16,
        M::Unpack2x16unorm => &UNORM16,
        M::Unpack2x16float => &FLOAT16,
        M::Unpack4xI8 => &I8,
        M::Unpack4xU8 => &U8,
        _ => return None,
    })
}

/// Returns how each component is packed, and whether it is clamped first.
fn pack(function: M) -> Option<(&'static [Unpack], bool)> {
    Some(match function {
        M::Pack4x8snorm => (&SNORM8, false),
        M::Pack4x8unorm => (&UNORM8, false),
        M::Pack2x16snorm => (&SNORM16, false),
        M::Pack2x16unorm => (&UNORM16, false),
        M::Pack2x16float => (&FLOAT16, false),
        M::Pack4xI8 => (&I8, false),
        M::Pack4xU8 => (&U8, false),
        M::Pack4xI8Clamp => (&I8, true),
        M::Pack4xU8Clamp => (&U8, true),
        _ => return None,
    })
}
