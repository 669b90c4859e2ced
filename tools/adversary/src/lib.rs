//! A WebGPU compute adapter that executes naga IR and is as hostile as the WGSL specification allows.

mod adversary;
mod backend;
pub mod faults;
pub mod machine;
mod mutation;
pub mod profile;
pub mod report;
mod seed;

pub use adversary::{Adversary, FreshBuffers, Pace};
pub use faults::{Fault, Faults, Injection};
pub use machine::{
    Bound, CompileError, Coverage, Finding, Initial, Invocation, Kind, Memory, Program, Setup, Severity,
};
pub use mutation::{Change, Mutation};
pub use naga;
pub use profile::{Accuracy, Denormals, Profile, SubgroupMapping};
pub use report::Report;
pub use wgpu;
