//! Formats the profile as a table.

use super::{Clock, KernelTime, Profile};
use std::fmt::{Display, Formatter, Result};

impl Display for Profile {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let adapter = self.adapter.as_deref().unwrap_or("the device");
        let all = self.device_seconds();
        let wall = 1e3 * self.wall;
        match self.clock {
            _ if self.adapter.is_some() && self.kernels.is_empty() => {
                writeln!(f, "profile: nothing ran on {adapter}, host stages only")?
            }
            Clock::Timestamps => writeln!(f, "profile: kernels on {adapter}, by its timestamps")?,
            Clock::Wall => writeln!(
                f,
                "profile: kernels on {adapter}, by the host's wall clock around each dispatch, one at a time (no timestamps): what a \
                 submission costs is in each"
            )?,
            Clock::Absent => writeln!(f, "profile: everything ran on the CPU, host stages only")?,
        }
        if self.clock != Clock::Absent && !self.kernels.is_empty() {
            write_line(f, "kernel", ["calls", "total ms", "mean us", "share %", "Gflop/s", "bound GB/s"])?;
            for kernel in &self.kernels {
                write_kernel(f, kernel, all)?;
            }
            writeln!(f, "{:28} {:>33.3} of {wall:.3} ms by the wall clock", "device", 1e3 * all)?;
            let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
            let (peak, budget) = (mib(self.peak_bytes), mib(self.budget));
            writeln!(f, "peak device memory {peak:.1} MiB of a budget of {budget:.0} MiB")?;
        } else {
            writeln!(f, "{wall:.3} ms by the wall clock")?;
        }
        for (own, heading) in [(true, "stage"), (false, "within: host")] {
            let stages = || self.stages.iter().filter(|stage| stage.own == own);
            for (i, stage) in stages().enumerate() {
                if i == 0 {
                    write_line(f, heading, ["calls", "total ms", "mean us", "", "", ""])?;
                }
                let mean = 1e6 * stage.seconds / stage.calls.max(1) as f64;
                let numbers = [stage.calls.to_string(), format!("{:.3}", 1e3 * stage.seconds), format!("{mean:.1}")];
                let [calls, total, mean] = numbers.each_ref().map(String::as_str);
                write_line(f, stage.stage, [calls, total, mean, "", "", ""])?;
            }
            // With this line, the stages of the calling program add up to the wall time.
            if own && stages().next().is_some() {
                write_line(f, "other", ["", &format!("{:.3}", 1e3 * self.other_seconds()), "", "", "", ""])?;
            }
        }
        if self.left_out > 0 {
            writeln!(f, "a trace leaves {} events out; the sums have them", self.left_out)?;
        }
        Ok(())
    }
}

fn write_kernel(f: &mut Formatter<'_>, kernel: &KernelTime, all: f64) -> Result {
    let calls = kernel.calls.max(1) as f64;
    // The rate is undefined if the measured time is 0.
    let rate =
        |work: f64| if kernel.seconds > 0.0 { format!("{:.3}", 1e-9 * work / kernel.seconds) } else { "-".into() };
    let share = if all > 0.0 { 100.0 * kernel.seconds / all } else { 0.0 };
    let numbers = [
        kernel.calls.to_string(),
        format!("{:.3}", 1e3 * kernel.seconds),
        format!("{:.1}", 1e6 * kernel.seconds / calls),
        format!("{share:.1}"),
        rate(kernel.flops),
        rate(kernel.bound_bytes as f64),
    ];
    write_line(f, &kernel.kernel, numbers.each_ref().map(String::as_str))
}

fn write_line(f: &mut Formatter<'_>, name: &str, columns: [&str; 6]) -> Result {
    let [calls, total, mean, share, flops, bytes] = columns;
    let line = format!("{name:28} {calls:>9} {total:>12} {mean:>11} {share:>8} {flops:>10} {bytes:>11}");
    writeln!(f, "{}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use crate::profile::{Clock, KernelTime, Profile, StageTime};

    #[test]
    fn a_table_says_what_it_measured_with() {
        let kernel = |name: &str, calls, seconds| KernelTime {
            kernel: name.to_owned(),
            calls,
            seconds,
            flops: 2e9,
            bound_bytes: 4_000_000_000,
        };
        let mut profile = Profile {
            adapter: Some("llvmpipe".to_owned()),
            clock: Clock::Timestamps,
            kernels: vec![kernel("Tile", 3, 0.75), kernel("Sum", 1, 0.25), kernel("Idle", 1, 0.0)],
            stages: vec![
                StageTime { stage: "encode", own: true, calls: 1, seconds: 1.5 },
                StageTime { stage: "compile", own: false, calls: 2, seconds: 0.5 },
            ],
            wall: 2.0,
            peak_bytes: 3 << 20,
            budget: 1 << 30,
            left_out: 0,
            events: vec![],
        };
        let fields = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let text = profile.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("llvmpipe, by its timestamps"), "{text}");
        // `Tile` used 0.75 s of the total of 1 s, in three calls with 2e9 operations and 4e9 bytes in total.
        assert_eq!(fields(lines[2]), ["Tile", "3", "750.000", "250000.0", "75.0", "2.667", "5.333"]);
        assert_eq!(fields(lines[4])[4..], ["0.0", "-", "-"]);
        assert!(
            lines[5].contains("1000.000 of 2000.000 ms") && lines[6].contains("3.0 MiB of a budget of 1024"),
            "{text}"
        );
        // The stage takes 1.5 s of the 2 s, so the rest is 0.5 s.
        assert_eq!(fields(lines[8]), fields("encode 1 1500.000 1500000.0"));
        assert_eq!(fields(lines[9]), ["other", "500.000"]);
        assert_eq!(fields(lines[11])[2], "500.000");
        profile.clock = Clock::Wall;
        assert!(profile.to_string().contains("wall clock around each dispatch"));
        profile.clock = Clock::Absent;
        let text = profile.to_string();
        assert!(text.contains("on the CPU, host stages only") && !text.contains("Tile"), "{text}");
    }
}
