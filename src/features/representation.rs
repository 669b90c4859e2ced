//! Representations as data: their names, definitions, and how they are read.

use super::graphs::{GraphColumn, Graphs};
use super::part::{GRAPH, Part};
use super::presets::definitions;
use super::wrong;
use crate::error::{Error, Result};
use crate::ops::series::{
    Autocorrelation, Bits, BitsColumn, Covariance, CovarianceColumn, HistogramColumn, Histograms, Moment, Moments,
    OrderColumn, Quantiles, Raw, Singular, SingularColumn, Spectrum, SpectrumColumn,
};
use crate::ops::series::{Measure, Named, SampleShape, unknown};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::path::Path;

/// The deepest nesting of representations within representations.
const DEEPEST: usize = 8;

/// Columns that belong together, under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Representation {
    name: String,
    parts: Vec<Part>,
}

/// A kind of measure: its name, what it is, its default parameters, and its columns with their formulas.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The name in definitions.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What makes its columns, with the default parameters.
    pub default: Part,
    /// The names of the columns, and their formulas; none if the parameters alone say what the columns are.
    pub columns: Vec<(&'static str, &'static str)>,
}

/// Returns all kinds of measures.
#[must_use]
pub fn kinds() -> Vec<Kind> {
    fn columns<N: Named>() -> Vec<(&'static str, &'static str)> {
        N::ALL.iter().map(|column| (column.name(), column.formula())).collect()
    }
    let kind = |name, about, default, columns| Kind { name, about, default: Part::Numbers(default), columns };
    let mut kinds = vec![
        kind(
            "raw",
            "the first numbers (`first`; 0 for all), or sum s_ij x_i / sqrt(project) with random signs s_ij",
            Measure::Raw(Raw::default()),
            Vec::new(),
        ),
        kind("moments", "sums regardless of order", Measure::Moments(Moments::default()), columns::<Moment>()),
        kind(
            "quantiles",
            "quantiles `q`, differences of two quantiles (`spreads`), and the median absolute deviation (`mad`)",
            Measure::Quantiles(Quantiles::default()),
            Vec::new(),
        ),
        kind(
            "histogram",
            "bins of equal width, between the least and the greatest number of the sample, in a common `range`, or \
             between those of the layer in training samples (range = \"fitted\")",
            Measure::Histogram(Histograms::default()),
            columns::<HistogramColumn>(),
        ),
        kind(
            "spectrum",
            "the discrete Fourier transform; of a matrix, in both dimensions",
            Measure::Spectrum(Spectrum::default()),
            columns::<SpectrumColumn>(),
        ),
        kind(
            "singular",
            "singular values and norms of a matrix; a vector is a row",
            Measure::Singular(Singular::default()),
            columns::<SingularColumn>(),
        ),
        kind(
            "covariance",
            "eigenvalues of the covariance matrix of a matrix's columns",
            Measure::Covariance(Covariance::default()),
            columns::<CovarianceColumn>(),
        ),
        kind(
            "autocorrelation",
            "what depends on the order of the numbers",
            Measure::Autocorrelation(Autocorrelation::default()),
            columns::<OrderColumn>(),
        ),
        kind("bits", "strings of zeros and ones", Measure::Bits(Bits::default()), columns::<BitsColumn>()),
    ];
    kinds.push(Kind {
        name: GRAPH,
        about: "size, Laplacian spectrum and random walk of a graph of n nodes; W = (w_ij) has the weights, D the degrees",
        default: Part::Graph(Graphs::default()),
        columns: columns::<GraphColumn>(),
    });
    kinds
}

impl Representation {
    /// Makes a representation of measures.
    #[must_use]
    pub fn new(name: &str, measures: Vec<Measure>) -> Self {
        Self { name: name.to_owned(), parts: measures.into_iter().map(Part::Numbers).collect() }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what makes the columns, in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the parts that are measures of numbers with known parameters.
    #[must_use]
    pub fn measures(&self) -> Vec<Measure> {
        let measure = |part: &Part| if let Part::Numbers(measure) = part { Some(measure.clone()) } else { None };
        self.parts.iter().filter_map(measure).collect()
    }

    /// Returns whether it has a histogram whose range is fitted.
    pub(super) fn is_fitted(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Fitted(_)))
    }

    /// Returns whether it describes graphs, and not numbers.
    pub(super) fn is_of_graphs(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Graph(_)))
    }

    /// Returns the names of the columns for samples of a shape. A name that occurs twice gets a number the second
    /// time.
    #[must_use]
    pub fn names(&self, shape: SampleShape) -> Vec<String> {
        let mut seen = HashSet::new();
        let all = self.parts.iter().flat_map(|part| part.names(shape));
        let distinct = all.map(|name| {
            let mut again = (2..).map(|number| format!("{name}_{number}"));
            let mut own = name.clone();
            while !seen.insert(own.clone()) {
                own = again.next().unwrap_or_default();
            }
            own
        });
        distinct.collect()
    }

    /// Returns the definition, which [`Representation::read`] would read again.
    #[must_use]
    pub fn definition(&self) -> Value {
        json!({ "parts": self.parts })
    }

    /// Reads representations from an option: a list, separated by commas, of presets, of kinds, of kinds with
    /// parameters as in `quantiles(q=[0.1, 0.9])`, and of files that end in `.toml` or `.json`.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a name or parameter is unknown, if a value is of another type, or if two
    /// representations have one name; the errors of [`Representation::read`].
    pub fn parse_list(list: &str) -> Result<Vec<Self>> {
        let mut made = Vec::new();
        for entry in split(list) {
            let entry = entry.trim();
            let ending = Path::new(entry).extension().and_then(|ending| ending.to_str());
            if matches!(ending, Some("toml" | "json")) && !entry.contains('(') {
                made.extend(Self::read(Path::new(entry))?);
            } else {
                made.push(Self::parse(entry)?);
            }
        }
        let mut names = HashSet::new();
        match made.iter().find(|one| !names.insert(one.name.clone())) {
            Some(twice) => Err(wrong(format!("expected each representation once, found {} twice", twice.name))),
            None if made.is_empty() => Err(wrong("expected at least one representation, found none")),
            None => Ok(made),
        }
    }

    /// Reads a preset, a kind, or a kind with parameters.
    fn parse(text: &str) -> Result<Self> {
        let Some((kind, parameters)) = text.split_once('(') else { return named(text, 0) };
        let Some(parameters) = parameters.strip_suffix(')') else {
            return Err(wrong(format!("expected a closing parenthesis at the end of {text}")));
        };
        let kind = kind.trim();
        // The parameters are the inside of an inline table of TOML.
        let table: Result<Map<String, Value>, _> = toml::from_str(&format!("parameters = {{ {parameters} }}"));
        let table = table.map_err(|error| wrong(format!("{text}: {}", error.message())))?;
        let Some(Value::Object(mut table)) = table.into_iter().next().map(|(_, value)| value) else {
            return Err(wrong(format!("expected parameters in {text}")));
        };
        table.insert("kind".to_owned(), kind.into());
        let part = part(table).map_err(|error| wrong(format!("{text}: {error}")))?;
        Ok(Self { name: kind.to_owned(), parts: vec![part] })
    }

    /// Reads a file of representations, in TOML or, if it ends in `.json`, in JSON: a table for each representation,
    /// under its name, with either `kind` and the parameters of this kind, or `parts`, a list of such tables or of
    /// names of presets and kinds.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file has another form, or a name or parameter is unknown;
    /// [`Io`](crate::ErrorKind::Io) if it cannot be read.
    pub fn read(path: &Path) -> Result<Vec<Self>> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let table: Result<Map<String, Value>, String> = if json {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        } else {
            toml::from_str(&text).map_err(|error| error.to_string().trim().to_owned())
        };
        let expected = "a table for each representation";
        let table = table.map_err(|error| Error::parse(path, None, expected, error))?;
        table.into_iter().map(|(name, value)| of_table(path, &name, value, 0)).collect()
    }
}

/// Returns the parts of a list that commas separate, but not commas within parentheses or brackets.
fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut parts) = (0_i32, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
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
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Returns a preset, or a kind with its default parameters.
fn named(name: &str, depth: usize) -> Result<Representation> {
    let presets = definitions();
    if let Some(value) = presets.get(name) {
        return of_table(Path::new("presets.toml"), name, value.clone(), depth);
    }
    let kinds = kinds();
    match kinds.iter().find(|kind| kind.name == name) {
        Some(kind) => Ok(Representation { name: name.to_owned(), parts: vec![kind.default.clone()] }),
        None => {
            let known = presets.keys().map(String::as_str).chain(kinds.iter().map(|kind| kind.name));
            Err(wrong(format!("expected a representation, found {}", unknown(name, known))))
        }
    }
}

/// Reads the table of a representation in a file.
pub(super) fn of_table(path: &Path, name: &str, value: Value, depth: usize) -> Result<Representation> {
    let refused = |found: String| Error::parse(path, None, format!("a definition of {name}"), found);
    if depth > DEEPEST {
        return Err(refused("representations that consist of each other".to_owned()));
    }
    let Value::Object(mut table) = value else { return Err(refused(format!("{value}, not a table"))) };
    table.remove("about");
    let Some(parts) = table.remove("parts") else {
        let part = part(table).map_err(refused)?;
        return Ok(Representation { name: name.to_owned(), parts: vec![part] });
    };
    if let Some(other) = table.keys().next() {
        return Err(refused(format!("`{other}` beside `parts`")));
    }
    let Value::Array(parts) = parts else { return Err(refused(format!("{parts} as `parts`, not a list"))) };
    if parts.is_empty() {
        return Err(refused("no parts".to_owned()));
    }
    let mut made = Vec::new();
    for one in parts {
        match one {
            Value::String(name) => made.extend(named(&name, depth + 1)?.parts),
            Value::Object(table) => made.push(part(table).map_err(refused)?),
            other => return Err(refused(format!("{other} as a part, neither a table nor a name"))),
        }
    }
    if made.iter().any(|part| matches!(part, Part::Graph(_)) != matches!(made[0], Part::Graph(_))) {
        return Err(refused("parts of graphs beside parts of numbers".to_owned()));
    }
    Ok(Representation { name: name.to_owned(), parts: made })
}

/// Reads a kind with its parameters, or returns what is wrong.
fn part(table: Map<String, Value>) -> Result<Part, String> {
    let kinds = kinds();
    let Some(kind) = table.get("kind") else { return Err("no `kind`".to_owned()) };
    let Some(name) = kind.as_str() else { return Err(format!("{kind} as `kind`, not a name")) };
    let Some(kind) = kinds.iter().find(|kind| kind.name == name) else {
        return Err(format!("the kind {}", unknown(name, kinds.iter().map(|kind| kind.name))));
    };
    let default = serde_json::to_value(&kind.default).unwrap_or_default();
    let known: Vec<&str> = default.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if let Some(other) = table.keys().find(|key| !known.contains(&key.as_str())) {
        let known = known.into_iter().filter(|&name| name != "kind");
        return Err(format!("the parameter {}", unknown(other, known)));
    }
    let part = Part::read(table)?;
    part.check().map_err(|error| error.to_string())?;
    if part.names(SampleShape::Vector(16)).is_empty() {
        return Err(format!("{} without columns", kind.name));
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(list: &str, parts: &[&str]) {
        let error = Representation::parse_list(list).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is not in: {error}"));
    }

    #[test]
    fn lists_of_names_kinds_and_parameters() {
        let list = "spectral, quantiles(q=[0.1, 0.9], spreads=[]), moments";
        let found = Representation::parse_list(list).unwrap();
        assert_eq!(found.iter().map(Representation::name).collect::<Vec<_>>(), ["spectral", "quantiles", "moments"]);
        assert_eq!(found[1].names(SampleShape::Vector(5)), ["q0.1", "q0.9", "mad"]);
        for representation in &found {
            let value = representation.definition();
            assert_eq!(of_table(Path::new("x"), representation.name(), value, 0).unwrap(), *representation);
        }
    }

    #[test]
    fn names_are_distinct() {
        let twice = Representation::new("x", vec![Measure::Moments(Moments::default()); 2]);
        let names = twice.names(SampleShape::Vector(3));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 32);
        assert!(names.contains(&"mean_2".to_owned()));
    }

    #[test]
    fn mistakes_are_named_with_what_is_near() {
        refused("spectrl", &["`spectrl`; did you mean `spectral`?"]);
        refused("wavelets", &["`wavelets`; known are", "moments", "core33"]);
        refused("moments(ddoff=1)", &["the parameter `ddoff`; did you mean `ddof`?"]);
        refused("moments(columns=['means'])", &["`means`; did you mean `mean`?"]);
        refused("moments(ddof='one')", &["moments(ddof='one')", "invalid type: string"]);
        refused("momentum(ddof=1)", &["the kind `momentum`"]);
        refused("moments(ddof=1", &["closing parenthesis"]);
        refused("moments(columns=[])", &["moments without columns"]);
        refused("moments,moments", &["moments twice"]);
        refused(" , ", &["found none"]);
        refused("moments(ddof=)", &["moments(ddof=)"]);
    }

    #[test]
    fn files_in_both_formats() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let toml = write("a.toml", "[own]\nkind = 'histogram'\nbins = 4\n[both]\nparts = ['own', 'info']\n");
        assert!(Representation::read(&toml).unwrap_err().to_string().contains("`own`"), "files know presets and kinds");
        let toml =
            write("b.toml", "[own]\nkind = 'histogram'\nbins = 4\ncolumns = ['shares']\n[two]\nparts = ['info']\n");
        let json = write(
            "b.json",
            r#"{"own": {"kind": "histogram", "bins": 4, "columns": ["shares"]}, "two": {"parts": ["info"]}}"#,
        );
        let found = Representation::read(&toml).unwrap();
        assert_eq!(found, Representation::read(&json).unwrap());
        assert_eq!(found[0].names(SampleShape::Vector(9)), ["share_0", "share_1", "share_2", "share_3"]);
        for (text, part) in [("[own]\nbins = 4\n", "no `kind`"), ("own = 3\n", "not a table"), ("[own\n", "own")] {
            let error = Representation::read(&write("c.toml", text)).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("c.toml"), "{error}");
        }
    }
}
