//! `fiedler tune`: measures and stores the rates of this machine.

use super::{Failure, Outcome, Where, print};
use crate::bench::{TuneOptions, today, tune};
use clap::Args;
use fiedler::Context;
use fiedler::policy::{Curves, Machine, Slower, Tuning, folder};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};

/// Measure this machine once; from then on `auto` chooses by these measurements.
#[derive(Debug, Args)]
pub(super) struct Tune {
    #[command(flatten)]
    place: Where,
    /// Measure more and larger sizes, for four minutes rather than one.
    #[arg(long)]
    thorough: bool,
    /// Show the stored measurements and whether they are valid for this machine, without measuring anything.
    #[arg(long, conflicts_with = "thorough")]
    show: bool,
    /// Delete the stored measurements of this machine's CPU and adapter.
    #[arg(long, conflicts_with_all = ["thorough", "show"])]
    forget: bool,
}

impl Tune {
    pub(super) fn run(self) -> Result<Outcome, Failure> {
        let folder = folder().ok_or_else(|| {
            Failure::Said(
                "tune: expected a home folder or FIEDLER_CACHE_DIR to store the results, found neither".to_owned(),
            )
        })?;
        let ctx = self.place.context()?;
        let machines = machines(&ctx);
        if self.show {
            return Ok(show(&folder, &machines));
        }
        if self.forget {
            return forget(&folder, &machines);
        }
        // If the folder is not writable, checking this first saves a minute of measuring.
        writable(&folder)?;
        let bar = ProgressBar::new(1000).with_style(
            ProgressStyle::with_template("{bar:30} {elapsed} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        let options =
            if self.thorough { TuneOptions { seconds: 240, ..TuneOptions::default() } } else { TuneOptions::default() };
        let rates = tune(&ctx, options, |progress| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 1000")]
            bar.set_position((1000.0 * progress.share) as u64);
            bar.set_message(progress.what);
        })?;
        bar.finish_and_clear();
        let date = today();
        for machine in &machines {
            let tuning =
                if machine.threads > 0 { Tuning::Cpu(rates.cpu.clone()) } else { Tuning::Gpu(rates.gpu.clone()) };
            let path = tuning.save(&folder, machine, &date)?;
            print(summary(machine, &tuning, &path));
        }
        Ok(Outcome::Done)
    }
}

/// Creates the folder and checks that files can be written in the folder.
fn writable(folder: &Path) -> Result<(), Failure> {
    let tried = std::fs::create_dir_all(folder).and_then(|()| tempfile::NamedTempFile::new_in(folder));
    tried.map(drop).map_err(|error| Failure::Said(format!("tune: cannot write to {}: {error}", folder.display())))
}

/// Returns the machines to measure: the CPU, and the adapter if there is one.
fn machines(ctx: &Context) -> Vec<Machine> {
    let cpu = Machine::cpu(ctx.threads());
    let adapter = ctx.adapter().map(|a| Machine::adapter(&a.name, &a.backend, &a.driver));
    [Some(cpu), adapter].into_iter().flatten().collect()
}

/// Describes the measurements of one side in a few lines.
fn summary(machine: &Machine, tuning: &Tuning, path: &Path) -> String {
    let (fixed, curves) = match tuning {
        Tuning::Cpu(r) => {
            (format!("{} threads; copy {:.1} GB/s, {:.0} Gflop/s", r.threads, r.copy / 1e9, r.fma / 1e9), &r.curves)
        }
        Tuning::Gpu(r) => {
            let [up, down, copy] = [r.upload, r.download, r.copy].map(|rate| rate / 1e9);
            let (round, dispatch) = (1e6 * r.round_trip, 1e6 * r.dispatch);
            let text = format!(
                "round trip {round:.0} us, dispatch {dispatch:.1} us; up {up:.1}, down {down:.1}, copy {copy:.1} GB/s, \
                 {:.0} Gflop/s{}{}",
                r.fma / 1e9,
                forms(&r.slower),
                r.matrix_units.map_or("", |_| "\n  matrix units are faster for products of f16")
            );
            (text, &r.curves)
        }
    };
    let name = if machine.threads > 0 { &machine.driver } else { &machine.name };
    format!("{name}: {fixed}\n  measured: {}\n  stored in {}", families(curves), path.display())
}

/// Lists the kernel forms that were slower than another form.
fn forms(slower: &[Slower]) -> String {
    let each =
        slower.iter().map(|s| format!("{} for {} {} to {}", s.form.name(), s.form.family(), s.sizes[0], s.sizes[1]));
    let all: Vec<String> = each.collect();
    if all.is_empty() { String::new() } else { format!("\n  slower kernels, not used: {}", all.join(", ")) }
}

fn families(curves: &Curves) -> String {
    let each = curves.own.iter().map(|(family, curve)| {
        let sizes = curve.points.iter().map(|point| point.size);
        let (least, most) = (sizes.clone().fold(f64::INFINITY, f64::min), sizes.fold(0.0, f64::max));
        format!("{family} {least:.0} to {most:.0}")
    });
    each.collect::<Vec<_>>().join(", ")
}

fn show(folder: &Path, machines: &[Machine]) -> Outcome {
    use fiedler::policy::Stored;
    for machine in machines {
        let path: PathBuf = folder.join(machine.file_name());
        match Stored::of(folder, machine) {
            Stored::Nothing => print(format_args!("{}: not measured; using the defaults of its class", machine.name)),
            Stored::Found(tuning) => print(summary(machine, &tuning, &path)),
            Stored::Ignored(why) => print(format_args!("{}: ignored: {why}", machine.name)),
        }
    }
    Outcome::Done
}

fn forget(folder: &Path, machines: &[Machine]) -> Result<Outcome, Failure> {
    for machine in machines {
        let path = folder.join(machine.file_name());
        match std::fs::remove_file(&path) {
            Ok(()) => print(format_args!("{}: forgotten", machine.name)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                print(format_args!("{}: nothing was stored", machine.name));
            }
            Err(error) => return Err(Failure::Said(format!("tune: cannot remove {}: {error}", path.display()))),
        }
    }
    Ok(Outcome::Done)
}
