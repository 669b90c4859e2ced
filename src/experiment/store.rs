//! The folder of an experiment: a lock, the finished runs, and the checkpoints of those on their way.

use super::record::Record;
use super::spec::{of_toml, wrong};
use crate::cache::KeyHasher;
use crate::error::{Error, Result};
use crate::io;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

const LOCK: &str = "lock";
const FINISHED: &str = "finished";
const CHECKPOINTS: &str = "checkpoints";
const SPEC: &str = "spec.toml";
const VERIFIED: &str = "verification.json";
const CLASSES: &str = "classes.json";
const PARTS: &str = "parts.json";

/// A finished run as it is stored.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) record: Record,
    /// The seconds of a thread that it took.
    pub(super) seconds: f64,
    /// The fingerprint of the data set ([`Source::fingerprint`](super::tables::Source::fingerprint)).
    #[serde(rename = "stamp")]
    pub(super) fingerprint: String,
}

/// What a folder is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Experiment,
    Verification,
}

impl Of {
    /// Returns the file that such a folder has, and no other one.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Experiment => SPEC,
            Self::Verification => VERIFIED,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Experiment => "an experiment",
            Self::Verification => "a verification",
        }
    }
}

/// The folder of an experiment or of a verification, which one process at a time may write to.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Locked until it is closed.
    _lock: File,
}

impl Folder {
    /// Creates a folder, or opens one that [`Folder::create`] made, and locks it.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if another process has locked it, or if it has other files or those of
    /// something else; [`Io`](crate::ErrorKind::Io) if the operating system reports an error.
    pub(super) fn create(path: &Path, of: Of) -> Result<Self> {
        let foreign = !path.join(LOCK).exists() && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        let other = if of == Of::Experiment { Of::Verification } else { Of::Experiment };
        let found = if path.join(other.file()).exists() {
            Some(format!("that of {}", other.name()))
        } else {
            foreign.then(|| "other files".to_owned())
        };
        if let Some(found) = found {
            let (shown, of) = (path.display(), of.name());
            return Err(wrong(format!("{shown}: expected a new folder or that of {of}, found {found}")));
        }
        create_folder(path)?;
        let made = Self::lock(path)?;
        if of == Of::Experiment {
            [FINISHED, CHECKPOINTS].into_iter().try_for_each(|name| create_folder(&path.join(name)))?;
        }
        Ok(made)
    }

    /// Locks a folder.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if another process has locked it; [`Io`](crate::ErrorKind::Io) if the
    /// operating system reports an error.
    pub(super) fn lock(path: &Path) -> Result<Self> {
        let place = path.join(LOCK);
        let refused = |error| Error::io("lock", &place, error);
        let mut lock = File::options().create(true).append(true).open(&place).map_err(refused)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let shown = path.display();
                return Err(wrong(format!(
                    "{shown}: expected a folder that no other process writes to, found one in use"
                )));
            }
            Err(TryLockError::Error(error)) => return Err(refused(error)),
        }
        if lock.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            let _ = lock.write_all(b"the folder of an experiment of fiedler; locked while a process writes to it\n");
        }
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    /// Returns whether a folder has the files of an experiment, or of a verification.
    pub(super) fn is_begun(path: &Path, of: Of) -> bool {
        path.join(LOCK).exists() && path.join(of.file()).exists()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the experiment that was written before, if one was.
    pub(super) fn spec(&self) -> Result<Option<toml::Table>> {
        let path = self.path.join(SPEC);
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
        toml::from_str(&text).map(Some).map_err(|error| of_toml(&path, &text, &error))
    }

    /// Writes the experiment with all its defaults.
    pub(super) fn write_spec(&self, text: &str) -> Result<()> {
        io::write_text(&self.path.join(SPEC), text)
    }

    /// Returns all finished runs by their ids.
    ///
    /// # Errors
    /// [`Parse`](crate::ErrorKind::Parse) if a file is damaged; [`Io`](crate::ErrorKind::Io).
    pub(super) fn finished(&self) -> Result<HashMap<String, Finished>> {
        finished(&self.path)
    }

    /// Stores the names of the classes, for reports.
    pub(super) fn write_classes(&self, classes: &[String]) -> Result<()> {
        io::write_text(&self.path.join(CLASSES), &serde_json::to_string(classes).unwrap_or_default())
    }

    /// Stores how the file of the data set divides it, if that is how runs do, for reports.
    pub(super) fn write_parts(&self, parts: Option<[usize; 3]>) -> Result<()> {
        io::write_text(&self.path.join(PARTS), &serde_json::to_string(&parts).unwrap_or_default())
    }

    /// Stores finished runs, all of them or none.
    pub(super) fn finish(&self, runs: &[Finished]) -> Result<()> {
        let name = name(runs.iter().map(|run| run.record.id.as_str()));
        let mut text = String::new();
        for run in runs {
            text += &serde_json::to_string(run).unwrap_or_default();
            text.push('\n');
        }
        io::write_text(&self.path.join(FINISHED).join(format!("{name}.jsonl")), &text)
    }

    /// Returns the place of the checkpoint of runs that are trained together.
    pub(super) fn checkpoint<'a>(&self, ids: impl Iterator<Item = &'a str>) -> PathBuf {
        self.path.join(CHECKPOINTS).join(format!("{}.safetensors", name(ids)))
    }

    /// Removes all checkpoints: what they were of is finished, or is no longer a part of the experiment.
    pub(super) fn remove_checkpoints(&self) {
        // A checkpoint that stays is of no harm.
        let _ = fs::remove_dir_all(self.path.join(CHECKPOINTS));
    }
}

/// The files that a folder has beside those of the runs on their way: what decides them, and what reports say.
const REPORTS: [&str; 10] = [
    SPEC,
    VERIFIED,
    CLASSES,
    PARTS,
    "runs.jsonl",
    "summary.csv",
    "report.json",
    "report.md",
    "report.html",
    "verification.md",
];

/// Returns whether a folder was made by an experiment or a verification that ended before it began, so that there is
/// nothing to keep.
#[must_use]
pub fn is_unbegun(folder: &Path) -> bool {
    folder.join(LOCK).exists() && [SPEC, VERIFIED].iter().all(|name| !folder.join(name).exists())
}

/// Makes a folder, if it exists, one for a new experiment or verification: removes what others have written to it, and
/// nothing else.
///
/// # Errors
/// [`Domain`](crate::ErrorKind::Domain) if another process works in the folder; [`Io`](crate::ErrorKind::Io) if the
/// operating system reports an error.
pub fn clear(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let own = folder.join(LOCK).exists();
    // The lock also says that other files are no obstacle.
    let _lock = Folder::lock(folder)?;
    if !own {
        // Whatever is there was not written by an experiment.
        return Ok(());
    }
    let remove = |path: &Path| match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, error)),
        _ => Ok(()),
    };
    REPORTS.iter().try_for_each(|name| remove(&folder.join(name)))?;
    let is_claims = |name: &str| name.starts_with("claims-") && name.ends_with(".json");
    for (place, own) in [
        (folder.to_owned(), None),
        (folder.join(FINISHED), Some("jsonl")),
        (folder.join(CHECKPOINTS), Some("safetensors")),
    ] {
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_own = match own {
                Some(ending) => path.extension().is_some_and(|found| found == ending),
                None => entry.file_name().to_str().is_some_and(is_claims),
            };
            if is_own {
                remove(&path)?;
            }
        }
    }
    Ok(())
}

/// Creates a folder and those around it.
fn create_folder(path: &Path) -> Result<()> {
    let made = fs::create_dir_all(path);
    // The standard library does not always hand on what the operating system said.
    let made = made.or_else(|error| if error.raw_os_error().is_none() { fs::create_dir(path) } else { Err(error) });
    made.map_err(|error| Error::io("create", path, error))
}

/// Returns all finished runs of the experiment in a folder.
pub(super) fn finished(folder: &Path) -> Result<HashMap<String, Finished>> {
    let place = folder.join(FINISHED);
    let entries = fs::read_dir(&place).map_err(|error| Error::io("read", &place, error))?;
    let mut found = HashMap::new();
    for entry in entries {
        let path = entry.map_err(|error| Error::io("read", &place, error))?.path();
        // What a process that was killed left is no file of runs.
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
        for (line, text) in (1..).zip(text.lines()) {
            let stored: Finished = serde_json::from_str(text)
                .map_err(|error| Error::parse(&path, Some(line), "a finished run", error.to_string()))?;
            found.insert(stored.record.id.clone(), stored);
        }
    }
    Ok(found)
}

/// Returns the names of the classes, if they are stored.
pub(super) fn classes(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join(CLASSES)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Returns the numbers of training, validation and test samples, if it is stored that runs take them as the file of the
/// data set has them.
pub(super) fn parts(folder: &Path) -> Option<[usize; 3]> {
    let text = fs::read_to_string(folder.join(PARTS)).unwrap_or_default();
    serde_json::from_str::<Option<[usize; 3]>>(&text).ok().flatten()
}

/// Returns a name for runs that are trained together.
fn name<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = KeyHasher::new("fiedler 2026-11-26 runs of an experiment that are trained together");
    ids.for_each(|id| {
        hasher.bytes(id.as_bytes());
    });
    hasher.finish().to_string()[..16].to_owned()
}
