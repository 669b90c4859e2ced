//! Files and folders that appear whole or not at all: they are written next to their destination under a temporary
//! name, then renamed.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::Builder;

/// The temporary paths of everything that is being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every file and folder that this process has begun to write and not finished. It is for a program that has
/// to end at once, where nothing else would clean up.
pub fn abandon() {
    for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // A path that no longer exists was finished in the meantime.
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}

/// A temporary path, which is in [`UNFINISHED`] as long as this value exists.
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

/// Creates or replaces a file with what `fill` writes. On an error nothing is left behind, and an existing file stays
/// as it was.
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
    // Windows cannot rename an open file.
    drop(file);
    place.persist(path).map_err(|error| refused(error.error))
}

/// A function that writes one file of a folder.
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
    // The folder has been renamed, so nothing is left to clean up.
    let _ = folder.keep();
    Ok(())
}

/// Removes the temporary file's name, which the crate that creates the file adds to the system's error and which
/// tells the user nothing.
fn own(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() { error } else { error.kind().into() }
}

fn builder<'a>() -> Builder<'a, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".fiedler-").suffix(".tmp");
    builder
}

/// Returns the folder that holds the file: the current folder for a bare name.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns permissions that the process's umask then narrows. Temporary files are private to their user by default;
/// results are not.
#[cfg(unix)]
fn mode(mode: u32) -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(mode)
}
