//! Finds the data set at a path or in a stream, and detects its format from the content and the name.

use super::archive;
use super::data_set::Format;
use super::edge_arrays::{self, Container};
use super::files::Files;
use super::lines::quoted;
use super::magic::{self, Kind};
use super::source::{Source, Terms};
use super::tudataset::{ADJACENCY, INDICATOR};
use super::{graph6, metis, ogb, several, tudataset};
use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const KNOWN: &str = "a TUDataset folder (DS_A.txt with DS_graph_indicator.txt), an OGB folder \
                                (raw/edge.csv.gz), a MatrixMarket file (%%MatrixMarket), GraphML, GEXF, GML, \
                                node-link or Cytoscape JSON, graph6 or sparse6, Pajek, DIMACS, METIS, arrays \
                                (edge_index in .npy, .npz or .safetensors; scipy.sparse .npz), an adjacency list \
                                (.adjlist) or an edge list (two ids a line, and perhaps a weight)";

/// A data set that was found.
pub(super) struct Found {
    pub(super) format: Format,
    pub(super) place: Place,
    /// The members of an archive that were passed over.
    pub(super) notice: Option<String>,
}

/// Where the bytes of a data set are.
pub(super) enum Place {
    TuDataset(tudataset::Set),
    Ogb(ogb::Set),
    File(Source),
    Arrays(Source, Container),
    /// The members of an `.npz` archive and the name of the archive.
    Scipy(PathBuf, Vec<Source>),
    /// A folder or a pattern, and its files.
    Files(PathBuf, Vec<Found>),
}

impl Place {
    /// Returns what errors call the data set.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::TuDataset(set) => &set.prefix,
            Self::Ogb(set) => set.place(),
            Self::File(source) | Self::Arrays(source, _) => source.name(),
            Self::Scipy(path, _) | Self::Files(path, _) => path,
        }
    }

    /// Returns what errors call the file with the edges.
    pub(super) fn edges(&self) -> PathBuf {
        match self {
            Self::TuDataset(set) => set.adjacency(),
            Self::Ogb(set) => set.edges(),
            _ => self.path().into(),
        }
    }

    /// Returns the name of the data set.
    pub(super) fn name(&self) -> String {
        let name = match self {
            Self::TuDataset(_) | Self::Ogb(_) => self.path().file_name(),
            Self::File(source) | Self::Arrays(source, _) => source.plain_name().file_stem(),
            Self::Scipy(path, _) => path.file_stem(),
            Self::Files(path, _) => return several::name(path),
        };
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// Finds the data set at `path`.
pub(super) fn at(path: &Path, terms: &Terms) -> Result<Found> {
    let files = Files::System(terms.clone());
    let tudataset = |prefix: &Path| tudataset::Set { prefix: prefix.into(), files: files.clone() };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(_) if tudataset(path).has(ADJACENCY) => return Ok(of_tudataset(tudataset(path))),
        Err(_) if several::is_pattern(path) => return several::of_pattern(path, &files, terms),
        Err(error) => return Err(Error::io("open", path, error)),
    };
    if metadata.is_dir() {
        return in_folder(path, &files, terms);
    }
    let prefix = path.to_str().and_then(|text| text.strip_suffix(ADJACENCY)).map(PathBuf::from);
    match prefix.map(|prefix| tudataset(&prefix)).filter(|set| set.has(INDICATOR)) {
        Some(set) => Ok(of_tudataset(set)),
        None => within(Source::file(path, terms)?),
    }
}

fn of_tudataset(set: tudataset::Set) -> Found {
    Found { format: Format::TuDataset, place: Place::TuDataset(set), notice: None }
}

fn of_ogb(set: ogb::Set) -> Found {
    Found { format: Format::Ogb, place: Place::Ogb(set), notice: None }
}

/// Finds the only data set in a folder: a TUDataset or an OGB folder, or else all its files.
fn in_folder(folder: &Path, files: &Files, terms: &Terms) -> Result<Found> {
    if let Some(set) = ogb::Set::find(folder, files) {
        return Ok(of_ogb(set));
    }
    let prefixes: Vec<PathBuf> = files.list(folder)?.iter().filter_map(|path| prefix(path)).collect();
    match &prefixes[..] {
        [] => several::of_folder(folder, files, terms),
        [prefix] => {
            let set = tudataset::Set { prefix: prefix.clone(), files: files.clone() };
            set.check()?;
            Ok(of_tudataset(set))
        }
        several => {
            let names: Vec<_> = several.iter().filter_map(|prefix| prefix.file_name()?.to_str()).collect();
            let found = format!("{}; name one as FOLDER/DS", names.join(", "));
            Err(Error::parse(folder, None, "one data set in the folder", found))
        }
    }
}

/// Returns the prefix of a TUDataset's files, of which `path` is the one with the edges.
fn prefix(path: &Path) -> Option<PathBuf> {
    path.to_str()?.strip_suffix(ADJACENCY).map(PathBuf::from)
}

/// Finds the data set in a file or a stream, which may be compressed or an archive.
pub(super) fn within(source: Source) -> Result<Found> {
    let (source, head) = source.expanded()?;
    match magic::graph(&head) {
        Some(Kind::Zip) => {
            let members = archive::of_zip(source.clone())?;
            match arrays(&source, &members) {
                Some(found) => Ok(found),
                None => in_archive(&source, members),
            }
        }
        Some(Kind::Tar) => {
            let members = archive::of_tar(&source)?;
            in_archive(&source, members)
        }
        _ => file(source, &head),
    }
}

/// Returns the arrays of an `.npz` archive, if it is one.
fn arrays(source: &Source, members: &[Source]) -> Option<Found> {
    let array = |member: &Source| member.name().extension().is_some_and(|ending| ending == "npy");
    if members.is_empty() || !members.iter().all(array) {
        return None;
    }
    let (format, place) = if edge_arrays::is_scipy(members) {
        (Format::ScipySparse, Place::Scipy(source.plain_name().into(), members.to_vec()))
    } else {
        (Format::Arrays, Place::Arrays(source.clone(), Container::Npz(members.to_vec())))
    };
    Some(Found { format, place, notice: None })
}

/// Finds the data set in a file that is neither compressed nor an archive. A file that has no other known format and
/// may consist of lines of ids is taken for an edge list.
fn file(source: Source, head: &[u8]) -> Result<Found> {
    let format = match magic::graph(head) {
        Some(Kind::Npy) => return Ok(of_arrays(source, Container::Npy)),
        Some(Kind::Safetensors) => return Ok(of_arrays(source, Container::Safetensors)),
        Some(Kind::Json) => Format::NodeLink,
        Some(Kind::GraphMl) => Format::GraphMl,
        Some(Kind::Gexf) => Format::Gexf,
        Some(Kind::Gml) => Format::Gml,
        Some(Kind::Graph6) => Format::Graph6,
        Some(Kind::Pajek) => Format::Pajek,
        Some(Kind::Dimacs) => Format::Dimacs,
        _ => text(&source, head)?,
    };
    Ok(Found { format, place: Place::File(source), notice: None })
}

fn of_arrays(source: Source, container: Container) -> Found {
    Found { format: Format::Arrays, place: Place::Arrays(source, container), notice: None }
}

/// Detects the format of a text whose lines are edges.
fn text(source: &Source, head: &[u8]) -> Result<Format> {
    let path = source.plain_name();
    if let Some(name) = magic::name(head) {
        return Err(Error::parse(path, None, KNOWN, name));
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if is_market(text) {
        return Ok(Format::MatrixMarket);
    }
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mtx")) {
        return Err(Error::parse(path, Some(1), "the banner %%MatrixMarket", quoted(first_line(text))));
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    Ok(match ending.as_deref() {
        Some("g6" | "s6" | "d6") => Format::Graph6,
        // The name of a node without neighbors may be a graph in graph6.
        Some("adjlist") => Format::AdjacencyList,
        _ if graph6::begins(text) => Format::Graph6,
        // The comments of the file are longer than what was looked at, or the line of the problem is not whole.
        Some("col" | "clq" | "gr" | "max" | "dimacs") if text.starts_with(b"c") || text.starts_with(b"p ") => {
            Format::Dimacs
        }
        own if metis::is_here(source, head, matches!(own, Some("graph" | "metis")))? => Format::Metis,
        _ => Format::EdgeList,
    })
}

fn is_market(text: &[u8]) -> bool {
    let market = b"%%matrixmarket";
    text.get(..market.len()).is_some_and(|start| start.eq_ignore_ascii_case(market))
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'\n').next().unwrap_or(b"").trim_ascii_end()
}

/// The maximum number of files of an archive whose beginnings are looked at.
const LOOKED_AT: usize = 256;
/// The names, without their endings, of files that describe a data set.
const ABOUT: [&str; 8] = ["readme", "license", "licence", "copying", "citation", "changelog", "about", "notice"];
/// The endings of files that are no data set, although some consist of lines of words.
const OTHERS: [&str; 9] = ["md", "html", "htm", "pdf", "bib", "py", "m", "rst", "url"];

/// Finds the only data set in an archive: a TUDataset or an OGB folder, or else a file with a graph. A file of a known
/// format goes before a text that may be an edge list.
fn in_archive(source: &Source, members: Vec<Source>) -> Result<Found> {
    let members = archive::of_interest(members, source.name());
    let files = Files::Members(Arc::clone(&members));
    let mut sets: Vec<Found> = Vec::new();
    let mut folders: Vec<&Path> = members.iter().filter_map(|member| member.name().parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    for folder in folders {
        // The folder of an OGB data set is found by its folder `raw`, so it is not found twice.
        sets.extend(ogb::Set::find(folder, &files).filter(|set| set.is_in(folder)).map(of_ogb));
    }
    for prefix in members.iter().filter_map(|member| prefix(member.name())) {
        let set = tudataset::Set { prefix, files: files.clone() };
        sets.extend(set.has(INDICATOR).then(|| of_tudataset(set)));
    }
    if sets.is_empty() {
        sets = graphs(source, &members)?;
    }
    let shown = |found: &Found| {
        let path = found.place.path();
        path.strip_prefix(source.name()).unwrap_or(path).display().to_string()
    };
    match sets.len() {
        0 => {
            let found = format!("an archive of {} files, none of which is one", members.len());
            Err(Error::parse(source.name(), None, KNOWN, found))
        }
        1 => Ok(sets.remove(0)),
        several => {
            let names: Vec<String> = sets.iter().take(16).map(shown).collect();
            let more = if several > names.len() { " and more" } else { "" };
            Err(Error::parse(source.name(), None, "one data set in the archive", format!("{}{more}", names.join(", "))))
        }
    }
}

/// Returns the name without its ending, in lower case.
fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Returns whether a file describes a data set.
pub(super) fn is_about(path: &Path) -> bool {
    let ending = path.extension().map(|own| own.to_string_lossy().to_lowercase()).unwrap_or_default();
    ABOUT.contains(&stem(path).as_str()) || OTHERS.contains(&ending.as_str())
}

/// Returns the files of an archive that are graphs.
fn graphs(archive: &Source, members: &[Source]) -> Result<Vec<Found>> {
    let candidates: Vec<&Source> = members.iter().filter(|member| !is_about(member.name())).collect();
    if candidates.len() > LOOKED_AT {
        let found = format!("{} files", candidates.len());
        return Err(Error::parse(archive.name(), None, "one data set in the archive", found));
    }
    let (mut certain, mut lists, mut error) = (Vec::new(), Vec::new(), None);
    for &member in &candidates {
        match member.clone().expanded().and_then(|(source, head)| of_member(source, &head)) {
            Ok(found) if found.format == Format::EdgeList => lists.push(found),
            Ok(found) => certain.push(found),
            Err(found) => error = error.or(Some(found)),
        }
    }
    // The collections of sparse matrices store further matrices, such as right-hand sides, as NAME_b.mtx beside
    // NAME.mtx.
    let main = certain.iter().position(|one| {
        let own = stem(one.place.path());
        let beside =
            |other: &Found| stem(other.place.path()).strip_prefix(&own).is_some_and(|rest| rest.starts_with('_'));
        certain.iter().all(|other| std::ptr::eq(other, one) || beside(other))
    });
    let mut found = match main {
        Some(main) => vec![certain.swap_remove(main)],
        None if !certain.is_empty() => certain,
        None => lists,
    };
    match (&mut found[..], error) {
        // An archive of one file has the error of this file.
        ([], Some(error)) if candidates.len() == 1 => return Err(error),
        ([one], _) if candidates.len() > 1 => {
            let (path, own) = (archive.name().display(), one.place.path());
            let own = own.strip_prefix(archive.name()).unwrap_or(own).display();
            let others = candidates.len() - 1;
            let files = if others == 1 { "file was" } else { "files were" };
            one.notice = Some(format!("{path}: {own} was read, and {others} other {files} not."));
        }
        _ => {}
    }
    Ok(found)
}

/// Finds the data set in a member of an archive. An archive within an archive is read only if it has arrays.
fn of_member(source: Source, head: &[u8]) -> Result<Found> {
    match magic::graph(head) {
        Some(Kind::Zip) => {
            let members = archive::of_zip(source.clone())?;
            let none = || Error::parse(source.name(), None, KNOWN, "an archive within an archive; unpack it first");
            arrays(&source, &members).ok_or_else(none)
        }
        Some(Kind::Tar) => {
            Err(Error::parse(source.name(), None, KNOWN, "an archive within an archive; unpack it first"))
        }
        _ => file(source, head),
    }
}
