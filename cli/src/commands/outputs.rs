//! The outputs of the commands, and the rule for all of them: an output that exists is an error, unless `--overwrite`
//! is given. This is checked before the work begins.

use super::printing::Printing;
use super::{Failure, print};
use clap::Args;
use std::path::Path;

/// What becomes of an output that exists.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Overwriting {
    /// Replace an output that exists; without this, it is an error. In a folder, only the files that this command
    /// writes are replaced.
    #[arg(long)]
    overwrite: bool,
}

impl Overwriting {
    /// Returns whether an output that exists is replaced.
    pub(super) fn replaces(self) -> bool {
        self.overwrite
    }

    /// Checks that an output does not exist, or may be replaced.
    pub(super) fn check(self, path: &Path) -> Result<(), Failure> {
        match self.overwrite || !exists(path) {
            true => Ok(()),
            false => Err(refused(path, "")),
        }
    }

    /// Checks that a folder to write to is new or empty, or may be replaced. `others` says what else than `--overwrite`
    /// there is.
    pub(super) fn check_folder(self, path: &Path, others: &str) -> Result<(), Failure> {
        match path.is_dir() {
            false if path.symlink_metadata().is_err() => Ok(()),
            false => Err(Failure::Call(format!("{}: expected a folder to write to, found a file", path.display()))),
            true if self.overwrite || names_in(path).is_empty() => Ok(()),
            true => Err(refused(path, others)),
        }
    }

    /// Checks that a file with one of these extensions can be written to `path`.
    pub(super) fn check_place(self, path: &Path, endings: &[&str]) -> Result<(), Failure> {
        check_form(path, endings)?;
        self.check(path)
    }

    /// Checks that the output can be written and is none of the inputs.
    pub(super) fn check_output(self, path: &Path, inputs: &[&Path], endings: &[&str]) -> Result<(), Failure> {
        check_form(path, endings)?;
        let own = path.canonicalize().ok();
        if own.is_some_and(|own| inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == own))) {
            return Err(Failure::Call(format!("{}: expected an output other than the input", path.display())));
        }
        self.check(path)
    }
}

/// What becomes of an output that exists, and what is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Told {
    #[command(flatten)]
    pub(super) overwriting: Overwriting,
    #[command(flatten)]
    printing: Printing,
}

impl Told {
    /// Says what was written.
    pub(super) fn say(self, output: &Path, what: impl std::fmt::Display) {
        if self.printing.json {
            print(serde_json::json!({"output": output, "written": what.to_string()}));
        } else if !self.printing.quiet {
            print(format_args!("{}: {what}", output.display()));
        }
    }
}

/// Returns the wrong call for an output that exists. `others` says what else than `--overwrite` there is.
fn refused(path: &Path, others: &str) -> Failure {
    Failure::Call(format!("{}: it exists already; --overwrite replaces it{others}", path.display()))
}

/// Returns the names of what is in a folder, in their order. What a call that was killed may have left does not count.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with(".fiedler-")).collect();
    names.sort_unstable();
    names
}

/// Returns whether writing to a path would replace something. Pipes and devices, such as /dev/stdout, are written to.
pub(super) fn exists(path: &Path) -> bool {
    match path.metadata() {
        Ok(found) => found.is_file() || found.is_dir(),
        // A link to nothing is replaced, too.
        Err(_) => path.symlink_metadata().is_ok(),
    }
}

/// Checks that a file with one of these extensions could be written to `path` if nothing is there.
fn check_form(path: &Path, endings: &[&str]) -> Result<(), Failure> {
    let shown = path.display();
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !endings.contains(&ending.as_str()) {
        let (last, others) = endings.split_last().unwrap_or((&"", &[]));
        let wanted = if others.is_empty() { format!(".{last}") } else { format!(".{} or .{last}", others.join(", .")) };
        return Err(Failure::Call(format!("{shown}: expected an output that ends in {wanted}")));
    }
    if path.is_dir() {
        return Err(Failure::Call(format!("{shown}: expected a file to write, found a folder")));
    }
    check_around(path)
}

/// Checks that the folder around an output exists.
pub(super) fn check_around(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let shown = folder.display();
        return Err(Failure::Call(format!("{}: expected an existing folder {shown} to write to", path.display())));
    }
    Ok(())
}
