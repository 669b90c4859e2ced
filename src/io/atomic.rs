//! Files and folders that appear whole or not at all: written beside their place under another name, then renamed.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::Builder;

/// What is being written, under its temporary name.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every file and folder that this process has begun to write and not finished: for a program that has to end at once, where
/// nothing else would clean up.
pub fn abandon() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // What is gone already was finished meanwhile.
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}

/// Keeps a temporary name in the list of what is unfinished.
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.0);
    }
}

/// Creates or replaces a file with what `fill` writes. On an error nothing is left behind, and a file that was there
/// stays as it was.
pub(super) fn write_whole(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let refused = |error| Error::io("write", path, own(error));
    let mut builder = builder();
    #[cfg(unix)]
    builder.permissions(mode(0o666));
    let file = builder.tempfile_in(parent(path)).map_err(refused)?;
    let (file, place) = file.into_parts();
    let _unfinished = Unfinished::new(&place);
    let mut out = BufWriter::with_capacity(1 << 18, file);
    fill(&mut out)?;
    let file = out.into_inner().map_err(|error| refused(error.into_error()))?;
    file.sync_all().map_err(refused)?;
    // Windows renames no open file.
    drop(file);
    place.persist(path).map_err(|error| refused(error.error))
}

/// What fills one file of a folder.
pub(super) type Fill<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Creates a folder, which must not exist, with its files.
pub(super) fn create_whole_folder(path: &Path, files: &[(&str, Fill<'_>)]) -> Result<()> {
    let refused = |error| Error::io("create", path, own(error));
    if path.symlink_metadata().is_ok() {
        return Err(refused(io::Error::new(io::ErrorKind::AlreadyExists, "it exists already")));
    }
    let mut builder = builder();
    #[cfg(unix)]
    builder.permissions(mode(0o777));
    let folder = builder.tempdir_in(parent(path)).map_err(refused)?;
    let _unfinished = Unfinished::new(folder.path());
    for (name, fill) in files {
        let create = || {
            let mut out = BufWriter::with_capacity(1 << 18, File::create_new(folder.path().join(name))?);
            fill(&mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
        };
        create().map_err(refused)?;
    }
    std::fs::rename(folder.path(), path).map_err(refused)?;
    // Renamed away: nothing is left to clean up.
    let _ = folder.keep();
    Ok(())
}

/// Without the temporary file's name, with which the crate that makes it wraps the system's error, and which says nothing to anybody.
fn own(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() { error } else { error.kind().into() }
}

fn builder<'a>() -> Builder<'a, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".fiedler-").suffix(".tmp");
    builder
}

/// Where the file stands: the current folder for a bare name.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What the process's umask then narrows; temporary files are private to their user by default, results are not.
#[cfg(unix)]
fn mode(mode: u32) -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(mode)
}
