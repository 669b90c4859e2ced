//! Generates data sets whose laws are known: vectors as those of low-rank adapters, series, strings of bits, and images
//! of digits.
//!
//! Every number is a function of the seed, the layer, the sample and the element, by Philox streams
//! ([`ops::random`](crate::ops::random)), and of additions, multiplications, divisions and square roots alone. So the
//! same call makes the same bytes on every machine, on any number of threads, and in blocks of any size. Data sets may
//! be larger than the memory: a block is written while the next one is made (`io/stream.rs`). A file or a folder
//! appears as a whole or not at all.

mod digits;
mod series;
mod strings;
mod vectors;

pub use digits::Digits;
pub use series::Series;
pub use strings::Strings;
pub use vectors::{VectorLayer, Vectors};

use crate::error::{Error, Result};
use std::path::Path;

const OPERATION: &str = "generate";

/// Returns the ending of a file name in lower case; empty if there is none.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The maximum number of elements of a sample, which a system of 32 bits could not address.
const MOST_ELEMENTS: usize = match 1_usize.checked_shl(32) {
    Some(most) => most,
    None => usize::MAX,
};

/// Checks that a number is in a range.
fn check(what: &str, number: usize, least: usize, most: usize) -> Result<()> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    let range = if most == usize::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
    Err(Error::domain(OPERATION, format!("expected {range} {what}, found {number}")))
}

/// Returns the number on `[0, 1)` that the upper 24 bits of a word stand for.
fn unit(word: u32) -> f64 {
    f64::from(word >> 8) / f64::from(1_u32 << 24)
}
