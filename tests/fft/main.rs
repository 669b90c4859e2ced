//! Tests of Fourier transforms: one suite per file.

mod accuracy;
mod calls;

fn main() -> std::process::ExitCode {
    common::run([accuracy::tests(), calls::tests()])
}
