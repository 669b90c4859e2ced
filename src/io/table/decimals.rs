//! Decimal commas, which the numbers of a table may have where semicolons or tabs separate the fields.

use super::{Reader, Use};
use crate::error::Result;
use crate::io::separator::decimal;
use std::borrow::Cow;

/// The decimal marks of the inputs of a table.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The first number with a comma, as it is with a point, and its line.
    comma: Option<(u64, String)>,
    /// The first number with a point, and its line.
    point: Option<(u64, String)>,
    /// Whether a comma cannot be one between thousands.
    certain: bool,
}

/// Returns the character that separates the fields of a table, or `None` for white space. In `0,5;1,5`, the commas are
/// decimal marks.
pub(super) fn separator(first: &str) -> Option<u8> {
    let line = first.trim_start_matches('\u{feff}').trim_end();
    let decimals = |mark: &u8| {
        let mut fields = line.split(char::from(*mark)).map(|field| field.trim().trim_matches('"'));
        line.as_bytes().contains(mark) && fields.all(|field| !field.contains(',') || has_comma(field))
    };
    let present = |mark: &u8| first.as_bytes().contains(mark);
    [b';', b'\t'].into_iter().find(decimals).or_else(|| [b',', b';', b'\t'].into_iter().find(present))
}

/// Returns the field with a decimal point if it is a number with a decimal comma.
pub(super) fn with_point(field: &str) -> Cow<'_, str> {
    let inside = field.contains(',') && !field.starts_with(',') && !field.ends_with(',');
    inside.then(|| decimal(field)).flatten().map_or(Cow::Borrowed(field), Cow::Owned)
}

/// Returns whether the field is a number with a decimal comma.
pub(super) fn has_comma(field: &str) -> bool {
    matches!(with_point(field), Cow::Owned(_))
}

/// Returns whether the number would have its point between thousands if that were a comma.
fn may_be_thousands(number: &str) -> bool {
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    number.trim_start_matches(['+', '-']).split_once('.').is_some_and(|(whole, rest)| {
        (1..=3).contains(&whole.len()) && !whole.starts_with('0') && digits(whole) && rest.len() == 3 && digits(rest)
    })
}

impl Reader<'_> {
    /// Notes the decimal marks of a row of numbers, of which those with a comma are owned.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if some inputs have commas and others points: one of them may be between
    /// thousands.
    pub(super) fn note_marks(&mut self, line: u64, fields: &[Cow<'_, str>]) -> Result<()> {
        let Marks { comma, point, certain } = &mut self.marks;
        for (field, _) in fields.iter().zip(&self.uses).filter(|(_, own)| matches!(own, Use::Input | Use::Either)) {
            match field {
                Cow::Owned(number) => {
                    *certain |= !may_be_thousands(number);
                    comma.get_or_insert_with(|| (line, number.clone()));
                }
                Cow::Borrowed(number) if point.is_none() && number.contains('.') && number.parse::<f64>().is_ok() => {
                    *point = Some((line, (*number).to_owned()));
                }
                Cow::Borrowed(_) => {}
            }
        }
        let (Some((one, comma)), Some((other, point))) = (&self.marks.comma, &self.marks.point) else { return Ok(()) };
        let found = format!("{} in line {one} and {point} in line {other}", comma.replace('.', ","));
        Err(self.wrong(line, "numbers that all have decimal commas or all have decimal points", found))
    }

    /// Adds a doubt if every comma of the numbers may be one between thousands.
    pub(super) fn doubt_commas(&mut self) {
        if let (Some((line, number)), false) = (&self.marks.comma, self.marks.certain) {
            let comma = number.replace('.', ",");
            self.doubts.push(format!(
                "line {line} has {comma}, which was read as {number}: where semicolons or tabs separate the fields, \
                 commas are decimal marks"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{may_be_thousands, separator, with_point};

    #[test]
    fn commas_are_decimal_marks_between_other_separators() {
        for (line, mark) in [
            ("a,b;c\n", Some(b',')),
            ("a;b\n", Some(b';')),
            ("a\tb\n", Some(b'\t')),
            ("1 2\n", None),
            ("0,5;-1,5;c0\n", Some(b';')),
            ("\u{feff}\"0,5\";2\r\n", Some(b';')),
            ("0,5\tc0\n", Some(b'\t')),
            ("1,2,3\t\n", Some(b',')),
            ("1,2\t\n", Some(b',')),
            ("1,\t2,\t3\n", Some(b',')),
            ("1,\"a;b\",2\n", Some(b',')),
        ] {
            assert_eq!(separator(line), mark, "{line:?}");
        }
        for (field, number) in [("0,5", "0.5"), ("-1,5e-3", "-1.5e-3"), ("1,2,3", "1,2,3"), ("1.234,5", "1.234,5")] {
            assert_eq!(with_point(field), number);
        }
        for (number, thousands) in [("1.234", true), ("-12.345", true), ("0.126", false), ("1.5", false)] {
            assert_eq!(may_be_thousands(number), thousands, "{number}");
        }
    }
}
