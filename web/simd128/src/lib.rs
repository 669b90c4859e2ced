//! What pulp asks about WebAssembly: SIMD of 128 bits if the module is compiled with it, and no relaxed SIMD.

#![no_std]

/// Returns whether vectors of 128 bits are used.
#[inline]
#[must_use]
pub const fn is_simd128_enabled() -> bool {
    cfg!(target_feature = "simd128")
}

/// Returns whether relaxed SIMD is used, which it is not.
#[inline]
#[must_use]
pub const fn is_relaxed_simd_enabled() -> bool {
    false
}
