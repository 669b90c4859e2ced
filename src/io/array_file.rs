//! A file of arrays that was opened, and what is read from it as a whole: targets, ids, and arrays without rows.

use super::layers::Format;
use super::roles::LeftOut;
use super::samples::{TableTargets, labels_of, no_label};
use super::stored::{Kind, Stored, archive, of_npy, of_npz, of_safetensors, safetensors_header};
use crate::array::Real;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// An open file.
#[derive(Debug)]
pub(super) struct ArrayFile {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) arrays: Vec<Stored>,
    /// The metadata of a safetensors file that are lists of strings, which is where it has text.
    texts: Vec<(String, String)>,
    /// The arrays of types that cannot be read, such as objects, with the reasons.
    refused: Vec<(String, Error)>,
}

impl ArrayFile {
    /// Opens an .npy, .npz or .safetensors file, by its ending. Two arrays of an archive may not have one name.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|error| Error::io("open", path, error))?;
        let (mut arrays, mut texts, mut refused) = (Vec::new(), BTreeMap::new(), Vec::new());
        match Format::of(path) {
            Some(Format::Npz) => (arrays, refused) = of_npz(path)?,
            Some(Format::Safetensors) => {
                let len = file.metadata().map_err(|error| Error::io("read", path, error))?.len();
                let header = safetensors_header(path, &mut file, len)?;
                (arrays, texts) = of_safetensors(path, &header, len)?;
            }
            _ => {
                let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                arrays.push(of_npy(path, &name)?);
            }
        }
        super::layers::check_names(path, &arrays)?;
        let own = |name: &String| arrays.iter().any(|array| array.name == *name);
        let texts = texts.into_iter().filter(|(name, text)| text.starts_with('[') && !own(name)).collect();
        Ok(Self { path: path.to_owned(), file, arrays, texts, refused })
    }

    /// Returns the name and the number of axes of each array: those of numbers and of text, lists of strings, and those
    /// that cannot be read.
    pub(super) fn names(&self) -> Vec<(&str, usize)> {
        let arrays = self.arrays.iter().map(|array| (array.name.as_str(), array.shape.len()));
        let texts = self.texts.iter().map(|(name, _)| (name.as_str(), 1));
        let refused = self.refused.iter().map(|(name, _)| (name.as_str(), 0));
        arrays.chain(texts).chain(refused).collect()
    }

    /// Returns whether an array has rows of numbers or text, or a reason why it cannot be read.
    pub(super) fn is_text(&self, at: usize) -> bool {
        (self.arrays.len()..self.arrays.len() + self.texts.len()).contains(&at)
    }

    /// Returns an array.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if its type cannot be read.
    pub(super) fn array(&mut self, at: usize) -> Result<Stored> {
        let before = self.arrays.len() + self.texts.len();
        match self.arrays.get(at) {
            Some(array) => Ok(array.clone()),
            None if at >= before && at - before < self.refused.len() => Err(self.refused.swap_remove(at - before).1),
            None => {
                let found = self.names().get(at).map(|(name, _)| format!("text in {name}")).unwrap_or_default();
                Err(Error::parse(&self.path, None, "an array of numbers", found))
            }
        }
    }

    /// Reads all numbers of an array.
    pub(super) fn numbers<T: Real>(&mut self, at: usize) -> Result<Vec<T>> {
        let array = self.array(at)?;
        array.read_whole(&self.path, &mut self.file)
    }

    /// Reads all strings of an array or of a list, or returns `None` if it has numbers.
    pub(super) fn words(&mut self, at: usize) -> Result<Option<Vec<String>>> {
        if self.is_text(at) {
            let (name, text) = &self.texts[at - self.arrays.len()];
            let wrong =
                |_| Error::parse(&self.path, None, format!("a list of strings in the metadata {name}"), "other text");
            return serde_json::from_str(text).map(Some).map_err(wrong);
        }
        let array = self.array(at)?;
        if array.kind.is_text() { array.read_text(&self.path).map(Some) } else { Ok(None) }
    }

    /// Returns the numbers of training, validation and test samples that an array `parts` has, as features of a divided
    /// file do. Then this array is not left out.
    pub(super) fn parts(
        &mut self,
        samples: usize,
        left_out: &mut Vec<(String, LeftOut)>,
    ) -> Result<Option<[usize; 3]>> {
        let is_own = |array: &Stored| array.name == "parts" && array.shape == [3] && !array.kind.is_float();
        let Some(at) = self.arrays.iter().position(|array| is_own(array) && !array.kind.is_text()) else {
            return Ok(None);
        };
        let counts = self.numbers::<f64>(at)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of 0 or more")]
        let counts = [0, 1, 2].map(|part| counts[part].max(0.0) as usize);
        let all = counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
        if all != Some(samples) {
            return Ok(None);
        }
        left_out.retain(|(name, _)| name != "parts");
        Ok(Some(counts))
    }

    /// Reads the ids of the samples.
    pub(super) fn ids(&mut self, at: usize) -> Result<Vec<String>> {
        if let Some(words) = self.words(at)? {
            return Ok(words);
        }
        let array = self.array(at)?;
        if array.shape.len() != 1 || array.kind.is_float() {
            let found = format!("{} of shape {:?}", array.name, array.shape);
            return Err(Error::parse(&self.path, None, "ids that are integers or text, one for each sample", found));
        }
        Ok(self.numbers::<f64>(at)?.iter().map(|value| format!("{value:.0}")).collect())
    }

    /// Reads the targets, whose arrays stand for parts of a data set with the given numbers of samples. Integers and
    /// text are labels, and floats are values, unless `values` says which they are. Numbers are labels as in a table.
    pub(super) fn targets(
        &mut self,
        places: &[usize],
        samples: &[usize],
        values: Option<bool>,
    ) -> Result<TableTargets> {
        let (mut words, mut shapes) = (Vec::new(), Vec::new());
        let mut numbers: Vec<(Kind, Vec<f64>)> = Vec::new();
        for (&at, &samples) in places.iter().zip(samples) {
            let (found, shape) = match self.words(at)? {
                Some(own) => {
                    let shape = if self.is_text(at) { vec![own.len()] } else { self.array(at)?.shape };
                    words.extend(own);
                    (None, shape)
                }
                None => (Some(self.numbers::<f64>(at)?), self.array(at)?.shape),
            };
            if shape.first() != Some(&samples) || shape[1..].contains(&0) {
                let expected = format!("{samples} targets, one for each sample");
                return Err(Error::parse(&self.path, None, expected, format!("the shape {shape:?}")));
            }
            if let Some(found) = found {
                numbers.push((self.array(at)?.kind, found));
            }
            shapes.push(shape);
        }
        let wrong = |expected: &str, found: String| Err(Error::parse(&self.path, None, expected, found));
        let of_sample = |shape: &Vec<usize>| shape[1..].iter().product::<usize>();
        let each = shapes.first().map_or(1, of_sample);
        if shapes.iter().any(|shape| of_sample(shape) != each) || !words.is_empty() && !numbers.is_empty() {
            return wrong("targets of one kind in all parts", format!("the shapes {shapes:?}"));
        }
        if !words.is_empty() {
            return match (values, each) {
                (Some(true), _) => wrong("numbers as targets", format!("words, such as {:?}", words[0])),
                (_, 1) => match no_label(words.iter().map(String::as_str)) {
                    Some((row, found)) => wrong("labels", format!("{found}, as label of sample {row}")),
                    None => Ok(labels_of(words)),
                },
                _ => wrong("one label for each sample", format!("the shape {:?}", shapes[0])),
            };
        }
        let all = numbers.iter().flat_map(|(_, own)| own);
        if let Some((at, value)) = all.enumerate().find(|(_, value)| !value.is_finite()) {
            let what = if values == Some(false) { "label" } else { "target" };
            let found = format!("{value} as {what} of sample {}", at / each);
            return wrong(&format!("finite numbers as {what}s"), found);
        }
        let floats = numbers.iter().any(|(kind, _)| kind.is_float());
        if values.unwrap_or(floats || each > 1) {
            return Ok(TableTargets::Values(numbers.into_iter().flat_map(|(_, own)| own).collect(), each));
        }
        if each != 1 {
            return wrong("one label for each sample", format!("the shape {:?}", shapes[0]));
        }
        let words = numbers.iter().flat_map(|(kind, own)| own.iter().map(move |&value| kind.word(value)));
        Ok(labels_of(words.collect()))
    }
}

impl Stored {
    /// Reads all numbers.
    pub(super) fn read_whole<T: Real>(&self, path: &Path, file: &mut File) -> Result<Vec<T>> {
        let rows = self.shape.first().copied().unwrap_or(1);
        let mut out = vec![T::from_f64(0.0); rows * self.columns()];
        match (self.member, self.begin) {
            (Some(_), _) => self.read_member(path, &mut archive(path)?, &mut out)?,
            (None, Some(_)) => self.read_rows(path, file, 0..rows, &mut |_| {}, &mut out)?,
            (None, None) => self.read_file(path, &mut out)?,
        }
        Ok(out)
    }
}
