//! Tests of Fourier transforms: one suite per file.

mod accuracy;
mod calls;
mod spectra;

fn main() -> std::process::ExitCode {
    common::run([accuracy::tests(), calls::tests(), spectra::tests()])
}
