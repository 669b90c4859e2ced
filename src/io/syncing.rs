//! A file that reaches the disk while it is being written, so that little is left when it is complete. The system would
//! keep a file of this size in memory, and syncing it at the end would take as long as the disk needs for all of it.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// The bytes that are written before they are synced. A disk writes as much in about 0.1 s.
const STEP: u64 = if cfg!(test) { 1 << 10 } else { 32 << 20 };
/// How many of these wait at most. Then the writer waits, so that what remains at the end takes less than a second.
const WAITING: usize = 3;

/// A file that is being written.
pub(crate) struct Output {
    file: File,
    /// The bytes that were written since the last call of [`Output::sync_soon`].
    bytes: u64,
    /// What syncs the file, once it is large.
    syncing: Option<Syncing>,
}

/// A thread that syncs a file.
struct Syncing {
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Output {
    pub(super) fn new(file: File) -> Self {
        Self { file, bytes: 0, syncing: None }
    }

    /// Syncs and closes the file.
    ///
    /// # Errors
    /// The first error of any sync. The system reports an error of the disk only once for all handles of an open file.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(mut syncing) = self.syncing.take() {
            syncing.end()?;
        }
        self.file.sync_all()
    }

    fn sync_soon(&mut self) -> io::Result<()> {
        if self.syncing.is_none() {
            self.syncing = Some(Syncing::begin(self.file.try_clone()?)?);
        }
        match &mut self.syncing {
            Some(syncing) => syncing.wake(),
            None => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes >= STEP {
            self.bytes = 0;
            self.sync_soon()?;
        }
        let count = self.file.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Output {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.file.seek(place)
    }
}

impl Syncing {
    fn begin(file: File) -> io::Result<Self> {
        let (wake, woken) = sync_channel(WAITING);
        let thread = Builder::new().spawn(move || sync(&file, &woken))?;
        Ok(Self { wake: Some(wake), thread: Some(thread) })
    }

    fn wake(&mut self) -> io::Result<()> {
        match self.wake.as_ref().map(|wake| wake.send(())) {
            // The thread ends early only if the file could not be synced.
            Some(Err(_)) => self.end(),
            _ => Ok(()),
        }
    }

    /// Ends the thread and returns its error.
    fn end(&mut self) -> io::Result<()> {
        self.wake = None;
        let ended = self.thread.take().map(JoinHandle::join);
        ended.unwrap_or(Ok(Ok(()))).unwrap_or_else(|_| Err(io::Error::other("the thread that syncs it has panicked")))
    }
}

impl Drop for Syncing {
    fn drop(&mut self) {
        // Windows removes no file that is open. The error belongs to a file that is given up.
        let _ = self.end();
    }
}

fn sync(file: &File, woken: &Receiver<()>) -> io::Result<()> {
    while woken.recv().is_ok() {
        // One sync is for all that was written before it.
        woken.try_iter().for_each(drop);
        file.sync_data()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_synced_while_it_is_written_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut out = Output::new(File::create_new(&path).unwrap());
        let piece: Vec<u8> = (0..=255).collect();
        out.write_all(&piece).unwrap();
        assert!(out.syncing.is_none(), "a small file needs no thread");
        (0..99).for_each(|_| out.write_all(&piece).unwrap());
        assert!(out.syncing.is_some());
        out.seek(SeekFrom::Start(3)).unwrap();
        out.write_all(&[7]).unwrap();
        out.finish().unwrap();
        let mut expected = piece.repeat(100);
        expected[3] = 7;
        assert_eq!(std::fs::read(&path).unwrap(), expected);
    }

    /// A pipe can be written to, but not synced.
    #[cfg(unix)]
    #[test]
    fn an_error_of_the_disk_is_not_lost() {
        let (_reader, writer) = io::pipe().unwrap();
        let mut syncing = Syncing::begin(File::from(std::os::fd::OwnedFd::from(writer))).unwrap();
        // The thread may have ended before the second.
        let woken = syncing.wake().and_then(|()| syncing.wake());
        assert!(woken.and_then(|()| syncing.end()).is_err());
    }
}
