//! Executes naga IR, checks every access and every collective operation, and varies what WGSL leaves open.
//!
//! A [`Program`] is an entry point, compiled once: overrides are resolved, calls are inlined, and composites become
//! words in registers. A [dispatch](Program::dispatch) executes it for all workgroups and returns [findings](Finding).
//! The invocations of a workgroup step in teams: a team is a subgroup or, where a kernel has no subgroup operations,
//! one, some or 128 invocations. Within a team, operations come one after the other for all lanes of a mask.
//!
//! # What is checked
//! - Data races ([`Kind::Race`], [`Kind::SameValueRace`]): between invocations of a workgroup without a barrier for the
//!   address space in between (`storageBarrier` doesn't order workgroup memory, and the other way round), and in
//!   storage memory also between the workgroups of a dispatch. They are found whatever the order was. Subgroups give no
//!   order.
//! - Reads of what was never written ([`Kind::Uninitialized`]): buffers that [`Memory`] knows as garbage, and workgroup
//!   memory if the pipeline goes without zeros.
//! - Indices of arrays, vectors and matrices, and the ends of bindings ([`Kind::OutOfBounds`]). What is out of bounds
//!   is then clamped, or reads zero and writes nothing, by seed.
//! - Barriers and `workgroupUniformLoad` that not all invocations of the workgroup reach, in the same passes of the
//!   loops around ([`Kind::NonUniformBarrier`]), and pointers that differ ([`Kind::NonUniformPointer`]).
//! - Subgroup operations that not all invocations of the subgroup reach, values of lanes that are inactive or absent,
//!   and broadcasts and distances that differ between lanes.
//! - Integers: division by zero, the smallest `i32` divided by -1, shifts by at least 32 bits, bit ranges past the end,
//!   conversions of floats out of range. As notes, if the profile says so: signed overflow, infinity and NaN.
//! - Endless loops by a budget, limits of the adapter, bindings that are absent, too small or overlapping.
//!
//! # What is varied
//! By seed: subgroup sizes within the profile's range, which team runs how far ahead, the order of workgroups (forward,
//! reversed, scattered, and on all cores), errors of functions within WGSL's bounds, contraction of products and sums,
//! the order in which subgroups sum floats, subnormals, results of `min` and `max` of NaN, the effect of accesses out
//! of bounds, values of inactive lanes, and, by a [mapping](crate::SubgroupMapping), which invocations are a subgroup.
//! The same seed gives the same results, except for programs with data races.
//!
//! # What is not
//! - Values other than 32-bit ones and `bool`, textures, matrix units and `subgroupBarrier` are refused.
//! - Sums are not reassociated, other than in subgroup operations.
//! - Lanes of a team step in lockstep, and a workgroup runs on one thread, so that programs whose results depend on the
//!   order of atomics see few orders.
//! - Control flow counts as uniform if it was so in the run. WGSL's static analysis is naga's task.
//! - Values that were never written are findings where they are read, even if nothing depends on them.

mod access;
mod compile;
mod coverage;
mod dispatch;
mod finding;
mod float;
mod group;
mod lanes;
mod memory;
mod op;
mod operator;
mod program;
mod random;
mod report;
mod scalar;
mod shadow;
mod subgroup;
mod team;

pub use coverage::Coverage;
pub use dispatch::{Bound, Setup};
pub use finding::{Finding, Invocation, Kind, Location, Severity};
pub use memory::{Initial, Memory};
pub use program::{Binding, CompileError, Program};
