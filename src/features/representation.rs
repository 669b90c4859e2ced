//! Representations as data: their names, definitions, and how they are read.

use super::graphs::{GraphColumn, Graphs};
use super::notation::{Table, quoted, split};
use super::part::{GRAPH, Part};
use super::presets::definitions;
use super::wrong;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::series::{
    Autocorrelation, Bits, BitsColumn, Covariance, CovarianceColumn, HistogramColumn, Histograms, Moment, Moments,
    OrderColumn, Quantiles, Raw, Singular, SingularColumn, Spectrum, SpectrumColumn,
};
use crate::ops::series::{Measure, Named, SampleShape, unknown};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
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
    pub(crate) fn is_of_graphs(&self) -> bool {
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
    /// parameters as in `quantiles(q=[0.1, 0.9])`, and of files that end in `.toml` or `.json`. The name of a file that
    /// has commas or brackets is in single or double quotes.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if a name or parameter is unknown, if a value is of another type, or if two
    /// representations have one name; the errors of [`Representation::read`].
    pub fn parse_list(list: &str) -> Result<Vec<Self>> {
        let (mut made, mut names) = (Vec::new(), HashMap::new());
        for entry in split(list) {
            let path = Path::new(quoted(entry).unwrap_or(entry));
            let ending = path.extension().unwrap_or_default();
            let file = ["toml", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known));
            let own = match file {
                true => Self::read(path)?,
                false => vec![Self::parse(entry)?],
            };
            for one in own {
                if let Some(other) = names.insert(one.name.clone(), entry) {
                    let twice = format!("found {} twice, in {other} and in {entry}", one.name);
                    return Err(wrong(format!("expected each representation once, {twice}")));
                }
                made.push(one);
            }
        }
        if made.is_empty() { Err(wrong("expected at least one representation, found none")) } else { Ok(made) }
    }

    /// Reads a preset, a kind, or a kind with parameters.
    fn parse(text: &str) -> Result<Self> {
        let Some((kind, parameters)) = text.split_once('(') else { return named(text, 0) };
        let Some(parameters) = parameters.strip_suffix(')') else {
            return Err(wrong(format!("expected a closing parenthesis at the end of {text}")));
        };
        let kind = kind.trim();
        if definitions().contains_key(kind) {
            let what = format!("expected a kind before the parenthesis, found the preset `{kind}`, in {text}");
            return Err(wrong(format!("{what}; presets have no parameters")));
        }
        // The parameters are the inside of an inline table of TOML.
        let table: Result<Table, _> = toml::from_str(&format!("parameters = {{ {parameters} }}"));
        let Table(mut table) = table.map_err(|error| wrong(format!("{text}: {}", error.message())))?;
        let Some(Value::Object(mut table)) = table.remove("parameters").filter(|_| table.is_empty()) else {
            return Err(wrong(format!("expected parameters in {text}")));
        };
        if table.insert("kind".to_owned(), kind.into()).is_some() {
            return Err(wrong(format!("{text}: expected the parameters of {kind}, found `kind`")));
        }
        let part = part(table).map_err(|error| wrong(format!("{text}: {error}")))?;
        Ok(Self { name: kind.to_owned(), parts: vec![part] })
    }

    /// Makes a representation of a table as a file of representations has it under a name ([`Representation::read`]).
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if the name is empty or has another meaning already, or a name or parameter
    /// is unknown.
    pub fn define(name: &str, table: Map<String, Value>) -> Result<Self> {
        let path = Path::new(name);
        let made = of_table(path, name, Value::Object(table), 0).and_then(|made| {
            made.check_name(path)?;
            Ok(made)
        });
        made.map_err(|error| match error.kind() {
            ErrorKind::Parse { expected, found, .. } => wrong(format!("expected {expected}, found {found}")),
            _ => error,
        })
    }

    /// Reads a file of representations, in TOML or, if it ends in `.json`, in JSON: a table for each representation,
    /// under its name, with either `kind` and the parameters of this kind, or `parts`, a list of such tables or of
    /// names of presets and kinds. The name of a preset keeps its meaning, and that of a kind stands for one part of
    /// this kind.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if the file has another form, a name is empty or has another meaning already,
    /// a key occurs twice, a number is not finite, or a name or parameter is unknown;
    /// [`Io`](crate::ErrorKind::Io) if it cannot be read.
    pub fn read(path: &Path) -> Result<Vec<Self>> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let table: Result<Table, String> = if json {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        } else {
            toml::from_str(&text).map_err(|error| error.to_string().trim().to_owned())
        };
        let expected = "a table for each representation";
        let Table(table) = table.map_err(|error| Error::parse(path, None, expected, error))?;
        let each = table.into_iter().map(|(name, value)| {
            let made = of_table(path, &name, value, 0)?;
            made.check_name(path)?;
            Ok(made)
        });
        each.collect()
    }

    /// Checks that the name is not that of a preset or a kind that is something else.
    fn check_name(&self, path: &Path) -> Result<()> {
        let Self { name, parts } = self;
        let refused = |expected: &str, found: String| Err(Error::parse(path, None, expected, found));
        if name.trim().is_empty() {
            return refused("a name for every representation", format!("{name:?}"));
        }
        if definitions().contains_key(name) && named(name, 0)?.parts != *parts {
            let expected = format!("another name than that of the preset `{name}`");
            return refused(&expected, format!("`{name}` with another definition"));
        }
        let is_kind = |part: &Part| serde_json::to_value(part).is_ok_and(|value| value["kind"] == **name);
        let one = parts.len() == 1 && parts.iter().all(is_kind);
        if !one && kinds().iter().any(|kind| kind.name == name) {
            let expected = format!("another name than that of the kind `{name}`");
            return refused(&expected, format!("`{name}` with other parts"));
        }
        Ok(())
    }
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
        refused("core33(x=1)", &["the preset `core33`, in core33(x=1); presets have no parameters"]);
        refused("moments(kind='raw')", &["moments(kind='raw'): expected the parameters of moments, found `kind`"]);
        refused("moments(ddof=1, ddof=2)", &["moments(ddof=1, ddof=2)", "ddof", "duplicate key"]);
        refused("moments(}\nx = {)", &["expected parameters in moments("]);
        refused("histogram(range=[nan, 1])", &["histogram(range=[nan, 1])", "the number NaN, which is not finite"]);
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

    /// A name means one thing, in the list of an option as in a file. What features.json has can be read again.
    #[test]
    fn names_keep_their_meaning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Representation::read(&path)
        };
        for (text, part) in [
            (r#"{"": {"kind": "raw"}}"#, r#"expected a name for every representation, found """#),
            (r#"{" ": {"kind": "raw"}}"#, "expected a name for every representation"),
            (r#"{"core33": {"kind": "raw"}}"#, "the preset `core33`, found `core33` with another definition"),
            (r#"{"moments": {"kind": "raw"}}"#, "the kind `moments`, found `moments` with other parts"),
            (r#"{"raw": {"parts": ["raw", "raw"]}}"#, "the kind `raw`, found `raw` with other parts"),
            (r#"{"a": {"kind": "raw"}, "a": {"kind": "bits"}}"#, "the key `a` twice in one table"),
            (r#"{"a": {"kind": "raw", "kind": "bits"}}"#, "the key `kind` twice in one table"),
        ] {
            let error = read(text).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error:?}");
            assert!(error.to_string().contains(part) && error.to_string().contains("own.json"), "{error}");
        }
        for one in Representation::parse_list("core33,ensemble,moments(ddof=0),raw").unwrap() {
            let text = json!({one.name(): one.definition()}).to_string();
            assert_eq!(read(&text).unwrap(), [one]);
        }
        let twice = format!("moments,{}", path.display());
        std::fs::write(&path, r#"{"moments": {"kind": "moments", "ddof": 0}}"#).unwrap();
        refused(&twice, &["found moments twice, in moments and in ", "own.json"]);
    }

    #[test]
    fn files_of_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[own]\nkind = 'moments'\n";
        for (name, quote) in
            [("a,b.toml", "'"), ("it's (1), b.TOML", "\""), ("it's.Toml", ""), ("x(1).toml", ""), ("[,(.toml", "'")]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let list = format!("raw, {quote}{}{quote},bits", path.display());
            let found = Representation::parse_list(&list).expect(&list);
            assert_eq!(found.iter().map(Representation::name).collect::<Vec<_>>(), ["raw", "own", "bits"], "{list}");
        }
        let path = folder.path().join("own.JSON");
        std::fs::write(&path, r#"{"own": {"kind": "moments"}}"#).unwrap();
        assert_eq!(Representation::parse_list(path.to_str().unwrap()).unwrap()[0].name(), "own");
    }
}
