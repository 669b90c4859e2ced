//! The library on hostile adapters (`wgpu-adversary`): every kernel variant compiles there, and whatever fault the
//! host side meets, a call returns what it promises or a typed error.
//!
//! The tests of the other binaries run on these adapters too, if `FIEDLER_ADVERSARIES` names some
//! (tests/common/adversary.rs).

mod faults;
mod variants;
