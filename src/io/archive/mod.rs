//! The members of zip and tar archives. Nothing is unpacked to the file system: a member is a part of its archive.

mod tar;

use super::source::{Source, Step};
use crate::error::{Error, Result};
use std::path::{Component, Path};
use std::sync::Arc;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

/// The maximum number of members of an archive of graphs.
const MOST: usize = 1 << 16;

/// Returns the files in a zip archive, in its order. `source` may be compressed itself, and is then expanded once.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if it is no zip archive that can be read, or is damaged;
/// [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
pub(super) fn of_zip(source: Source) -> Result<Vec<Source>> {
    let source = source.settled()?;
    let wrong = |error| match error {
        ZipError::Io(error) => super::source::refused(source.name(), error),
        other => Error::parse(source.name(), None, "a zip archive", other.to_string()),
    };
    let mut archive = ZipArchive::new(std::io::BufReader::new(source.positioned()?)).map_err(wrong)?;
    check_count(&source, archive.len())?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index(index).map_err(wrong)?;
        if member.is_dir() {
            continue;
        }
        let section = Step::Section { start: member.data_start(), len: member.compressed_size() };
        let check = Step::Check { len: member.size(), sum: member.crc32() };
        let steps: &[Step] = match member.compression() {
            CompressionMethod::Stored => &[section, check],
            CompressionMethod::Deflated => &[section, Step::Deflate, check],
            other => {
                let found = format!("{} compressed by {other}", member.name());
                return Err(Error::parse(source.name(), None, "members that are stored or deflated", found));
            }
        };
        members.push(source.member(&named(&source, member.name())?, steps, None));
    }
    Ok(members)
}

/// Returns the files in a tar archive, in its order.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) if it is no tar archive, or is damaged; [`Io`](crate::ErrorKind::Io) if the
/// operating system reports an error.
pub(super) fn of_tar(source: &Source) -> Result<Vec<Source>> {
    let mut entries = tar::Entries::open(source)?;
    let mut members = Vec::new();
    while let Some(tar::Entry { name, start, len, beginning }) = entries.next()? {
        check_count(source, members.len())?;
        let section = Step::Section { start, len };
        members.push(source.member(&named(source, &name)?, &[section], Some(beginning)));
    }
    Ok(members)
}

fn check_count(source: &Source, count: usize) -> Result<()> {
    if count <= MOST {
        return Ok(());
    }
    let expected = format!("an archive of at most {MOST} files");
    Err(Error::parse(source.name(), None, expected, format!("{count}")))
}

/// Returns what errors call a member. Its path must stay within the archive.
fn named(source: &Source, member: &str) -> Result<std::path::PathBuf> {
    let path = Path::new(member);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !stays || member.contains('\\') || member.contains('\0') {
        return Err(Error::parse(
            source.name(),
            None,
            "members whose paths stay within the archive",
            format!("{member:?}"),
        ));
    }
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_)));
    Ok(source.name().join(parts.collect::<std::path::PathBuf>()))
}

/// Returns the members that may belong to a data set: not those that archivers and operating systems add.
pub(super) fn of_interest(members: Vec<Source>, archive: &Path) -> Arc<Vec<Source>> {
    let hidden = |source: &Source| {
        let inner = source.name().strip_prefix(archive).unwrap_or(source.name());
        inner.components().any(|part| {
            let part = part.as_os_str().to_string_lossy();
            part.starts_with('.') || part == "__MACOSX"
        })
    };
    Arc::new(members.into_iter().filter(|source| !hidden(source)).collect())
}
