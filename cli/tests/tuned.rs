//! Tuning on every adapter: kernel forms that lost are not used.

use common::families::lapack_types;
use common::on_gpus;
use common::solve::{Checked, alike, judge, solve};
use fiedler::Context;
use fiedler::ops::eigen::choose_eigh;
use fiedler::policy::{Family, Slower};
use fiedler_cli::bench::{TuneOptions, tune};

fn main() -> std::process::ExitCode {
    common::run([vec![on_gpus("forms by trial", by_trial)]])
}

/// With a margin of 0, the form that is tried next always wins. The tuning reports this, and a context with this tuning
/// uses other forms and computes correctly.
fn by_trial(ctx: &Context) -> Checked {
    let plain = alike(ctx).build()?;
    let rates = tune(&plain, TuneOptions { seconds: 4, margin: 0.0 }, |_| ())?;
    let measured = [&rates.cpu.curves, &rates.gpu.curves].map(|curves| curves.of(Family::Train).is_some());
    if measured != [true; 2] {
        return Err(format!("trainings were measured on the CPU and the device: {measured:?}").into());
    }
    let form = |ctx: &Context, order: u32| choose_eigh::<f32>(ctx, &[order; 20], true).workload.algorithms[1];
    let of_eigh = |s: &&Slower| s.form.family() == "eigh" && s.sizes[0] <= 4.0 && 4.0 <= s.sizes[1];
    let lost: Vec<&str> = rates.gpu.slower.iter().filter(of_eigh).map(|s| s.form.name()).collect();
    println!("{:?}", rates.gpu.slower);
    if !lost.contains(&form(&plain, 4)) {
        return Err(format!("{} did not lose, but {lost:?}", form(&plain, 4)).into());
    }
    let tuned = alike(ctx).rates(rates).build()?;
    if lost.contains(&form(&tuned, 4)) {
        return Err(format!("{} is still taken", form(&tuned, 4)).into());
    }
    let cases = lapack_types(4, 9);
    judge(&cases, &solve::<f32>(&tuned, &cases)?, |_| None)?;
    Ok(())
}
