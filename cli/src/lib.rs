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

use std::ffi::OsString;

/// Runs the command `fiedler` as a program does, and returns the exit status. `arguments` begin with the name of the
/// program. Sets the logger and the panic hook of the process.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("error,fiedler=warn")).init();
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !fiedler::arrow::panics_are_errors() {
            report(info);
        }
    }));
    commands::run(arguments)
}

/// Returns whether `arguments`, which begin with the name of the program, are a call. Runs nothing. For fuzzing.
#[doc(hidden)]
#[must_use]
pub fn accepts(arguments: impl IntoIterator<Item = OsString>) -> bool {
    commands::accepts(arguments)
}
