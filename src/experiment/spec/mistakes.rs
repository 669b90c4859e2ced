//! Mistakes in experiment files: what serde says of them, with the line and the nearest known name.

use crate::error::{Error, ErrorKind, Result};
use crate::ops::series::unknown;
use std::path::Path;

/// Returns the error of TOML about a file, with its line.
pub(in crate::experiment) fn of_toml(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let span = error.span().map(|span| span.start.min(text.len())..span.end.min(text.len()));
    let line = span.as_ref().map(|span| 1 + text[..span.start].matches('\n').count() as u64);
    let message = error.message();
    if is_wish(message) {
        let found = span.and_then(|span| text.get(span)?.lines().next()).map_or("something else", str::trim);
        return Error::parse(path, line, message, found);
    }
    let (expected, found) = in_words(message);
    Error::parse(path, line, expected, found)
}

/// Returns the error about a file whose values do not fit. "KEY: expected WHAT" becomes "WHAT for KEY", because the
/// error says "expected" itself; reasons stay at the end.
pub(in crate::experiment) fn of_domain(path: &Path, error: Error) -> Error {
    let ErrorKind::Domain { what, .. } = error.kind() else { return error };
    let (expected, found) = what.rsplit_once(", found ").unwrap_or((what, "something else"));
    let expected = match expected.split_once(": expected ") {
        Some((key, expected)) => {
            let reasons = [", because ", "; ", " ("].into_iter().filter_map(|reason| expected.find(reason)).min();
            let (wanted, reason) = expected.split_at(reasons.unwrap_or(expected.len()));
            format!("{wanted} for {key}{reason}")
        }
        None => expected.trim_start_matches("expected ").to_owned(),
    };
    Error::parse(path, None, expected, found)
}

/// Refuses numbers that are not finite, which have no meaning for any key.
///
/// # Errors
/// [`Parse`](crate::ErrorKind::Parse) with the key and the number.
pub(in crate::experiment) fn refuse_infinite(path: &Path, table: &toml::Table) -> Result<()> {
    table.iter().try_for_each(|(key, value)| refuse(path, key, value))
}

fn refuse(path: &Path, key: &str, value: &toml::Value) -> Result<()> {
    match value {
        toml::Value::Float(x) if !x.is_finite() => {
            Err(Error::parse(path, None, format!("a finite number for {key}"), x.to_string()))
        }
        toml::Value::Array(all) => all.iter().try_for_each(|one| refuse(path, key, one)),
        toml::Value::Table(table) => table.iter().try_for_each(|(inner, value)| {
            let inner = if inner.contains('.') { format!("\"{inner}\"") } else { inner.clone() };
            refuse(path, &format!("{key}.{inner}"), value)
        }),
        _ => Ok(()),
    }
}

/// Returns whether a message is what was expected, as the types of this module say it.
fn is_wish(message: &str) -> bool {
    ["a ", "the "].iter().any(|article| message.starts_with(article))
}

/// Returns what was expected, and what was found.
pub(in crate::experiment) fn in_words(message: &str) -> (String, String) {
    for (start, expected) in [("unknown field `", "a known key"), ("unknown variant `", "a known word")] {
        if let Some((name, rest)) = message.strip_prefix(start).and_then(|rest| rest.split_once('`')) {
            // "expected one of `a`, `b`": every second part is a name.
            let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
            return match known.is_empty() {
                true => ("no key beside kind".to_owned(), format!("`{name}`")),
                false => (expected.to_owned(), unknown(name, known.into_iter())),
            };
        }
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return (format!("the key {name}"), "none".to_owned());
    }
    let of_type = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    if let Some((found, wanted)) = of_type.and_then(|rest| rest.split_once(", expected ")) {
        return (of_rust(wanted), of_serde(found));
    }
    if is_wish(message) {
        return (message.to_owned(), "something else".to_owned());
    }
    ("valid TOML".to_owned(), message.to_owned())
}

/// Returns a type of Rust in words.
fn of_rust(wanted: &str) -> String {
    let words = match wanted {
        "usize" | "u64" | "u32" => "a whole number of at least 0",
        "f64" | "f32" => "a number",
        "a string" | "string" => "a text",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "a map" => "a table",
        wanted if wanted.contains("struct ") || wanted.contains("enum ") => "a table",
        wanted => wanted,
    };
    words.to_owned()
}

/// Returns what serde found in words: a value as it is written, without its type.
fn of_serde(found: &str) -> String {
    match found {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        "null" | "unit value" => "nothing".to_owned(),
        found => {
            let kinds = ["string ", "integer ", "floating point ", "boolean "];
            let value = kinds.iter().find_map(|kind| found.strip_prefix(kind)).unwrap_or(found);
            value.trim_matches('`').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn names_that_are_near_are_told() {
        let (expected, found) = in_words("unknown field `epoch`, expected one of `batch`, `epochs`");
        assert_eq!((expected.as_str(), found.as_str()), ("a known key", "`epoch`; did you mean `epochs`?"));
        let (_, found) = in_words("unknown variant `adan`, expected one of `sgd`, `adam`");
        assert_eq!(found, "`adan`; did you mean `adam`?");
        assert_eq!(in_words("missing field `name`").0, "the key `name`");
        let (expected, found) = in_words("invalid type: string \"x\", expected f64");
        assert_eq!((expected.as_str(), found.as_str()), ("a number", "\"x\""));
        for (message, wanted) in [
            ("invalid type: integer `-1`, expected usize", ["a whole number of at least 0", "-1"]),
            ("invalid type: map, expected a sequence", ["a list", "a table"]),
            ("invalid type: floating point `0.5`, expected struct OptimizerTable", ["a table", "0.5"]),
            ("unknown field `factor`, there are no fields", ["no key beside kind", "`factor`"]),
            ("a text or a list of texts", ["a text or a list of texts", "something else"]),
        ] {
            let (expected, found) = in_words(message);
            assert_eq!([expected.as_str(), found.as_str()], wanted);
        }
    }
}
