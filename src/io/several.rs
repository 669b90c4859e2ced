//! Finds the graphs of several files: those of a folder, or those whose names match a pattern such as `runs/*.gml`.

use super::data_set::Format;
use super::detect::{Found, KNOWN, Place, is_about, within};
use super::files::Files;
use super::source::{Source, Terms};
use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns whether the name of a path is a pattern.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?')))
}

/// Finds the files of a folder, sorted by name. Files that describe the data set and folders within the folder are
/// passed over, and so are files whose names begin with a dot.
pub(super) fn of_folder(folder: &Path, files: &Files, terms: &Terms) -> Result<Found> {
    let all = files.list(folder)?.into_iter().filter(|path| !is_hidden(path));
    let (own, others): (Vec<PathBuf>, Vec<PathBuf>) = all.partition(|path| path.is_file() && !is_about(path));
    if own.is_empty() {
        return Err(Error::parse(folder, None, KNOWN, "a folder without files of graphs"));
    }
    let mut found = of_files(folder, &own, terms)?;
    if !others.is_empty() {
        let names: Vec<_> = others.iter().filter_map(|path| path.file_name()?.to_str()).take(4).collect();
        let more = if others.len() > names.len() { " and more" } else { "" };
        found.notice = Some(format!("{}: these were not read: {}{more}.", folder.display(), names.join(", ")));
    }
    Ok(found)
}

/// Finds the files whose names match the pattern that is the name of `path`, sorted by name.
pub(super) fn of_pattern(path: &Path, files: &Files, terms: &Terms) -> Result<Found> {
    let pattern = path.file_name().unwrap_or_default().as_encoded_bytes();
    let named = |own: &Path| own.file_name().is_some_and(|name| matches(pattern, name.as_encoded_bytes()));
    let listed = files.list(folder_of(path))?.into_iter();
    let hidden = pattern.starts_with(b".");
    let own: Vec<PathBuf> = listed.filter(|own| named(own) && (hidden || !is_hidden(own)) && own.is_file()).collect();
    if own.is_empty() {
        return Err(Error::parse(path, None, "files whose names match the pattern", "none"));
    }
    of_files(path, &own, terms)
}

/// Returns the name of the folder.
pub(super) fn name(path: &Path) -> String {
    let folder = if is_pattern(path) && !path.is_dir() { folder_of(path) } else { path };
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.into());
    whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name: &OsStr| name.as_encoded_bytes().starts_with(b"."))
}

fn of_files(path: &Path, files: &[PathBuf], terms: &Terms) -> Result<Found> {
    let found = files.iter().map(|file| within(Source::file(file, terms)?)).collect::<Result<Vec<Found>>>()?;
    Ok(Found { format: Format::Files, place: Place::Files(path.into(), found), notice: None })
}

/// Returns whether a name matches a pattern, in which `*` stands for any bytes and `?` for one character.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // The places behind the last star, and in the name where it ends.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[n] => {
                p += 1;
                // The bytes of a character behind its first one begin with the bits 10.
                n += 1 + name[n + 1..].iter().take_while(|&&next| byte == b'?' && next & 0xc0 == 0x80).count();
            }
            _ => {
                let Some((behind, end)) = star else { return false };
                star = Some((behind, end + 1));
                (p, n) = (behind, end + 1);
            }
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_names() {
        for (pattern, names, others) in [
            ("*.gml", &["a.gml", ".gml", "a.b.gml"][..], &["a.gm", "a.gmlx", "gml"][..]),
            ("g?.txt", &["g1.txt", "g\u{e9}.txt"], &["g.txt", "g12.txt"]),
            ("*a*b", &["ab", "xaxb", "aabab"], &["ba", "abx"]),
            ("*", &["", "x"], &[]),
        ] {
            assert!(names.iter().all(|name| matches(pattern.as_bytes(), name.as_bytes())), "{pattern}");
            assert!(!others.iter().any(|name| matches(pattern.as_bytes(), name.as_bytes())), "{pattern}");
        }
    }
}
