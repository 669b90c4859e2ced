//! The command as tests call it.
#![allow(dead_code, reason = "each test binary calls it in its own way")]

use std::process::{Command, Output};

/// The command on the CPU backend, with nothing of the caller's environment that it would listen to.
pub fn fiedler(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fiedler"));
    for name in ["FIEDLER_ADAPTER", "FIEDLER_MEMORY_BUDGET", "FIEDLER_SOFTWARE_AS_GPU", "RUST_LOG"] {
        command.env_remove(name);
    }
    // No test finds what another stored, nor what this machine was tuned to; tests/cache.rs and tests/cli_policy.rs are for that.
    let nowhere = concat!(env!("CARGO_TARGET_TMPDIR"), "/no cache");
    command
        .env("FIEDLER_BACKEND", "cpu")
        .env("FIEDLER_CACHE_BYTES", "0")
        .env("FIEDLER_CACHE_DIR", nowhere)
        .args(arguments);
    command
}

pub fn run(arguments: &[&str]) -> Output {
    fiedler(arguments).output().expect("the command starts")
}
