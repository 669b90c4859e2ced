//! Measures the device time of the symmetric eigendecomposition for each form of its kernels (see
//! `ContextBuilder::kernels`) and each order. This shows which form an adapter should use, and which kernels take the
//! time.
//!
//! Run `cargo bench --bench forms -- [ADAPTER [MATRICES]]`; the default is the best GPU and 10,000 matrices. Times come
//! from timestamps at the beginning and the end of each kernel, without transfers. After a first run, the shortest of
//! three runs counts.

use fiedler::array::Array;
use fiedler::forms::{JacobiForm, KernelForm};
use fiedler::ops::eigen::{device_order_limit, eigh};
use fiedler::{Backend, Clock, Context, KernelTime, Shape};

const FORMS: [JacobiForm; 5] =
    [JacobiForm::Tiny, JacobiForm::Lane, JacobiForm::Register, JacobiForm::Workgroup, JacobiForm::Blocked];
const ORDERS: [usize; 24] =
    [2, 3, 4, 5, 6, 8, 12, 16, 24, 31, 32, 33, 40, 48, 56, 64, 72, 80, 96, 100, 112, 127, 128, 160];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `cargo bench` adds `--bench`, which is skipped.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let adapter = arguments.next();
    let matrices: usize = arguments.next().map_or(Ok(10_000), |count| count.parse())?;
    println!("| order | form | us a matrix | kernels |\n|---|---|---|---|");
    for n in ORDERS {
        // A binding of 128 MiB limits the batch.
        let batch = matrices.min((128 << 20) / (4 * n * n));
        let a = Array::from_vec(Shape::new(n, n, batch), symmetric(n, batch))?;
        for form in FORMS {
            let mut builder = Context::builder().backend(Backend::Gpu).checked(false).profile(true);
            builder = builder.kernels(&[KernelForm::Eigh(form)]);
            if let Some(name) = &adapter {
                builder = builder.adapter(name);
            }
            let ctx = builder.memory_budget(4 << 30).build()?;
            if n > device_order_limit(&ctx) as usize {
                continue;
            }
            let mut best: Option<(f64, Vec<KernelTime>)> = None;
            for run in 0..4 {
                eigh(&ctx, &a)?.ok(&ctx)?;
                let profile = ctx.profile()?.filter(|profile| profile.clock == Clock::Timestamps);
                let times = profile.ok_or("this adapter has no timestamps")?.kernels;
                let seconds: f64 = times.iter().map(|time| time.seconds).sum();
                if run > 0 && best.as_ref().is_none_or(|(least, _)| seconds < *least) {
                    best = Some((seconds, times));
                }
            }
            let (seconds, mut times) = best.ok_or("no run")?;
            times.sort_by(|x, y| y.seconds.total_cmp(&x.seconds));
            let parts: Vec<String> =
                times.iter().map(|time| format!("{} {:.0} %", time.kernel, 100.0 * time.seconds / seconds)).collect();
            println!("| {n} | {} | {:.3} | {} |", form.name(), 1e6 * seconds / batch as f64, parts.join(", "));
        }
    }
    Ok(())
}

/// Returns symmetric matrices with entries in -1..1, from a xorshift generator.
fn symmetric(n: usize, batch: usize) -> Vec<f32> {
    let mut word = 0x9e37_79b9_7f4a_7c15_u64;
    let mut data = vec![0.0; n * n * batch];
    for a in data.chunks_exact_mut(n * n) {
        for j in 0..n {
            for i in j..n {
                word ^= word << 13;
                word ^= word >> 7;
                word ^= word << 17;
                let x = (word >> 40) as f32 / (1 << 23) as f32 - 1.0;
                (a[i + n * j], a[j + n * i]) = (x, x);
            }
        }
    }
    data
}
