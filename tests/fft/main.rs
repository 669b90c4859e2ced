//! Tests of Fourier transforms: one suite per file.

mod accuracy;
mod calls;
mod cosine;
mod spectra;

fn main() -> std::process::ExitCode {
    common::run([accuracy::tests(), calls::tests(), cosine::tests(), spectra::tests()])
}
