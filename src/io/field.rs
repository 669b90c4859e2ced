//! Fields of tables: whether they are numbers, and whether a row of them has the names of the columns.

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field {
    Word,
    /// A number, NaN or an infinity.
    Number(f64),
    /// A number that f64 does not hold, and what kind of number was expected instead.
    Lost(&'static str),
}

/// The digits of an integer that f64 always holds.
const EXACT_DIGITS: usize = 15;

impl Field {
    pub(super) fn of(text: &str) -> Self {
        let Ok(number) = text.parse::<f64>() else { return Self::Word };
        // Words for an infinity have no digits.
        if number.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
            return Self::Lost("a number in the range of f64");
        }
        let digits = text.trim_start_matches(['+', '-']).trim_start_matches('0');
        let integer = digits.bytes().all(|byte| byte.is_ascii_digit());
        // All digits of the float are written, so these are the same only if it is the same integer.
        if integer && digits.len() > EXACT_DIGITS && format!("{:.0}", number.abs()) != digits {
            return Self::Lost("an integer that f64 holds exactly");
        }
        Self::Number(number)
    }
}

/// Returns whether a field of labels stands for a missing one: it is empty, NaN, or a word that pandas, R or SQL write
/// there.
pub(super) fn is_missing(field: &str) -> bool {
    const WORDS: [&str; 10] = ["", "NA", "<NA>", "#N/A", "N/A", "n/a", "NULL", "null", "None", "NaT"];
    WORDS.contains(&field) || field.parse().is_ok_and(f64::is_nan)
}

/// Returns whether the first row of a table is a header: none of its fields is a number, and none is empty, but for the
/// first, which pandas and R leave empty above the names of the rows.
pub(super) fn is_header(fields: &[&str]) -> bool {
    let name = |(at, field): (usize, &&str)| Field::of(field) == Field::Word && (at == 0 || !field.is_empty());
    fields.iter().enumerate().all(name)
}

#[cfg(test)]
mod tests {
    use super::{Field, is_header};

    #[test]
    fn numbers_that_f64_does_not_hold_are_lost() {
        for (text, number) in [
            ("9007199254740992", 9_007_199_254_740_992.0),
            ("-9007199254740992", -9_007_199_254_740_992.0),
            ("+0009007199254740994", 9_007_199_254_740_994.0),
            ("1152921504606846976", 1_152_921_504_606_846_976.0),
            ("100000000000000000000", 1e20),
            ("0000000000000000000000", 0.0),
            ("0.1", 0.1),
            ("1e300", 1e300),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(Field::of(text), Field::Number(number), "{text}");
        }
        assert!(matches!(Field::of("NaN"), Field::Number(x) if x.is_nan()));
        for (text, part) in [
            ("9007199254740993", "exactly"),
            ("-9007199254740993", "exactly"),
            ("+0009007199254740993", "exactly"),
            ("100000000000000000001", "exactly"),
            ("1e400", "range"),
            ("-1e309", "range"),
        ] {
            assert!(matches!(Field::of(text), Field::Lost(what) if what.contains(part)), "{text}");
        }
        for text in ["", "x", "1x", "0x10", "--1"] {
            assert_eq!(Field::of(text), Field::Word, "{text}");
        }
    }

    #[test]
    fn a_header_has_no_number_and_no_gap() {
        for (fields, header) in [
            (&["a", "b"][..], true),
            (&["", "b"], true),
            (&["id", "class"], true),
            (&["word", "1"], false),
            (&["1", "word"], false),
            (&["a", "nan"], false),
            (&["a", "1e400"], false),
            (&["a", "", "b"], false),
            (&["", "", "cat"], false),
        ] {
            assert_eq!(is_header(fields), header, "{fields:?}");
        }
    }
}
