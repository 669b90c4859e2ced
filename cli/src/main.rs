//! The command `fiedler`, which reads the command line, writes files and prints one report.

use std::process::ExitCode;

fn main() -> ExitCode {
    fiedler_cli::main(std::env::args_os()).into()
}
