//! Where the time of a context went: kernels on the device, stages on the host, memory; as a table or a Chrome trace.

mod book;
mod show;
mod trace;

pub(crate) use book::Stopwatch;

/// The clock that measures the device's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// The device's own timestamps at both ends of every dispatch.
    Timestamps,
    /// The host's clock around every dispatch, which is submitted alone and waited for. Every time
    /// includes the cost of a submission.
    Wall,
    /// There is no device: everything ran on the CPU.
    Absent,
}

/// What a kernel did on the device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The kernel's name.
    pub kernel: String,
    /// The number of its dispatches.
    pub calls: u64,
    /// The total seconds of device time.
    pub seconds: f64,
    /// The operations, as the kernel's caller estimates them to cut work into submissions.
    pub flops: f64,
    /// The bytes of the arrays bound to its dispatches, counting entire arrays each time. A dispatch that works on a
    /// part of an array moves fewer bytes; one that reads an array several times moves more.
    pub bound_bytes: u64,
}

/// The time of a stage of work on the host.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StageTime {
    /// The stage: one of the program's own ([`crate::Context::stage`]), or one of those that serve the device: `open`,
    /// `compile` (pipelines, at their first use), `allocate`, `upload`, `record`, `submit`, `wait`, `read back`.
    pub stage: &'static str,
    /// Whether it is one of the program's own stages, which contain the others.
    pub own: bool,
    /// How often it ran.
    pub calls: u64,
    /// The total seconds of all threads.
    pub seconds: f64,
}

/// Where the time went since the context was made, or since the last profile was taken.
///
/// `Display` writes a table, sorted by device time; [`Profile::chrome_trace`] is for `chrome://tracing` and Perfetto.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Profile {
    /// The adapter, if there is one.
    pub adapter: Option<String>,
    /// The clock that measures the device's times.
    pub clock: Clock,
    /// The kernels by device time, the longest first.
    pub kernels: Vec<KernelTime>,
    /// The stages on the host, in the order in which each first began; the program's own stages come
    /// before those within them.
    pub stages: Vec<StageTime>,
    /// The seconds by the host's clock from the beginning to this profile.
    pub wall: f64,
    /// The most bytes that the device's buffers took at one time since the context was made.
    pub peak_bytes: u64,
    /// The byte budget.
    pub budget: u64,
    /// The number of events that the trace leaves out because it is full. The sums include them.
    pub left_out: u64,
    events: Vec<Event>,
}

/// A bar of a trace, with its ends in seconds of the host's clock.
#[derive(Clone, Debug)]
struct Event {
    name: String,
    track: Track,
    begin: f64,
    end: f64,
    /// The operations and bound bytes, if it is a dispatch.
    work: Option<(f64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Track {
    Device,
    /// A thread of the host, numbered in the order in which threads appeared.
    Host(usize),
}

impl Profile {
    /// Returns the total seconds of device time.
    #[must_use]
    pub fn device_seconds(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.seconds).sum()
    }
}
