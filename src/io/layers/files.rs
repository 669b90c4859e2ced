//! Finds the files of a data set: one file, or one for each sample.

use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// What was found.
pub(super) enum Found {
    /// A file of arrays, with all samples.
    Arrays(PathBuf),
    /// A text.
    Text(PathBuf),
    /// Files of arrays, one for each sample.
    Samples(Files),
}

/// The files of the samples, in order.
pub(super) struct Files {
    pub(super) format: Format,
    pub(super) paths: Vec<PathBuf>,
    /// The folder of each sample, if folders are classes.
    pub(super) classes: Option<Vec<String>>,
}

/// A format of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Format {
    Npy,
    Npz,
    Safetensors,
}

impl Format {
    pub(in crate::io) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_ascii_lowercase().to_str()? {
            "npy" => Some(Self::Npy),
            "npz" => Some(Self::Npz),
            "safetensors" => Some(Self::Safetensors),
            _ => None,
        }
    }
}

const ARRAYS: &str = "files that end in .npy, .npz or .safetensors";

pub(super) fn find(paths: &[PathBuf]) -> Result<Found> {
    match paths {
        [] => Err(Error::domain("open layers", "expected at least one file, found none")),
        [path] if path.is_dir() => folder(path),
        [path] => match matches(path)? {
            Some(paths) => several(paths),
            None if Format::of(path).is_some() => Ok(Found::Arrays(path.clone())),
            None => Ok(Found::Text(path.clone())),
        },
        paths => several(paths.to_vec()),
    }
}

/// Returns the files that match a pattern with `*` in its last component, or `None` if the path is no pattern.
fn matches(pattern: &Path) -> Result<Option<Vec<PathBuf>>> {
    let name = text(pattern.file_name());
    if !name.contains('*') || pattern.exists() {
        return Ok(None);
    }
    let folder = pattern.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found = entries(folder)?;
    found.retain(|path| path.is_file() && fits(&name, &text(path.file_name())));
    if found.is_empty() {
        return Err(Error::parse(pattern, None, "files that match", "none"));
    }
    Ok(Some(found))
}

/// Returns whether a name fits a pattern in which every `*` stands for any characters.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(head) else { return false };
    let (between, tail) = rest.rsplit_once('*').map_or(("", rest), |(between, tail)| (between, tail));
    // The first place of a part leaves the most for the others.
    for part in between.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(tail)
}

/// Returns files that are samples, in natural order.
fn several(mut paths: Vec<PathBuf>) -> Result<Found> {
    for path in &paths {
        if path.is_dir() {
            return Err(Error::parse(path, None, "a file, or one folder alone", "a folder beside others"));
        }
        if Format::of(path).is_none() {
            let found = "another ending; a table or a text is a data set by itself";
            return Err(Error::parse(path, None, format!("{ARRAYS}, one for each sample"), found));
        }
    }
    paths.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    if let Some(pair) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::parse(&pair[0], None, "each file once", "it twice"));
    }
    files(paths, None)
}

fn files(paths: Vec<PathBuf>, classes: Option<Vec<String>>) -> Result<Found> {
    let format = paths.first().and_then(|path| Format::of(path)).unwrap_or(Format::Npy);
    if let Some(other) = paths.iter().find(|path| Format::of(path) != Some(format)) {
        let expected = format!("samples of one format, as {} is", paths[0].display());
        return Err(Error::parse(other, None, expected, "another ending"));
    }
    Ok(Found::Samples(Files { format, paths, classes }))
}

/// Returns the samples of a folder: its files, or the files of its folders. Files with other endings are ignored.
fn folder(path: &Path) -> Result<Found> {
    let (own, others) = sorted(path)?;
    let mut inner = Vec::new();
    for class in others {
        let (samples, _) = sorted(&class)?;
        let name = text(class.file_name());
        inner.extend(samples.into_iter().map(|sample| (sample, name.clone())));
    }
    match (own.is_empty(), inner.is_empty()) {
        (true, true) => Err(Error::parse(path, None, format!("{ARRAYS}, in it or in its folders"), "none")),
        (false, true) => files(own, None),
        (true, false) => {
            let (paths, classes) = inner.into_iter().unzip();
            files(paths, Some(classes))
        }
        (false, false) => {
            let found = format!("{} and {}", own[0].display(), inner[0].0.display());
            Err(Error::parse(path, None, "samples, or folders of classes with samples", found))
        }
    }
}

/// Returns the samples and the folders of a folder, both in natural order, without hidden ones.
fn sorted(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let mut all = entries(folder)?;
    all.retain(|path| !text(path.file_name()).starts_with('.'));
    all.sort_by(|a, b| natural(&text(a.file_name()), &text(b.file_name())));
    let (folders, mut samples): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| path.is_dir());
    samples.retain(|path| Format::of(path).is_some());
    Ok((samples, folders))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let refused = |error| Error::io("open", folder, error);
    fs::read_dir(folder).map_err(refused)?.map(|entry| Ok(entry.map_err(refused)?.path())).collect()
}

pub(super) fn text(name: Option<&OsStr>) -> String {
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Compares names in the order in which people count: digits are compared as numbers, so `s2` comes before `s10`.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    while let (Some(&x), Some(&y)) = (left.first(), right.first()) {
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let (one, other) = (number(&mut left), number(&mut right));
            match one.len().cmp(&other.len()).then(one.cmp(other)) {
                Ordering::Equal => {}
                order => return order,
            }
        } else if x == y {
            (left, right) = (&left[1..], &right[1..]);
        } else {
            return x.cmp(&y);
        }
    }
    // Names that differ only in zeros before a number are not equal.
    left.len().cmp(&right.len()).then(a.cmp(b))
}

/// Takes the digits at the beginning, and returns them without zeros before them.
fn number<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros..]
}

#[cfg(test)]
mod tests {
    use super::{fits, natural};

    #[test]
    fn names_are_in_natural_order() {
        let sorted = ["", "a", "a1", "a01", "a2", "a10", "a10b2", "a10b10", "a99999999999999999999999", "b", "b-1"];
        let mut names = sorted;
        names.reverse();
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["", "a", "a01", "a1", "a2", "a10", "a10b2", "a10b10", "a99999999999999999999999", "b", "b-1"]
        );
        assert_eq!(sorted.len(), names.len());
    }

    #[test]
    fn patterns_fit_names() {
        for (pattern, name, fit) in [
            ("*.npz", "a.npz", true),
            ("*.npz", "a.npy", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
            ("a*a", "a", false),
            ("a", "ab", false),
            ("*b*", "abc", true),
            ("**", "x", true),
            ("é*", "éa", true),
            ("*é", "aé", true),
        ] {
            assert_eq!(fits(pattern, name), fit, "{pattern} {name}");
        }
    }
}
