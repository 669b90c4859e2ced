//! Measures whether `auto` ever loses: encodes sets of graphs with each backend in turn.
//!
//! Run `cargo bench --bench auto -- [ADAPTER [SECONDS]]` after `fiedler tune` with the same adapter. A side that is
//! predicted to take more than SECONDS (default: 20) is skipped if the other side is predicted to be ten times faster.
//! The environment variables are those of the command: FIEDLER_SOFTWARE_AS_GPU=1 treats a software adapter as if it
//! were a GPU.

use fiedler::encode::SpectralEncoder;
use fiedler::graph::generate::preferential_attachment;
use fiedler::graph::{Graph, GraphBatch};
use fiedler::policy::Choice;
use fiedler::{Backend, Context};
use std::time::Instant;

const COUNTS: [usize; 5] = [10, 100, 1000, 10_000, 100_000];
/// The ranges of the number of nodes per graph, one range for each kind of set.
const SIZES: [[usize; 2]; 5] = [[10, 16], [10, 40], [40, 120], [120, 600], [10, 600]];
/// The number of eigenpairs that are computed for each graph.
const K: usize = 8;
/// The largest total number of nodes of a set. A larger set would take minutes on every side.
const MOST: usize = 4_000_000;
const ROUNDS: usize = 5;
/// `ROUNDS` rounds are enough if all calls together take this many seconds. Short calls have noisy times, so they need
/// more rounds.
const LONG: f64 = 2.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `cargo bench` adds `--bench`, which is skipped.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let mut builder = Context::builder();
    if let Some(name) = arguments.next() {
        builder = builder.adapter(name);
    }
    let most: f64 = arguments.next().map_or(Ok(20.0), |seconds| seconds.parse())?;
    let ctx = builder.environment()?.build()?;
    let adapter = ctx.adapter().ok_or("there is no adapter to choose")?.name.clone();
    println!("{adapter}; measured: {:?}", ctx.policy().measured);
    println!(
        "| graphs | nodes | cpu | {adapter} | auto | on the GPU | auto beside the better |\n|---|---|---|---|---|---|---|"
    );
    let encoder = SpectralEncoder::new(K);
    let mut worst = 0.0_f64;
    for [from, to] in SIZES {
        for count in COUNTS {
            if count * usize::midpoint(from, to) > MOST {
                continue;
            }
            let graphs = set(count, from, to)?;
            let [cpu, gpu, auto] = [Backend::Cpu, Backend::Gpu, Backend::Auto].map(|backend| ctx.with_backend(backend));
            // The first call compiles kernels, which the prediction does not include.
            let first = started(|| encoder.encode_with(&auto, &graphs, |_| ()))?;
            let (choice, on_gpu) = (first.1.1.choice, first.1.1.on_gpu);
            let runs = runs(&choice, most);
            let mut seconds: [Vec<f64>; 3] = Default::default();
            for round in 0.. {
                // The order alternates, because each call is affected by the one before it.
                for i in if round % 2 == 0 { [0, 1, 2] } else { [2, 1, 0] } {
                    if [runs[0], runs[1], true][i] {
                        let took = started(|| encoder.encode([&cpu, &gpu, &auto][i], &graphs))?.0;
                        // The first round does not count, because it wakes the threads. It counts if a call is so long
                        // that this makes no difference.
                        if round > 0 || took > 1.0 {
                            seconds[i].push(took);
                        }
                    }
                }
                let all: f64 = seconds.iter().flatten().sum();
                if all > most && round >= 2 || round >= ROUNDS && all > LONG || round >= 10 * ROUNDS {
                    break;
                }
            }
            let [cpu, gpu, auto] = seconds.map(least);
            let ratio = auto / cpu.min(gpu);
            worst = worst.max(ratio);
            let time = |seconds: f64| if seconds.is_finite() { format!("{:.2} ms", 1e3 * seconds) } else { "-".into() };
            println!(
                "| {count} | {from} to {to} | {} | {} | {} | {on_gpu} | {ratio:.2} |",
                time(cpu),
                time(gpu),
                time(auto)
            );
        }
    }
    println!("the worst: {worst:.2}");
    Ok(())
}

/// Returns whether the CPU and the GPU are run.
fn runs(choice: &Choice, most: f64) -> [bool; 2] {
    let (cpu, gpu) = (choice.cpu_seconds, choice.gpu_seconds);
    [cpu < most || cpu < 10.0 * gpu, gpu < most || gpu < 10.0 * cpu]
}

/// Returns `count` connected graphs of `from` to `to` nodes with about twice as many edges. There are at most 256
/// different graphs, which are repeated.
fn set(count: usize, from: usize, to: usize) -> fiedler::Result<GraphBatch> {
    let kinds = count.min(256);
    let one = |i: usize| {
        let nodes = from + (to - from) * i / kinds.max(2);
        preferential_attachment(nodes, 2, i as u64)
    };
    let some = (0..kinds).map(one).collect::<fiedler::Result<Vec<Graph>>>()?;
    let all: Vec<Graph> = some.iter().cycle().take(count).cloned().collect();
    GraphBatch::from_graphs(&all)
}

fn started<T>(call: impl FnOnce() -> fiedler::Result<T>) -> fiedler::Result<(f64, T)> {
    let begun = Instant::now();
    let made = call()?;
    Ok((begun.elapsed().as_secs_f64(), made))
}

/// Returns the shortest time, because disturbances only add to a time. If there are no times, returns infinity.
fn least(seconds: Vec<f64>) -> f64 {
    seconds.into_iter().fold(f64::INFINITY, f64::min)
}
