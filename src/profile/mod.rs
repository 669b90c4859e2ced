//! The profile of a context, with the times of kernels on the device and of stages on the host, and the memory used. It
//! can be shown as a table or as a Chrome trace.

mod book;
mod show;
mod trace;

pub(crate) use book::Stopwatch;

/// The clock with which kernels are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// The device's timestamps at the start and the end of every dispatch.
    Timestamps,
    /// The host's clock. Every dispatch is submitted alone and waited for, so every time includes the cost of a
    /// submission.
    Wall,
    /// No clock was used, because there is no device and everything ran on the CPU.
    Absent,
}

/// The times and the work of one kernel on the device.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The kernel's name.
    pub kernel: String,
    /// The number of dispatches of the kernel.
    pub calls: u64,
    /// The total device time in seconds.
    pub seconds: f64,
    /// The total number of operations, as estimated by the code that dispatches the kernel.
    pub flops: f64,
    /// The total number of bytes of the arrays bound to the dispatches, counting entire arrays for each dispatch. A
    /// dispatch that uses only some elements of an array moves fewer bytes, and a dispatch that reads an array several
    /// times moves more.
    pub bound_bytes: u64,
}

/// The time of one stage of work on the host.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StageTime {
    /// The name of the stage: either a stage of the calling program ([`crate::Context::stage`]) or one of this
    /// library's. Its stages of work for the device are `open`, `compile` (pipelines, at their first use), `allocate`,
    /// `upload`, `record`, `submit`, `wait` and `read back`. Its stages of an encoder's work on the CPU are `plan`,
    /// `look up` (in caches), `gather` (the graphs of a chunk), `laplacian`, `solve`, `finish` (ties, canonical
    /// vectors, certificates), `arrange` (in the arrays of the result) and `keep` (in caches). The stages of this
    /// library do not overlap.
    pub stage: &'static str,
    /// Whether the stage belongs to the calling program. Such a stage contains stages of this library.
    pub own: bool,
    /// The number of times that the stage ran.
    pub calls: u64,
    /// The total time of all threads in the stage, in seconds.
    pub seconds: f64,
}

/// The times of kernels and stages since the context was created, or since the last profile was taken.
///
/// `Display` writes a table, sorted by device time. [`Profile::chrome_trace`] writes a trace for `chrome://tracing` and
/// Perfetto.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Profile {
    /// The adapter, if there is one.
    pub adapter: Option<String>,
    /// The clock with which kernels are timed.
    pub clock: Clock,
    /// The kernels, in descending order of device time.
    pub kernels: Vec<KernelTime>,
    /// The stages on the host. The stages of the calling program come first, then those of this library. Within each
    /// group, the stages are in the order in which they were first recorded.
    pub stages: Vec<StageTime>,
    /// The time that this profile covers, in seconds by the host's clock.
    pub wall: f64,
    /// The maximum number of bytes of all device buffers at one time since the context was created.
    pub peak_bytes: u64,
    /// The byte budget.
    pub budget: u64,
    /// The number of events that the trace omits because it is full. The kernel and stage times include these events.
    pub left_out: u64,
    events: Vec<Event>,
}

/// A bar of a trace, whose start and end are in seconds of the host's clock.
#[derive(Clone, Debug)]
struct Event {
    name: String,
    track: Track,
    begin: f64,
    end: f64,
    /// The number of operations, and the number of bytes of the arrays that the dispatch binds, if the event is a
    /// dispatch.
    work: Option<(f64, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Track {
    Device,
    /// A thread of the host. The threads are numbered in the order in which each first recorded a stage.
    Host(usize),
}

impl Profile {
    /// Returns the part of the time that is in no stage of the calling program, in seconds.
    #[must_use]
    pub fn other_seconds(&self) -> f64 {
        let own = self.stages.iter().filter(|stage| stage.own);
        (self.wall - own.map(|stage| stage.seconds).sum::<f64>()).max(0.0)
    }

    /// Returns the total device time in seconds.
    #[must_use]
    pub fn device_seconds(&self) -> f64 {
        self.kernels.iter().map(|kernel| kernel.seconds).sum()
    }
}
