//! The stores in which `encode` and `features` look for results before they compute them.

use super::outputs::Overwriting;
use super::printing::Printing;
use super::{Failure, print};
use clap::Args;
use fiedler::cache::Cache;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where results are stored, and found again.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Storing {
    /// Do not read stored results, and do not store new results.
    #[arg(long)]
    no_cache: bool,
    /// Store finished parts of the work in the folder OUT.resume. If an earlier call was killed, continue from the
    /// parts that it finished; if it was finished, do nothing.
    #[arg(long)]
    resume: bool,
}

impl Storing {
    /// Returns whether the call stores what is finished in a folder of its own.
    pub(super) fn resumes(self) -> bool {
        self.resume
    }

    /// Returns whether a call that resumes finds all its outputs, so that nothing is left to do.
    pub(super) fn is_finished(self, overwriting: Overwriting, outputs: &[&Path]) -> bool {
        self.resume && !overwriting.replaces() && outputs.iter().all(|path| path.is_file())
    }

    /// Does the same, and says so.
    pub(super) fn finished(self, overwriting: Overwriting, printing: Printing, outputs: &[&Path]) -> bool {
        let finished = self.is_finished(overwriting, outputs);
        if let (true, Some(output)) = (finished, outputs.first()) {
            if printing.json {
                print(serde_json::json!({"output": output, "finished": true}));
            } else if !printing.quiet {
                let shown = output.display();
                print(format_args!("{shown}: it exists, so nothing is left to resume; --overwrite computes it again"));
            }
        }
        finished
    }
}

/// The stores of finished cache blocks: the journal, from which a call that was killed can be resumed, and the user's
/// cache.
pub(super) struct Stores {
    journal: Option<Arc<Cache>>,
    cache: Option<Arc<Cache>>,
}

/// How results are stored.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// A file for each of them.
    Files,
    /// Files with many of them, because they are small.
    Packs,
}

impl Stores {
    /// Opens the user's cache and the journal of an output, as far as the options ask for them.
    pub(super) fn open(form: Form, options: Storing, output: &Path) -> Result<Self, Failure> {
        let mut stores = Self { journal: None, cache: None };
        if options.resume {
            let mut folder = output.as_os_str().to_owned();
            folder.push(".resume");
            let folder = PathBuf::from(folder);
            // The call asks for the journal explicitly, so a journal that cannot be created is an error. The cache is
            // only a convenience.
            if let Err(error) = std::fs::create_dir_all(&folder) {
                return Err(Failure::Call(format!(
                    "{}: cannot create the folder for --resume: {error}",
                    folder.display()
                )));
            }
            let journal = match form {
                Form::Files => Cache::new().disk(folder, u64::MAX),
                Form::Packs => Cache::new().packs(folder, u64::MAX),
            };
            stores.journal = Some(Arc::new(journal));
        }
        if !options.no_cache {
            let cache = match form {
                Form::Files => Cache::new().user_disk(),
                Form::Packs => Cache::new().user_packs(),
            };
            let cache = cache.map_err(|error| Failure::Call(error.to_string()))?;
            stores.cache = cache.folder().is_some().then(|| Arc::new(cache));
        }
        Ok(stores)
    }

    /// Returns the stores in the order in which they are searched.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Cache>> {
        self.journal.iter().chain(&self.cache)
    }

    /// Clears the journal, because the output is complete and nothing is left to resume.
    pub(super) fn done(&self) {
        if let Some(Err(error)) = self.journal.as_ref().map(|journal| journal.clear_disk()) {
            log::warn!("{error}");
        }
    }

    /// Returns three counts of cache blocks: found in the journal, found in the cache, and found in neither.
    fn blocks(&self) -> [u64; 3] {
        let counters = |store: &Option<Arc<Cache>>| store.as_ref().map(|store| store.counters()).unwrap_or_default();
        let (journal, cache) = (counters(&self.journal), counters(&self.cache));
        let missed = if self.cache.is_some() { cache.misses } else { journal.misses };
        [journal.hits(), cache.hits(), missed]
    }

    pub(super) fn as_json(&self) -> serde_json::Value {
        let [resumed, cached, missed] = self.blocks();
        let damaged: u64 = self.all().map(|store| store.counters().damaged).sum();
        serde_json::json!({"resumed": resumed, "cached": cached, "missed": missed, "damaged": damaged})
    }

    pub(super) fn words(&self) -> String {
        let [resumed, cached, missed] = self.blocks();
        let all = resumed + cached + missed;
        let mut words = String::new();
        if self.journal.is_some() {
            words += &format!("{resumed} of {all} blocks resumed; ");
        }
        if self.cache.is_some() {
            words += &format!("{cached} of {all} blocks from the cache; ");
        }
        words
    }
}

impl Drop for Stores {
    /// Removes the journal's folder if the folder is empty, for example after a call that failed early.
    fn drop(&mut self) {
        if let Some(folder) = self.journal.as_ref().and_then(|journal| journal.folder()) {
            let _ = std::fs::remove_dir(folder);
        }
    }
}
