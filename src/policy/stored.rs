//! Where tuning files lie, and how one is read and written whole.

use super::tuning::{Machine, Tuning, parse};
use crate::error::{Error, Result};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// What was found for a machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// Nothing: it was never measured.
    Nothing,
    /// Its rates.
    Found(Tuning),
    /// A file that does not hold, and why.
    Ignored(String),
}

/// The folder of this user's tuning files: `tuning` in `FIEDLER_CACHE_DIR`, or else in the system's cache folder; none where the user
/// has no home.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    let said = std::env::var_os("FIEDLER_CACHE_DIR").filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = || directories::ProjectDirs::from("", "", "fiedler").map(|dirs| dirs.cache_dir().to_owned());
    Some(said.or_else(own)?.join("tuning"))
}

impl Stored {
    /// What is stored for a machine in a folder.
    #[must_use]
    pub fn of(folder: &Path, machine: &Machine) -> Self {
        let path = folder.join(machine.file_name());
        // What is no file, a pipe for one, could be waited for without an end.
        if path.exists() && !path.is_file() {
            return Self::Ignored(format!("{}: expected a file", path.display()));
        }
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            // Nor can there be one below what is no folder.
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

    /// The rates; of a file that does not hold a word is said.
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
    /// Writes it into a folder, which is made: a reader finds the old file or the new one, whole.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Io`] naming the file.
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
