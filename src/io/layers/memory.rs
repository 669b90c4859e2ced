//! Layers in memory.

use super::{Extent, Layer, LayerRows, Layers, Numbers, Source};
use crate::error::{Error, Result};
use crate::io::TableTargets;
use crate::io::roles::Findings;
use std::ops::Range;

/// The entries of one layer for all samples, and where those of each sample begin.
#[derive(Debug)]
pub(super) struct Memory {
    rows: LayerRows,
    /// For a ragged layer, the first number of each sample, and the number of all.
    offsets: Option<Vec<usize>>,
}

impl Memory {
    pub(super) fn read(&self, extent: Extent, rows: Range<usize>, made: &mut LayerRows) {
        let range = match &self.offsets {
            Some(offsets) => offsets[rows.start]..offsets[rows.end],
            None => rows.start * extent.numbers()..rows.end * extent.numbers(),
        };
        made.numbers.copy(&self.rows.numbers, range);
        made.lengths = self.rows.lengths.as_ref().map(|lengths| lengths[rows].to_vec());
    }
}

impl Layers {
    /// Makes a data set of layers in memory. Each has a name, the axes of a sample (none for a number, one for a
    /// vector, two for a matrix; more become one), and the numbers of all samples in row-major order. If the samples of
    /// a layer have lengths of their own, the axes are ignored.
    ///
    /// ```
    /// use fiedler::io::{Extent, LayerRows, Layers, Numbers};
    /// let rows = LayerRows { numbers: Numbers::F32(vec![1.0, 2.0, 3.0]), lengths: Some(vec![1, 2]) };
    /// let data = Layers::of_memory(vec![("x".to_owned(), vec![], rows)])?;
    /// assert_eq!((data.len(), data.layers()[0].extent), (2, Extent::Ragged { longest: 2 }));
    /// assert_eq!(data.read(&[0], 1..2)?[0].numbers, Numbers::F32(vec![2.0, 3.0]));
    /// # Ok::<(), fiedler::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if there are no layers or no samples, the numbers of samples differ, the
    /// numbers of a layer are not whole samples, or a sample has no numbers;
    /// [`Domain`](crate::ErrorKind::Domain) if two layers have one name.
    pub fn of_memory(layers: Vec<(String, Vec<usize>, LayerRows)>) -> Result<Self> {
        let wrong = |expected: String, found: String| Err(Error::shape("layers", expected, found));
        let (mut made, mut held, mut samples) = (Vec::<Layer>::new(), Vec::new(), None);
        for (name, axes, rows) in layers {
            if made.iter().any(|layer| layer.name == name) {
                return Err(Error::domain("layers", format!("expected each name once, found two layers named {name}")));
            }
            let (extent, count, offsets) = match &rows.lengths {
                Some(lengths) => {
                    let begins = std::iter::once(0).chain(lengths.iter().scan(0, |end, length| {
                        *end += length;
                        Some(*end)
                    }));
                    let offsets: Vec<usize> = begins.collect();
                    let longest = lengths.iter().copied().max().unwrap_or(0);
                    if offsets.last() != Some(&rows.numbers.len()) {
                        let expected = format!("{} numbers in {name}", offsets.last().copied().unwrap_or(0));
                        return wrong(expected, rows.numbers.len().to_string());
                    }
                    (Extent::Ragged { longest }, lengths.len(), Some(offsets))
                }
                None => {
                    let Some(extent) = Extent::of(&axes) else {
                        let expected = format!("samples of {name} with numbers");
                        return wrong(expected, format!("the axes {axes:?}"));
                    };
                    let each = extent.numbers();
                    if !rows.numbers.len().is_multiple_of(each) {
                        let expected = format!("whole samples of {each} numbers in {name}");
                        return wrong(expected, rows.numbers.len().to_string());
                    }
                    (extent, rows.numbers.len() / each, None)
                }
            };
            if extent.numbers() == 0 || count == 0 {
                return wrong(format!("samples with numbers in {name}"), "none".to_owned());
            }
            if let Some(samples) = samples.filter(|&samples| samples != count) {
                return wrong(format!("{samples} samples in {name}, as in the layers before"), count.to_string());
            }
            samples = Some(count);
            made.push(Layer { name, extent, wide: matches!(rows.numbers, Numbers::F64(_)) });
            held.push(Memory { rows, offsets });
        }
        let Some(len) = samples else { return wrong("at least one layer".to_owned(), "none".to_owned()) };
        let (source, findings) = (Source::Memory(held), Findings::default());
        Ok(Self { source, layers: made, len, targets: TableTargets::None, findings, ids: None })
    }
}

#[cfg(test)]
mod tests {
    use crate::io::{Extent, LayerRows, Layers, Numbers};

    fn layer(name: &str, axes: &[usize], count: usize) -> (String, Vec<usize>, LayerRows) {
        let numbers = Numbers::F64((0..u8::try_from(count).expect("few")).map(f64::from).collect());
        (name.to_owned(), axes.to_vec(), LayerRows { numbers, lengths: None })
    }

    #[test]
    fn samples_are_read_by_their_axes() {
        let data = Layers::of_memory(vec![layer("a", &[2, 3], 12), layer("b", &[], 2)]).expect("layers");
        let rows = data.read(&[1, 0], 1..2).expect("rows");
        assert_eq!(rows[0].numbers, Numbers::F64(vec![1.0]));
        assert_eq!(rows[1].numbers, Numbers::F64((6..12).map(f64::from).collect()));
        let images = Layers::of_memory(vec![layer("c", &[2, 2, 3], 24)]).expect("images");
        assert_eq!(images.layers()[0].extent, Extent::Vector(12));
        assert_eq!(data.origins(&[0], 0..2), [None], "no file identifies the numbers");
    }

    #[test]
    fn layers_that_do_not_fit_are_refused() {
        let ragged = |lengths: &[usize], count| {
            let (name, axes, rows) = layer("r", &[], count);
            (name, axes, LayerRows { lengths: Some(lengths.to_vec()), ..rows })
        };
        assert!(Layers::of_memory(vec![ragged(&[0, 3], 3)]).is_ok());
        for layers in [
            vec![],
            vec![layer("a", &[2], 3)],
            vec![layer("a", &[0], 0)],
            vec![layer("a", &[2], 0)],
            vec![layer("a", &[2], 4), layer("b", &[2], 6)],
            vec![layer("a", &[2], 4), layer("a", &[2], 4)],
            vec![ragged(&[1, 1], 3)],
            vec![ragged(&[0, 0], 0)],
            vec![ragged(&[], 0)],
        ] {
            let shown = format!("{layers:?}");
            assert!(Layers::of_memory(layers).is_err(), "{shown}");
        }
    }
}
