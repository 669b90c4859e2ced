//! A file of arrays whose first axis is that of the samples.

use super::files::{Format, text};
use super::origin;
use super::{IDS, LabelColumn, Layer, LayerRows, Layers, Numbers, Source, TargetOrigin};
use super::{check_names, layer_of, targets_of};
use crate::array::Real;
use crate::cache::KeyHasher;
use crate::error::{Error, ErrorKind, Result};
use crate::io::samples::{TableTargets, labels_of};
use crate::io::stored::{Stored, archive, of_npy, of_npz, of_safetensors, safetensors_header};
use crc32fast::Hasher;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most bytes of arrays that are kept in memory because they cannot be read in parts.
const MOST_HELD: u64 = 1 << 30;

/// The layers of an open file.
#[derive(Debug)]
pub(super) struct Arrays {
    path: PathBuf,
    /// The path without links, unless the operating system refuses to tell it.
    canonical: Option<PathBuf>,
    file: Mutex<File>,
    layers: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    stored: Stored,
    wide: bool,
    /// All its numbers, if they cannot be read in parts.
    numbers: Option<Numbers>,
    /// The checksum of what was read, if the file is an archive.
    sum: Mutex<Option<Sum>>,
}

/// The checksum of the rows from the first on, as long as they are read in order.
#[derive(Debug)]
struct Sum {
    /// That of the header alone.
    header: Hasher,
    hasher: Hasher,
    /// The row that comes next; `None` if rows were read in another order.
    row: Option<usize>,
}

impl Sum {
    /// Returns whether `row` is the next row. Until it has been read, no row is.
    fn begin(&mut self, row: usize) -> bool {
        if row == 0 {
            (self.hasher, self.row) = (self.header.clone(), Some(0));
        }
        self.row.take() == Some(row)
    }
}

pub(super) fn open(path: &Path, label: LabelColumn<'_>) -> Result<Layers> {
    let (mut arrays, mut texts) = (Vec::new(), BTreeMap::new());
    let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    match Format::of(path) {
        Some(Format::Npz) => arrays = of_npz(path)?,
        Some(Format::Safetensors) => {
            let len = file.metadata().map_err(|error| Error::io("read", path, error))?.len();
            let header = safetensors_header(path, &mut file, len)?;
            (arrays, texts) = of_safetensors(path, &header, len)?;
        }
        _ => arrays.push(of_npy(path, &text(path.file_stem()))?),
    }
    check_names(path, &arrays)?;
    let named = |names: &[&str]| arrays.iter().position(|array| names.contains(&array.name.as_str()));
    let alone = Format::of(path) == Some(Format::Npy);
    let target = named(label.arrays()).filter(|_| !alone);
    let ids = named(&IDS).filter(|&ids| !alone && Some(ids) != target);
    let (target, ids) = (target.map(|at| arrays[at].clone()), ids.map(|at| arrays[at].clone()));
    let special =
        |array: &Stored| [&target, &ids].iter().any(|own| own.as_ref().is_some_and(|own| own.name == array.name));
    arrays.retain(|array| !special(array));
    let len = samples(path, &arrays)?;
    let layers = arrays.iter().map(|array| layer_of(path, array)).collect::<Result<Vec<Layer>>>()?;

    let (targets, origin) = match (&target, strings(path, &texts, label.arrays())?) {
        (Some(array), _) => (read_targets(path, &mut file, array)?, Some(array.name.clone())),
        (None, Some((name, words))) => (labels_of(words), Some(name)),
        (None, None) => (TableTargets::None, None),
    };
    if let (LabelColumn::Named(name), None) = (label, &origin) {
        let names: Vec<&str> = layers.iter().map(|layer| layer.name.as_str()).collect();
        let found = format!("the arrays {}", names.join(", "));
        return Err(Error::parse(path, None, format!("an array named {name} with the targets"), found));
    }
    let ids = match (&ids, strings(path, &texts, &IDS)?) {
        (Some(array), _) => Some(read_ids(path, &mut file, array)?),
        (None, words) => words.map(|(_, words)| words),
    };
    let count = match &targets {
        TableTargets::Labels(labels, _) => Some(labels.len()),
        TableTargets::Values(values, each) => Some(values.len() / each),
        TableTargets::None => None,
    };
    for (count, what) in [(count, "targets"), (ids.as_ref().map(Vec::len), "ids")] {
        if let Some(found) = count.filter(|&count| count != len) {
            let expected = format!("{len} {what}, one for each sample of {}", layers[0].name);
            return Err(Error::parse(path, None, expected, found.to_string()));
        }
    }
    let held = hold(path, &mut file, arrays)?;
    let canonical = path.canonicalize().ok();
    let source = Source::Arrays(Arrays { path: path.to_owned(), canonical, file: Mutex::new(file), layers: held });
    Ok(Layers { source, layers, len, targets, origin: origin.map(TargetOrigin::Array), ids })
}

/// Returns the number of samples, in which all layers agree.
fn samples(path: &Path, arrays: &[Stored]) -> Result<usize> {
    let wrong = |expected: &str, found: String| Err(Error::parse(path, None, expected, found));
    let Some(first) = arrays.first() else { return wrong("an array that is a layer", "none".to_owned()) };
    if arrays.iter().all(|array| array.shape.len() < 2) {
        let found = format!("{} of shape {:?}", first.name, first.shape);
        let advice =
            "a layer that is (samples, numbers); reshape one sample to (1, n), or n samples of one number to (n, 1)";
        return wrong(advice, found);
    }
    let Some(&len) = first.shape.first() else {
        return wrong("arrays whose first axis is that of the samples", format!("{} without axes", first.name));
    };
    if let Some(other) = arrays.iter().find(|array| array.shape.first() != Some(&len)) {
        let expected = format!("{len} samples of {}, as {} has", other.name, first.name);
        return wrong(&expected, format!("the shape {:?}", other.shape));
    }
    if len == 0 {
        return wrong("at least one sample", format!("{} of shape {:?}", first.name, first.shape));
    }
    Ok(len)
}

/// A list of strings, and its name.
type Strings = (String, Vec<String>);

/// Returns the strings of a list in the metadata, which is where safetensors files have text.
fn strings(path: &Path, texts: &BTreeMap<String, String>, names: &[&str]) -> Result<Option<Strings>> {
    let Some((name, text)) = names.iter().find_map(|name| texts.get_key_value(*name)) else { return Ok(None) };
    match serde_json::from_str(text) {
        Ok(words) => Ok(Some((name.clone(), words))),
        Err(_) => Err(Error::parse(path, None, format!("a list of strings in the metadata {name}"), "other text")),
    }
}

/// Reads all numbers of an array.
fn whole<T: Real>(path: &Path, file: &mut File, array: &Stored) -> Result<Vec<T>> {
    let rows = array.shape.first().copied().unwrap_or(1);
    let mut out = vec![T::from_f64(0.0); rows * array.columns()];
    match (array.member, array.begin) {
        (Some(_), _) => array.read_member(path, &mut archive(path)?, &mut out)?,
        (None, Some(_)) => array.read_rows(path, file, 0..rows, &mut |_| {}, &mut out)?,
        (None, None) => array.read_file(path, &mut out)?,
    }
    Ok(out)
}

fn read_targets(path: &Path, file: &mut File, array: &Stored) -> Result<TableTargets> {
    if array.kind.is_text() {
        return Ok(labels_of(array.read_text(path)?));
    }
    let (each, values) = (array.columns(), whole(path, file, array)?);
    if each == 0 || array.shape.is_empty() {
        let found = format!("the shape {:?}", array.shape);
        return Err(Error::parse(path, None, format!("{} with a target for each sample", array.name), found));
    }
    Ok(targets_of(array.kind, values, each))
}

fn read_ids(path: &Path, file: &mut File, array: &Stored) -> Result<Vec<String>> {
    if array.shape.len() != 1 || array.kind.is_float() {
        let found = format!("{} of shape {:?}", array.name, array.shape);
        return Err(Error::parse(path, None, "ids that are integers or text, one for each sample", found));
    }
    if array.kind.is_text() {
        return array.read_text(path);
    }
    let values: Vec<f64> = whole(path, file, array)?;
    Ok(values.iter().map(|value| format!("{value:.0}")).collect())
}

/// Reads the arrays that cannot be read in parts, and prepares the checksums of the others.
fn hold(path: &Path, file: &mut File, arrays: Vec<Stored>) -> Result<Vec<Held>> {
    let needed = arrays.iter().filter(|array| array.begin.is_none()).map(Stored::bytes).fold(0, u64::saturating_add);
    if needed > MOST_HELD {
        let advice = "write them in row-major order without compression, as numpy.savez does";
        let what = format!("bytes of arrays of {} that have to be read as a whole; {advice}", path.display());
        return Err(ErrorKind::Limit { what, needed, allowed: MOST_HELD }.into());
    }
    let each = |stored: Stored| {
        let (wide, mut sum) = (stored.kind.is_wide(), None);
        let numbers = match (stored.begin, stored.member) {
            (None, _) if wide => Some(Numbers::F64(whole(path, file, &stored)?)),
            (None, _) => Some(Numbers::F32(whole(path, file, &stored)?)),
            (Some(begin), Some(member)) => {
                // The checksum is that of the header and the elements.
                let mut header = Vec::new();
                let refused = |error| Error::io("read", path, error);
                file.seek(SeekFrom::Start(member.start)).map_err(refused)?;
                file.take(begin - member.start).read_to_end(&mut header).map_err(refused)?;
                let mut hasher = Hasher::new();
                hasher.update(&header);
                sum = Some(Sum { header: hasher.clone(), hasher, row: Some(0) });
                None
            }
            (Some(_), None) => None,
        };
        Ok(Held { stored, wide, numbers, sum: Mutex::new(sum) })
    };
    arrays.into_iter().map(each).collect()
}

impl Arrays {
    /// Returns a hasher that knows the opened file, to which [`Layers::origins`] adds the layer and the rows. If
    /// another file has the path now, the hasher still describes the opened one.
    pub(super) fn origin(&self) -> Option<KeyHasher> {
        let mut hasher = origin::hasher();
        let metadata = lock(&self.file).metadata().ok()?;
        origin::add_file(&mut hasher, self.canonical.as_ref()?, &metadata)?;
        Some(hasher)
    }

    /// Adds the place of rows of a layer in the file, unless the layer was read as a whole.
    pub(super) fn add_place(&self, layer: usize, rows: Range<usize>, hasher: &mut KeyHasher) -> Option<()> {
        let Stored { shape, kind, big, begin, .. } = &self.layers.get(layer)?.stored;
        hasher.number((*begin)?).bytes(format!("{kind:?} {big} {shape:?}").as_bytes());
        hasher.number(rows.start as u64).number(rows.end as u64);
        Some(())
    }

    pub(super) fn read(&self, layer: usize, rows: Range<usize>, made: &mut LayerRows) -> Result<()> {
        let Held { stored, wide, numbers, sum } = &self.layers[layer];
        let columns = stored.columns();
        made.lengths = None;
        if let Some(numbers) = numbers {
            made.numbers.copy(numbers, rows.start * columns..rows.end * columns);
            return Ok(());
        }
        made.numbers.resize(*wide, rows.len() * columns);
        let (mut file, mut sum) = (lock(&self.file), lock(sum));
        let in_order = sum.as_mut().is_some_and(|sum| sum.begin(rows.start));
        let mut seen = |bytes: &[u8]| {
            if let Some(sum) = sum.as_mut().filter(|_| in_order) {
                sum.hasher.update(bytes);
            }
        };
        match &mut made.numbers {
            Numbers::F32(out) => stored.read_rows(&self.path, &mut *file, rows.clone(), &mut seen, out)?,
            Numbers::F64(out) => stored.read_rows(&self.path, &mut *file, rows.clone(), &mut seen, out)?,
        }
        if let (Some(sum), Some(member)) = (sum.as_mut().filter(|_| in_order), stored.member) {
            sum.row = Some(rows.end);
            if stored.shape.first() == Some(&rows.end) && sum.hasher.clone().finalize() != member.sum {
                let found = format!("another one, so {} is damaged", stored.name);
                return Err(Error::parse(&self.path, None, "the checksum of the archive", found));
            }
        }
        Ok(())
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
