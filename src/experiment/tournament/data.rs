//! Data sets of bit strings, whose short strings are text as their long ones are.

use super::NAME;
use super::strings::{GroupBy, Groups};
use crate::error::{Error, Result};
use crate::io::Layers;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// The digits of strings that [`Layers::open`] would read as numbers, so that their zeros at the front were lost. A
/// single digit is the number.
const SHORT: std::ops::Range<usize> = 2..8;

/// A data set of bit strings.
#[derive(Debug)]
pub struct BitStrings(Kind);

#[derive(Debug)]
enum Kind {
    Layers(Box<Layers>),
    Short(Short),
}

/// Lines of a few bits, perhaps with labels.
#[derive(Debug, Default)]
struct Short {
    length: usize,
    bits: Vec<u8>,
    labels: Vec<String>,
}

impl BitStrings {
    /// Opens a data set: lines of bits, perhaps with a label each, or what [`Layers::open`] reads.
    ///
    /// # Errors
    /// The errors of [`Layers::open`]; [`Parse`](crate::ErrorKind::Parse) if some lines have labels and others none.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self(match Short::read(path)? {
            Some(short) => Kind::Short(short),
            None => Kind::Layers(Box::new(Layers::open(&[path.to_owned()])?)),
        }))
    }

    /// Returns the number of strings.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a data set without samples is refused")]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Layers(layers) => layers.len(),
            Kind::Short(short) => short.bits.len() / short.length,
        }
    }

    /// Puts the strings into groups.
    ///
    /// # Errors
    /// The errors of [`Groups::read`].
    pub fn groups(&self, by: GroupBy) -> Result<Groups> {
        match &self.0 {
            Kind::Layers(layers) => Groups::read(layers, by),
            Kind::Short(short) => short.groups(by, self.len()),
        }
    }
}

impl Short {
    /// Reads a file if all of its lines are short strings of the same length; `None` if not.
    fn read(path: &Path) -> Result<Option<Self>> {
        let Ok(file) = File::open(path) else { return Ok(None) };
        let mut made = Self::default();
        for (number, line) in (1..).zip(BufReader::new(file).lines()) {
            // What is no text is another kind of file.
            let Ok(line) = line else { return Ok(None) };
            let mut words = line.split([' ', '\t', ',', ';', '\u{feff}']).filter(|word| !word.trim().is_empty());
            let Some(bits) = words.next() else { continue };
            let (label, more) = (words.next(), words.next());
            let digits = bits.bytes().all(|byte| matches!(byte, b'0' | b'1'));
            if !digits || !SHORT.contains(&bits.len()) || more.is_some() {
                return Ok(None);
            }
            let rows = made.bits.len() / made.length.max(1);
            if rows == 0 {
                made.length = bits.len();
            }
            if bits.len() != made.length {
                return Ok(None);
            }
            made.bits.extend(bits.bytes().map(|digit| digit - b'0'));
            made.labels.extend(label.map(str::to_owned));
            if ![0, rows + 1].contains(&made.labels.len()) {
                let (expected, found) = if label.is_some() { ("no label", "one") } else { ("a label", "none") };
                let expected = format!("{expected}, as in the lines before");
                return Err(Error::parse(path, Some(number), expected, found));
            }
        }
        Ok(Some(made).filter(|made| made.length > 0))
    }

    fn groups(&self, by: GroupBy, count: usize) -> Result<Groups> {
        let mut classes = self.labels.clone();
        // Numbers by their values.
        let value = |label: &String| label.parse().unwrap_or(f64::INFINITY);
        classes.sort_by(|a, b| value(a).total_cmp(&value(b)).then_with(|| a.cmp(b)));
        classes.dedup();
        #[expect(clippy::cast_possible_truncation, reason = "fewer classes than lines of a file")]
        let label = |own: &String| classes.iter().position(|class| class == own).unwrap_or(0) as u32;
        let labels: Vec<u32> = self.labels.iter().map(label).collect();
        let wrong = |what: String| Err(Error::domain(NAME, what));
        match by {
            GroupBy::Class if labels.is_empty() => {
                wrong("expected a label for each string, or a number of devices, found neither".to_owned())
            }
            GroupBy::Class => Groups::of_bits(self.length, &self.bits, &labels, classes.clone())?.with_classes(classes),
            GroupBy::Index(groups) if !(2..=count).contains(&groups) => {
                wrong(format!("expected 2 to {count} devices, the number of strings, found {groups}"))
            }
            GroupBy::Index(groups) => {
                #[expect(clippy::cast_possible_truncation, reason = "fewer groups than lines of a file")]
                let places: Vec<u32> = (0..count).map(|string| (string % groups) as u32).collect();
                let names = (0..groups).map(|place| place.to_string()).collect();
                let mut made = Groups::of_bits(self.length, &self.bits, &places, names)?;
                if !labels.is_empty() {
                    made.find_classes(groups, &labels, &classes);
                }
                Ok(made)
            }
        }
    }
}
