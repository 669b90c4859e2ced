//! Writes files and folders that either appear complete or do not appear at all. A file or folder is written under a
//! temporary name next to its destination and then renamed.

use super::syncing::Output;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::Builder;

/// The temporary paths of all files and folders that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every file and folder that this process has begun to write and has not finished. A program calls this
/// function before it exits abruptly, because destructors do not run in that case.
pub fn abandon() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // Errors are ignored: if the path no longer exists, its file or folder was finished in the meantime.
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}

/// A temporary path that stays listed in [`UNFINISHED`] until this value is dropped.
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

/// Creates or replaces the file at `path` with what `fill` writes. If there is an error, no partial file remains and an
/// existing file is unchanged.
pub(crate) fn write_whole(path: &Path, fill: impl FnOnce(&mut BufWriter<Output>) -> Result<()>) -> Result<()> {
    let refused = |error| Error::io("write", path, own(error));
    let file = builder(0o666).tempfile_in(parent(path)).map_err(refused)?;
    let (file, place) = file.into_parts();
    let _unfinished = Unfinished::new(&place);
    let mut out = BufWriter::with_capacity(1 << 18, Output::new(file));
    fill(&mut out)?;
    let file = out.into_inner().map_err(|error| refused(error.into_error()))?;
    // The file is closed too, because Windows cannot rename an open file.
    file.finish().map_err(refused)?;
    place.persist(path).map_err(|error| refused(error.error))
}

/// A function that writes the content of one file of a folder.
pub(super) type Fill<'a> = &'a dyn Fn(&mut dyn Write) -> io::Result<()>;

/// Creates a folder and the files in it. The folder must not exist yet.
pub(super) fn create_whole_folder(path: &Path, files: &[(&str, Fill<'_>)]) -> Result<()> {
    create_folder(path, |folder| {
        for (name, fill) in files {
            let create = || {
                let mut out = BufWriter::with_capacity(1 << 18, File::create_new(folder.join(name))?);
                fill(&mut out)?;
                out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
            };
            create().map_err(|error| Error::io("create", path, own(error)))?;
        }
        Ok(())
    })
}

/// Creates a folder with what `fill` writes into the folder that it is given, which has another name until then. The
/// folder must not exist yet.
pub(super) fn create_folder(path: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let refused = |error| Error::io("create", path, own(error));
    if path.symlink_metadata().is_ok() {
        return Err(refused(io::Error::new(io::ErrorKind::AlreadyExists, "it exists already")));
    }
    let folder = builder(0o777).tempdir_in(parent(path)).map_err(refused)?;
    let _unfinished = Unfinished::new(folder.path());
    fill(folder.path())?;
    std::fs::rename(folder.path(), path).map_err(refused)?;
    // The folder has been renamed, so nothing is left to clean up.
    let _ = folder.keep();
    Ok(())
}

/// Calls `make`, which creates a folder with the given path. If there is a folder at `path` already, the files of the
/// new one are moved into it, in place of those of the same names, and its other files stay.
///
/// # Errors
/// Those of `make`; [`Io`](crate::ErrorKind::Io) if a file cannot be moved.
pub fn fill_folder(path: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if !path.is_dir() {
        return make(path);
    }
    let refused = |error| Error::io("write", path, own(error));
    let beside = builder(0o777).tempdir_in(parent(path)).map_err(refused)?;
    let _unfinished = Unfinished::new(beside.path());
    // Files may have the name of their folder in theirs.
    let made = beside.path().join(path.file_name().unwrap_or_else(|| "made".as_ref()));
    make(&made)?;
    for entry in std::fs::read_dir(&made).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        std::fs::rename(entry.path(), path.join(entry.file_name())).map_err(refused)?;
    }
    Ok(())
}

/// Removes the name of the temporary file from an error. The `tempfile` crate adds this name to the system's error, but
/// the name means nothing to the user.
fn own(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() { error } else { error.kind().into() }
}

fn builder(mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".fiedler-").suffix(".tmp");
    // The process's umask narrows the permissions. Without them, a temporary file is private to its user, and the
    // finished file would be private too.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// Returns the folder that contains the file. For a name without a folder, this is the current folder.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
