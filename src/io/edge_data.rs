//! Parses the edge data that networkx writes after the two ids of an edge: a dictionary in Python syntax.

use super::lines::Lines;
use crate::error::Result;

/// Splits a line that ends with a dictionary into the text before the dictionary and the dictionary itself.
pub(super) fn edge_data(line: &str) -> Option<(&str, &str)> {
    if !line.ends_with('}') {
        return None;
    }
    let (ids, data) = line.split_at(line.find('{')?);
    let parted = ids.ends_with(|c: char| matches!(c, ',' | ';') || c.is_ascii_whitespace());
    parted.then(|| (ids.trim_end().trim_end_matches([',', ';']).trim_end(), data))
}

/// Returns the value of the key `weight` in a dictionary, or `None` if the dictionary is empty. Only this key counts,
/// because networkx itself uses `weight` when it builds matrices. A dictionary that has only other keys is an error.
pub(super) fn weight(lines: &Lines, data: &str) -> Result<Option<f64>> {
    let inner = data.strip_prefix('{').unwrap_or(data);
    let inner = inner.strip_suffix('}').unwrap_or(inner).trim();
    if inner.is_empty() {
        return Ok(None);
    }
    let mut rest = Some(inner);
    while let Some(all) = rest {
        let (entry, others) = cut(all, b',');
        let (key, value) = cut(entry, b':');
        if matches!(key.trim(), "'weight'" | "\"weight\"") {
            return lines.weight(value.unwrap_or("").trim().as_bytes()).map(Some);
        }
        rest = others;
    }
    let found = format!(
        "the edge data {data}, as networkx.write_edgelist writes them; with data=['weight'] it writes weights alone, with \
         data=False no data"
    );
    Err(lines.error("edge data with a weight, such as {'weight': 3.0}, or none, {}", found))
}

/// Splits the text at the first `mark` that is neither inside quotes nor inside brackets.
fn cut(text: &str, mark: u8) -> (&str, Option<&str>) {
    let (mut depth, mut quote, mut escaped) = (0_u32, None, false);
    for (place, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            // An ASCII byte is never part of a multi-byte UTF-8 sequence, so the text can be split at its position.
            _ if byte == mark && depth == 0 => return (&text[..place], Some(&text[place + 1..])),
            _ => {}
        }
    }
    (text, None)
}
