//! Runs a step of a report card in a process of its own, ends that process when it hangs or its time is up, and keeps
//! what it has told until then.

use crate::commands::interrupt;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// An item that takes longer than this share of its step's time counts as hanging.
const PATIENCE: u32 = 3;
/// The least and the greatest time that an item has, except that it ends with its step.
const BOUNDS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];
/// How often a signal to this process is looked at.
const TICK: Duration = Duration::from_millis(100);
/// How long an ended process is waited for. One that waits for its driver does not end before the driver answers, and
/// is left behind.
const LEAVE: Duration = Duration::from_millis(500);

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Waiting,
    Running,
    Done,
    /// The time was up.
    Cut,
    Failed,
    Skipped,
}

impl Status {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Cut => "cut",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// What became of a step.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) status: Status,
    pub(super) seconds: f64,
    /// The time that the step had.
    pub(super) share: f64,
    pub(super) rows: Vec<Value>,
    /// The number of items that were begun, and the number of all, if the step got far enough to count them.
    pub(super) items: (usize, Option<usize>),
    /// The items that failed, and why.
    pub(super) failed: Vec<(String, String)>,
    /// Why the step is not done.
    pub(super) why: String,
}

impl Ran {
    pub(super) fn waiting() -> Self {
        let (seconds, share) = (0.0, 0.0);
        Self {
            status: Status::Waiting,
            seconds,
            share,
            rows: Vec::new(),
            items: (0, None),
            failed: Vec::new(),
            why: String::new(),
        }
    }

    pub(super) fn skipped(why: &str) -> Self {
        Self { status: Status::Skipped, why: why.to_owned(), ..Self::waiting() }
    }

    /// Returns what became of a step of which this and another process did a part each.
    pub(super) fn beside(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self.failed.extend(other.failed);
        let of = self.items.1.zip(other.items.1).map(|(a, b)| a + b);
        self.items = (self.items.0 + other.items.0, of);
        self.seconds = self.seconds.max(other.seconds);
        if self.status == Status::Done {
            (self.status, self.why) = (other.status, other.why);
        }
        self
    }

    /// Returns the entry in the card's list of steps.
    pub(super) fn to_json(&self, step: &str) -> Value {
        let failed = |(item, why): &(String, String)| json!({"item": item, "why": why});
        json!({
            "step": step, "status": self.status.name(), "seconds": round(self.seconds), "share": round(self.share),
            "items": self.items.0, "of": self.items.1, "why": self.why,
            "failed": self.failed.iter().map(failed).collect::<Vec<_>>(),
        })
    }
}

fn round(seconds: f64) -> f64 {
    (1e3 * seconds).round() / 1e3
}

/// How a process ended.
enum End {
    /// It told that all items are done.
    Done,
    /// It ended, or was ended because it hung. The text says which.
    Died(String),
    TimeUp,
    Cancelled,
}

/// Runs a step within `share`. `command` makes the command of a process that begins after a number of items. If a
/// process dies or hangs, its item failed, and `again` says whether another process goes on with the next one. `told`
/// is called after every row.
pub(super) fn supervise(
    command: impl Fn(usize, Duration) -> Command,
    again: bool,
    share: Duration,
    told: &mut dyn FnMut(&Ran),
) -> Ran {
    let begun = Instant::now();
    let end = begun + share;
    let patience = (share / PATIENCE).clamp(BOUNDS[0], BOUNDS[1]);
    let mut ran = Ran { status: Status::Running, share: share.as_secs_f64(), ..Ran::waiting() };
    loop {
        let before = ran.items.0;
        let mut doing = "the start of the process".to_owned();
        let left = end.saturating_duration_since(Instant::now());
        let (status, why) = match one(command(before, left), &mut ran, &mut doing, (end, patience), told) {
            End::Done => (Status::Done, String::new()),
            End::TimeUp => (Status::Cut, format!("the time was up during {doing}")),
            End::Cancelled => (Status::Cut, "interrupted".to_owned()),
            End::Died(why) => {
                // A process that reported a failure before it ended is not reported twice.
                if ran.items.0 > before && ran.failed.last().is_none_or(|(item, _)| *item != doing) {
                    ran.failed.push((doing.clone(), why.clone()));
                }
                if again && ran.items.0 > before && Instant::now() < end {
                    continue;
                }
                (Status::Failed, format!("{doing}: {why}"))
            }
        };
        (ran.status, ran.why, ran.seconds) = (status, why, begun.elapsed().as_secs_f64());
        return ran;
    }
}

/// Runs one process, and adds what it tells to `ran`.
fn one(
    mut command: Command,
    ran: &mut Ran,
    doing: &mut String,
    (end, patience): (Instant, Duration),
    told: &mut dyn FnMut(&Ran),
) -> End {
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let (mut child, lines) = match started.map(|mut child| (child.stdout.take(), child)) {
        Ok((Some(out), child)) => (child, lines(out)),
        Ok((None, _)) => return End::Died("it has no standard output".to_owned()),
        Err(error) => return End::Died(format!("cannot start a process: {error}")),
    };
    let (mut since, mut said) = (Instant::now(), None);
    loop {
        let now = Instant::now();
        let until = end.min(since + patience);
        if interrupt::cancel().is_cancelled() || now >= until {
            let _ = child.kill();
            leave(&mut child);
            return match (interrupt::cancel().is_cancelled(), now >= end) {
                (true, _) => End::Cancelled,
                (_, true) => End::TimeUp,
                _ => End::Died(format!("no answer for {:.1} s, so its process was ended", patience.as_secs_f64())),
            };
        }
        let line = match lines.recv_timeout((until - now).min(TICK)) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => {
                let status = leave(&mut child).unwrap_or_else(|| "its output ended".to_owned());
                return End::Died(said.unwrap_or(status));
            }
        };
        since = Instant::now();
        // A driver may print something, too.
        let Ok(Value::Object(mut line)) = serde_json::from_str::<Value>(&line) else { continue };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(count) = line.get("of").and_then(Value::as_u64) {
            ran.items.1 = usize::try_from(count).ok();
        }
        if let Some(item) = line.get("doing") {
            *doing = text(item);
            ran.items.0 += 1;
        }
        if let Some(row) = line.remove("row") {
            ran.rows.push(row);
            told(ran);
        }
        if let Some(why) = line.get("failed") {
            ran.failed.push((doing.clone(), text(why)));
        }
        said = line.get("error").map(text).or(said);
        if line.contains_key("done") {
            leave(&mut child);
            return End::Done;
        }
    }
}

/// Returns the lines that a thread reads.
fn lines(out: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| send.send(line)).ok();
    });
    receive
}

/// Waits until a process ends, but not for long, and returns how it ended.
fn leave(child: &mut Child) -> Option<String> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(format!("its process ended: {status}")),
            Ok(None) if begun.elapsed() < LEAVE => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                return None;
            }
        }
    }
}
