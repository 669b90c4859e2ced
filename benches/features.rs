//! Times the columns of series: microseconds a series, from `Program::run`, all representations in one pass. The cases
//! are those of the peers' script.
//!
//!     cargo bench --bench features -- [CASE ...] [--data SERIES.npy] [--seconds S] [--write COLUMNS.npy]
//!
//! Series: white noise, AR(1), a sine with noise and a random walk, a quarter each, of 500 numbers. `lora`: rank-1
//! vectors of 320 to 1280 numbers, a layer of 500 samples at a time.

use fiedler::Context;
use fiedler::features::Representation;
use fiedler::io::{Data, NamedArray, NpyData, Rows, read_npy, write};
use fiedler::ops::series::{Program, SampleShape};
use std::path::PathBuf;
use std::time::Instant;

/// The ten columns that tsxtract's profile `minimal` has.
const MINIMAL: &str = "moments(columns=['mean','sd','variance','min','max','energy','rms']),\
                       autocorrelation(columns=['mean_change','zero_crossings','mean_crossings'])";
const TEN: &str = "simple_stats,rank_based,stats,spectral,matrix_norms,distribution,frequency,info,flat_vec,ensemble";

/// Returns uniform numbers in [0, 1) from a linear congruential generator.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.next(), self.next());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

fn series(count: usize, n: usize) -> Vec<f64> {
    let mut random = Uniform(12);
    let mut all = Vec::with_capacity(count * n);
    for i in 0..count {
        let kind = 4 * i / count;
        let frequency = 0.01 + 0.19 * random.next();
        let mut last = 0.0;
        for j in 0..n {
            let noise = random.normal();
            last = match kind {
                0 => noise,
                1 => 0.7 * last + noise,
                2 => 0.5 * noise + (std::f64::consts::TAU * j as f64 * frequency).sin(),
                _ => last + noise,
            };
            all.push(last);
        }
    }
    all
}

fn program(list: &str, shape: SampleShape) -> Program {
    let representations = Representation::parse_list(list).expect("known representations");
    let measures = representations.iter().flat_map(|one| one.measures().to_vec()).collect();
    Program::new(measures, shape).expect("valid parameters")
}

/// Times `run` until the seconds are over, and returns the median and the least in microseconds for each of `series`.
fn time(seconds: f64, series: usize, mut run: impl FnMut()) -> [f64; 2] {
    run();
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < 5 || begin.elapsed().as_secs_f64() < seconds {
        let one = Instant::now();
        run();
        times.push(one.elapsed().as_secs_f64() * 1e6 / series as f64);
    }
    times.sort_by(f64::total_cmp);
    [times[times.len() / 2], times[0]]
}

fn main() {
    let (mut cases, mut seconds, mut data, mut output) = (Vec::new(), 1.5, None, None);
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seconds" => seconds = words.next().and_then(|word| word.parse().ok()).expect("--seconds S"),
            "--data" => data = words.next().map(PathBuf::from),
            "--write" => output = words.next().map(PathBuf::from),
            _ => cases.push(word),
        }
    }
    let chosen = |name: &str| cases.is_empty() || cases.iter().any(|case| case == name);
    let contexts: Vec<(usize, Context)> = [1, std::thread::available_parallelism().map_or(1, usize::from)]
        .map(|threads| (threads, Context::builder().device(false).threads(threads).build().expect("a context")))
        .into();
    let (count, n, numbers) = match &data {
        Some(path) => {
            let npy = read_npy(path).expect("an array");
            let NpyData::F64(numbers) = npy.data else { panic!("expected float64 in {}", path.display()) };
            (npy.shape[0], npy.shape[1], numbers)
        }
        None => (1000, 500, series(1000, 500)),
    };
    for (name, list) in [("minimal", MINIMAL), ("core33", "core33"), ("ten", TEN)] {
        if !chosen(name) {
            continue;
        }
        let program = program(list, SampleShape::Vector(n));
        for (threads, ctx) in &contexts {
            let mut found = None;
            let [median, least] = time(seconds, count, || {
                found = program.run(ctx, &numbers, [&[], &[]]).ok();
            });
            let width = program.width();
            println!(
                "series/{name:8} {threads} threads {width:4} columns {median:9.3} us a series, at least {least:.3}"
            );
            if let (Some(path), Some(found)) = (&output, &found) {
                let shape = vec![count, width];
                let array = NamedArray { name: "columns", rows: Rows::Other, shape, data: Data::F32(&found.values) };
                write(path, &[array]).expect("written");
            }
        }
    }
    if chosen("lora") {
        // The lengths of the 128 layers, and how often each occurs.
        let widths = [320, 640, 768, 1280];
        let counts = [35, 35, 16, 42];
        let mut random = Uniform(11);
        let samples = 500;
        let layers: Vec<(Program, Vec<f32>, usize)> = widths
            .iter()
            .zip(counts)
            .map(|(&n, count)| {
                let numbers = (0..samples * n).map(|_| (0.01 * random.normal()) as f32).collect();
                (program(TEN, SampleShape::Matrix { rows: 1, columns: n }), numbers, count)
            })
            .collect();
        let vectors: usize = counts.iter().sum();
        for (threads, ctx) in &contexts {
            let [median, least] = time(seconds, samples * vectors, || {
                for (program, numbers, count) in &layers {
                    for _ in 0..*count {
                        program.run(ctx, numbers, [&[], &[]]).expect("columns");
                    }
                }
            });
            println!("lora/ten        {threads} threads {median:9.3} us a vector, at least {least:.3}");
        }
    }
}
