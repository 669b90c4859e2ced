//! What the machine reports.

use std::fmt;

/// What a finding is about.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Kind {
    /// Two invocations access a word, at least one of them writes, and nothing orders them.
    Race,
    /// As [`Race`](Self::Race), except that both write the same value. It is a race in WGSL all the same.
    SameValueRace,
    /// A read of memory that was never written.
    Uninitialized,
    /// An index or an address past the end.
    OutOfBounds,
    /// A barrier, or a `workgroupUniformLoad`, that not all invocations of the workgroup reach.
    NonUniformBarrier,
    /// A `workgroupUniformLoad` whose pointer differs between invocations.
    NonUniformPointer,
    /// A subgroup operation that not all invocations of the subgroup reach.
    NonUniformSubgroup,
    /// A shuffle or broadcast from an invocation that is inactive or does not exist.
    InactiveLane,
    /// A broadcast whose source differs between invocations.
    NonUniformBroadcast,
    /// An integer divided by zero, also by `%`.
    DivisionByZero,
    /// The smallest `i32` divided by -1, also by `%`.
    DivisionOverflow,
    /// A shift by at least 32 bits.
    Shift,
    /// A conversion of NaN or of a value out of range to an integer.
    Conversion,
    /// Bits that `extractBits` or `insertBits` name past the end of the word.
    BitRange,
    /// Signed overflow, which WGSL defines to wrap.
    Overflow,
    /// Infinity or NaN of finite operands, which WGSL lets compilers assume never to happen.
    NonFinite,
    /// More steps than the budget allows, as of a loop without end.
    Budget,
    /// A limit of the adapter that the dispatch exceeds.
    Limit,
    /// Bindings that overlap while one of them is writable.
    Aliasing,
    /// A binding that the program needs and that is absent or too small.
    Binding,
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// WGSL defines what happens, but the kernel may not have meant it.
    Note,
    /// WGSL leaves open what happens.
    Error,
}

impl Kind {
    /// Returns how grave findings of this kind are.
    pub fn severity(self) -> Severity {
        match self {
            Self::Overflow | Self::NonFinite => Severity::Note,
            _ => Severity::Error,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Race => "data race",
            Self::SameValueRace => "data race of equal values",
            Self::Uninitialized => "read of memory that was never written",
            Self::OutOfBounds => "access out of bounds",
            Self::NonUniformBarrier => "barrier in non-uniform control flow",
            Self::NonUniformPointer => "workgroupUniformLoad of a pointer that is not uniform",
            Self::NonUniformSubgroup => "subgroup operation in non-uniform control flow",
            Self::InactiveLane => "value of an inactive lane",
            Self::NonUniformBroadcast => "broadcast from a lane that is not uniform",
            Self::DivisionByZero => "integer division by zero",
            Self::DivisionOverflow => "overflow of an integer division",
            Self::Shift => "shift by at least 32 bits",
            Self::Conversion => "conversion of a value that no integer has",
            Self::BitRange => "bits past the end of the word",
            Self::Overflow => "signed overflow",
            Self::NonFinite => "infinity or NaN of finite operands",
            Self::Budget => "more steps than the budget allows",
            Self::Limit => "limit exceeded",
            Self::Aliasing => "bindings that overlap",
            Self::Binding => "binding absent or too small",
        }
    }
}

/// A place in the WGSL.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Location {
    /// The function.
    pub function: String,
    /// The range of bytes of the source, unless the module has none.
    pub span: Option<(u32, u32)>,
    /// The line and the column, both from 1 on, where the program has the source.
    pub line_column: Option<(u32, u32)>,
    /// The line's text, or the operation where there is no source.
    pub text: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line_column, self.span) {
            (Some((line, column)), _) => write!(f, "{line}:{column}")?,
            (None, Some((start, end))) => write!(f, "bytes {start}..{end}")?,
            (None, None) => write!(f, "a place without span")?,
        }
        write!(f, " in {} `{}`", self.function, self.text)
    }
}

/// An invocation of a dispatch.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Invocation {
    /// The `workgroup_id`.
    pub workgroup: [u32; 3],
    /// The `local_invocation_index`.
    pub index: u32,
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.workgroup;
        write!(f, "invocation {} of workgroup ({x}, {y}, {z})", self.index)
    }
}

/// Something that a kernel must not do, or may not have meant to do. Equal findings of a dispatch are counted.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// The label of the dispatch, which names the kernel.
    pub kernel: String,
    /// The entry point.
    pub entry: String,
    /// The adapter and the seed under which it was found.
    pub setup: String,
    /// Where it happened.
    pub location: Option<Location>,
    /// The earlier access of a race.
    pub other_location: Option<Location>,
    /// The variable with the member and the index, such as `tile[3].x`.
    pub what: String,
    /// What happened, with the first values seen.
    pub detail: String,
    /// The invocations, at most two: that at `location` and that at `other_location`.
    pub invocations: Vec<Invocation>,
    /// How many times it happened in the dispatch.
    pub count: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kernel, self.kind.words())?;
        if !self.what.is_empty() {
            write!(f, " at `{}`", self.what)?;
        }
        if let Some(location) = &self.location {
            write!(f, ", {location}")?;
        }
        if let Some(other) = self.other_location.as_ref() {
            write!(f, ", against {other}")?;
        }
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        for (i, invocation) in self.invocations.iter().enumerate() {
            write!(f, "{} {invocation}", if i == 0 { ";" } else { " and" })?;
        }
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        write!(f, " [{}, {}]", self.entry, self.setup)
    }
}
