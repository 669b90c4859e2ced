//! The host's clock.

/// The host's clock, which is that of `std`; in a browser, where that clock panics, it is `web_time`'s.
#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;
#[cfg(target_arch = "wasm32")]
pub use web_time::Instant;
