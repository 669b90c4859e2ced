//! The command `fiedler`, and the modules that only the command needs: measuring a machine ([`mod@bench`]) and testing
//! its adapters ([`doctor`]).
//!
//! The operations, encodings and file formats are in the library, the crate `fiedler`.

#![warn(unreachable_pub, clippy::print_stdout)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss))]

pub mod bench;
mod commands;
pub mod doctor;
mod experiment;
mod page;

pub use commands::run;
