//! Floating point with the errors that WGSL allows (<https://www.w3.org/TR/WGSL/#floating-point-accuracy>).
//!
//! An error is drawn from the seed, the operation's place and the operands, so that invocations that compute the same
//! at the same place get the same.

use super::operator::{Binary, Float1, Ternary};
use super::random::{Random, combine};
use crate::profile::{Accuracy, Denormals, Profile};
use half::f16;
use std::f64::consts::PI;

/// What is drawn for each place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices(u8);

impl Choices {
    const FLUSH: u8 = 1;
    const FUSE: u8 = 2;
    const KEEP_NAN: u8 = 4;

    /// Whether subnormals become zero.
    pub(crate) fn flushes(self) -> bool {
        self.0 & Self::FLUSH != 0
    }

    /// Whether a product and a sum are rounded once.
    pub(crate) fn fuses(self) -> bool {
        self.0 & Self::FUSE != 0
    }

    /// Whether `min` and `max` return the first operand if one is NaN, rather than the other one.
    fn keeps_nan(self) -> bool {
        self.0 & Self::KEEP_NAN != 0
    }
}

/// The floating point of a dispatch.
#[derive(Debug)]
pub(crate) struct Numerics {
    /// Four bits for each operation.
    draws: Vec<u64>,
    /// The choices that are drawn.
    open: u8,
    /// The choices that are made for every operation.
    set: u8,
    seed: u64,
    accuracy: Accuracy,
}

/// Returns a float with subnormals made zero.
pub(crate) fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// Returns the distance of f32 around a value.
fn ulp(value: f32) -> f64 {
    let exponent = (value.to_bits() >> 23 & 0xff).max(1) as i32;
    f64::powi(2.0, exponent - 150)
}

impl Numerics {
    pub(crate) fn new(profile: &Profile, seed: u64, operations: usize) -> Self {
        let mut random = Random::new(seed, 0xf10a7);
        let (mut open, mut set) = (Choices::FLUSH | Choices::FUSE | Choices::KEEP_NAN, 0);
        match profile.denormals {
            Denormals::Keep => open &= !Choices::FLUSH,
            Denormals::Flush => set = Choices::FLUSH,
            Denormals::Seeded => {}
        }
        if !profile.contract {
            open &= !Choices::FUSE;
        }
        if profile.accuracy == Accuracy::Exact {
            open &= !Choices::KEEP_NAN;
        }
        let draws = (0..operations.div_ceil(16)).map(|_| random.draw()).collect();
        Self { draws, open, set, seed, accuracy: profile.accuracy }
    }

    pub(crate) fn choices(&self, pc: u32) -> Choices {
        let draw = self.draws[pc as usize / 16] >> (pc % 16 * 4);
        Choices(draw as u8 & self.open | self.set)
    }

    /// Returns a number between -1 and 1, which depends on the place and the operands.
    fn draw(&self, pc: u32, a: u32, b: u32) -> f64 {
        let hash = combine(self.seed ^ u64::from(pc), u64::from(a) << 32 | u64::from(b));
        (hash as i64) as f64 / -(i64::MIN as f64)
    }

    /// Rounds an exact result, off by at most a number of ULP.
    fn near(&self, exact: f64, ulps: f64, draw: f64) -> f32 {
        let rounded = exact as f32;
        if self.accuracy == Accuracy::Exact || !rounded.is_finite() || rounded == 0.0 {
            return rounded;
        }
        // Rounding takes half an ULP of the allowance.
        (exact + draw * (ulps - 0.5).max(0.0) * ulp(rounded)) as f32
    }

    /// Rounds an exact result, off by at most an absolute error.
    fn within(&self, exact: f64, error: f64, draw: f64) -> f32 {
        let rounded = exact as f32;
        if self.accuracy == Accuracy::Exact || !rounded.is_finite() {
            return rounded;
        }
        (exact + draw * (error - ulp(rounded) / 2.0).max(0.0)) as f32
    }

    /// Returns the specification's allowance, or what drivers need of it.
    fn allow(&self, specification: f64, typical: f64) -> f64 {
        if self.accuracy == Accuracy::Specification { specification } else { typical }
    }

    fn divide(&self, a: f32, b: f32, draw: f64) -> f32 {
        let exact = f64::from(a) / f64::from(b);
        let power_of_two = b.to_bits() & 0x7f_ffff == 0;
        if power_of_two && self.accuracy != Accuracy::Specification {
            return a / b;
        }
        self.near(exact, 2.5, draw)
    }

    fn logarithm(&self, x: f32, exact: f64, draw: f64) -> f32 {
        if (0.5..=2.0).contains(&x) {
            self.within(exact, f64::powi(2.0, -21), draw)
        } else {
            self.near(exact, 3.0, draw)
        }
    }

    pub(crate) fn unary(&self, pc: u32, function: Float1, bits: u32) -> u32 {
        let flushes = self.choices(pc).flushes();
        let bits = if flushes { flush(bits) } else { bits };
        let result = self.unary_kept(pc, function, bits);
        let is_float = !matches!(function, Float1::IsNan | Float1::IsInf | Float1::FrexpExp);
        if flushes && is_float { flush(result) } else { result }
    }

    fn unary_kept(&self, pc: u32, function: Float1, bits: u32) -> u32 {
        let x = f32::from_bits(bits);
        let wide = f64::from(x);
        let draw = || self.draw(pc, bits, 0);
        let sine = self.allow(f64::powi(2.0, -11), f64::powi(2.0, -20));
        let result = match function {
            Float1::IsNan => return x.is_nan().into(),
            Float1::IsInf => return x.is_infinite().into(),
            Float1::FrexpExp => return frexp(x).1.cast_unsigned(),
            Float1::FrexpFract => frexp(x).0,
            Float1::Abs => x.abs(),
            Float1::Sign if x > 0.0 => 1.0,
            Float1::Sign if x < 0.0 => -1.0,
            Float1::Sign => 0.0,
            Float1::Floor => x.floor(),
            Float1::Ceil => x.ceil(),
            Float1::Round => x.round_ties_even(),
            Float1::Trunc | Float1::ModfWhole => x.trunc(),
            Float1::ModfFract => x - x.trunc(),
            Float1::Fract => x - x.floor(),
            Float1::Saturate => x.clamp(0.0, 1.0),
            Float1::Sqrt => self.near(wide.sqrt(), self.allow(4.5, 2.5), draw()),
            Float1::InverseSqrt => self.near(1.0 / wide.sqrt(), 2.0, draw()),
            Float1::Exp => self.near(wide.exp(), 3.0 + 2.0 * wide.abs(), draw()),
            Float1::Exp2 => self.near(wide.exp2(), 3.0 + 2.0 * wide.abs(), draw()),
            Float1::Log => self.logarithm(x, wide.ln(), draw()),
            Float1::Log2 => self.logarithm(x, wide.log2(), draw()),
            Float1::Sin => self.within(wide.sin(), sine, draw()),
            Float1::Cos => self.within(wide.cos(), sine, draw()),
            Float1::Tan => {
                let (sin, cos) = (self.within(wide.sin(), sine, draw()), self.within(wide.cos(), sine, -draw()));
                if self.accuracy == Accuracy::Exact { wide.tan() as f32 } else { self.divide(sin, cos, draw()) }
            }
            Float1::Asin => self.within(wide.asin(), self.allow(6.81e-5, 1e-6), draw()),
            Float1::Acos => self.within(wide.acos(), self.allow(6.81e-5, 1e-6), draw()),
            Float1::Atan => self.near(wide.atan(), self.allow(4096.0, 8.0), draw()),
            Float1::Sinh => self.near(wide.sinh(), exponentials(wide), draw()),
            Float1::Cosh => self.near(wide.cosh(), exponentials(wide), draw()),
            Float1::Tanh => self.within(wide.tanh(), self.allow(1e-5, 1e-6), draw()),
            Float1::Asinh => self.near(wide.asinh(), self.allow(4096.0, 16.0), draw()),
            Float1::Acosh => self.near(wide.acosh(), self.allow(4096.0, 16.0), draw()),
            Float1::Atanh => self.near(wide.atanh(), self.allow(4096.0, 16.0), draw()),
            Float1::Radians => (PI / 180.0) as f32 * x,
            Float1::Degrees => (180.0 / PI) as f32 * x,
            Float1::QuantizeToF16 => f16::from_f32(x).to_f32(),
        };
        result.to_bits()
    }

    pub(crate) fn binary(&self, pc: u32, op: Binary, a: u32, b: u32) -> u32 {
        let choices = self.choices(pc);
        let change = |bits| if choices.flushes() { flush(bits) } else { bits };
        let (a, b) = (change(a), if op == Binary::Ldexp { b } else { change(b) });
        let (x, y) = (f32::from_bits(a), f32::from_bits(b));
        let draw = || self.draw(pc, a, b);
        let result = match op {
            Binary::FDiv => self.divide(x, y, draw()),
            Binary::FRem if self.accuracy == Accuracy::Exact => x % y,
            Binary::FRem => x - y * self.divide(x, y, draw()).trunc(),
            Binary::FMin | Binary::FMax if x.is_nan() || y.is_nan() => match (choices.keeps_nan(), x.is_nan()) {
                (true, _) | (false, false) => x,
                (false, true) => y,
            },
            Binary::FMin => x.min(y),
            Binary::FMax => x.max(y),
            Binary::Step => f32::from(x <= y),
            Binary::Ldexp => ldexp(x, b.cast_signed()),
            Binary::Atan2 => self.near(f64::from(x).atan2(y.into()), self.allow(4096.0, 8.0), draw()),
            Binary::Pow if x > 0.0 && self.accuracy != Accuracy::Exact => {
                let logarithm = self.logarithm(x, f64::from(x).log2(), draw());
                let exponent = f64::from(logarithm * y);
                self.near(exponent.exp2(), 3.0 + 2.0 * exponent.abs(), -draw())
            }
            Binary::Pow => f64::from(x).powf(y.into()) as f32,
            _ => return 0,
        };
        change(result.to_bits())
    }

    pub(crate) fn ternary(&self, pc: u32, op: Ternary, operands: [u32; 3]) -> u32 {
        let choices = self.choices(pc);
        let change = |bits| if choices.flushes() { flush(bits) } else { bits };
        let [a, b, c] = operands.map(|bits| f32::from_bits(change(bits)));
        let result = match op {
            Ternary::Mix => multiply_add(choices, b, c, a * (1.0 - c)),
            Ternary::SmoothStep => {
                let t = self.divide(c - a, b - a, self.draw(pc, operands[2], operands[0])).clamp(0.0, 1.0);
                t * t * (3.0 - 2.0 * t)
            }
            Ternary::FClamp => a.max(b).min(c),
            _ => return 0,
        };
        change(result.to_bits())
    }
}

/// Returns `a * b + c`, rounded once or twice.
pub(crate) fn multiply_add(choices: Choices, a: f32, b: f32, c: f32) -> f32 {
    if choices.fuses() { a.mul_add(b, c) } else { a * b + c }
}

/// Returns the error in ULP of sums of exponentials.
fn exponentials(x: f64) -> f64 {
    4.0 + 2.0 * x.abs()
}

fn frexp(x: f32) -> (f32, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // Subnormals are made normal first.
    let (x, bias) = if x.abs() < f32::MIN_POSITIVE { (x * 8_388_608.0, 149) } else { (x, 126) };
    let exponent = (x.to_bits() >> 23 & 0xff) as i32 - bias;
    (f32::from_bits(x.to_bits() & 0x807f_ffff | 126 << 23), exponent)
}

fn ldexp(x: f32, exponent: i32) -> f32 {
    // Twice the range of f32, so that subnormals reach the largest values.
    (f64::from(x) * f64::powi(2.0, exponent.clamp(-400, 400))) as f32
}
