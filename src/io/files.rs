//! The files among which the parts of a data set are found: those of the file system, or the members of an archive.

use super::source::{Source, Terms};
use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that are found by their paths.
#[derive(Clone, Debug)]
pub(super) enum Files {
    /// The file system.
    System(Terms),
    /// The members of an archive, by what errors call them.
    Members(Arc<Vec<Source>>),
}

impl Files {
    /// Returns whether there is a file at `path`.
    pub(super) fn contains(&self, path: &Path) -> bool {
        match self {
            Self::System(_) => path.is_file(),
            Self::Members(members) => members.iter().any(|member| member.name() == path),
        }
    }

    /// Returns the file at `path`, without its compression.
    ///
    /// # Errors
    /// As for [`Source::open_file`].
    pub(super) fn find(&self, path: &Path) -> Result<Option<Source>> {
        match self {
            Self::System(terms) if path.is_file() => Source::open_file(path, terms).map(Some),
            Self::System(_) => Ok(None),
            Self::Members(members) => {
                let found = members.iter().find(|member| member.name() == path).cloned();
                Ok(found.map(Source::expanded).transpose()?.map(|(source, _)| source))
            }
        }
    }

    /// Returns the paths of the files in a folder, sorted.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub(super) fn list(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let refused = |error| Error::io("list", folder, error);
        let mut paths: Vec<PathBuf> = match self {
            Self::System(_) => {
                let listed = fs::read_dir(folder).map_err(refused)?;
                listed.map(|entry| Ok(entry.map_err(refused)?.path())).collect::<Result<_>>()?
            }
            Self::Members(members) => {
                let own = members.iter().map(Source::name).filter(|name| name.parent() == Some(folder));
                own.map(Path::to_owned).collect()
            }
        };
        paths.sort_unstable();
        Ok(paths)
    }
}
