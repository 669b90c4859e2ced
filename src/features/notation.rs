//! How representations are written: lists of entries, and tables in TOML and JSON.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Returns the entries of a list that commas separate, but not commas within parentheses, brackets or quotes.
pub(super) fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut parts, mut open) = (0_i32, 0, Vec::new(), None);
    for (at, letter) in list.char_indices() {
        match letter {
            _ if open.is_some() => open = open.filter(|&quote| quote != letter),
            // A name may have an apostrophe.
            '\'' | '"' if depth > 0 || list[begin..at].trim().is_empty() => open = Some(letter),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[begin..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns what is between the quotes of an entry that is quoted.
pub(super) fn quoted(entry: &str) -> Option<&str> {
    ['\'', '"'].into_iter().find_map(|quote| entry.strip_prefix(quote)?.strip_suffix(quote))
}

/// A table in which every key occurs once and every number is finite. Otherwise, JSON would take the last of the
/// values, and a NaN of TOML would be no number at all.
pub(super) struct Table(pub(super) Map<String, Value>);

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match from.deserialize_any(Strict)? {
            Value::Object(table) => Ok(Self(table)),
            other => Err(D::Error::custom(format!("{other}, not a table"))),
        }
    }
}

/// Any value of a table.
struct Any(Value);

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Strict).map(Self)
    }
}

struct Strict;

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table, a list, a text, a finite number or a boolean")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).map(Value::Number);
        number.ok_or_else(|| E::custom(format!("the number {value}, which is not finite")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut made = Vec::new();
        while let Some(Any(value)) = list.next_element()? {
            made.push(value);
        }
        Ok(made.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Value, A::Error> {
        let mut made = Map::new();
        while let Some((key, Any(value))) = table.next_entry::<String, Any>()? {
            if made.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` twice in one table")));
            }
            made.insert(key, value);
        }
        Ok(made.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_divided_by_commas_outside_of_brackets_and_quotes() {
        for (list, entries) in [
            ("a, b(q=[1, 2]) ,c", &["a", "b(q=[1, 2])", "c"][..]),
            ("'x,y.toml', z", &["'x,y.toml'", "z"]),
            ("\"it's, here.toml\",z", &["\"it's, here.toml\"", "z"]),
            ("it's.toml,don't.toml", &["it's.toml", "don't.toml"]),
            ("a(x=')'),b", &["a(x=')')", "b"]),
            (" , ", &[]),
        ] {
            assert_eq!(split(list), entries, "{list}");
        }
        assert_eq!([quoted("'a'"), quoted("\"a,b\""), quoted("a'"), quoted("'")], [Some("a"), Some("a,b"), None, None]);
    }

    #[test]
    fn keys_occur_once_and_numbers_are_finite() {
        let json = |text: &str| serde_json::from_str::<Table>(text).map(|table| Value::Object(table.0));
        let text = r#"{"a": {"b": [1, -2, 0.5, true, null, "x"]}, "c": 18446744073709551615}"#;
        assert_eq!(json(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        for text in [r#"{"a": 1, "a": 1}"#, r#"{"b": [{"a": 1, "c": 2, "a": 3}]}"#] {
            let error = json(text).err().unwrap().to_string();
            assert!(error.contains("`a` twice"), "{error}");
        }
        assert!(json("[1]").err().unwrap().to_string().contains("[1], not a table"));
        for (text, found) in [("x = [1.0, nan]", "NaN"), ("x = -inf", "-inf")] {
            let error = toml::from_str::<Table>(text).err().unwrap().to_string();
            assert!(error.contains(&format!("the number {found}, which is not finite")), "{error}");
        }
    }
}
