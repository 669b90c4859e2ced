//! Helpers that run the command for the tests.
#![allow(dead_code, reason = "each test binary calls it in its own way")]

use std::process::{Command, Output};
use tempfile::TempDir;

/// Returns the command on the CPU backend, without those environment variables of the caller that the command reads.
pub fn fiedler(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fiedler"));
    for name in ["FIEDLER_ADAPTER", "FIEDLER_MEMORY_BUDGET", "FIEDLER_SOFTWARE_AS_GPU", "RUST_LOG"] {
        command.env_remove(name);
    }
    // An absent folder keeps the tests from finding stored results of other tests, or the tuning of this machine.
    // tests/host/cache.rs and policy.rs test those.
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

/// A folder for the files of a test.
pub struct Files(TempDir);

impl Files {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("a plain path").to_owned()
    }

    pub fn text(&self, name: &str, text: &str) -> String {
        std::fs::write(self.at(name), text).expect("written");
        self.at(name)
    }

    /// Writes a C-order .npy file that has the bytes `given`, followed by zeros.
    pub fn npy(&self, name: &str, descr: &str, shape: &[usize], given: &[u8]) -> String {
        let lengths: String = shape.iter().map(|length| format!("{length}, ")).collect();
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({lengths}), }}");
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
        header.push('\n');
        let width: usize = descr[2..].parse().expect("bytes of an element");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(given);
        file.resize(file.len() + shape.iter().product::<usize>() * width - given.len(), 0);
        std::fs::write(self.at(name), file).expect("written");
        self.at(name)
    }

    pub fn f32s(&self, name: &str, shape: &[usize], data: &[f32]) -> String {
        self.npy(name, "<f4", shape, bytemuck::cast_slice(data))
    }

    pub fn f64s(&self, name: &str, shape: &[usize], data: &[f64]) -> String {
        self.npy(name, "<f8", shape, bytemuck::cast_slice(data))
    }
}
