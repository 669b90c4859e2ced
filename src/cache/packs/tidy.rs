//! What is done with all packs of a folder when one is written: they are listed, evicted and merged.

use super::super::disk::{Listed, Looked, list};
use super::file::{self, ENDING, Writer};
use super::{PACK, Packs};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::SystemTime;

/// The number of packs in a folder above which small ones are merged.
const MANY: usize = 64;

impl Packs {
    /// Lists the folder if it was not listed yet. If it cannot be listed, no entry is found.
    pub(super) fn list_once(&mut self) {
        if !std::mem::replace(&mut self.listed, true)
            && let Err(error) = self.list()
        {
            self.problems.push(Looked::Refused(self.path.clone(), error));
        }
    }

    /// Lists the folder, opens packs that other processes have written, and marks those that they have removed.
    pub(super) fn list(&mut self) -> io::Result<Vec<Listed>> {
        self.listed = true;
        let listed = match list(&self.path, ENDING) {
            // The next write will report if the folder cannot be created.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Vec::new(),
            listed => listed?,
        };
        let there: HashSet<&PathBuf> = listed.iter().map(|file| &file.path).collect();
        self.packs.iter_mut().for_each(|pack| pack.gone |= !there.contains(&pack.path));
        let known: HashSet<PathBuf> =
            self.packs.iter().filter(|pack| !pack.gone).map(|pack| pack.path.clone()).collect();
        for found in listed.iter().filter(|found| !known.contains(&found.path)) {
            self.open_pack(found);
        }
        Ok(listed)
    }

    fn open_pack(&mut self, found: &Listed) {
        let path = found.path.clone();
        // Only a regular file is opened, because reading a pipe could block forever.
        let read = match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => Err(io::Error::other("it is no file")),
            Ok(_) => File::open(&path).and_then(|file| file::entries(&file)),
            Err(error) => Err(error),
        };
        match read {
            Ok(Ok(entries)) => self.add(path, found.bytes, entries, false),
            Ok(Err(what)) => {
                let _ = fs::remove_file(&path);
                self.problems.push(Looked::Damaged(path, what));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => self.problems.push(Looked::Refused(path, error)),
        }
    }

    /// Removes the least recently used packs until another pack of `size` bytes fits within the limit. Returns the
    /// number of their entries.
    pub(super) fn make_room(&mut self, listed: &[Listed], size: u64) -> io::Result<u64> {
        let mut bytes: u64 = listed.iter().map(|file| file.bytes).sum();
        let goal = self.most_bytes.saturating_sub(size);
        let mut oldest: Vec<&Listed> = listed.iter().collect();
        oldest.sort_unstable_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
        let mut evicted = 0;
        for file in oldest {
            if bytes <= goal {
                break;
            }
            let own = self.packs.iter().position(|pack| !pack.gone && pack.path == file.path);
            if self.discard(&file.path, own)? {
                evicted += own.map_or(0, |own| self.packs[own].entries.len() as u64);
            }
            bytes -= file.bytes;
        }
        Ok(evicted)
    }

    /// Removes a pack. Returns whether it was still there.
    fn discard(&mut self, path: &PathBuf, own: Option<usize>) -> io::Result<bool> {
        if let Some(own) = own {
            let pack = &mut self.packs[own];
            self.open -= usize::from(pack.file.take().is_some());
            pack.gone = true;
        }
        match fs::remove_file(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes the packs anew that have damaged values and, if there are many packs, merges the smallest of them, as
    /// many as fit into one. Values that are damaged are left out.
    pub(super) fn merge(&mut self, listed: &[Listed]) -> io::Result<()> {
        let mut there: Vec<usize> = (0..self.packs.len()).filter(|&at| !self.packs[at].gone).collect();
        there.sort_by_key(|&at| self.packs[at].bytes);
        let (mut sources, whole): (Vec<usize>, Vec<usize>) = there.iter().partition(|&&at| self.packs[at].damaged);
        if there.len() > MANY {
            let mut bytes = 0;
            let small: Vec<usize> = (whole.into_iter())
                .take_while(|&at| {
                    bytes += self.packs[at].bytes;
                    bytes <= PACK.min(self.most_bytes / 8)
                })
                .collect();
            // A pack that is merged with no other would be copied to no purpose.
            sources.extend(small.iter().filter(|_| small.len() > 1));
        }
        if sources.is_empty() {
            return Ok(());
        }
        // Two processes that merge the same packs at the same time write the same file.
        sources.sort_unstable_by(|&a, &b| self.packs[a].path.cmp(&self.packs[b].path));
        let modified: HashMap<&PathBuf, SystemTime> = listed.iter().map(|file| (&file.path, file.modified)).collect();
        let of = |at: &usize| modified.get(&self.packs[*at].path).copied().unwrap_or_else(SystemTime::now);
        let used = sources.iter().map(of).max().unwrap_or_else(SystemTime::now);
        let (mut writer, mut seen) = (Writer::new(&self.path)?, HashSet::new());
        for &at in &sources {
            let file = match File::open(&self.packs[at].path) {
                Ok(file) => file,
                // Another process has merged or evicted it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in &self.packs[at].entries {
                if seen.contains(&entry.key) {
                    continue;
                }
                if let Ok(value) = file::value(&file, entry)? {
                    writer.add(entry.key, &value)?;
                    seen.insert(entry.key);
                }
            }
        }
        // The merged pack is there before the others are removed, so that at no time an entry is missing.
        let merged = writer.finish(&self.path, used)?;
        for &at in &sources {
            // It has the name of a source if the damage to the only source was not on the disk.
            let remains = merged.as_ref().is_some_and(|(path, ..)| *path == self.packs[at].path);
            if !remains {
                self.discard(&self.packs[at].path.clone(), Some(at))?;
            }
            self.packs[at].gone = true;
        }
        if let Some((path, bytes, entries)) = merged {
            self.add(path, bytes, entries, false);
        }
        Ok(())
    }
}
