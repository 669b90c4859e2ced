//! The kernels of conversions.

use crate::device::{kernels, mirrors, uniform};

/// The number of invocations in a workgroup.
pub(super) const WIDTH: u32 = 64;

uniform! {
    /// The index of the first invocation of this dispatch, and the number of elements in the whole array.
    pub(super) struct Params { first: u32, len: u32 }
}

uniform! {
    /// The number of words of all lines (`count`), the number of lines side by side in a block (`inner`), and the
    /// number of words of an element (`words`) and of a block (`block`).
    pub(super) struct Lowering { count: u32, inner: u32, words: u32, block: u32 }
}

uniform! {
    /// The number of words that are replaced.
    pub(super) struct Count { count: u32 }
}

fn one_variant() -> Vec<Vec<(&'static str, f64)>> {
    vec![vec![]]
}

kernels! {
    /// The conversion from f32 to f16.
    Narrow = ["shared/half.wgsl", "convert/narrow.wgsl"] variants one_variant {
        uniform params: Params,
        read x: f32,
        write y: u32,
    }
    /// The conversion from f16 to f32.
    Widen = ["shared/half.wgsl", "convert/widen.wgsl"] variants one_variant {
        uniform params: Params,
        read x: u32,
        write y: f32,
    }
    /// The multiplication of every line by a power of two.
    Lower = ["shared/real.wgsl", "convert/lower.wgsl"] variants one_variant {
        uniform params: Lowering,
        read exponents: u32,
        write numbers: u32,
    }
    /// The replacement of words by others.
    Replace = ["convert/replace.wgsl"] variants one_variant {
        uniform params: Count,
        read places: u32,
        read words: u32,
        write whole: u32,
    }
}

mirrors! {
    WIDTH = WIDTH,
}
