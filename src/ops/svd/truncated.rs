//! The leading part of a decomposition, randomised.
/// options
#[derive(Debug)]
pub struct TruncatedOptions;
/// r
#[derive(Debug)]
pub struct SvdTruncated;
/// f
pub fn svd_truncated() {}
