//! Fourier transforms: a suite a file.

mod accuracy;
mod calls;

fn main() -> std::process::ExitCode {
    common::run([accuracy::tests(), calls::tests()])
}
