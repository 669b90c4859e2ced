//! WGSL programs whose behavior is known, on the machine alone (`common`) and through wgpu (`host`).

mod common;
mod host;

mod arithmetic;
mod bounds;
mod buffers;
mod compute;
mod control;
mod errors;
mod faults;
mod mutants;
mod races;
mod random_programs;
mod speed;
mod subgroups;
mod timestamps;
