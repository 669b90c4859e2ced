//! What identifies the content of a file without reading it.

use crate::cache::KeyHasher;
use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time after which another change gives a file another modification time, on every file system. FAT has the
/// coarsest times.
const SETTLED: Duration = Duration::from_secs(2);

/// Starts the key of a place in files. A change of how numbers are read requires another text.
pub(super) fn hasher() -> KeyHasher {
    KeyHasher::new("fiedler 2026-11-25 place of numbers in files, as io::Layers reads them")
}

/// Adds a file. Returns `None` if it was changed so recently that its time does not identify its content.
pub(super) fn add_file(hasher: &mut KeyHasher, path: &Path, metadata: &Metadata) -> Option<()> {
    let modified = metadata.modified().ok()?;
    SystemTime::now().duration_since(modified).ok().filter(|age| *age >= SETTLED)?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    hasher.bytes(path.as_os_str().as_encoded_bytes()).number(metadata.len());
    hasher.number(since.as_secs()).number(since.subsec_nanos().into());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        // A program can set the time of modification, but not the time of the last change.
        hasher.number(metadata.dev()).number(metadata.ino());
        hasher.number(metadata.ctime().cast_unsigned()).number(metadata.ctime_nsec().cast_unsigned());
    }
    Some(())
}
