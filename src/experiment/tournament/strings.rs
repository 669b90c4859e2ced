//! Strings of bits in groups, such as the devices that made them.

use super::super::statistics::number;
use super::{HISTOGRAM, NAME, POSITIONS};
use crate::error::{Error, Result};
use crate::io::{Extent, Layers, Numbers, TableTargets};
use std::collections::BTreeSet;

/// The strings that are read at a time.
const BLOCK: usize = 1 << 16;
/// The bits of a word.
pub(super) const WORD: usize = 64;

/// Which strings are a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Those with the same label.
    Class,
    /// Those whose places in the data set, counted from 0, have the same remainder by this number, as
    /// [`Strings`](crate::features::generate::Strings) writes the strings of its devices. If all strings of each group
    /// have the same label, it is the class of the group.
    Index(usize),
}

/// Strings of bits of the same length, in groups.
///
/// ```
/// use fiedler::experiment::tournament::Groups;
///
/// // Four strings of three bits, in two groups.
/// let bits = [0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0];
/// let groups = Groups::of_bits(3, &bits, &[0, 0, 1, 1], vec!["a".to_owned(), "b".to_owned()])?;
/// assert_eq!((groups.len(), groups.strings(1), groups.share_of_ones(1)), (2, 2, 4.0 / 6.0));
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    length: usize,
    groups: Vec<Group>,
    /// Whether the strings of a group have several labels, so that no group has a class.
    mixed: bool,
}

/// The strings of a group.
#[derive(Clone, Debug, Default, PartialEq)]
struct Group {
    name: String,
    class: Option<String>,
    count: usize,
    /// The words of each string, one string after another. Bit i is bit i mod 64 of word i div 64.
    words: Vec<u64>,
}

/// The strings of a group, position by position: bit s mod 64 of word s div 64 is that of string s.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The words of a position.
    pub(super) words: usize,
    /// The positions, one after another.
    pub(super) positions: Vec<u64>,
    /// The same for the bins of the histogram of the strings' means: whether a string is in the bin.
    pub(super) bins: Vec<u64>,
}

impl Groups {
    /// Puts strings into groups. `bits` has the bits of all strings, `length` for each, and `places` the place of each
    /// string's group in `names`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if the number of bits is not `length` for each string, or a string has no name of a
    /// group; [`crate::ErrorKind::Domain`] if a bit is neither 0 nor 1, if there are fewer than two groups, or if a
    /// group has no strings.
    pub fn of_bits(length: usize, bits: &[u8], places: &[u32], names: Vec<String>) -> Result<Self> {
        if length == 0 || bits.len() != length.saturating_mul(places.len()) {
            let expected = format!("{length} bits, at least 1, for each of {} strings", places.len());
            return Err(Error::shape(NAME, expected, format!("{} bits", bits.len())));
        }
        if let Some(place) = places.iter().find(|&&place| place as usize >= names.len()) {
            return Err(Error::shape(NAME, format!("groups below {}", names.len()), format!("group {place}")));
        }
        let mut made = Self::empty(length, names);
        for (string, (bits, &place)) in bits.chunks_exact(length).zip(places).enumerate() {
            made.push(place as usize, string, bits.iter().map(|&bit| f64::from(bit)))?;
        }
        made.checked()
    }

    /// Sets the classes of the groups, one for each.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if there is another number of classes than of groups.
    pub fn with_classes(mut self, classes: Vec<String>) -> Result<Self> {
        if classes.len() != self.groups.len() {
            let expected = format!("a class for each of {} groups", self.groups.len());
            return Err(Error::shape(NAME, expected, format!("{} classes", classes.len())));
        }
        self.groups.iter_mut().zip(classes).for_each(|(group, class)| group.class = Some(class));
        Ok(self)
    }

    /// Reads all strings of a data set, whose only layer has a string of bits for each sample.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if there are several layers or the layer has no vectors, if a number is neither 0
    /// nor 1, if there are no labels that [`GroupBy::Class`] needs, if there are fewer than two groups, or if a group
    /// has no strings; the errors of [`Layers::read`].
    pub fn read(layers: &Layers, by: GroupBy) -> Result<Self> {
        let wrong = |what: String| Err(Error::domain(NAME, what));
        let [layer] = layers.layers() else {
            return wrong(format!("expected one layer, of bits, found {}", layers.layers().len()));
        };
        let Extent::Vector(length) = layer.extent else {
            return wrong(format!("expected strings of the same length in {}, found {:?}", layer.name, layer.extent));
        };
        let labels = match layers.targets() {
            TableTargets::Labels(labels, classes) => Some((labels, classes)),
            TableTargets::Values(..) | TableTargets::None => None,
        };
        let names = match (by, labels) {
            (GroupBy::Class, Some((_, classes))) => classes.clone(),
            (GroupBy::Class, None) => {
                return wrong("expected a label for each string, or a number of devices, found neither".to_owned());
            }
            (GroupBy::Index(count), _) if !(2..=layers.len()).contains(&count) => {
                return wrong(format!("expected 2 to {} devices, the number of strings, found {count}", layers.len()));
            }
            (GroupBy::Index(count), _) => (0..count).map(|place| place.to_string()).collect(),
        };
        let place = |string: usize| match (by, labels) {
            (GroupBy::Index(count), _) => string % count,
            (GroupBy::Class, labels) => labels.map_or(0, |(labels, _)| labels[string] as usize),
        };
        let mut made = Self::empty(length, names);
        for first in (0..layers.len()).step_by(BLOCK) {
            let read = layers.read(&[0], first..(first + BLOCK).min(layers.len()))?;
            let Some(rows) = read.first() else { break };
            match &rows.numbers {
                Numbers::F32(x) => {
                    made.push_all(first, place, x.chunks_exact(length).map(|x| x.iter().map(|&x| x.into())))
                }
                Numbers::F64(x) => made.push_all(first, place, x.chunks_exact(length).map(|x| x.iter().copied())),
            }?;
        }
        match (by, labels) {
            (GroupBy::Class, _) => made.groups.iter_mut().for_each(|group| group.class = Some(group.name.clone())),
            (GroupBy::Index(count), Some((labels, classes))) => made.find_classes(count, labels, classes),
            (GroupBy::Index(_), None) => {}
        }
        made.checked()
    }

    fn empty(length: usize, names: Vec<String>) -> Self {
        let groups = names.into_iter().map(|name| Group { name, ..Group::default() }).collect();
        Self { length, groups, mixed: false }
    }

    fn push_all(
        &mut self,
        first: usize,
        place: impl Fn(usize) -> usize,
        strings: impl Iterator<Item = impl Iterator<Item = f64>>,
    ) -> Result<()> {
        (first..).zip(strings).try_for_each(|(string, bits)| self.push(place(string), string, bits))
    }

    /// Adds a string to a group.
    fn push(&mut self, place: usize, string: usize, bits: impl Iterator<Item = f64>) -> Result<()> {
        let words = self.length.div_ceil(WORD);
        let group = &mut self.groups[place];
        let first = group.words.len();
        group.words.resize(first + words, 0);
        for (at, bit) in bits.enumerate() {
            // Not a test for other values, which NaN would pass.
            if !(bit == 0.0 || bit == 1.0) {
                let what = format!("expected bits, found {bit} at position {at} of string {string} (counted from 0)");
                return Err(Error::domain(NAME, what));
            }
            group.words[first + at / WORD] |= u64::from(bit == 1.0) << (at % WORD);
        }
        group.count += 1;
        Ok(())
    }

    /// Sets the classes of groups by index, if all strings of each group have the same label.
    pub(super) fn find_classes(&mut self, count: usize, labels: &[u32], classes: &[String]) {
        let of_group = |place: usize| labels.iter().skip(place).step_by(count).collect::<BTreeSet<_>>();
        let sets: Vec<_> = (0..count).map(of_group).collect();
        self.mixed = sets.iter().any(|set| set.len() != 1);
        if !self.mixed {
            for (group, set) in self.groups.iter_mut().zip(sets) {
                group.class = set.first().map(|&&label| classes[label as usize].clone());
            }
        }
    }

    fn checked(self) -> Result<Self> {
        let wrong = |what: String| Err(Error::domain(NAME, what));
        if self.groups.len() < 2 {
            return wrong(format!("expected at least two groups, found {}", self.groups.len()));
        }
        if let Some(group) = self.groups.iter().find(|group| group.count == 0) {
            return wrong(format!("expected strings of every group, found none of {}", group.name));
        }
        Ok(self)
    }

    /// Returns the number of groups.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there are at least two")]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns the number of bits of a string.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the name of a group.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    pub fn name(&self, group: usize) -> &str {
        &self.groups[group].name
    }

    /// Returns the class of a group, if it is known.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    pub fn class(&self, group: usize) -> Option<&str> {
        self.groups[group].class.as_deref()
    }

    /// Returns the number of strings of a group.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    pub fn strings(&self, group: usize) -> usize {
        self.groups[group].count
    }

    /// Returns the share of ones among all bits of a group.
    ///
    /// # Panics
    /// If there is no such group.
    #[must_use]
    pub fn share_of_ones(&self, group: usize) -> f64 {
        let Group { count, words, .. } = &self.groups[group];
        let ones: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
        number(ones) / (number(*count as u64) * number(self.length as u64))
    }

    /// Returns the share of ones at each of the first 64 positions of a group's strings.
    pub(super) fn frequencies(&self, group: usize) -> [f64; POSITIONS] {
        let Group { count, words, .. } = &self.groups[group];
        let mut counts = [0_u64; POSITIONS];
        for word in words.iter().step_by(self.length.div_ceil(WORD)) {
            counts.iter_mut().enumerate().for_each(|(at, count)| *count += word >> at & 1);
        }
        counts.map(|ones| number(ones) / number(*count as u64))
    }

    /// Returns whether the strings of a group have several labels, so that no group has a class.
    pub(super) fn is_mixed(&self) -> bool {
        self.mixed
    }

    /// Returns all pairs of groups.
    pub(super) fn pairs(&self) -> Vec<[usize; 2]> {
        let count = self.groups.len();
        (0..count).flat_map(|first| (first + 1..count).map(move |second| [first, second])).collect()
    }

    /// Checks that strings have the bits that a tournament looks at.
    pub(super) fn expect_positions(&self) -> Result<()> {
        if self.length >= POSITIONS {
            return Ok(());
        }
        let what = format!("expected strings of at least {POSITIONS} bits, found {}", self.length);
        Err(Error::domain(NAME, what))
    }

    /// Returns the words of a string.
    pub(super) fn string(&self, group: usize, string: usize) -> &[u64] {
        let words = self.length.div_ceil(WORD);
        &self.groups[group].words[string * words..][..words]
    }

    /// Returns the first 64 positions of a group's strings, and the bins of their means.
    pub(super) fn columns(&self, group: usize) -> Columns {
        let count = self.groups[group].count;
        let words = count.div_ceil(WORD);
        let (mut positions, mut bins) = (vec![0; POSITIONS * words], vec![0; HISTOGRAM * words]);
        for string in 0..count {
            let (word, bit) = (string / WORD, string % WORD);
            let bits = self.string(group, string);
            for at in 0..POSITIONS {
                positions[at * words + word] |= (bits[0] >> at & 1) << bit;
            }
            let ones: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
            bins[bin(ones, self.length) * words + word] |= 1 << bit;
        }
        Columns { words, positions, bins }
    }
}

/// Returns the bin of a mean of `length` bits. The edges are the multiples of 1/20 in f64, as those of
/// `numpy.histogram` are, so that a mean of 0.6, which is less than 12 times 0.05 there, is in the bin before 0.6.
fn bin(ones: u64, length: usize) -> usize {
    let mean = number(ones) / number(length as u64);
    let width = 1.0 / number(HISTOGRAM as u64);
    (0..HISTOGRAM).rev().find(|&bin| number(bin as u64) * width <= mean).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Groups, bin};

    #[test]
    fn bins_as_numpy_has_them() {
        let of = |ones| bin(ones, 100);
        assert_eq!([0, 4, 5, 9, 10, 50, 55, 99, 100].map(of), [0, 0, 1, 1, 2, 10, 11, 19, 19]);
        // Means that are less than the product of their edge in f64.
        assert_eq!([15, 30, 35, 60, 70].map(of), [2, 5, 6, 11, 13]);
    }

    #[test]
    fn columns_are_strings_on_their_side() {
        let (length, count) = (70, 150);
        let bits: Vec<u8> = (0..length * count).map(|i| u8::from(i * i % 7 < 3 || i % 11 == 0)).collect();
        let places: Vec<u32> = (0..count).map(|string| u32::from(string % 5 == 0)).collect();
        let groups = Groups::of_bits(length, &bits, &places, vec!["a".to_owned(), "b".to_owned()]).expect("groups");
        for group in 0..2 {
            let own = (0..count).filter(|&string| places[string] as usize == group);
            let own: Vec<&[u8]> = own.map(|string| &bits[string * length..][..length]).collect();
            let (columns, shares) = (groups.columns(group), groups.frequencies(group));
            assert_eq!(own.len(), groups.strings(group));
            for (string, bits) in own.iter().enumerate() {
                let at =
                    |position: usize| columns.positions[position * columns.words + string / 64] >> (string % 64) & 1;
                assert!((0..64).all(|position| at(position) == u64::from(bits[position])));
                let ones = bits.iter().map(|&bit| u64::from(bit)).sum();
                let within = |bin: usize| columns.bins[bin * columns.words + string / 64] >> (string % 64) & 1 == 1;
                assert!((0..20).all(|place| within(place) == (place == bin(ones, length))));
            }
            for (position, share) in shares.iter().enumerate() {
                let ones = own.iter().filter(|bits| bits[position] == 1).count();
                assert_eq!(*share, ones as f64 / own.len() as f64);
            }
        }
    }
}
