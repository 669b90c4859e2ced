//! The command `fiedler`: words of the command line in, files and one report out.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("error,fiedler=warn")).init();
    cli::run()
}
