//! Tests of the device, and of what every family promises about it: one suite per file.

mod browser;
mod floor;
mod foreign;
mod futures;
mod gates;
mod profile;
mod random;
mod roofline;
mod together;
mod train;

fn main() -> std::process::ExitCode {
    common::run([
        roofline::tests(),
        browser::tests(),
        floor::tests(),
        foreign::tests(),
        futures::tests(),
        gates::tests(),
        profile::tests(),
        random::tests(),
        together::tests(),
        train::tests(),
    ])
}
