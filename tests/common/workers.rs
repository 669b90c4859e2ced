//! Processes that run trials. One process serves the trials of one backend, one after the other and with one
//! context, so that a kernel is compiled once instead of once per trial (SwiftShader takes about a second for
//! each). On a software adapter only one trial runs at a time, because a second process would compile every kernel
//! again. A trial that fails, crashes or hangs ends its process, and the next trial gets a new one.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{BufRead, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, io, thread};
use tempfile::NamedTempFile;

/// The environment variable that gives a worker the name of a file. The worker appends a byte to this file for each
/// trial that passed.
const ANSWERS: &str = "FIEDLER_TRIAL_ANSWERS";
const DRIVERS: &str = "VK_DRIVER_FILES";
/// How long a worker may take to end. Closing a device takes a fraction of a second.
const END_LIMIT: Duration = Duration::from_secs(60);

fn failed(what: &'static str) -> impl Fn(io::Error) -> String {
    move |e| format!("cannot {what}: {e}")
}

/// Runs the loop of a worker, if this process is one: each line of its input names a trial for `run`, and the first
/// failure ends the process.
pub fn serve(mut run: impl FnMut(&str) -> Result<(), String>) -> Option<Result<(), String>> {
    let path = env::var_os(ANSWERS)?;
    let mut each = || {
        let mut answers = OpenOptions::new().append(true).open(&path).map_err(failed("open the answers"))?;
        for trial in io::stdin().lock().lines() {
            run(&trial.map_err(failed("read the trial's name"))?)?;
            answers.write_all(b".").map_err(failed("answer"))?;
        }
        Ok(())
    };
    Some(each())
}

/// Another process of this binary.
pub struct Worker {
    child: Child,
    /// Receives the output of the process. It is a file because a pipe would have to be emptied while the process
    /// runs.
    log: NamedTempFile,
    answers: NamedTempFile,
}

impl Worker {
    /// Starts a worker with additional environment variables, and with the adapters of `drivers` alone if they are
    /// given. With `nocapture`, the worker prints to the output of its parent.
    fn start(variables: &[(&str, &str)], drivers: Option<&str>, nocapture: bool) -> Result<Self, String> {
        let file = || NamedTempFile::new().map_err(failed("make a file for a trial"));
        let (log, answers) = (file()?, file()?);
        let mut command = Command::new(env::current_exe().map_err(failed("find this binary"))?);
        // The environment variables that a user has set for the `fiedler` command must not move a trial to another
        // backend.
        for name in ["FIEDLER_BACKEND", "FIEDLER_ADAPTER"] {
            command.env_remove(name);
        }
        command.env(ANSWERS, answers.path()).envs(variables.iter().copied()).stdin(Stdio::piped());
        if let Some(drivers) = drivers {
            command.env(DRIVERS, drivers);
        }
        if !nocapture {
            let out = OpenOptions::new().append(true).open(log.path()).map_err(failed("open a trial's output"))?;
            command.stdout(out.try_clone().map_err(failed("share a trial's output"))?).stderr(out);
        }
        Ok(Self { child: command.spawn().map_err(failed("start a trial"))?, log, answers })
    }

    /// Runs one trial in a separate process, which is [started](Self::start) for it.
    pub fn once(
        trial: &str,
        variables: &[(&str, &str)],
        drivers: Option<&str>,
        nocapture: bool,
        limit: Duration,
    ) -> Result<String, String> {
        let mut worker = Self::start(variables, drivers, nocapture)?;
        let output = worker.run(trial, limit)?;
        worker.end()?;
        Ok(output)
    }

    /// Runs a trial and returns its output, or the reason of its failure with the output. After a failure the
    /// process is gone.
    fn run(&mut self, trial: &str, limit: Duration) -> Result<String, String> {
        if let Some(input) = &mut self.child.stdin {
            // If the process has ended, its status says more than this error.
            let _ = writeln!(input, "{trial}");
        }
        let passed = |answers: &mut NamedTempFile| {
            let mut answer = Vec::new();
            answers.read_to_end(&mut answer).map(|_| !answer.is_empty()).map_err(failed("read the answer"))
        };
        let started = Instant::now();
        let outcome = loop {
            if passed(&mut self.answers)? {
                break Ok(());
            }
            if let Some(status) = self.child.try_wait().map_err(failed("wait for a trial"))? {
                // It may have answered between the two checks.
                break if passed(&mut self.answers)? { Ok(()) } else { Err(status.to_string()) };
            }
            if started.elapsed() > limit {
                self.kill()?;
                break Err(format!("killed after {} s", limit.as_secs_f32()));
            }
            thread::sleep(Duration::from_millis(5));
        };
        let mut output = Vec::new();
        self.log.read_to_end(&mut output).map_err(failed("read a trial's output"))?;
        let output = String::from_utf8_lossy(&output).into_owned();
        outcome.map(|()| output.clone()).map_err(|why| format!("{why}\n{output}"))
    }

    fn kill(&mut self) -> Result<(), String> {
        self.child.kill().map_err(failed("end a process that hangs"))?;
        self.child.wait().map(drop).map_err(failed("wait for a process"))
    }

    /// Ends the process after its device has closed.
    fn end(mut self) -> Result<(), String> {
        drop(self.child.stdin.take());
        let started = Instant::now();
        loop {
            match self.child.try_wait().map_err(failed("wait for a process"))? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("a process with trials that passed ended with {status}")),
                None if started.elapsed() > END_LIMIT => {
                    self.kill()?;
                    return Err("a process with trials that passed does not end".to_owned());
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

/// The idle workers, by backend, and who may run.
pub struct Workers {
    idle: Mutex<HashMap<String, Vec<Worker>>>,
    turns: Mutex<Turns>,
    freed: Condvar,
}

/// At most this number of trials run at a time.
struct Turns {
    free: usize,
    /// How many trials wait for each backend that takes one trial at a time, and whether one runs there.
    alone: HashMap<String, (usize, bool)>,
}

impl Turns {
    /// Whether the trial that asks may run. A backend that takes one trial at a time goes first, since its trials
    /// are what the others end up waiting for.
    fn ready(&self, alone: Option<&str>) -> bool {
        self.free > 0
            && match alone {
                Some(backend) => !self.alone[backend].1,
                None => !self.alone.values().any(|&(waiting, runs)| waiting > 0 && !runs),
            }
    }
}

/// A trial's permission to run, until it is dropped.
pub struct Turn<'a> {
    workers: &'a Workers,
    alone: Option<&'a str>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = self.workers.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.free += 1;
        if let Some((_, runs)) = self.alone.and_then(|backend| turns.alone.get_mut(backend)) {
            *runs = false;
        }
        self.workers.freed.notify_all();
    }
}

impl Workers {
    /// Limits the number of trials that run at a time.
    pub fn at_most(turns: usize) -> Self {
        let turns = Mutex::new(Turns { free: turns, alone: HashMap::new() });
        Self { idle: Mutex::default(), turns, freed: Condvar::new() }
    }

    /// Waits until a trial of this backend may run. With `alone`, one trial of the backend runs at a time, so that
    /// one process serves them all.
    pub fn turn<'a>(&'a self, backend: &'a str, alone: bool) -> Turn<'a> {
        let alone = alone.then_some(backend);
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(backend) = alone {
            turns.alone.entry(backend.to_owned()).or_default().0 += 1;
        }
        let mut turns =
            self.freed.wait_while(turns, |turns| !turns.ready(alone)).unwrap_or_else(PoisonError::into_inner);
        turns.free -= 1;
        if let Some(state) = alone.and_then(|backend| turns.alone.get_mut(backend)) {
            *state = (state.0 - 1, true);
        }
        Turn { workers: self, alone }
    }

    /// Runs a trial in a process of that backend, which is an idle worker or a new one.
    pub fn run(
        &self,
        trial: &str,
        backend: &str,
        drivers: Option<&str>,
        nocapture: bool,
        limit: Duration,
    ) -> Result<(), String> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().get_mut(backend).and_then(Vec::pop);
        let mut worker = taken.map_or_else(|| Worker::start(&[], drivers, nocapture), Ok)?;
        worker.run(trial, limit)?;
        idle().entry(backend.to_owned()).or_default().push(worker);
        Ok(())
    }

    /// Ends all workers.
    pub fn end(&self) -> Result<(), String> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.drain().flat_map(|(_, workers)| workers).try_for_each(Worker::end)
    }
}
