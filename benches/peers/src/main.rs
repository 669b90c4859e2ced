//! Compares fiedler with other crates that compute through wgpu, on the same adapter in one run.
//!
//!     cargo run --release --manifest-path benches/peers/Cargo.toml -- [ADAPTER [ROUNDS [WORKLOAD]]] > peers.jsonl
//!
//! ADAPTER is a part of an adapter's name (default: llvmpipe), WORKLOAD a part of a workload's name. Results are first
//! compared with f64; errors are divided by the error that this project promises (4 eps log2 n for an FFT of length n,
//! 4 eps sqrt(k) |A| |B| for a product of k terms). Then the sides are called in turn, five times each after one call
//! that wakes their threads, round after round. The medians are printed, one JSON object per line, under the names of
//! `dense_peers.py`. `ms` is the time of a call with data on the device, including the wait for the result;
//! `transfers_ms` is the time from host to host. The exit status is 1 if a result of fiedler is wrong.
//!
//! - wgsl-fft has no resident call that does not copy its result to a staging buffer; that copy is included in its
//!   `ms`. Lengths that are not powers of two are transformed from host to host only. gpu-fft pads these to the next
//!   power of two, which is a different computation, so it is left out.
//! - Burn uses the kernel that its tuner selected in the rounds before the first one that counts.

mod fft;
mod matmul;

use fiedler::{Backend, Context};
use std::process::ExitCode;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

/// One of the implementations that are compared.
struct Side<'a> {
    name: String,
    /// The largest error, divided by the promised error.
    error: f64,
    /// A call with data on the device that waits for the result.
    resident: Option<Box<dyn FnMut() -> Result<(), Failure> + 'a>>,
    /// A call from host to host.
    transfers: Box<dyn FnMut() -> Result<(), Failure> + 'a>,
}

/// The number of consecutive calls that count, and the time after which no further call is made.
const BURST: usize = 5;
const LONG: Duration = Duration::from_millis(200);

/// The command-line arguments.
struct Order {
    adapter: String,
    rounds: usize,
    only: String,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let order = Order {
        adapter: arguments.next().unwrap_or_else(|| "llvmpipe".to_owned()),
        rounds: arguments.next().and_then(|n| n.parse().ok()).unwrap_or(7),
        only: arguments.next().unwrap_or_default(),
    };
    match measure(&order) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all comparisons and returns whether all results of fiedler are right.
fn measure(order: &Order) -> Result<bool, Failure> {
    let ctx = Context::builder().adapter(&order.adapter).backend(Backend::Gpu).checked(false).build()?;
    let adapter = ctx.adapter().ok_or("no adapter")?;
    eprintln!("on {} ({} {})", adapter.name, adapter.backend, adapter.driver);
    let a = fft::run(&ctx, order)?;
    let b = matmul::run(&ctx, order)?;
    Ok(a && b)
}

/// Calls the sides in turn and prints their times. Returns whether the result of the first side is right.
fn compare(order: &Order, workload: &str, mut sides: Vec<Side<'_>>) -> Result<bool, Failure> {
    let mut times = vec![[Vec::new(), Vec::new()]; sides.len()];
    // The first two rounds do not count. After them, tuners have chosen, and pools and pipelines are filled.
    for round in 0..order.rounds + 2 {
        for (side, times) in sides.iter_mut().zip(&mut times) {
            let calls = [side.resident.as_mut(), Some(&mut side.transfers)];
            for (call, times) in calls.into_iter().zip(times) {
                let Some(call) = call else { continue };
                // The first call of a burst wakes the threads and does not count. The threads of a software adapter
                // take milliseconds to run on all cores again.
                call()?;
                let burst = Instant::now();
                for _ in 0..BURST {
                    let started = Instant::now();
                    call()?;
                    if round >= 2 {
                        times.push(started.elapsed().as_secs_f64());
                    }
                    if burst.elapsed() > LONG {
                        break;
                    }
                }
            }
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).map(|seconds| 1e3 * seconds)
    };
    let medians: Vec<[Option<f64>; 2]> = times.iter_mut().map(|[a, b]| [median(a), median(b)]).collect();
    for (side, [ms, transfers]) in sides.iter().zip(&medians) {
        let ratio = |theirs: &Option<f64>, ours: Option<f64>| Some(theirs.as_ref()? / ours?);
        println!(
            "{}",
            serde_json::json!({
                "workload": workload, "side": side.name, "ms": ms, "transfers_ms": transfers, "error_share": side.error,
                "of_ours": ratio(ms, medians[0][0]), "transfers_of_ours": ratio(transfers, medians[0][1]),
            })
        );
    }
    let right = sides[0].error <= 1.0;
    if !right {
        eprintln!("{workload}: ours is off by {} times what is promised", sides[0].error);
    }
    Ok(right)
}

/// Returns values in -1..1, from a xorshift generator.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut word = 0x9e37_79b9_7f4a_7c15_u64 ^ (seed << 17);
    let mut next = || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        (word >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}
