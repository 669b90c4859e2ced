//! Writes the profile as Chrome trace events, which `chrome://tracing` and Perfetto display.

use super::{Clock, Event, Profile, Track};
use serde_json::{Value, json};

impl Profile {
    /// Returns a JSON array of trace events, with one track for the device's kernels and one for each thread of the
    /// host. Times are in microseconds of the host's clock since the profile began. The offset between the clocks of
    /// the device and the host is not known exactly. The device's track is therefore placed at the earliest time for
    /// which no dispatch begins before its submission.
    #[must_use]
    pub fn chrome_trace(&self) -> String {
        let device = self.adapter.as_deref().unwrap_or("device");
        let clock = match self.clock {
            Clock::Timestamps => "timestamps",
            Clock::Wall => "wall clock around each dispatch",
            Clock::Absent => "no device",
        };
        let mut tracks: Vec<Track> = self.events.iter().map(|event| event.track).collect();
        tracks.sort_by_key(|&track| number(track));
        tracks.dedup();
        let named = tracks.into_iter().map(|track| {
            let name = match track {
                Track::Device => format!("{device} ({clock})"),
                Track::Host(thread) => format!("host, thread {thread}"),
            };
            json!({"name": "thread_name", "ph": "M", "pid": 1, "tid": number(track), "args": {"name": name}})
        });
        Value::Array(named.chain(self.events.iter().map(bar)).collect()).to_string()
    }
}

fn number(track: Track) -> usize {
    match track {
        Track::Device => 0,
        Track::Host(thread) => thread + 1,
    }
}

fn bar(event: &Event) -> Value {
    // Both ends are rounded to whole nanoseconds, so that adjacent events do not overlap.
    let nanoseconds = |seconds: f64| (seconds * 1e9).round();
    let (begin, end) = (nanoseconds(event.begin), nanoseconds(event.end));
    let kind = if event.track == Track::Device { "kernel" } else { "stage" };
    let args = event.work.map_or_else(|| json!({}), |(flops, bytes)| json!({"flops": flops, "bound_bytes": bytes}));
    json!({
        "name": event.name, "cat": kind, "ph": "X", "ts": begin / 1e3, "dur": (end - begin) / 1e3, "pid": 1,
        "tid": number(event.track), "args": args,
    })
}
