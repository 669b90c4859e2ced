//! The configurations of an experiment, and its runs: rows with ids that depend on nothing but the row.

use super::spec::{OptimizerTable, Settings, Spec, SplitBy, in_words, wrong};
use crate::cache::KeyHasher;
use crate::error::Result;
use crate::ops::series::unknown;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// A description of the content of ids. A change that may alter any bit of any result requires a new one.
const DOMAIN: &str = "fiedler 2026-11-26 row of an experiment";
/// The most runs of an experiment.
const MOST: usize = 1 << 20;
/// The factor of the representations, and that of the layers.
pub(super) const FEATURES: &str = "features";
pub(super) const LAYERS: &str = "layers";

/// A configuration: what the runs of all seeds and folds share.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The value of each factor: `features`, `layers`, and the keys of the grid.
    pub factors: BTreeMap<String, Value>,
    /// The model and its training.
    pub settings: Settings,
}

/// A run: a configuration with a seed and, with folds, the fold that is its test set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The hash of everything that decides the result of the run but the numbers of the data set.
    pub id: String,
    /// The place of the configuration.
    #[serde(skip)]
    pub cell: usize,
    /// The seed.
    pub seed: u64,
    /// The fold, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<usize>,
}

impl Cell {
    /// Returns the value of a factor as text.
    #[must_use]
    pub fn value(&self, factor: &str) -> String {
        self.factors.get(factor).map_or_else(String::new, shown)
    }

    /// Returns the values of the given factors as text.
    #[must_use]
    pub fn name(&self, factors: &[String]) -> String {
        let of = |factor: &String| match [FEATURES, LAYERS].contains(&factor.as_str()) {
            true => self.value(factor),
            false => format!("{} {}", factor.rsplit('.').next().unwrap_or(factor), self.value(factor)),
        };
        factors.iter().map(of).collect::<Vec<_>>().join(", ")
    }
}

/// Returns a value of a factor as text, without quotes. A table is its kind, with the names and values of its other
/// keys.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(table) => {
            let kind = table.get("kind").map(shown);
            let others = table.iter().filter(|(key, _)| *key != "kind");
            let others = others.map(|(key, value)| format!("{key} {}", shown(value)));
            kind.into_iter().chain(others).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// Returns the names of the factors that have several values, `features` and `layers` first. An experiment without any
/// is described by its features.
pub(super) fn factors(spec: &Spec) -> Result<Vec<String>> {
    let mut names = Vec::new();
    if spec.representations()?.len() > 1 {
        names.push(FEATURES.to_owned());
    }
    if spec.data.layers.len() > 1 {
        names.push(LAYERS.to_owned());
    }
    names.extend(spec.grid.iter().filter(|(_, values)| values.len() > 1).map(|(key, _)| key.clone()));
    if names.is_empty() {
        names.push(FEATURES.to_owned());
    }
    Ok(names)
}

/// Returns the configurations: for each representation, for each choice of layers, every combination of the grid.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) if the grid has an unknown key, no value or the same value twice, if settings
/// are invalid, or if there are too many runs.
pub(super) fn cells(spec: &Spec) -> Result<Vec<Cell>> {
    let combinations = combinations(spec)?;
    let mut cells = Vec::new();
    for representation in spec.representations()? {
        for layers in spec.data.layers.keys() {
            for (values, settings) in &combinations {
                let mut factors = values.clone();
                factors.insert(FEATURES.to_owned(), representation.name().into());
                factors.insert(LAYERS.to_owned(), layers.clone().into());
                cells.push(Cell { factors, settings: settings.clone() });
            }
        }
    }
    let each = spec.experiment.repeats.saturating_mul(spec.data.split.folds.unwrap_or(1));
    if cells.len().saturating_mul(each) > MOST {
        let found = cells.len().saturating_mul(each);
        return Err(wrong(format!("grid: expected at most {MOST} runs, found {found}")));
    }
    Ok(cells)
}

/// Returns every combination of the values of the grid, with the settings that it makes.
fn combinations(spec: &Spec) -> Result<Vec<(BTreeMap<String, Value>, Settings)>> {
    let mut made = vec![(BTreeMap::new(), json!(spec.settings()))];
    for (key, values) in &spec.grid {
        if values.is_empty() {
            return Err(wrong(format!("grid.\"{key}\": expected at least one value, found none")));
        }
        if let Some(twice) = values.iter().enumerate().find(|(place, value)| values[..*place].contains(value)) {
            return Err(wrong(format!("grid.\"{key}\": expected different values, found {} twice", shown(twice.1))));
        }
        let mut more = Vec::with_capacity(made.len() * values.len());
        for (factors, settings) in &made {
            for value in values {
                let (mut factors, mut settings) = (factors.clone(), settings.clone());
                factors.insert(key.clone(), value.clone());
                set(&mut settings, key, value)?;
                serde_json::from_value::<Settings>(settings.clone()).map_err(|error| {
                    let (expected, found) = in_words(&error.to_string());
                    wrong(format!("grid.\"{key}\": expected {expected}, found {found}"))
                })?;
                more.push((factors, settings));
            }
        }
        if more.len() > MOST {
            return Err(wrong(format!("grid: expected at most {MOST} combinations, found more")));
        }
        made = more;
    }
    let complete = |(factors, value): (BTreeMap<String, Value>, Value)| {
        let settings = Settings::of_value(value).map_err(|error| error.within("grid"))?;
        Ok((factors, settings))
    };
    let made: Vec<(BTreeMap<String, Value>, Settings)> = made.into_iter().map(complete).collect::<Result<_>>()?;
    refuse_twins(&made)?;
    Ok(made)
}

/// Refuses combinations of different values that make the same settings, such as 1 and 1.0.
fn refuse_twins(made: &[(BTreeMap<String, Value>, Settings)]) -> Result<()> {
    let mut seen = HashMap::new();
    for (values, settings) in made {
        let twin: Option<&BTreeMap<String, Value>> = seen.insert(json!(settings).to_string(), values);
        let differing = twin.and_then(|twin| values.iter().find(|(key, value)| twin[*key] != **value).zip(Some(twin)));
        if let Some(((key, value), twin)) = differing {
            let (one, other) = (shown(&twin[key]), shown(value));
            return Err(wrong(format!("grid.\"{key}\": expected different values, found {one} and {other}")));
        }
    }
    Ok(())
}

/// Sets the value of a key such as `train.optimizer.lr`.
fn set(settings: &mut Value, key: &str, value: &Value) -> Result<()> {
    let mut place = settings;
    for (depth, part) in key.split('.').enumerate() {
        let place_is_optimizer = depth == 2 && key.starts_with("train.optimizer.");
        let known = |table: &Map<String, Value>| {
            // Options that are not set are left out when settings are written.
            let optional: &[&str] = match (table.contains_key("batch"), place_is_optimizer) {
                (true, _) => &["clip", "stop"],
                (false, true) => &OptimizerTable::NAMES,
                (false, false) => &[],
            };
            let mut names: Vec<&str> = table.keys().map(String::as_str).chain(optional.iter().copied()).collect();
            names.sort_unstable();
            names.dedup();
            (!names.contains(&part)).then(|| unknown(part, names.into_iter()))
        };
        let Value::Object(table) = place else {
            return Err(wrong(format!("grid: expected a key with a value, found \"{key}\"")));
        };
        if let Some(found) = known(table) {
            return Err(wrong(format!("grid.\"{key}\": expected a known key, found {found}")));
        }
        place = table.entry(part).or_insert(Value::Null);
    }
    *place = value.clone();
    Ok(())
}

/// Returns the runs of all configurations: those of a configuration are adjacent, by seed and by fold.
pub(super) fn rows(spec: &Spec, cells: &[Cell]) -> Result<Vec<Row>> {
    let definitions: BTreeMap<String, Value> =
        spec.representations()?.into_iter().map(|one| (one.name().to_owned(), one.definition())).collect();
    let folds: Vec<Option<usize>> = spec.data.split.folds.map_or_else(|| vec![None], |n| (0..n).map(Some).collect());
    let mut rows = Vec::new();
    for (place, cell) in cells.iter().enumerate() {
        let features = cell.value(FEATURES);
        let layers = spec.data.layers.get(&cell.value(LAYERS)).map(super::spec::Patterns::as_slice);
        let shared = json!({
            "features": definitions.get(&features),
            // The name is in the names of columns, but not in their numbers.
            "layers": layers,
            "settings": cell.settings,
            "shares": spec.shares(),
            "split seed": spec.data.split.seed.filter(|_| spec.data.split.by == SplitBy::Fixed),
            "folds": spec.data.split.folds,
            "rows": spec.data.rows,
            "generated": spec.data.generate,
            "undefined": spec.data.undefined,
            "label": spec.data.label,
        });
        let shared = shared.to_string();
        for repeat in 0..spec.experiment.repeats as u64 {
            let seed = spec.experiment.seed.wrapping_add(repeat);
            for &fold in &folds {
                let mut hasher = KeyHasher::new(DOMAIN);
                hasher.bytes(shared.as_bytes()).number(seed).number(fold.map_or(0, |fold| 1 + fold as u64));
                let id = hasher.finish().to_string()[..16].to_owned();
                rows.push(Row { id, cell: place, seed, fold });
            }
        }
    }
    Ok(rows)
}

/// A comparison of two configurations that differ in one factor only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) factor: String,
    /// The place of the configuration with the baseline's value, and of the other one.
    pub(super) baseline: usize,
    pub(super) other: usize,
}

/// Returns all comparisons. A comparison is between a configuration and its baseline. The baseline has the same values
/// of all factors but one, of which it has the baseline's value.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) if there is no such factor or value, or a factor has one value only.
pub(super) fn compared(spec: &Spec) -> Result<Vec<Compared>> {
    let cells = cells(spec)?;
    let mut made = Vec::new();
    let mut wanted = spec.compare.baseline.as_ref();
    for factor in &spec.compare.by {
        let mut values: Vec<&Value> = Vec::new();
        for cell in &cells {
            match cell.factors.get(factor) {
                Some(value) if !values.contains(&value) => values.push(value),
                Some(_) => {}
                None => {
                    let names: Vec<&str> = cell.factors.keys().map(String::as_str).collect();
                    let found = unknown(factor, names.into_iter());
                    return Err(wrong(format!(
                        "compare.by: expected features, layers or a key of the grid, found {found}"
                    )));
                }
            }
        }
        if values.len() < 2 {
            return Err(wrong(format!("compare.by: expected a factor with several values, found {factor}")));
        }
        let given = wanted.filter(|value| values.contains(value));
        if given.is_some() {
            wanted = None;
        }
        let baseline = given.unwrap_or(values[0]).clone();
        for (other, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.factors[factor] != baseline) {
            let alike = |candidate: &Cell| {
                candidate.factors.iter().all(|(name, value)| {
                    if name == factor { *value == baseline } else { cell.factors.get(name) == Some(value) }
                })
            };
            if let Some(baseline) = cells.iter().position(alike) {
                made.push(Compared { factor: factor.clone(), baseline, other });
            }
        }
    }
    if let Some(wanted) = wanted {
        let found = shown(wanted);
        return Err(wrong(format!("compare.baseline: expected a value of a factor in compare.by, found {found}")));
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn spec(text: &str) -> Result<Spec> {
        Spec::parse(text, Path::new("x.toml"), Path::new("."))
    }

    const BASE: &str =
        "experiment = { name = 'a', repeats = 3 }\ndata.source = 'x.csv'\nfeatures = ['stats', 'moments']\n";

    #[test]
    fn a_new_value_of_the_grid_keeps_the_ids_of_the_others() {
        let ids = |grid: &str| {
            let spec = spec(&format!("{BASE}{grid}")).unwrap();
            rows(&spec, &cells(&spec).unwrap()).unwrap().into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        let few = ids("[grid]\n'train.optimizer.lr' = [0.1]\n");
        let more = ids("[grid]\n'train.optimizer.lr' = [0.1, 0.2]\n");
        assert_eq!((few.len(), more.len()), (6, 12));
        assert!(few.iter().all(|id| more.contains(id)));
        // The same value as a setting is the same run.
        let set = ids("[train]\noptimizer.lr = 0.1\n");
        assert_eq!(few, set);
        let mut different = more.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), more.len());
        // Whatever decides a result changes the ids.
        for other in ["model.hidden = [3]\n", "data.split.folds = 2\n", "data.rows = 5\n", "data.layers.all = 'a*'\n"] {
            assert!(ids(other).iter().all(|id| !set.contains(id)), "{other}");
        }
    }

    #[test]
    fn comparisons_differ_in_one_factor() {
        let text = format!(
            "{BASE}[grid]\n'model.hidden' = [[4], [8, 8]]\n[compare]\nby = ['features', 'model.hidden']\nbaseline = [8, 8]\n"
        );
        let spec = spec(&text).unwrap();
        let cells = cells(&spec).unwrap();
        let found = compared(&spec).unwrap();
        assert_eq!(found.len(), 4);
        for Compared { factor, baseline, other } in found {
            let (one, two) = (&cells[baseline].factors, &cells[other].factors);
            let differing: Vec<_> = one.iter().filter(|(name, value)| two[*name] != **value).collect();
            assert_eq!(differing.len(), 1);
            assert_eq!(*differing[0].0, factor);
            let wanted = if factor == "features" { json!("stats") } else { json!([8, 8]) };
            assert_eq!(one[&factor], wanted);
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("[grid]\n'train.optimizer.lrr' = [1]\n", "`lrr`; did you mean `lr`?"),
            ("[grid]\n'train.optimizer.lr' = []\n", "at least one value"),
            ("[grid]\n'train.optimizer.lr' = [0.1, 0.1]\n", "found 0.1 twice"),
            ("[grid]\n'train.optimizer.lr' = [-1]\n", "above 0"),
            ("[grid]\n'train.optimizer.lr' = ['x']\n", "train.optimizer.lr"),
            ("[compare]\nby = ['feature']\n", "`feature`; did you mean `features`?"),
            ("[compare]\nby = ['layers']\n", "several values"),
            ("[compare]\nby = ['features']\nbaseline = 'stat'\n", "found stat"),
            ("[compare]\nmetric = 'test.acuracy'\n", "test.acuracy"),
            ("[train]\nepoch = 3\n", "did you mean `epochs`?"),
            ("[train]\noptimizer.kind = 'adan'\n", "did you mean `adam`?"),
            ("[train]\noptimizer = { kind = 'adam', momentum = 0.9 }\n", "train.optimizer.momentum"),
            ("[train]\nstop.on = 'validation.acc'\n", "acc"),
            ("[grid]\n'train.optimizer.lr' = [0.1, nan]\n", "for grid.\"train.optimizer.lr\", found NaN"),
            ("[grid]\n'train.optimizer.lr' = [-inf]\n", "for grid.\"train.optimizer.lr\", found -inf"),
            ("[grid]\n'train.optimizer.lr' = [1, 1.0]\n", "found 1 and 1.0"),
            ("[grid]\n'train.optimizer.kind' = ['adam', 'sgdd']\n", "`sgdd`; did you mean `sgd`?"),
            ("[train]\noptimizer.beta1 = 0.5\n[grid]\n'train.optimizer.kind' = ['adam', 'sgd']\n", "has it"),
            ("[data.layers]\na = '*'\nb = ['*']\n", "found the same in a and b"),
            ("[data.split]\ntrain = 0.8\nvalidation = 0.1\ntest = 0.2\n", "validation = 0.1 and test = 0.2"),
            ("[data.split]\nfolds = 5\ntest = 0.2\n", "found 0.2"),
            ("[compare]\nmargin = -0.1\n", "above 0 for compare.margin, found -0.1"),
            ("[compare]\nmargin = nan\n", "for compare.margin, found NaN"),
            ("[train]\nstop.on = 'validation.loss'\n[data.split]\nvalidation = 0\n", "a share of 0 for validation"),
            ("[train]\nschedule = { kind = 'constant', factor = 2 }\n", "no key beside kind"),
            ("[train]\nepochs = -1\n", "a whole number of at least 0"),
            (
                "[train]\nloss = 'mse'\n[compare]\nmetric = 'test.accuracy'\n",
                "loss, r2, rmse or mae for compare.metric, because values have no classes, found",
            ),
            ("[data.split]\nfolds = 1\n", "2 to 100"),
            ("[data.split]\ntrain = 0.5\n", "sum to 1"),
            ("[model]\nhidden = [0]\n", "model"),
        ] {
            let error = spec(&format!("{BASE}{text}")).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(part) && error.contains("x.toml"), "{text}: {error}");
            assert_eq!(error.matches("expected ").count(), 1, "{error}");
        }
        let error = spec("experiment = { name = 'a', quick = { repeats = 0 } }\ndata.source = 'x'\n").unwrap_err();
        assert!(error.to_string().contains("experiment.quick.repeats"), "{error}");
        let error = spec("experiment.name = 'a'\nfeatures = 3\ndata.source = 'x'\n").unwrap_err();
        assert!(error.to_string().contains("expected a list, found 3"), "{error}");
        let error = spec("experiment.name = 'a'\nfeatures = [3]\ndata.source = 'x'\n").unwrap_err();
        assert!(error.to_string().contains("expected the name of a representation"), "{error}");
        let error = spec("experiment.name = 'a'\ndata.source = 'x'\n[train]\nbatch = 3\nepochz = 2\n").unwrap_err();
        assert!(error.to_string().contains("x.toml:5"), "{error}");
    }

    /// Every optimizer of the grid has its own defaults, and so it has when the file with all defaults is read.
    #[test]
    fn the_optimizer_may_vary() {
        let text = format!(
            "{BASE}[train]\noptimizer.lr = 0.5\n[grid]\n'train.optimizer.kind' = ['sgd', 'adam']\n'train.schedule' = \
             [{{ kind = 'constant' }}, {{ kind = 'step', every = 5, factor = 0.5 }}]\n[compare]\nby = ['train.optimizer.kind']\n"
        );
        let first = spec(&text).unwrap();
        let found = cells(&first).unwrap();
        let optimizer = |place: usize| found[place].settings.train.optimizer.clone();
        assert_eq!((found.len(), optimizer(0).momentum, optimizer(0).beta1), (8, Some(0.0), None));
        assert_eq!((optimizer(2).momentum, optimizer(2).beta1, optimizer(2).lr), (None, Some(0.9), Some(0.5)));
        let name = found[1].name(&factors(&first).unwrap());
        assert_eq!(name, "stats, kind sgd, schedule step every 5 factor 0.5");
        let again = spec(&first.to_toml()).unwrap();
        let ids =
            |spec: &Spec| rows(spec, &cells(spec).unwrap()).unwrap().into_iter().map(|row| row.id).collect::<Vec<_>>();
        assert_eq!((&again, ids(&again)), (&first, ids(&first)));
    }

    #[test]
    fn one_share_is_what_the_others_leave() {
        let shares = |split: &str| {
            spec(&format!("{BASE}compare.metric = 'train.loss'\n[data.split]\n{split}")).unwrap().shares()
        };
        for (split, wanted) in [
            ("", [0.7, 0.1, 0.2]),
            ("train = 0.8\ntest = 0.2\n", [0.8, 0.0, 0.2]),
            ("train = 0.7\nvalidation = 0.3\n", [0.7, 0.3, 0.0]),
            ("validation = 0.25\n", [0.55, 0.25, 0.2]),
            ("folds = 4\n", [0.65, 0.1, 0.25]),
            ("folds = 4\ntrain = 0.75\n", [0.75, 0.0, 0.25]),
        ] {
            assert_eq!(shares(split), wanted, "{split}");
            assert!(shares(split).iter().all(|share| share.is_sign_positive()), "{split}");
        }
    }

    #[test]
    fn the_default_metric_fits() {
        for (text, wanted) in [
            ("", "test.accuracy"),
            ("train.loss = 'mse'\n", "test.r2"),
            ("[data.split]\ntrain = 0.7\nvalidation = 0.3\n", "validation.accuracy"),
            ("train.loss = 'mse'\n[data.split]\ntrain = 1\ntest = 0\n", "train.r2"),
            ("compare.metric = 'test.loss'\n", "test.loss"),
        ] {
            let first = spec(&format!("{BASE}{text}")).unwrap();
            assert_eq!(first.compare.metric, wanted, "{text}");
            assert_eq!(spec(&first.to_toml()).unwrap(), first);
        }
    }

    #[test]
    fn all_defaults_are_written_back() {
        let text = format!("{BASE}[grid]\n'train.optimizer.lr' = [0.1, 0.2]\n'model.hidden' = [[2], []]\n");
        let first = spec(&text).unwrap();
        let written = first.to_toml();
        for part in ["beta1 = 0.9", "batch = 32", "train = 0.7", "metric = \"test.accuracy\"", "seed = 42"] {
            assert!(written.contains(part), "{part} is not in {written}");
        }
        assert_eq!(spec(&written).unwrap(), first);
    }
}
