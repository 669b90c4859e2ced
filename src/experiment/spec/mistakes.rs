//! Mistakes in experiment files: what serde says of them, with the line and the nearest known name.

use crate::error::Error;
use crate::ops::series::unknown;
use std::path::Path;

/// Returns the error of TOML about a file, with its line.
pub(in crate::experiment) fn of_toml(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count() as u64);
    let (expected, found) = in_words(error.message());
    Error::parse(path, line, expected, found)
}

/// Returns what was expected, and what was found.
pub(in crate::experiment) fn in_words(message: &str) -> (String, String) {
    for (start, expected) in [("unknown field `", "a known key"), ("unknown variant `", "a known word")] {
        if let Some((name, rest)) = message.strip_prefix(start).and_then(|rest| rest.split_once('`')) {
            // "expected one of `a`, `b`": every second part is a name.
            let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
            let found = if known.is_empty() { format!("`{name}`") } else { unknown(name, known.into_iter()) };
            return (expected.to_owned(), found);
        }
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return (format!("the key {name}"), "none".to_owned());
    }
    if let Some((found, wanted)) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    {
        return (wanted.to_owned(), found.to_owned());
    }
    ("an experiment".to_owned(), message.to_owned())
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
        assert_eq!((expected.as_str(), found.as_str()), ("f64", "string \"x\""));
    }
}
