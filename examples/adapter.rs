//! Lists the adapters, selects one, and asks where a workload would run.

use fiedler::ops::eigen::choose_eigh;
use fiedler::{Adapter, Backend, Context, ErrorKind};

fn main() -> fiedler::Result<()> {
    for adapter in Adapter::all() {
        println!("{} ({}, {}): {}", adapter.name, adapter.class, adapter.backend, adapter.features.join(" "));
    }

    // The best GPU by default, or the CPU alone. A software adapter is chosen only by its name.
    let ctx = Context::builder().memory_budget(512 << 20).build()?;
    match ctx.adapter() {
        Some(adapter) => println!("chosen: {}", adapter.name),
        None => println!("the CPU alone: {}", ctx.without_adapter_because().unwrap_or("no reason")),
    }
    println!("10,000 matrices of order 32 would run on the {}", choose_eigh::<f32>(&ctx, &[32; 10_000], false));

    // An adapter can be required by name. If it is missing, the error lists those that exist.
    match Context::builder().adapter("no such adapter").backend(Backend::Gpu).build() {
        Err(error) if matches!(error.kind(), ErrorKind::NoAdapter { .. }) => println!("as expected: {error}"),
        Err(error) => return Err(error),
        Ok(_) => println!("there is an adapter of that name"),
    }
    Ok(())
}
