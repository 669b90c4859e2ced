//! Where this user's results are stored, and how many of them.

use crate::context::bytes_from;
use crate::error::{Error, Result};
use std::path::PathBuf;

/// The default limit of the user's folder with one file per entry, in bytes.
pub(super) const DEFAULT_BYTES: u64 = 1 << 30;
/// The default limit of the user's folder of packs.
pub(super) const DEFAULT_PACKS_BYTES: u64 = 4 << 30;

/// The folder in which this user's results are stored.
pub(super) enum UserFolder {
    /// The value of `FIEDLER_CACHE_DIR`.
    Given(PathBuf),
    /// The cache folder of this program.
    Own(PathBuf),
}

/// Returns the folder of this user's results, and the limit of its bytes, or `None` if nothing is to be stored.
pub(super) fn user_folder(default: u64) -> Result<Option<(UserFolder, u64)>> {
    let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let bytes = match said("FIEDLER_CACHE_BYTES").map(|text| text.to_string_lossy().into_owned()) {
        None => default,
        Some(text) if text.trim() == "0" => return Ok(None),
        Some(text) => bytes_from(&text).ok_or_else(|| {
            Error::domain("FIEDLER_CACHE_BYTES", format!("expected 0 or bytes such as 512M or 2G, found `{text}`"))
        })?,
    };
    let own = || directories::ProjectDirs::from("", "", "fiedler").map(|dirs| dirs.cache_dir().to_owned());
    let given = said("FIEDLER_CACHE_DIR").map(|folder| UserFolder::Given(folder.into()));
    let folder = given.or_else(|| own().map(UserFolder::Own));
    if folder.is_none() {
        log::warn!("no cache: this user has no home, and FIEDLER_CACHE_DIR names no folder");
    }
    Ok(folder.map(|folder| (folder, bytes)))
}
