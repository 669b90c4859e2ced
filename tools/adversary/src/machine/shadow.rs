//! Who read and wrote each word, from which data races follow. Atomic operations need no part in it: WGSL gives no way
//! to access the same variable both atomically and otherwise.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

/// An invocation's access, packed: the generation of the dispatch (16 bits), the workgroup (24), the epoch, which
/// storage barriers advance (14), and the invocation (10). What does not fit wraps around, so that a race in a dispatch
/// of millions of workgroups could be missed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(crate) fn new(generation: u64, workgroup: u32, epoch: u32, lane: u32) -> Self {
        let workgroup = u64::from(workgroup) & 0xff_ffff;
        Self(generation << 48 | workgroup << 24 | u64::from(epoch & 0x3fff) << 10 | u64::from(lane & 0x3ff))
    }

    fn generation(self) -> u64 {
        self.0 >> 48
    }

    pub(crate) fn workgroup(self) -> u32 {
        (self.0 >> 24) as u32 & 0xff_ffff
    }

    pub(crate) fn lane(self) -> u32 {
        self.0 as u32 & 0x3ff
    }

    fn epoch(self) -> u32 {
        (self.0 >> 10) as u32 & 0x3fff
    }

    /// Whether nothing orders two accesses.
    fn unordered(self, other: Self) -> bool {
        self.generation() == other.generation()
            && (self.workgroup() != other.workgroup() || (self.epoch() == other.epoch() && self.lane() != other.lane()))
    }

    /// Whether this access can be forgotten once `next` is known, because whatever races with this one and is yet to
    /// come also races with `next`, or because this one is of an earlier dispatch.
    fn superseded_by(self, next: Self) -> bool {
        self.generation() != next.generation()
            || (self.workgroup() == next.workgroup() && (self.epoch() != next.epoch() || self.lane() == next.lane()))
    }
}

/// An access that races with a later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    /// The workgroup, or `None` for that of the later access.
    pub(crate) workgroup: Option<u32>,
    pub(crate) lane: u32,
    pub(crate) site: u32,
    pub(crate) wrote: bool,
}

/// The accesses to a word of a storage buffer in a dispatch. Two readers suffice: an invocation that writes differs
/// from at least one of them.
#[derive(Debug, Default)]
pub(crate) struct StorageShadow {
    writer: AtomicU64,
    readers: [AtomicU64; 2],
    writer_site: AtomicU32,
    reader_sites: [AtomicU32; 2],
}

impl StorageShadow {
    /// Notes a read and returns the write that it races with. Of two unordered accesses on two threads, at least one
    /// sees the other, since each notes itself before it looks.
    pub(crate) fn read(&self, stamp: Stamp, site: u32) -> Option<Earlier> {
        let first = Stamp(self.readers[0].load(Relaxed));
        if first != stamp {
            if first.superseded_by(stamp) {
                self.readers[0].store(stamp.0, SeqCst);
                self.reader_sites[0].store(site, Relaxed);
            } else {
                let second = Stamp(self.readers[1].load(Relaxed));
                if second != stamp && second.superseded_by(stamp) {
                    self.readers[1].store(stamp.0, SeqCst);
                    self.reader_sites[1].store(site, Relaxed);
                }
            }
        }
        let writer = Stamp(self.writer.load(SeqCst));
        writer.unordered(stamp).then(|| self.earlier(writer, &self.writer_site, true))
    }

    /// Notes a write and returns the access that it races with.
    pub(crate) fn write(&self, stamp: Stamp, site: u32) -> Option<Earlier> {
        let writer = Stamp(self.writer.swap(stamp.0, SeqCst));
        let found = if writer.unordered(stamp) {
            Some(self.earlier(writer, &self.writer_site, true))
        } else {
            let mut readers = self.readers.iter().map(|reader| Stamp(reader.load(SeqCst))).zip(&self.reader_sites);
            let reader = readers.find(|(reader, _)| reader.unordered(stamp));
            reader.map(|(reader, site)| self.earlier(reader, site, false))
        };
        self.writer_site.store(site, Relaxed);
        found
    }

    fn earlier(&self, stamp: Stamp, site: &AtomicU32, wrote: bool) -> Earlier {
        Earlier { workgroup: Some(stamp.workgroup()), lane: stamp.lane(), site: site.load(Relaxed), wrote }
    }

    pub(crate) fn forget(&self) {
        self.writer.store(0, Relaxed);
        self.readers.iter().for_each(|reader| reader.store(0, Relaxed));
    }
}

/// The accesses to a word of workgroup memory since the workgroup began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WorkgroupShadow {
    /// The epoch of the last write. The first epoch is 1.
    write_epoch: u32,
    read_epoch: u32,
    writer: u16,
    readers: [u16; 2],
    writer_site: u32,
    reader_site: u32,
    pub(crate) written: bool,
}

impl WorkgroupShadow {
    pub(crate) fn new(written: bool) -> Self {
        Self { written, ..Self::default() }
    }

    /// Notes a read and returns the write that it races with.
    pub(crate) fn read(&mut self, epoch: u32, lane: u16, site: u32) -> Option<Earlier> {
        if self.read_epoch == epoch {
            if self.readers[0] != lane {
                self.readers[1] = lane;
            }
        } else {
            (self.read_epoch, self.readers, self.reader_site) = (epoch, [lane; 2], site);
        }
        (self.write_epoch == epoch && self.writer != lane).then(|| self.earlier(self.writer, self.writer_site, true))
    }

    /// Notes a write and returns the access that it races with.
    pub(crate) fn write(&mut self, epoch: u32, lane: u16, site: u32) -> Option<Earlier> {
        let found = if self.write_epoch == epoch && self.writer != lane {
            Some(self.earlier(self.writer, self.writer_site, true))
        } else if self.read_epoch == epoch {
            let reader = self.readers.into_iter().find(|&reader| reader != lane);
            reader.map(|reader| self.earlier(reader, self.reader_site, false))
        } else {
            None
        };
        (self.write_epoch, self.writer, self.writer_site, self.written) = (epoch, lane, site, true);
        found
    }

    fn earlier(&self, lane: u16, site: u32, wrote: bool) -> Earlier {
        Earlier { workgroup: None, lane: lane.into(), site, wrote }
    }
}
