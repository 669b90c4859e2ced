//! What operations of scalars compute.

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unary {
    BoolNot,
    BitNot,
    INeg,
    FNeg,
    ToBool,
    FToBool,
    FToI,
    FToU,
    IToF,
    UToF,
    IAbs,
    ISign,
    CountOnes,
    CountLeadingZeros,
    CountTrailingZeros,
    ReverseBits,
    FirstLeadingI,
    FirstLeadingU,
    FirstTrailing,
    Float(Float1),
    Pack(Unpack),
}

/// The float functions of one operand.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Float1 {
    Abs,
    Sign,
    Floor,
    Ceil,
    Round,
    Trunc,
    Fract,
    Saturate,
    Sqrt,
    InverseSqrt,
    Exp,
    Exp2,
    Log,
    Log2,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Radians,
    Degrees,
    QuantizeToF16,
    ModfFract,
    ModfWhole,
    FrexpFract,
    FrexpExp,
    IsNan,
    IsInf,
}

/// One component of an unpacked word: which, and how it is stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unpack {
    Snorm8(u8),
    Unorm8(u8),
    Snorm16(u8),
    Unorm16(u8),
    Float16(u8),
    I8(u8),
    U8(u8),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Binary {
    IAdd {
        signed: bool,
    },
    ISub {
        signed: bool,
    },
    IMul {
        signed: bool,
    },
    IDiv,
    UDiv,
    IRem,
    URem,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightI,
    ShiftRightU,
    Equal,
    NotEqual,
    ILess,
    ULess,
    ILessEqual,
    ULessEqual,
    IMin,
    IMax,
    UMin,
    UMax,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
    FEqual,
    FNotEqual,
    FLess,
    FLessEqual,
    FMin,
    FMax,
    Pow,
    Atan2,
    Step,
    Ldexp,
    /// Adds the first operand, converted and shifted to its place, to a packed word.
    Pack(Unpack),
    PackClamp(Unpack),
    Dot4I8,
    Dot4U8,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ternary {
    /// The condition, the value if it is true, the value if it is false.
    Select,
    Fma,
    /// a * b + c, as two operations that may be contracted.
    MulAdd,
    /// a * b - c
    MulSub,
    /// c - a * b
    NegMulAdd,
    Mix,
    SmoothStep,
    IClamp,
    UClamp,
    FClamp,
    ExtractI,
    ExtractU,
}
