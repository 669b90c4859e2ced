//! The kernel that makes random numbers.

use crate::device::{kernels, mirrors, uniform};

/// The number of vectors of four numbers that a workgroup makes.
pub(super) const WIDTH: u32 = 64;

/// The values of LAW in fill.wgsl: the law that the numbers follow.
pub(super) const WORDS: u8 = 0;
pub(super) const UNIFORM: u8 = 1;
pub(super) const NORMAL: u8 = 2;
pub(super) const BERNOULLI: u8 = 3;

uniform! {
    /// The stream, the position of the first word, the index of the first workgroup, the number of vectors of four
    /// numbers, and the parameters of the law.
    pub(super) struct Order {
        key_low: u32, key_high: u32, upper_low: u32, upper_high: u32, block_low: u32, block_high: u32, inside: u32,
        first: u32, count: u32, offset: f32, factor: f32, below: f32, last: u32, some: u32,
    }
}

/// Returns the overrides of [`Fill`].
pub(super) fn fill_variant(law: u8) -> [(&'static str, f64); 1] {
    [("LAW", law.into())]
}

fn fill_variants() -> Vec<Vec<(&'static str, f64)>> {
    [WORDS, UNIFORM, NORMAL, BERNOULLI].map(|law| fill_variant(law).to_vec()).into()
}

kernels! {
    /// Random numbers, four per invocation.
    Fill = ["random/philox.wgsl", "random/fill.wgsl"] variants fill_variants {
        uniform params: Order,
        read quantiles: [u32; 4],
        write numbers: [u32; 4],
    }
}

mirrors! {
    WIDTH = WIDTH,
    WORDS = WORDS,
    UNIFORM = UNIFORM,
    NORMAL = NORMAL,
    BERNOULLI = BERNOULLI,
}
