//! Finds, reads and atomically writes tuning files.

use super::tuning::{Machine, Tuning, parse};
use crate::error::{Error, Result};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The result of searching for the rates of a machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// No file was found, because the machine was never measured.
    Nothing,
    /// A valid file was found, which contains these rates.
    Found(Tuning),
    /// A file was found that cannot be used for the machine. The text says why.
    Ignored(String),
}

/// Returns the folder of this user's tuning files, which is `tuning` in `FIEDLER_CACHE_DIR` if that is set, else in
/// this user's cache folder. Returns `None` if the variable is not set and the user has no home folder.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let said = std::env::var_os("FIEDLER_CACHE_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = || directories::ProjectDirs::from("", "", "fiedler").map(|dirs| dirs.cache_dir().to_owned());
    Some(said.or_else(own)?.join("tuning"))
}

impl Stored {
    /// Searches `folder` for the rates of a machine.
    #[must_use]
    pub fn of(folder: &Path, machine: &Machine) -> Self {
        let path = folder.join(machine.file_name());
        // Reading from something that is not a regular file, such as a pipe, could block forever.
        if path.exists() && !path.is_file() {
            return Self::Ignored(format!("{}: expected a file", path.display()));
        }
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            // `NotADirectory` means that a component of the path is not a folder, so the file does not exist either.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Self::Nothing;
            }
            Err(error) => return Self::Ignored(format!("{}: {error}", path.display())),
        };
        match parse(&text) {
            Ok((of, tuning)) if of == *machine => Self::Found(tuning),
            Ok((of, _)) => Self::Ignored(format!(
                "{}: measured on {} ({}, fiedler {}), this is {} ({}, fiedler {})",
                path.display(),
                of.name,
                of.driver,
                of.version,
                machine.name,
                machine.driver,
                machine.version
            )),
            Err(why) => Self::Ignored(format!("{}: {why}", path.display())),
        }
    }

    /// Returns the rates, if they were found. If the file cannot be used, logs a warning.
    #[must_use]
    pub fn tuning(self) -> Option<Tuning> {
        match self {
            Self::Nothing => None,
            Self::Found(tuning) => Some(tuning),
            Self::Ignored(why) => {
                log::warn!("tuning ignored: {why}; `fiedler tune` measures anew");
                None
            }
        }
    }
}

impl Tuning {
    /// Writes the rates to a file in `folder`, which is created if necessary. Another process that reads the file
    /// meanwhile finds either the entire old file or the entire new file.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] with the path of the file.
    pub fn save(&self, folder: &Path, machine: &Machine, date: &str) -> Result<PathBuf> {
        let path = folder.join(machine.file_name());
        let failed = |error: std::io::Error| Error::io("write", &path, error);
        std::fs::create_dir_all(folder).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(self.to_text(machine, date).as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(path)
    }
}
