//! A file of arrays whose first axis is that of the samples.

use super::files::Format;
use super::origin;
use super::{Layer, LayerRows, Layers, Numbers, Source, layer_of};
use crate::cache::KeyHasher;
use crate::error::{Error, ErrorKind, Result};
use crate::io::array_file::ArrayFile;
use crate::io::array_roles::ArrayRoles;
use crate::io::roles::{Findings, LabelColumn, LeftOut, Roles};
use crate::io::samples::TableTargets;
use crate::io::stored::Stored;
use crc32fast::Hasher;
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

pub(super) fn open(path: &Path, roles: Roles<'_>, values: Option<bool>) -> Result<Layers> {
    let mut file = ArrayFile::open(path)?;
    // The only array of an .npy file is the layer, whatever its name is.
    let only = Format::of(path) == Some(Format::Npy);
    let roles = if only { Roles { label: LabelColumn::None, ..roles } } else { roles };
    let mut found = ArrayRoles::find(path, &file.names(), roles, false)?;
    if only {
        (found.ids, found.layers) = (None, vec![(file.arrays[0].name.clone(), vec![0])]);
    }
    // Lists of strings that nothing asks for are metadata.
    found.layers.retain(|(_, places)| !file.is_text(places[0]));
    // Neither are arrays of text beside numbers, such as scikit-learn's names of the inputs and of the classes.
    let is_words = |at: usize| file.arrays.get(at).is_some_and(|array| array.kind.is_text());
    let layers = std::mem::take(&mut found.layers).into_iter();
    let (texts, numbers): (Vec<_>, Vec<_>) =
        layers.partition(|(name, places)| is_words(places[0]) && !roles.takes(name));
    if numbers.is_empty() {
        found.layers = texts;
    } else {
        found.layers = numbers;
        found.left_out.extend(texts.into_iter().map(|(name, _)| (name, LeftOut::Other)));
    }
    let arrays = found.layers.iter().map(|(_, places)| places.iter().map(|&at| file.array(at)).collect());
    let arrays = arrays.collect::<Result<Vec<Vec<Stored>>>>()?;
    if found.parts.is_some() {
        return of_parts(file, found, &arrays, values);
    }
    let arrays = arrays.concat();
    let len = samples(path, &arrays)?;
    let layers = arrays.iter().map(|array| layer_of(path, array)).collect::<Result<Vec<Layer>>>()?;
    let targets = match found.target.is_empty() {
        true => TableTargets::None,
        false => file.targets(&found.target, &[len], values)?,
    };
    let ids = found.ids.map(|at| file.ids(at)).transpose()?;
    if let Some(ids) = ids.as_ref().filter(|ids| ids.len() != len) {
        let expected = format!("{len} ids, one for each sample of {}", layers[0].name);
        return Err(Error::parse(path, None, expected, ids.len().to_string()));
    }
    let flattened = arrays.iter().find_map(flattened);
    let held = hold(path, &mut file, arrays)?;
    let canonical = path.canonicalize().ok();
    let file = Mutex::new(file.file);
    let source = Source::Arrays(Arrays { path: path.to_owned(), canonical, file, layers: held });
    let (target, left_out) = (found.origin, found.left_out);
    let findings = Findings { target, left_out, flattened, of_arrays: true, ..Findings::default() };
    Ok(Layers { source, layers, len, targets, findings, ids })
}

/// Reads the parts of a data set, which become one after another the samples of a layer in memory.
fn of_parts(mut file: ArrayFile, found: ArrayRoles, arrays: &[Vec<Stored>], values: Option<bool>) -> Result<Layers> {
    let Some((first, parts)) = arrays.first().zip(found.parts) else { return Layers::of_memory(Vec::new()) };
    let (name, places) = &found.layers[0];
    check_held(&file.path, first.iter())?;
    let (wide, axes) = (first.iter().any(|array| array.kind.is_wide()), first[0].shape.get(1..).unwrap_or_default());
    let (mut rows, mut counts, mut numbers) = (Vec::new(), [0; 3], (Vec::new(), Vec::new()));
    for ((array, &at), &part) in first.iter().zip(places).zip(&parts) {
        layer_of(&file.path, array)?;
        if array.shape.len() < 2 || array.shape[1..] != *axes {
            let expected = format!("{} with samples of the shape {axes:?}, as in the part before", array.name);
            return Err(Error::parse(&file.path, None, expected, format!("the shape {:?}", array.shape)));
        }
        counts[part] = array.shape[0];
        rows.push(array.shape[0]);
        if wide { numbers.1.append(&mut file.numbers(at)?) } else { numbers.0.append(&mut file.numbers(at)?) }
    }
    let numbers = if wide { Numbers::F64(numbers.1) } else { Numbers::F32(numbers.0) };
    let mut layers = Layers::of_memory(vec![(name.clone(), axes.to_vec(), LayerRows { numbers, lengths: None })])?;
    if !found.target.is_empty() {
        layers.targets = file.targets(&found.target, &rows, values)?;
    }
    layers.findings = Findings {
        target: found.origin,
        left_out: found.left_out,
        flattened: flattened(&first[0]),
        parts: (rows.len() > 1).then_some(counts),
        of_arrays: true,
        ..Findings::default()
    };
    Ok(layers)
}

/// Returns the axes of a sample of an array that becomes a row of numbers.
fn flattened(array: &Stored) -> Option<Vec<usize>> {
    array.shape.get(1..).filter(|axes| axes.len() > 2).map(<[usize]>::to_vec)
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
    let remedy = |array: &Stored| format!("; --ignore {} leaves it out", array.name);
    if let Some(scalar) = arrays.iter().find(|array| array.shape.is_empty()) {
        let found = format!("{} without axes{}", scalar.name, remedy(scalar));
        return wrong("arrays whose first axis is that of the samples", found);
    }
    let len = first.shape[0];
    if let Some(other) = arrays.iter().find(|array| array.shape[0] != len) {
        let expected = format!("{len} samples of {}, as {} has", other.name, first.name);
        return wrong(&expected, format!("the shape {:?}{}", other.shape, remedy(other)));
    }
    if len == 0 {
        return wrong("at least one sample", format!("{} of shape {:?}", first.name, first.shape));
    }
    Ok(len)
}

/// Refuses arrays that are too large to be read as a whole.
fn check_held<'a>(path: &Path, arrays: impl Iterator<Item = &'a Stored>) -> Result<()> {
    let needed = arrays.map(Stored::bytes).fold(0, u64::saturating_add);
    if needed <= MOST_HELD {
        return Ok(());
    }
    let advice = "write them in row-major order without compression, as numpy.savez does";
    let what = format!("bytes of arrays of {} that have to be read as a whole; {advice}", path.display());
    Err(ErrorKind::Limit { what, needed, allowed: MOST_HELD }.into())
}

/// Reads the arrays that cannot be read in parts, and prepares the checksums of the others.
fn hold(path: &Path, file: &mut ArrayFile, arrays: Vec<Stored>) -> Result<Vec<Held>> {
    check_held(path, arrays.iter().filter(|array| array.begin.is_none()))?;
    let each = |stored: Stored| {
        let (wide, mut sum) = (stored.kind.is_wide(), None);
        let numbers = match (stored.begin, stored.member) {
            (None, _) if wide => Some(Numbers::F64(stored.read_whole(path, &mut file.file)?)),
            (None, _) => Some(Numbers::F32(stored.read_whole(path, &mut file.file)?)),
            (Some(begin), Some(member)) => {
                // The checksum is that of the header and the elements.
                let mut header = Vec::new();
                let refused = |error| Error::io("read", path, error);
                file.file.seek(SeekFrom::Start(member.start)).map_err(refused)?;
                (&file.file).take(begin - member.start).read_to_end(&mut header).map_err(refused)?;
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
