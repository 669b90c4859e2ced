//! A verification that can fail: claims about this implementation, each with its estimate, its interval and the rule by
//! which it passes.
//!
//! A file has a table for each claim. The parameters that are not given have defaults, and `quick` has those that a
//! quick verification replaces:
//!
//! ```toml
//! experiment.name = "verify"
//!
//! [[claims]]
//! kind = "digits"
//! seeds = 50
//! quick = { seeds = 12 }
//! ```
//!
//! A claim about a quantity that varies passes if the whole interval is on the right side of the bound, fails if all of
//! it is on the wrong side, and is undecided otherwise. Where a claim says that two quantities are the same, the
//! interval must also be narrow enough to show a difference that matters, which is the margin of the claim.

mod devices;
mod digits;
mod laws;
mod rankings;
mod sides;
mod trajectory;

use super::spec::{check_name, of_domain, of_toml, refuse_infinite, wrong};
use super::statistics::{Interval, Status};
use super::store::{Folder, Of};
use crate::cache::KeyHasher;
use crate::clock::Instant;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A change that may alter what any claim finds requires a new number.
const NUMERICS: u64 = 1;

/// A verification: its name, its seed, and its claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The name.
    pub name: String,
    /// The seed of everything that is random.
    pub seed: u64,
    /// The kinds of claims, with their parameters.
    pub kinds: Vec<Kind>,
    /// The folder from which relative paths start.
    folder: PathBuf,
}

/// The file of a verification.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    experiment: Head,
    claims: Vec<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    name: String,
    #[serde(default = "seed")]
    seed: u64,
}

fn seed() -> u64 {
    42
}

/// A kind of claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Kind {
    /// The losses of 200 steps equal those of torch, from the same initial parameters in the same order.
    Trajectory {},
    /// The accuracy on images of digits is that of torch, by a test of equivalence over seeds.
    Digits(digits::Digits),
    /// On strings of simulated devices, a network is between a linear model and the Bayes rate, and learns nothing
    /// where there is nothing to learn.
    Devices(devices::Devices),
    /// Divergences are those of a direct count, and classifiers rank pairs of devices by how much they differ.
    Rankings(rankings::Rankings),
    /// Chains of Langevin dynamics have their law; a training is the same if it was interrupted, and alone; mixed
    /// precision loses no accuracy.
    Laws(laws::Laws),
    /// A training on the device is as accurate as one on the CPU, and the times of both.
    Sides(sides::Sides),
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Claim {
    /// The kind of the claim.
    pub kind: String,
    /// What is claimed.
    pub statement: String,
    /// The quantity that decides.
    pub estimate: Option<f64>,
    /// Its interval, if it varies.
    pub interval: Option<Interval>,
    /// The rule by which the claim passes.
    pub rule: String,
    /// Whether it passes.
    pub status: Status,
    /// What else was found.
    pub note: String,
}

/// The claims of a kind, as they are stored.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    claims: Vec<Claim>,
    seconds: f64,
}

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verified {
    /// The name.
    pub name: String,
    /// The version of this crate that was checked.
    pub version: String,
    /// All claims.
    pub claims: Vec<Claim>,
    /// The seconds that each kind of claims took.
    pub seconds: Vec<(String, f64)>,
    /// The kinds whose claims are not checked yet.
    pub missing: Vec<String>,
}

impl Kind {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Trajectory {} => "trajectory",
            Self::Digits(_) => "digits",
            Self::Devices(_) => "devices",
            Self::Rankings(_) => "rankings",
            Self::Laws(_) => "laws",
            Self::Sides(_) => "sides",
        }
    }

    /// Checks the parameters, before any claim is checked.
    fn check_parameters(&self) -> Result<()> {
        let checked = match self {
            Self::Trajectory {} => Ok(()),
            Self::Digits(digits) => digits.check_parameters(),
            Self::Devices(devices) => devices.check_parameters(),
            Self::Rankings(rankings) => rankings.check_parameters(),
            Self::Laws(laws) => laws.check_parameters(),
            Self::Sides(sides) => sides.check_parameters(),
        };
        checked.map_err(|error| error.within(self.name()))
    }

    fn check(&self, ctx: &Context, seed: u64, folder: &Path) -> Result<Vec<Claim>> {
        let claims = match self {
            Self::Trajectory {} => trajectory::check(),
            Self::Digits(digits) => digits.check(ctx, seed, folder),
            Self::Devices(devices) => devices.check(ctx, seed),
            Self::Rankings(rankings) => rankings.check(ctx, seed),
            Self::Laws(laws) => laws.check(ctx, seed),
            Self::Sides(sides) => sides.check(ctx, seed),
        };
        claims.map(|claims| claims.into_iter().map(|claim| Claim { kind: self.name().to_owned(), ..claim }).collect())
    }
}

impl Claim {
    /// Creates a claim about a quantity that is known exactly.
    fn exact(statement: impl Into<String>, estimate: f64, rule: impl Into<String>, passes: bool) -> Self {
        Self {
            kind: String::new(),
            statement: statement.into(),
            estimate: Some(estimate).filter(|x| x.is_finite()),
            interval: None,
            rule: rule.into(),
            status: if passes { Status::Pass } else { Status::Fail },
            note: String::new(),
        }
    }

    /// Creates a claim about a quantity that was estimated.
    fn judged(
        statement: impl Into<String>,
        estimate: f64,
        interval: Option<Interval>,
        rule: impl Into<String>,
        status: Status,
    ) -> Self {
        // Nothing is decided by numbers that are not defined, and they cannot be stored.
        let interval = interval.filter(|own| own.low.is_finite() && own.high.is_finite());
        Self { interval, status, ..Self::exact(statement, estimate, rule, true) }
    }

    fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

impl Verification {
    /// Returns whether a file is that of a verification: it has claims.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if it cannot be read.
    pub fn is_one(path: &Path) -> Result<bool> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        Ok(toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("claims")))
    }

    /// Reads a verification, or its quick form.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if a key is unknown or a value has another type;
    /// [`Io`](crate::ErrorKind::Io) if the file cannot be read.
    pub fn read(path: &Path, quick: bool) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        let table: toml::Table = toml::from_str(&text).map_err(|error| of_toml(path, &text, &error))?;
        refuse_infinite(path, &table)?;
        let File { experiment, claims } = toml::from_str(&text).map_err(|error| of_toml(path, &text, &error))?;
        check_name(&experiment.name).map_err(|error| of_domain(path, error))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let mut kinds = Vec::new();
        for mut table in claims {
            let replaced = match table.remove("quick") {
                None => Map::new(),
                Some(Value::Object(replaced)) => replaced,
                Some(other) => {
                    let name = table.get("kind").cloned().unwrap_or_default();
                    return Err(Error::parse(path, None, format!("a table `quick` of {name}"), other.to_string()));
                }
            };
            let full = kind_of(path, table.clone())?;
            table.extend(replaced);
            // What is wrong with the quick form is said at once, too.
            let short = kind_of(path, table)?;
            kinds.push(if quick { short } else { full });
        }
        if kinds.is_empty() {
            return Err(Error::parse(path, None, "at least one claim", "none"));
        }
        Ok(Self { name: experiment.name, seed: experiment.seed, kinds, folder })
    }

    /// Returns whether a folder has the files of a verification.
    #[must_use]
    pub fn is_begun(folder: &Path) -> bool {
        Folder::is_begun(folder, Of::Verification)
    }

    /// Checks all claims, and stores what was found in a folder. Kinds whose claims were stored there before, with the
    /// same parameters and by the same version, are not checked again. `told` is called before each kind.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if another process works in the folder, or it has other files; the errors
    /// of the operations that are checked; [`Io`](crate::ErrorKind::Io); [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn run(&self, ctx: &Context, folder: &Path, mut told: impl FnMut(&Kind)) -> Result<Verified> {
        let _lock = Folder::create(folder, Of::Verification)?;
        let read = |kind| {
            let text = std::fs::read_to_string(folder.join(self.stored(ctx, kind))).ok()?;
            serde_json::from_str::<Stored>(&text).ok()
        };
        let mut all: Vec<Option<Stored>> = self.kinds.iter().map(read).collect();
        let mut found = self.found(&all);
        found.write(folder)?;
        for (place, kind) in self.kinds.iter().enumerate() {
            if all[place].is_some() {
                continue;
            }
            told(kind);
            let began = Instant::now();
            let claims = kind.check(ctx, self.seed, &self.folder)?;
            let stored = Stored { claims, seconds: began.elapsed().as_secs_f64() };
            let path = folder.join(self.stored(ctx, kind));
            io::write_text(&path, &serde_json::to_string(&stored).unwrap_or_default())?;
            all[place] = Some(stored);
            found = self.found(&all);
            found.write(folder)?;
        }
        Ok(found)
    }

    /// Returns the name of the file with the claims of a kind: other parameters, another version of this crate and
    /// another adapter have another one.
    fn stored(&self, ctx: &Context, kind: &Kind) -> String {
        let mut hasher = KeyHasher::new("fiedler 2026-11-26 claims, by the version that was checked");
        hasher.number(NUMERICS).bytes(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.bytes(serde_json::to_string(kind).unwrap_or_default().as_bytes()).number(self.seed);
        hasher.bytes(ctx.adapter().map(|adapter| adapter.name.clone()).unwrap_or_default().as_bytes());
        format!("claims-{}-{}.json", kind.name(), &hasher.finish().to_string()[..8])
    }

    /// Returns what is known so far.
    fn found(&self, all: &[Option<Stored>]) -> Verified {
        let (mut claims, mut seconds, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for (kind, stored) in self.kinds.iter().zip(all) {
            let name = kind.name().to_owned();
            match stored {
                Some(stored) => {
                    claims.extend(stored.claims.clone());
                    seconds.push((name, stored.seconds));
                }
                None => missing.push(name),
            }
        }
        Verified { name: self.name.clone(), version: env!("CARGO_PKG_VERSION").to_owned(), claims, seconds, missing }
    }
}

/// Reads a kind of claims with its parameters.
fn kind_of(path: &Path, table: Map<String, Value>) -> Result<Kind> {
    let name = table.get("kind").cloned().unwrap_or_default();
    let kind: Kind = serde_json::from_value(Value::Object(table)).map_err(|error| {
        let (expected, found) = super::spec::in_words(&error.to_string());
        Error::parse(path, None, format!("{expected} in the claim {name}"), found)
    })?;
    kind.check_parameters().map_err(|error| of_domain(path, error))?;
    Ok(kind)
}

/// Checks that counts are large enough, which are given with their names and their least values.
fn check_counts<const N: usize>(counts: [(&str, u64, u64); N]) -> Result<()> {
    match counts.into_iter().find(|(_, count, least)| count < least) {
        Some((name, count, least)) => Err(wrong(format!("{name}: expected at least {least}, found {count}"))),
        None => Ok(()),
    }
}

/// Checks that a margin is above 0.
fn check_margin(name: &str, margin: f64) -> Result<()> {
    if margin > 0.0 { Ok(()) } else { Err(wrong(format!("{name}: expected a number above 0, found {margin}"))) }
}

/// Judges by an interval whether a value is what it should be. An interval that is wider than the margin to either side
/// could contain anything, so it decides nothing.
fn judge(fails: bool, interval: Interval, margin: f64) -> Status {
    match interval.half_width() <= margin {
        _ if fails => Status::Fail,
        true => Status::Pass,
        false => Status::Undecided,
    }
}

impl Verified {
    /// Reads what a verification found in a folder.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if there is no verification; [`Parse`](crate::ErrorKind::Parse) if its file is
    /// damaged.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(Of::Verification.file());
        let text = std::fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
        serde_json::from_str(&text).map_err(|error| Error::parse(&path, None, "a verification", error.to_string()))
    }

    fn write(&self, folder: &Path) -> Result<()> {
        let json = serde_json::to_string_pretty(self).unwrap_or_default();
        io::write_text(&folder.join("verification.md"), &self.to_markdown())?;
        io::write_text(&folder.join(Of::Verification.file()), &format!("{json}\n"))
    }

    /// Returns the number of claims that have a status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.claims.iter().filter(|claim| claim.status == status).count()
    }

    /// Returns the claims as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "# {}\n\n{} {} of version {}: {} pass, {} fail, {} undecided.\n\n",
            self.name,
            self.claims.len(),
            if self.claims.len() == 1 { "claim" } else { "claims" },
            self.version,
            self.count(Status::Pass),
            self.count(Status::Fail),
            self.count(Status::Undecided)
        );
        if !self.missing.is_empty() {
            let _ = writeln!(text, "Not checked yet: {}.\n", self.missing.join(", "));
        }
        text.push_str("| | claim | estimate | interval | rule | note |\n|---|---|---:|---|---|---|\n");
        for claim in &self.claims {
            let interval = claim.interval.map_or_else(String::new, |Interval { low, high, level }| {
                format!("{low:.4} to {high:.4} ({} %)", (1e4 * level).round() / 100.0)
            });
            let estimate = claim.estimate.map_or_else(String::new, shown);
            let _ = writeln!(
                text,
                "| {} | {} | {estimate} | {interval} | {} | {} |",
                claim.status.name(),
                claim.statement,
                claim.rule,
                claim.note
            );
        }
        text
    }
}

/// Returns a number with four significant digits.
fn shown(x: f64) -> String {
    if x != 0.0 && x.abs() < 1e-3 { format!("{x:.2e}") } else { format!("{x:.4}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values are refused before anything is checked, and those of the quick form too.
    #[test]
    fn wrong_parameters_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claims.toml");
        let read = |claim: &str, quick: bool| {
            std::fs::write(&path, format!("experiment.name = 'x'\n[[claims]]\n{claim}\n")).unwrap();
            Verification::read(&path, quick).map_err(|error| error.to_string())
        };
        for (claim, part) in [
            ("kind = 'digits'\nseeds = 0", "at least 2 for digits: seeds, found 0"),
            ("kind = 'digits'\nfolds = 1", "folds, found 1"),
            ("kind = 'digits'\nepochs = 0", "epochs, found 0"),
            ("kind = 'digits'\nmargin = -0.1", "above 0 for digits: margin, found -0.1"),
            ("kind = 'digits'\nmargin = nan", "margin, found NaN"),
            ("kind = 'digits'\ntorch = 'a.txt'", "source"),
            ("kind = 'digits'\nsource = 'a.csv'", "torch"),
            ("kind = 'devices'\ndevices = 2", "devices, found 2"),
            ("kind = 'rankings'\nrepeats = 0", "repeats, found 0"),
            ("kind = 'laws'\nvariance_margin = 0", "variance_margin, found 0"),
            ("kind = 'sides'\nseeds = 1", "seeds, found 1"),
            ("kind = 'laws'\nquick = { chain = 3 }", "did you mean `chains`?"),
            ("kind = 'laws'\nquick = { chains = 0 }", "chains, found 0"),
        ] {
            for quick in [false, true] {
                let error = read(claim, quick).unwrap_err();
                assert!(error.contains(part) && error.contains("claims.toml"), "{claim}: {error}");
            }
        }
        let quick = read("kind = 'laws'\nquick = { chains = 9 }", true).unwrap();
        assert!(matches!(&quick.kinds[0], Kind::Laws(laws) if laws.chains == 9));
    }

    /// An interval that could contain anything decides nothing.
    #[test]
    fn a_wide_interval_decides_nothing() {
        let around = |half: f64| Interval { low: 1.0 - half, high: 1.0 + half, level: 0.95 };
        assert_eq!(judge(false, around(0.04), 0.05), Status::Pass);
        assert_eq!(judge(false, around(0.06), 0.05), Status::Undecided);
        assert_eq!(judge(true, around(0.06), 0.05), Status::Fail);
        let few = laws::Laws { chains: 2, ..laws::Laws::default() };
        let claims = few.stationary(&Context::cpu(), 1).unwrap();
        assert!(claims.iter().all(|claim| claim.status == Status::Undecided), "{claims:?}");
        let few = devices::Devices { samples: 60, epochs: 1, ..devices::Devices::default() };
        let claims = few.check(&Context::cpu(), 1).unwrap();
        assert!(claims.iter().all(|claim| claim.status != Status::Pass), "{claims:?}");
    }

    /// What another version has found is not what this one has found.
    #[test]
    fn stored_claims_are_those_of_this_version() {
        let folder = tempfile::tempdir().unwrap();
        let kinds = vec![Kind::Trajectory {}];
        let made = Verification { name: "x".to_owned(), seed: 1, kinds, folder: PathBuf::new() };
        let (ctx, out) = (Context::cpu(), folder.path().join("out"));
        let first = made.run(&ctx, &out, |_| ()).unwrap();
        assert_eq!((first.version.as_str(), first.missing.len()), (env!("CARGO_PKG_VERSION"), 0));
        assert_eq!(made.run(&ctx, &out, |kind| panic!("{}", kind.name())).unwrap(), first);
        assert_eq!(Verified::read(&out).unwrap(), first);
    }
}
