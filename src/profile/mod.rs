//! Where the time of a context went: kernels on the device, stages on the host, memory; as a table or a Chrome trace.

mod book;
mod show;
mod trace;

pub(crate) use book::Stopwatch;

/// What the device's times are measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// The device's own timestamps at the ends of every dispatch.
    Timestamps,
    /// The host's clock around every dispatch, submitted alone and waited for: what a submission costs is in each time.
    Wall,
    /// There is no device: everything ran on the CPU.
    Absent,
}

/// What a kernel did on the device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The kernel.
    pub kernel: String,
    /// Its dispatches.
    pub calls: u64,
    /// Seconds of device time altogether.
    pub seconds: f64,
    /// Operations, as the kernel's caller estimates them to cut work into submissions.
    pub flops: f64,
    /// Bytes of the arrays bound to its dispatches, whole arrays each time. A dispatch that works on a part of an array moves
    /// fewer, one that reads an array several times more.
    pub bound_bytes: u64,
}

/// What a stage of work on the host took.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StageTime {
    /// The stage: a program's own ([`crate::Context::stage`]), or one of those that serve the device: `open`, `compile`
    /// (pipelines, at their first use), `allocate`, `upload`, `record`, `submit`, `wait`, `read back`.
    pub stage: &'static str,
    /// Whether it is a program's own, in which the others lie.
    pub own: bool,
    /// How often.
    pub calls: u64,
    /// Seconds altogether, of all threads.
    pub seconds: f64,
}

/// Where the time went since the context was made, or since the last profile was taken.
///
/// `Display` is a table, sorted by device time; [`Profile::chrome_trace`] is for `chrome://tracing` and Perfetto.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Profile {
    /// The adapter, if there is one.
    pub adapter: Option<String>,
    /// What the device's times are measured with.
    pub clock: Clock,
    /// By device time, the longest first.
    pub kernels: Vec<KernelTime>,
    /// Stages on the host in the order in which they began first; those of the program before those that lie within them.
    pub stages: Vec<StageTime>,
    /// Seconds by the host's clock, from the beginning to this profile.
    pub wall: f64,
    /// The most bytes that the device's buffers took at one time since the context was made.
    pub peak_bytes: u64,
    /// The byte budget.
    pub budget: u64,
    /// Events that the trace leaves out, because it holds no more; the sums have them.
    pub left_out: u64,
    events: Vec<Event>,
}

/// One bar of a trace, in seconds of the host's clock.
#[derive(Clone, Debug)]
struct Event {
    name: String,
    track: Track,
    begin: f64,
    end: f64,
    /// Of a dispatch.
    work: Option<(f64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Track {
    Device,
    /// A thread of the host, in the order in which they came.
    Host(usize),
}

impl Profile {
    /// Seconds of device time altogether.
    #[must_use]
    pub fn device_seconds(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.seconds).sum()
    }
}
