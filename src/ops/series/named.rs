//! Lists of columns, each with a name and a formula.

/// A column of a [`Measure`](super::Measure), or several columns that belong together, or a parameter with names.
pub trait Named: Copy + PartialEq + 'static {
    /// All of them, in the order of the documentation.
    const ALL: &'static [Self];
    /// Returns the name in files and options.
    #[must_use]
    fn name(self) -> &'static str;
    /// Returns the definition.
    #[must_use]
    fn formula(self) -> &'static str;
}

/// Declares an enum that is [`Named`]: its variants with their names and formulas.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident: $text:literal, $formula:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[doc = $formula] $(#[$of])* $variant,)*
        }

        impl $crate::ops::series::Named for $name {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            fn formula(self) -> &'static str {
                match self { $(Self::$variant => $formula,)* }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str($crate::ops::series::Named::name(*self))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let name = <String as serde::Deserialize>::deserialize(from)?;
                $crate::ops::series::named::find(&name).map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Returns the one with a name, or a message with the nearest name.
pub(super) fn find<N: Named>(name: &str) -> Result<N, String> {
    let found = N::ALL.iter().copied().find(|named| named.name() == name);
    found.ok_or_else(|| unknown(name, N::ALL.iter().map(|named| named.name())))
}

/// Returns a message about a name that is none of the known ones, with the nearest of these or all of them.
pub fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let near = known.clone().map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
    match near {
        Some((distance, near)) if distance <= 1 + near.len() / 4 => format!("`{name}`; did you mean `{near}`?"),
        _ => format!("`{name}`; known are {}", known.collect::<Vec<_>>().join(", ")),
    }
}

pub(super) use named;
