//! Parses header lines whose words name the columns of an edge list.

use std::fmt::Display;

/// Names of the source and target columns. Each name may have one of `AFFIXES` as a prefix or suffix. Names are
/// compared without regard to case and punctuation ([`bare`]).
const SOURCES: [&str; 3] = ["source", "src", "from"];
const TARGETS: [&str; 6] = ["target", "tgt", "dst", "dest", "destination", "to"];
const AFFIXES: [&str; 5] = ["nodeid", "node", "vertex", "name", "id"];

/// Names that identify the id columns only if both names of a pair occur. A pair is either a stem with the two endings
/// of a pair in `ENDS`, such as `node1` and `node2`, or a pair of letters in `LETTERS`.
const STEMS: [&str; 8] = ["node", "nodeid", "id", "vertex", "v", "user", "protein", "gene"];
const ENDS: [(&str, &str); 3] = [("1", "2"), ("0", "1"), ("a", "b")];
const LETTERS: [(&str, &str); 2] = [("u", "v"), ("i", "j")];

/// Names of the weight column other than `weight`.
const WEIGHTS: [&str; 10] =
    ["weights", "edgeweight", "wt", "value", "val", "strength", "score", "combinedscore", "similarity", "rating"];

/// Names of columns that only tables in Parquet and Arrow may have: an edge list is one graph.
const OF_TABLES: [&str; 3] = ["graph", "graphid", "numnodes"];

/// What errors expect of names of columns that contradict each other or their places.
pub(crate) const NAMED_ENDS: &str =
    "names for the columns of both ids, such as source and target, or the columns in the order source, target, weight";

/// The index that stands for a column that does not exist.
pub(crate) const NO_COLUMN: usize = usize::MAX;

/// What a header says about the columns of the rows.
#[derive(Clone, Copy)]
pub(super) enum Header {
    /// The rows have two or three columns in the order source, target, weight.
    InOrder,
    /// The rows have three columns in the order source, target, weight.
    Three,
    /// The rows have `columns` columns; `places` contains the indices of the source, the target and the weight.
    Named { columns: usize, places: [usize; 3] },
}

/// A line of words that may be a header.
pub(super) struct Words {
    /// Whether the words alone prove that the line is a header and not an edge.
    pub(super) certain: bool,
    /// Whether none of the fields is a number.
    pub(super) wordy: bool,
    /// Whether the words are names of the columns of both ids. A name such as `u` may also be an id.
    pub(super) both: bool,
    /// What the line says if it is a header. The error describes how the column names contradict each other or their
    /// positions.
    pub(super) header: Result<Header, String>,
}

impl Words {
    /// `counts` says whether a first column named `index` counts the rows before two columns that may have ids.
    pub(super) fn new(fields: &[String], counts: bool) -> Self {
        let names: Vec<String> = fields.iter().map(|field| bare(field)).collect();
        let wordy = !fields.iter().any(|field| is_number(field));
        match Roles::of(&names) {
            Ok(roles) => Self {
                certain: roles.are_certain(fields, wordy, counts),
                wordy,
                both: roles.are_both(),
                header: roles.header(fields, counts),
            },
            Err(two) => {
                Self { certain: wordy && fields.len() > 2, wordy, both: false, header: Err(twice(fields, two)) }
            }
        }
    }
}

/// The indices of the columns that have known names.
struct Roles {
    source: Option<usize>,
    target: Option<usize>,
    weight: Option<usize>,
    /// A column that a text may not have.
    of_tables: Option<usize>,
    /// Whether both id columns have names that are unlikely to be ids, such as `source` and `target`. A name such as
    /// `node1` may also be an id.
    plain: bool,
}

impl Roles {
    /// Finds the source, target and weight columns by their names. The error contains the indices of two columns that
    /// match the same role equally well.
    fn of(names: &[String]) -> Result<Self, [usize; 2]> {
        let ([source, target], plain) = ends(names)?;
        let weight = weight(names, source.is_some() && target.is_some())?;
        let of_tables = names.iter().position(|name| OF_TABLES.contains(&name.as_str()));
        Ok(Self { source, target, weight, of_tables, plain })
    }

    fn are_both(&self) -> bool {
        self.source.is_some() && self.target.is_some()
    }

    fn are_certain(&self, fields: &[String], wordy: bool, counts: bool) -> bool {
        let both = self.are_both();
        match fields.len() {
            _ if self.plain => true,
            // An edge has two ids.
            _ if self.has_index(fields, counts) || self.second_index(fields).is_some() => wordy,
            // If the line were an edge, its third field would be a weight and not a word.
            3 => wordy && (both || fields.iter().all(|field| !field.is_empty())),
            columns => columns > 3 && wordy && both,
        }
    }

    /// Returns whether an index is before the columns of the ends, whose names are not known. A column `index` is one
    /// if it counts the rows before two columns that may have ids.
    fn has_index(&self, fields: &[String], counts: bool) -> bool {
        fields.first().is_some_and(|name| is_index(name) || counts && may_be_index(name))
            && self.source.or(self.target).is_none()
            && (3..=4).contains(&fields.len())
    }

    /// Returns the name of a second index, behind another one, if the names of the ends are not known. Which columns
    /// have the ends is then not certain.
    fn second_index<'a>(&self, fields: &'a [String]) -> Option<&'a str> {
        let named = |name: &str| !name.is_empty() && (is_index(name) || may_be_index(name));
        let second = fields.get(1).filter(|name| is_index(&fields[0]) && named(name.as_str()));
        second.filter(|_| self.source.or(self.target).is_none()).map(String::as_str)
    }

    fn header(&self, fields: &[String], counts: bool) -> Result<Header, String> {
        let columns = fields.len();
        if let (Some(place), true) = (self.of_tables, self.are_both()) {
            return Err(format!("`{}`, which only a table in Parquet or Arrow may have", fields[place]));
        }
        if let Some(second) = self.second_index(fields) {
            let advice = "drop the index, or name the columns of both ids src and dst";
            let unnamed = || "a column without a name".to_owned();
            let first = if fields[0].is_empty() { unnamed() } else { format!("`{}`", fields[0]) };
            return Err(format!("`{second}` behind {first}, as if both were an index; {advice}"));
        }
        if self.has_index(fields, counts) {
            if let Some(place) = self.weight.filter(|&place| place != 3) {
                return Err(misplaced(fields, place));
            }
            let weight = fields.get(3).filter(|name| may_have_weights(name)).map_or(NO_COLUMN, |_| 3);
            return Ok(Header::Named { columns, places: [1, 2, weight] });
        }
        let in_order = match fields {
            [_, _, third] if !may_have_weights(third) => Header::Named { columns, places: [0, 1, NO_COLUMN] },
            [_, _, _] if !self.plain => Header::Three,
            _ => Header::InOrder,
        };
        if let (Some(source), Some(target)) = (self.source, self.target) {
            if (source, target) == (0, 1) && columns <= 3 {
                return Ok(in_order);
            }
            let third = third(columns, source, target).filter(|&third| may_have_weights(&fields[third]));
            let weight = self.weight.or(third).unwrap_or(NO_COLUMN);
            return Ok(Header::Named { columns, places: [source, target, weight] });
        }
        self.check_order(fields).map(|()| in_order)
    }

    /// Checks that no column has a name that contradicts the order source, target, weight.
    fn check_order(&self, fields: &[impl Display]) -> Result<(), String> {
        let mut roles = [self.source, self.target, self.weight].into_iter().enumerate();
        match roles.find_map(|(own, place)| place.filter(|&place| place != own)) {
            Some(place) => Err(misplaced(fields, place)),
            None => Ok(()),
        }
    }
}

/// Says that the column at a place has a name that belongs to another.
fn misplaced(fields: &[impl Display], place: usize) -> String {
    format!("`{}` as column {}", fields[place], place + 1)
}

/// Returns the indices of the source and target columns of a table that is no text, by the names of all its columns.
/// The error says which names contradict each other.
#[cfg(feature = "arrow")]
pub(crate) fn edge_columns(fields: &[&str]) -> Result<Option<(usize, usize)>, String> {
    let ([source, target], _) = ends(&all_bare(fields)).map_err(|two| twice(fields, two))?;
    Ok(source.zip(target))
}

/// Checks that the names of a table that is no text do not contradict the order source, target, weight.
#[cfg(feature = "arrow")]
pub(crate) fn check_order(fields: &[&str]) -> Result<(), String> {
    Roles::of(&all_bare(fields)).map_err(|two| twice(fields, two))?.check_order(fields)
}

/// Returns the index of the weight column of a table that is no text and has these source and target columns. `columns`
/// is the number of all columns, of which `fields` may lack some that have no edges. The error says which names
/// contradict each other.
#[cfg(feature = "arrow")]
pub(crate) fn weight_column(
    fields: &[&str],
    columns: usize,
    (source, target): (usize, usize),
) -> Result<Option<usize>, String> {
    let names = all_bare(fields);
    let known = ends(&names);
    let both = matches!(known, Ok(([Some(_), Some(_)], _)));
    let named = weight(&names, both).map_err(|two| twice(fields, two))?;
    let third = || third(columns, source, target).filter(|&third| may_have_weights(fields.get(third).unwrap_or(&"")));
    let weight = named.or_else(|| known.ok().and_then(|_| third()));
    Ok(weight.filter(|weight| *weight < fields.len() && ![source, target].contains(weight)))
}

/// Returns whether the names of two columns say that they are the ends of edges.
pub(crate) fn are_ends(names: [&str; 2]) -> bool {
    matches!(ends(&names.map(bare)), Ok(([Some(_), Some(_)], _)))
}

/// Returns the notice that two columns were read as the ends of edges, unless their names say that they are.
pub(super) fn ends_in_order(source: &str, target: &str) -> Option<String> {
    let words = || format!("the columns `{source}` and `{target}` were read as the ends of the edges.");
    (!are_ends([source, target])).then(words)
}

/// Returns the indices of the source and target columns that have known names, and whether both names are unlikely to
/// be ids. The error contains the indices of two columns that match one of them equally well.
fn ends(names: &[String]) -> Result<([Option<usize>; 2], bool), [usize; 2]> {
    let ends = [best(names, |name| id_rank(name, &SOURCES))?, best(names, |name| id_rank(name, &TARGETS))?];
    match (ends, pair(names)) {
        ([None, None], Some((one, other))) => Ok(([Some(one), Some(other)], false)),
        _ => Ok((ends, ends.iter().all(Option::is_some))),
    }
}

/// Returns the index of the column whose name says that it has the weights. `both` says whether names say which columns
/// have both ids.
fn weight(names: &[String], both: bool) -> Result<Option<usize>, [usize; 2]> {
    best(names, |name| match name {
        "weight" => Some(0),
        "w" if both => Some(1),
        other => WEIGHTS.contains(&other).then_some(1),
    })
}

/// Returns the index of the third of three columns, which may contain the weight even if its name is unknown.
fn third(columns: usize, source: usize, target: usize) -> Option<usize> {
    (columns == 3 && source.max(target) == 1).then_some(2)
}

/// Returns whether a name says that the column is the index of a table: none, or one that pandas makes.
pub(crate) fn is_index(name: &str) -> bool {
    name.is_empty() || name.starts_with("Unnamed: ") || name.starts_with("__index_level_")
}

/// Returns whether a name may be that of an index, or that of the sources, as in a table of nearest neighbors.
pub(crate) fn may_be_index(name: &str) -> bool {
    matches!(name, "index" | "Index")
}

/// Returns whether the third column may have the weights under this name, which says neither that it has ids, as
/// `edge_id` does, nor that it is an index. A column without a name may have them.
fn may_have_weights(name: &str) -> bool {
    let ids = matches!(bare(name).as_str(), "id" | "edgeid") || name.to_lowercase().ends_with("_id");
    name.is_empty() || !(ids || is_index(name) || may_be_index(name))
}

/// Returns whether a name leaves no doubt that the column has the weights, so that other content is an error.
pub(crate) fn is_named_weight(name: &str) -> bool {
    matches!(bare(name).as_str(), "weight" | "edgeweight")
}

/// Says that two columns have names for one role.
fn twice(fields: &[impl Display], [one, other]: [usize; 2]) -> String {
    format!("`{}` and `{}` for one column", fields[one], fields[other])
}

/// Returns whether the name of a column says that it has weights.
pub(super) fn is_weight(field: &str) -> bool {
    let name = bare(field);
    ["weight", "w"].contains(&name.as_str()) || WEIGHTS.contains(&name.as_str())
}

/// Returns the names in lower case and without punctuation.
#[cfg(feature = "arrow")]
fn all_bare(fields: &[&str]) -> Vec<String> {
    fields.iter().map(|field| bare(field)).collect()
}

/// Returns whether the field is a number, perhaps with a decimal comma or marks between thousands, and so no name.
fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok() || field.contains(',') && field.replace([',', '.'], "").parse::<f64>().is_ok()
}

/// Returns the name in lower case and without punctuation.
fn bare(field: &str) -> String {
    let mark = |c: &char| matches!(c, '_' | '-' | ' ' | '.' | '"' | '\'');
    field.chars().filter(|c| !mark(c)).flat_map(char::to_lowercase).collect()
}

/// Returns the index of the name with the lowest rank, or `None` if no name has a rank. The error contains the indices
/// of two names that share the lowest rank.
fn best(names: &[String], rank: impl Fn(&str) -> Option<u8>) -> Result<Option<usize>, [usize; 2]> {
    let ranked = names.iter().enumerate().filter_map(|(place, name)| Some((rank(name)?, place)));
    let mut ranked: Vec<(u8, usize)> = ranked.collect();
    ranked.sort_unstable();
    match ranked[..] {
        [] => Ok(None),
        [(least, one), (next, other), ..] if least == next => Err([one, other]),
        [(_, place), ..] => Ok(Some(place)),
    }
}

/// Returns the rank of a column name: 0 for a known name and 1 for a known name with an affix.
fn id_rank(name: &str, known: &[&str]) -> Option<u8> {
    let affixed = |affix: &str| {
        [name.strip_prefix(affix), name.strip_suffix(affix)].into_iter().flatten().any(|core| known.contains(&core))
    };
    if known.contains(&name) { Some(0) } else { AFFIXES.iter().any(|affix| affixed(affix)).then_some(1) }
}

/// Returns the indices of the source and target columns if their names form a known pair.
fn pair(names: &[String]) -> Option<(usize, usize)> {
    let place = |wanted: &str| names.iter().position(|name| name == wanted);
    let numbered =
        STEMS.iter().flat_map(|stem| ENDS.map(|(one, other)| (format!("{stem}{one}"), format!("{stem}{other}"))));
    let letters = LETTERS.iter().map(|&(one, other)| (one.to_owned(), other.to_owned()));
    numbered.chain(letters).find_map(|(one, other)| Some((place(&one)?, place(&other)?)))
}

/// Returns whether an id is one of a series that names of the columns of both ids may belong to: a single letter, as in
/// `u` and `v`, or a stem with a number or a letter, as in `node1` and `node2`.
pub(super) fn is_of_a_series(id: &str) -> bool {
    let name = bare(id);
    let mut letters = name.chars();
    let single = letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
    let end = |end: &str| end.len() == 1 || end.bytes().all(|byte| byte.is_ascii_digit());
    single || STEMS.iter().any(|stem| name.strip_prefix(stem).is_some_and(|rest| !rest.is_empty() && end(rest)))
}

/// Returns the notice that lists the columns that are not used. `places` contains the indices of the source, the target
/// and the weight, and perhaps those of other columns that are used.
pub(crate) fn ignored(fields: &[String], places: &[usize]) -> Option<String> {
    const SHOWN: usize = 4;
    let others = fields.iter().enumerate().filter(|(place, _)| !places.contains(place));
    let shown = |(place, name): (usize, &String)| match &name[..] {
        "" => format!("{} (without a name)", place + 1),
        name => format!("`{name}`"),
    };
    let others: Vec<String> = others.map(shown).collect();
    let columns = match &others[..] {
        [] => return None,
        [one] => format!("the column {one} was"),
        [several @ .., last] if others.len() <= SHOWN => format!("the columns {} and {last} were", several.join(", ")),
        _ => format!("the columns {} and {} more were", others[..SHOWN].join(", "), others.len() - SHOWN),
    };
    let unweighted =
        if places.get(2) == Some(&NO_COLUMN) { ", and every edge weighs 1: no column is named `weight`" } else { "" };
    Some(format!("{columns} not read{unweighted}."))
}
