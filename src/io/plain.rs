//! Parses plain lines, as almost all lines of large files are: numbers in decimal digits, and one separator between
//! two of them. A line that is not plain is left to the reader of its format. This module therefore decides nothing
//! about a format and reports no errors; it only repeats, several times faster, what the readers do with such lines.

use super::separator::Separator;

/// The maximum number of digits of a plain number. Every such number is less than 2^63.
const DIGITS: usize = 18;
/// The maximum number of digits of a plain weight. Without its point, every such weight is less than 2^53.
const WEIGHT_DIGITS: usize = 15;
/// The powers of ten that a plain weight may be divided by.
const POWERS: [f64; WEIGHT_DIGITS] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14];

/// The bytes from the start of a line on, and the position up to which they have been parsed.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Parses two ids and, if `weighted`, a weight.
    #[inline]
    pub(super) fn edge(&mut self, separator: Separator, weighted: bool) -> Option<(u64, u64, Option<f64>)> {
        let source = self.natural()?;
        self.separator(separator)?;
        let target = self.natural()?;
        let weight = if weighted {
            self.separator(separator)?;
            Some(self.weight()?)
        } else {
            None
        };
        // A tab at the end of a line separates one more field if tabs separate the fields.
        if separator != Separator::Tab {
            self.blanks();
        }
        Some((source, target, weight))
    }

    /// Parses a natural number without leading zeros.
    #[inline]
    pub(super) fn natural(&mut self) -> Option<u64> {
        let first = *self.bytes.get(self.at)?;
        let (number, count) = self.digits(DIGITS)?;
        (first != b'0' || count == 1).then_some(number)
    }

    /// Parses the separator between two fields and the white space that is allowed around it.
    #[inline]
    pub(super) fn separator(&mut self, separator: Separator) -> Option<()> {
        match separator {
            Separator::White => self.blanks().then_some(()),
            Separator::Tab => self.byte(b'\t'),
            Separator::Comma => self.mark(b','),
            Separator::Semicolon => self.mark(b';'),
        }
    }

    /// Parses the end of the line. Returns the length of the line without its end, and with it.
    #[inline]
    pub(super) fn line_end(&mut self) -> Option<(usize, usize)> {
        let length = self.at;
        if self.byte(b'\n').is_none() {
            self.byte(b'\r')?;
            self.byte(b'\n')?;
        }
        Some((length, self.at))
    }

    /// Parses a weight that has at least one digit before the point, if there is a point, and one after it.
    #[inline]
    fn weight(&mut self) -> Option<f64> {
        let (mut number, count) = self.digits(WEIGHT_DIGITS)?;
        let mut decimals = 0;
        if self.byte(b'.').is_some() {
            let fraction;
            (fraction, decimals) = self.digits(WEIGHT_DIGITS - count)?;
            number = number * 10_u64.pow(u32::try_from(decimals).ok()?) + fraction;
        }
        // The number and the power are exact in f64, so the quotient is the f64 nearest to the weight, which is what
        // `str::parse` returns (Clinger, How to read floating point numbers accurately, 1990).
        #[expect(clippy::cast_precision_loss, reason = "less than 2^53")]
        Some(number as f64 / POWERS[decimals])
    }

    /// Parses at least one and at most `most` digits. Returns their number and their count.
    #[inline]
    fn digits(&mut self, most: usize) -> Option<(u64, usize)> {
        let (mut number, mut count) = (0, 0);
        if let Some(eight) = self.bytes[self.at..].first_chunk() {
            (number, count) = leading_digits(u64::from_le_bytes(*eight));
        }
        if count == 0 || count == 8 {
            for &byte in &self.bytes[self.at + count..] {
                let digit = byte.wrapping_sub(b'0');
                if digit > 9 || count > most {
                    break;
                }
                number = 10 * number + u64::from(digit);
                count += 1;
            }
        }
        self.at += count;
        (1..=most).contains(&count).then_some((number, count))
    }

    #[inline]
    fn mark(&mut self, mark: u8) -> Option<()> {
        self.blanks();
        self.byte(mark)?;
        self.blanks();
        Some(())
    }

    #[inline]
    fn byte(&mut self, byte: u8) -> Option<()> {
        (self.bytes.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    /// Skips spaces and tabs. Returns whether there was any.
    #[inline]
    pub(super) fn blanks(&mut self) -> bool {
        let before = self.at;
        while let Some(b' ' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.at > before
    }
}

/// Returns the number that the leading digits of eight bytes in little-endian order form, and the count of these
/// digits. All eight bytes are treated at once, which takes a third of the time of one after the other.
#[inline]
fn leading_digits(eight: u64) -> (u64, usize) {
    const ONES: u64 = u64::MAX / 255;
    // Each byte becomes its digit. The bytes of other characters become larger than 9, so that adding 0x76 sets their
    // highest bit, unless that bit was set before. A carry affects only bytes after the first such byte.
    let digits = eight ^ (ONES * 0x30);
    let others = (digits.wrapping_add(ONES * 0x76) | digits) & (ONES * 0x80);
    let count = others.trailing_zeros() as usize / 8;
    if count == 0 {
        return (0, 0);
    }
    // The digits move to the end of the eight bytes, after zeros. Then neighbors are joined: digits, pairs, fours.
    let aligned = digits << (64 - 8 * count);
    let pairs = (aligned.wrapping_mul(10) + (aligned >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let number = (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff;
    (number, count)
}

#[cfg(test)]
mod tests {
    use super::{Cursor, Separator, leading_digits};

    #[test]
    fn digits_end_at_the_first_other_byte() {
        for (text, want) in [
            ("12345678", (12_345_678, 8)),
            ("99999999", (99_999_999, 8)),
            ("00000000", (0, 8)),
            ("1234567 ", (1_234_567, 7)),
            ("90\t90\n12", (90, 2)),
            ("7,,,,,,,", (7, 1)),
            ("00012:/~", (12, 5)),
            (" 1234567", (0, 0)),
        ] {
            assert_eq!(
                leading_digits(u64::from_le_bytes(text.as_bytes().try_into().expect("eight bytes"))),
                want,
                "{text:?}"
            );
        }
        for byte in (0..=u8::MAX).filter(|byte| !byte.is_ascii_digit()) {
            for at in 0..8 {
                let mut bytes = *b"98765432";
                bytes[at] = byte;
                let number = (0..at).fold(0, |number, i| 10 * number + u64::from(bytes[i] - b'0'));
                assert_eq!(leading_digits(u64::from_le_bytes(bytes)), (number, at), "{bytes:?}");
            }
        }
    }

    fn edge(line: &str, separator: Separator) -> Option<(u64, u64, Option<f64>)> {
        let mut cursor = Cursor::new(line.as_bytes());
        let found = cursor.edge(separator, true)?;
        cursor.line_end().map(|_| found)
    }

    /// A weight has the bits that the standard library's parser gives it.
    #[test]
    fn weights_are_the_nearest_f64() {
        let mut state = 1_u64;
        let mut digits = |count: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) % 10_u64.pow(count)
        };
        for round in 0..20_000 {
            let decimals = 1 + round % 14;
            let whole = digits(15 - decimals);
            let weight = format!("{whole}.{:01$}", digits(decimals), decimals as usize);
            let plain = edge(&format!("1 2 {weight}\n"), Separator::White).expect(&weight).2.expect("a weight");
            let nearest = weight.parse::<f64>().expect("a number");
            assert_eq!(plain.to_bits(), nearest.to_bits(), "{weight}");
        }
    }

    /// Each of these lines is an error, or means something else than the numbers in it, or has no plain form. Only the
    /// reader of the format may decide that.
    #[test]
    fn other_lines_are_not_plain() {
        for line in [
            "",
            "\n",
            "1\n",
            "1 2\n",
            "1 2 3",
            "1 2 3 4\n",
            "01 2 3\n",
            "1 2 -3\n",
            "1 2 3.\n",
            "1 2 .3\n",
            "1 2 1e3\n",
            "1,2,3\n",
            "1 2 3\r",
            "1 2 3\rx\n",
            "1 2 1234567890.123456\n",
            "1234567890123456789 2 3\n",
            " 1 2 3\n",
            "# 1 2 3\n",
            "1 2 3 #\n",
            "1\u{a0}2 3\n",
            "1 2 nan\n",
            "1 2 {}\n",
            "a b 3\n",
            "+1 2 3\n",
        ] {
            assert_eq!(edge(line, Separator::White), None, "{line:?}");
        }
        for line in ["1\t2\t3\t\n", "1\t\t2\t3\n", "1 \t2\t3\n"] {
            assert_eq!(edge(line, Separator::Tab), None, "{line:?}");
        }
        for line in ["1,2,3,\n", "1,,2,3\n", "1;2,3\n", "1 2 3\n", "\"1\",2,3\n"] {
            assert_eq!(edge(line, Separator::Comma), None, "{line:?}");
        }
        assert_eq!(edge("1;2;0,5\n", Separator::Semicolon), None);
    }

    #[test]
    fn plain_lines() {
        let all = Some((0, 12, Some(0.5)));
        for (separator, lines) in [
            (Separator::White, ["0 12 0.5\n", "0\t 12\t0.50\t \r\n"]),
            (Separator::Tab, ["0\t12\t0.5\n", "0\t12\t0.5\r\n"]),
            (Separator::Comma, ["0,12,0.5\n", "0 ,\t12, 0.5 \r\n"]),
            (Separator::Semicolon, ["0;12;0.5\n", "0; 12 ;0.5\n"]),
        ] {
            for line in lines {
                assert_eq!(edge(line, separator), all, "{line:?}");
            }
        }
    }
}
