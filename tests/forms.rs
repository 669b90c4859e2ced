//! Every form of the device's kernels, alone, on every adapter that can hold it: within the promise on matrices that hurt, and what is
//! not finite spoils itself alone.

mod common;

use common::families::{Case, banded_types, lapack_types};
use common::graphs::{self, Kind};
use common::on_gpus;
use common::solve::{Checked, alike, judge, solve};
use fiedler::Context;
use fiedler::ops::eigen::device_order_limit;

fn main() -> std::process::ExitCode {
    common::run(&[
        on_gpus("tiny", |ctx| form(ctx, &["tiny"], &[0, 1, 2, 3, 4, 5, 6, 7, 8])),
        on_gpus("lane", |ctx| {
            form(ctx, &["lane"], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 48, 63, 64])
        }),
        on_gpus("register", |ctx| form(ctx, &["register"], &[0, 1, 2, 3, 5, 16, 17, 31, 33, 47, 48, 49, 64, 84, 96,100,108])),
        on_gpus("w", |ctx| form(ctx, &["workgroup"], &[0, 1, 2, 3, 5, 16, 17, 31, 33, 47, 48, 49, 64, 84])),
    ])
}

/// A context that may use this form alone.
fn alone(ctx: &Context, form: &'static [&'static str]) -> fiedler::Result<Context> {
    alike(ctx).kernels(form).build()
}

fn form(ctx: &Context, form: &'static [&'static str], orders: &[usize]) -> Checked {
    let ctx = alone(ctx, form)?;
    let limit = device_order_limit(&ctx) as usize;
    let mut cases: Vec<Case> = Vec::new();
    for &n in orders.iter().filter(|&&n| n <= limit) {
        let types = [lapack_types(n, 11), banded_types(n, 11)].concat();
        cases.extend(types);
        if n > 2 {
            cases.extend([graphs::path(n), graphs::cycle(n)].map(|form| laplacian(&form.graph)));
        }
    }
    let found = solve::<f32>(&ctx, &cases)?;
    let worst = judge(&cases, &found, |_| None)?;
    let sweeps = found.certificates.iter().map(|certificate| certificate.sweeps).max();
    println!("{form:?} to order {limit}: {sweeps:?} sweeps, {worst:?}");
    Ok(())
}

fn laplacian(graph: &graphs::Simple) -> Case {
    let a = graphs::laplacian(graph, Kind::Combinatorial, 0.0).into_iter().map(|x| f64::from(x as f32)).collect();
    Case { name: format!("Laplacian of {}", graph.name), n: graph.n, a }
}
