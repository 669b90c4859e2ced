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
//! it is on the wrong side, and is undecided otherwise.

mod devices;
mod digits;
mod laws;
mod rankings;
mod sides;
mod trajectory;

use super::spec::{of_toml, wrong};
use super::statistics::{Interval, Status};
use crate::cache::KeyHasher;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

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
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// The name.
    pub name: String,
    /// All claims.
    pub claims: Vec<Claim>,
    /// The seconds that each kind of claims took.
    pub seconds: Vec<(String, f64)>,
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
        let File { experiment, claims } = toml::from_str(&text).map_err(|error| of_toml(path, &text, &error))?;
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let kinds = claims.into_iter().map(|mut table| {
            let name = table.get("kind").cloned().unwrap_or_default();
            if let Some(replaced) = table.remove("quick") {
                let Value::Object(replaced) = replaced else {
                    return Err(Error::parse(path, None, format!("a table `quick` of {name}"), replaced.to_string()));
                };
                if quick {
                    table.extend(replaced);
                }
            }
            serde_json::from_value(Value::Object(table)).map_err(|error| {
                let (expected, found) = super::spec::in_words(&error.to_string());
                Error::parse(path, None, format!("{expected} in the claim {name}"), found)
            })
        });
        let kinds = kinds.collect::<Result<Vec<Kind>>>()?;
        if kinds.is_empty() {
            return Err(Error::parse(path, None, "at least one claim", "none"));
        }
        Ok(Self { name: experiment.name, seed: experiment.seed, kinds, folder })
    }

    /// Checks all claims, and stores what was found in a folder. Kinds whose claims were stored there before, with the
    /// same parameters, are not checked again. `told` is called before each kind.
    ///
    /// # Errors
    /// The errors of the operations that are checked; [`Io`](crate::ErrorKind::Io);
    /// [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn run(&self, ctx: &Context, folder: &Path, mut told: impl FnMut(&Kind)) -> Result<Verified> {
        std::fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        let mut found = Verified { name: self.name.clone(), claims: Vec::new(), seconds: Vec::new() };
        for kind in &self.kinds {
            let mut hasher = KeyHasher::new("fiedler 2026-11-26 claims");
            let parameters = serde_json::to_string(kind).map_err(|error| wrong(error.to_string()))?;
            hasher.bytes(parameters.as_bytes()).number(self.seed);
            hasher.bytes(ctx.adapter().map(|adapter| adapter.name.clone()).unwrap_or_default().as_bytes());
            let name = format!("claims-{}-{}.json", kind.name(), &hasher.finish().to_string()[..8]);
            let path = folder.join(name);
            let known = std::fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<Stored>(&text).ok());
            let Stored { claims, seconds } = match known {
                Some(known) => known,
                None => {
                    told(kind);
                    let began = Instant::now();
                    let claims = kind.check(ctx, self.seed, &self.folder)?;
                    let stored = Stored { claims, seconds: began.elapsed().as_secs_f64() };
                    io::write_text(&path, &serde_json::to_string(&stored).unwrap_or_default())?;
                    stored
                }
            };
            found.claims.extend(claims);
            found.seconds.push((kind.name().to_owned(), seconds));
        }
        let json = serde_json::to_string_pretty(&found).unwrap_or_default();
        io::write_text(&folder.join("verification.json"), &format!("{json}\n"))?;
        io::write_text(&folder.join("verification.md"), &found.to_markdown())?;
        Ok(found)
    }
}

impl Verified {
    /// Returns the number of claims that have a status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.claims.iter().filter(|claim| claim.status == status).count()
    }

    /// Returns the claims as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "# {}\n\n{} claims: {} pass, {} fail, {} are undecided.\n\n",
            self.name,
            self.claims.len(),
            self.count(Status::Pass),
            self.count(Status::Fail),
            self.count(Status::Undecided)
        );
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
