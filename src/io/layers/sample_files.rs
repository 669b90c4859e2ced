//! Files each of which is a sample: its arrays are the layers.

use super::files::{Files, Format, text};
use super::origin;
use super::{LayerRows, Layers, Numbers, Source, check_names, layer_of, targets_of};
use crate::array::Real;
use crate::cache::KeyHasher;
use crate::error::{Error, Result};
use crate::io::roles::{Findings, LabelColumn, LeftOut, Roles, TargetOrigin, is_label};
use crate::io::samples::{TableTargets, labels_of};
use crate::io::stored::{PIECE, Stored, archive, of_npy, of_npz, of_safetensors, safetensors_header};
use crate::parallel;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The samples, all of which have the arrays of the first.
#[derive(Debug)]
pub(super) struct SampleFiles {
    format: Format,
    paths: Vec<PathBuf>,
    /// The bytes before the elements of the first file. A file of the same length with the same beginning has its
    /// arrays at the same places, so its header need not be parsed. Archives have no such beginning.
    beginning: Vec<u8>,
    len: u64,
    /// The layers, then the target, if there is one, and then what is left out. A first axis of length 1 stands for the
    /// sample.
    arrays: Vec<Stored>,
    layers: usize,
    has_target: bool,
}

pub(super) fn open(files: Files, roles: Roles<'_>, values: Option<bool>) -> Result<Layers> {
    let Files { format, paths, classes } = files;
    let label = roles.label;
    let classes = classes.filter(|_| matches!(label, LabelColumn::Auto | LabelColumn::Needed));
    let first = paths[0].clone();
    let (mut arrays, beginning, len) = parsed(format, &first)?;
    check_names(&first, &arrays)?;
    let wrong = |expected: &str, found: String| Err(Error::parse(&first, None, expected, found));
    let names = || arrays.iter().map(|array| array.name.as_str()).collect::<Vec<_>>().join(", ");
    roles.check(&first)?;
    if let Some(name) = roles.take.first() {
        return wrong("files whose arrays are all taken", format!("{name} to take"));
    }
    if let Some(name) = roles.ignore.iter().find(|name| !arrays.iter().any(|array| array.name == **name)) {
        return wrong(&format!("an array named {name} to leave out"), format!("the arrays {}", names()));
    }
    // The target comes behind the layers, and what is left out after that.
    let is_target = |array: &Stored| match label {
        LabelColumn::Named(name) => array.name == name,
        LabelColumn::None => false,
        LabelColumn::Auto | LabelColumn::Needed => is_label(&array.name),
    };
    let ignored = |array: &Stored| roles.ignores(&array.name);
    let order = names();
    arrays.sort_by_key(|array| (ignored(array), is_target(array)));
    let layers = arrays.iter().take_while(|array| !is_target(array) && !ignored(array)).count();
    let kept = arrays.iter().take_while(|array| !ignored(array)).count();
    match &arrays[layers..kept] {
        [] => {
            if let LabelColumn::Named(name) = label {
                return wrong(&format!("an array named {name} with the target"), format!("the arrays {order}"));
            }
        }
        [target] if classes.is_some() => {
            return wrong("classes that are folders or an array, not both", target.name.clone());
        }
        [target] if target.columns() == 1 && !target.kind.is_text() => {}
        [target] => {
            return wrong(
                "one number as the target of a sample",
                format!("{} of {:?}", target.name, &target.shape[1..]),
            );
        }
        [one, other, ..] => return wrong("one target", format!("{} and {}", one.name, other.name)),
    }
    if layers == 0 {
        return wrong("an array that is a layer", "none".to_owned());
    }
    let all = arrays[..layers].iter().map(|array| layer_of(&first, array)).collect::<Result<Vec<_>>>()?;
    let flattened = arrays[..layers].iter().map(|array| &array.shape[1..]).find(|axes| axes.len() > 2);
    let flattened = flattened.map(<[usize]>::to_vec);
    let left_out = arrays[kept..].iter().map(|array| (array.name.clone(), LeftOut::Ignored)).collect();
    let has_target = kept > layers;
    let files = SampleFiles { format, paths, beginning, len, arrays, layers, has_target };
    let found = parallel::map(&files.paths, |_, path| files.check(path)).into_iter().collect::<Result<Vec<_>>>()?;
    let (targets, origin) = match (classes, files.target(&files.arrays)) {
        (Some(classes), _) => (labels_of(classes), Some(TargetOrigin::Folders)),
        (None, Some(target)) => {
            let targets = targets_of(target.kind, found.into_iter().flatten().collect(), values);
            (targets, Some(TargetOrigin::Array(target.name.clone())))
        }
        (None, None) => (TableTargets::None, None),
    };
    let (ids, count) = (Some(ids(&files.paths)), files.paths.len());
    let findings = Findings { target: origin, left_out, flattened, of_arrays: true, ..Findings::default() };
    Ok(Layers { layers: all, len: count, targets, findings, ids, source: Source::Samples(files) })
}

/// Returns the names of the files without their endings, and with their folders where these alone would not be unique.
fn ids(paths: &[PathBuf]) -> Vec<String> {
    let stems: Vec<String> = paths.iter().map(|path| text(path.file_stem())).collect();
    if stems.iter().collect::<BTreeSet<_>>().len() == stems.len() {
        return stems;
    }
    let folder = |path: &PathBuf| text(path.parent().and_then(Path::file_name));
    paths.iter().zip(stems).map(|(path, stem)| format!("{}/{stem}", folder(path))).collect()
}

/// Returns the arrays of a file, the bytes before its elements, and its length.
fn parsed(format: Format, path: &Path) -> Result<(Vec<Stored>, Vec<u8>, u64)> {
    let refused = |error| Error::io("read", path, error);
    let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let len = file.metadata().map_err(refused)?.len();
    let (mut arrays, beginning) = match format {
        Format::Npz => match of_npz(path)? {
            (arrays, others) if others.is_empty() => (arrays, Vec::new()),
            (_, mut others) => return Err(others.swap_remove(0).1),
        },
        Format::Safetensors => {
            let header = safetensors_header(path, &mut file, len)?;
            (of_safetensors(path, &header, len)?.0, header)
        }
        Format::Npy => {
            let array = of_npy(path, "values")?;
            let mut header = Vec::new();
            file.take(len - array.bytes()).read_to_end(&mut header).map_err(refused)?;
            (vec![array], header)
        }
    };
    for array in &mut arrays {
        array.shape.insert(0, 1);
    }
    Ok((arrays, beginning, len))
}

impl SampleFiles {
    fn target<'a>(&self, arrays: &'a [Stored]) -> Option<&'a Stored> {
        arrays.get(self.layers).filter(|_| self.has_target)
    }

    /// Checks that a file has the arrays of the first, and returns its target, if there is one.
    fn check(&self, path: &Path) -> Result<Option<f64>> {
        let refused = |error| Error::io("read", path, error);
        let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        let (len, mut beginning) = (file.metadata().map_err(refused)?.len(), Vec::new());
        (&file).take(self.beginning.len() as u64).read_to_end(&mut beginning).map_err(refused)?;
        let arrays = self.arrays_of(path, &beginning, len)?;
        let Some(target) = self.target(&arrays) else { return Ok(None) };
        let mut value = [0.0_f64];
        match target.member {
            Some(_) => target.read_member(path, &mut archive(path)?, &mut value)?,
            None => target.read_rows(path, &mut file, 0..1, &mut |_| {}, &mut value)?,
        }
        if !value[0].is_finite() {
            return Err(Error::parse(path, None, format!("a finite number as {}", target.name), value[0].to_string()));
        }
        Ok(Some(value[0]))
    }

    /// Returns the arrays of a file in the order of those of the first file.
    fn arrays_of(&self, path: &Path, beginning: &[u8], len: u64) -> Result<Cow<'_, [Stored]>> {
        if self.format != Format::Npz && len == self.len && beginning.starts_with(&self.beginning) {
            return Ok(Cow::Borrowed(&self.arrays));
        }
        let first = self.paths[0].display();
        let wrong = |expected: String, found: String| Err(Error::parse(path, None, expected, found));
        let (mut found, ..) = parsed(self.format, path)?;
        check_names(path, &found)?;
        let mut arrays = Vec::with_capacity(self.arrays.len());
        for own in &self.arrays {
            let Some(at) = found.iter().position(|array| array.name == own.name) else {
                return wrong(format!("the array {}, as in {first}", own.name), "none".to_owned());
            };
            let array = found.swap_remove(at);
            let (shape, other) = (&own.shape[1..], &array.shape[1..]);
            if shape != other {
                return wrong(
                    format!("{} of shape {shape:?}, as in {first}", own.name),
                    format!("the shape {other:?}"),
                );
            }
            if own.kind != array.kind {
                let expected = format!("{} of type {:?}, as in {first}", own.name, own.kind);
                return wrong(expected, format!("the type {:?}", array.kind));
            }
            arrays.push(array);
        }
        match found.first() {
            Some(other) => wrong(format!("no arrays but those of {first}"), other.name.clone()),
            None => Ok(Cow::Owned(arrays)),
        }
    }

    /// Returns the key of the files of samples, to which [`Layers::origins`] adds the layer.
    pub(super) fn origin(&self, rows: Range<usize>) -> Option<KeyHasher> {
        let mut hasher = origin::hasher();
        let mut last: Option<(&Path, PathBuf)> = None;
        for path in &self.paths[rows] {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            // Links in the path are followed once for all files of a folder.
            let folder = match last.take() {
                Some((known, folder)) if known == parent => folder,
                _ => parent.canonicalize().ok()?,
            };
            origin::add_file(&mut hasher, &folder.join(path.file_name()?), &path.metadata().ok()?)?;
            last = Some((parent, folder));
        }
        Some(hasher)
    }

    pub(super) fn read(&self, layers: &[usize], rows: Range<usize>, made: &mut [LayerRows]) -> Result<()> {
        for (made, &layer) in made.iter_mut().zip(layers) {
            let array = &self.arrays[layer];
            made.numbers.resize(array.kind.is_wide(), rows.len() * array.columns());
            made.lengths = None;
        }
        let mut piece = Vec::new();
        for (row, path) in self.paths[rows].iter().enumerate() {
            if self.format == Format::Npz {
                self.read_archive(path, layers, row, made)?;
            } else {
                self.read_file(path, layers, row, &mut piece, made)?;
            }
        }
        Ok(())
    }

    fn read_archive(&self, path: &Path, layers: &[usize], row: usize, made: &mut [LayerRows]) -> Result<()> {
        let arrays = self.arrays_of(path, &[], 0)?;
        let mut archive = archive(path)?;
        for (&layer, made) in layers.iter().zip(made) {
            let array = &arrays[layer];
            match &mut made.numbers {
                Numbers::F32(out) => array.read_member(path, &mut archive, row_of(array, row, out))?,
                Numbers::F64(out) => array.read_member(path, &mut archive, row_of(array, row, out))?,
            }
        }
        Ok(())
    }

    /// Reads layers of a file in the order in which they are stored. What is in the first [`PIECE`] of the file is read
    /// in one call, with the header.
    fn read_file(
        &self,
        path: &Path,
        layers: &[usize],
        row: usize,
        piece: &mut Vec<u8>,
        made: &mut [LayerRows],
    ) -> Result<()> {
        let refused = |error| Error::io("read", path, error);
        let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        let len = file.metadata().map_err(refused)?.len();
        let end = |array: &Stored| array.begin.map_or(0, |begin| begin + array.bytes());
        let last = layers.iter().map(|&layer| end(&self.arrays[layer])).max().unwrap_or(0);
        let most = last.max(self.beginning.len() as u64).min(PIECE.max(self.beginning.len()) as u64);
        piece.clear();
        (&file).take(most).read_to_end(piece).map_err(refused)?;
        let arrays = self.arrays_of(path, piece, len)?;
        let mut order: Vec<usize> = (0..layers.len()).collect();
        order.sort_by_key(|&at| arrays[layers[at]].begin);
        for at in order {
            let array = &arrays[layers[at]];
            match &mut made[at].numbers {
                Numbers::F32(out) => elements(path, &mut file, array, piece, row_of(array, row, out))?,
                Numbers::F64(out) => elements(path, &mut file, array, piece, row_of(array, row, out))?,
            }
        }
        Ok(())
    }
}

fn row_of<'a, T>(array: &Stored, row: usize, out: &'a mut [T]) -> &'a mut [T] {
    let columns = array.columns();
    &mut out[row * columns..(row + 1) * columns]
}

/// Writes the elements of an array, which may be in `piece`, the beginning of the file.
fn elements<T: Real>(path: &Path, file: &mut File, array: &Stored, piece: &[u8], out: &mut [T]) -> Result<()> {
    let Some(begin) = array.begin else { return array.read_file(path, out) };
    let bytes = usize::try_from(begin).ok().and_then(|begin| {
        let end = begin.checked_add(usize::try_from(array.bytes()).ok()?)?;
        piece.get(begin..end)
    });
    match bytes {
        Some(bytes) => array.decode(path, bytes, 0, out),
        None => array.read_rows(path, file, 0..1, &mut |_| {}, out),
    }
}
