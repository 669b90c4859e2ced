//! The library on hostile adapters (`wgpu-adversary`): every kernel variant compiles there, and whatever fault the
//! host side meets, a call returns what it promises or a typed error. What rounding and subnormal numbers did wrong
//! once has tests of its own. All else is in `cli/tests/hostile`.
//!
//! The tests of the other binaries run on these adapters too, if `FIEDLER_ADVERSARIES` names some
//! (tests/common/adversary.rs).

mod faults;
mod rounding;
mod variants;
