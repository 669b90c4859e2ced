//! Times the steps of many small networks: microseconds a replica-step, from `Trainer::fit` and `Gan::fit`, whole steps
//! (order, gather, forward, backward, penalty, clipping, optimizer, random numbers). The cases are those of the peers'
//! script.
//!
//!     cargo bench --bench train -- [CASE ...] [--replicas R,..] [--seconds S]

use fiedler::Context;
use fiedler::train::{
    Activation, Gan, Hyper, Init, Loss, Mlp, Norm, Optimizer, Runs, Samples, Split, Targets, Trainer, grid,
};
use std::time::Instant;

struct Case {
    name: &'static str,
    net: Mlp,
    loss: Loss,
    optimizer: Optimizer,
    batch: usize,
    rows: usize,
    hyper: Hyper,
}

fn cases() -> Vec<Case> {
    let net = |sizes: &[usize], dropout: f64| {
        let hidden = &sizes[1..sizes.len() - 1];
        let begun = hidden
            .iter()
            .fold(Mlp::builder(sizes[0]), |net, &width| net.layer(width, Activation::Relu).dropout(dropout));
        begun.output(sizes[sizes.len() - 1]).expect("a valid network")
    };
    let sgd = Optimizer::Sgd { nesterov: false };
    let sampled = Hyper { learning_rate: 0.01, temperature: 0.01, prior_precision: 1.0, ..Optimizer::Sgld.defaults() };
    let momentum = Hyper { learning_rate: 0.05, momentum: 0.9, ..sgd.defaults() };
    let clipped = Hyper { l1: 0.002, clip: 1.0, ..Optimizer::Adam.defaults() };
    let decayed = Hyper { weight_decay: 1e-4, ..Optimizer::Adam.defaults() };
    let layers = [512; 3]
        .iter()
        .fold(Mlp::builder(1792), |net, &width| net.layer(width, Activation::Relu).norm(Norm::Batch).dropout(0.5));
    let wide = layers.output(10).expect("a valid network");
    let (bounded, entropy) = (Loss::BoundedCrossEntropy(4.0), Loss::CROSS_ENTROPY);
    let case = |name, net, loss: &Loss, optimizer, batch, rows, hyper| Case {
        name,
        net,
        loss: loss.clone(),
        optimizer,
        batch,
        rows,
        hyper,
    };
    vec![
        case("synth", net(&[4, 100, 1], 0.0), &bounded, Optimizer::Sgld, 10, 50, sampled),
        case("devices", net(&[100, 30, 20, 3], 0.2), &entropy, Optimizer::Adam, 8, 4800, clipped),
        case("digits", net(&[64, 32, 10], 0.0), &entropy, sgd, 32, 1792, momentum),
        case("mnist01", net(&[784, 50, 1], 0.0), &bounded, Optimizer::Sgld, 50, 2000, sampled),
        case("lora", wide, &entropy, Optimizer::Adam, 256, 2048, decayed),
    ]
}

/// Returns inputs in [0, 1) and labels, from a linear congruential generator.
fn samples(case: &Case) -> Samples<f32> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let x = (0..case.rows * case.net.inputs()).map(|_| next()).collect();
    let classes = case.net.outputs().max(2) as f32;
    let labels = (0..case.rows).map(|_| (next() * classes) as u32).collect();
    Samples::new(case.net.inputs(), x, Targets::Labels(labels)).expect("valid samples")
}

/// Returns the seconds of `steps` steps of `count` adversarial pairs: a generator 4096-128-256-4096, a discriminator
/// 2-20-1, and Adam with weight decay.
fn pairs(ctx: &Context, count: usize, steps: u64) -> f64 {
    const SIDE: usize = 64;
    let points = SIDE * SIDE;
    let generator = Mlp::builder(points).layer(128, Activation::Relu).layer(256, Activation::Relu).output(points);
    let judge = Mlp::builder(2).layer(20, Activation::LeakyRelu(0.2)).output(1).expect("a discriminator");
    let hyper = Hyper { learning_rate: 0.01, beta_1: 0.7, weight_decay: 0.005, ..Optimizer::Adam.defaults() };
    let row: Vec<f32> = (0..points).map(|i| (1 + i % SIDE) as f32 / (points * (SIDE + 1) / 2) as f32).collect();
    let runs = Runs::of_hyper(hyper, 1, count).expect("runs");
    let gan = Gan::new(generator.expect("a generator"), judge, Optimizer::Adam, grid(SIDE)).steps(steps);
    let begun = Instant::now();
    let fit = gan.fit(ctx, &row.repeat(count), &runs).expect("a fit");
    assert!(fit.runs().iter().all(|pair| pair.status().is_good()), "qgan diverged");
    begun.elapsed().as_secs_f64()
}

fn main() {
    let mut only: Vec<String> = Vec::new();
    let (mut replicas, mut seconds) = (vec![1, 10, 100], 0.5);
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--replicas" => {
                let list = arguments.next().unwrap_or_default();
                replicas = list.split(',').map(|r| r.parse().expect("a number of replicas")).collect();
            }
            "--seconds" => seconds = arguments.next().and_then(|s| s.parse().ok()).expect("a number of seconds"),
            name => only.push(name.to_owned()),
        }
    }
    let ctx = Context::builder().device(false).build().expect("a context");
    println!("{:8} {:>5} {:>16} {:>10} {:>8}", "case", "R", "us/replica-step", "min", "threads");
    for case in cases().iter().filter(|case| only.is_empty() || only.iter().any(|name| name == case.name)) {
        let samples = samples(case);
        for &count in &replicas {
            let runs = Runs::of_hyper(case.hyper, 1, count).expect("runs");
            let time = |epochs: u64| {
                let trainer = Trainer::new(case.net.clone(), case.loss.clone(), case.optimizer)
                    .batch(case.batch)
                    .epochs(epochs)
                    .init(Init::Torch)
                    .split(Split { shares: [1.0, 0.0, 0.0], seed: Some(1) });
                let begun = Instant::now();
                let fit = trainer.fit(&ctx, &samples, &runs).expect("a fit");
                assert!(fit.runs().iter().all(|run| run.status().is_good()), "{} diverged", case.name);
                begun.elapsed().as_secs_f64()
            };
            let mut epochs = 1;
            while time(epochs) < seconds / 10.0 {
                epochs *= 2;
            }
            let steps = (epochs as usize * case.rows / case.batch * count) as f64;
            let mut times: Vec<f64> = (0..9).map(|_| time(epochs) * 1e6 / steps).collect();
            times.sort_by(f64::total_cmp);
            println!("{:8} {count:5} {:16.3} {:10.3} {:8}", case.name, times[4], times[0], ctx.threads());
        }
    }
    if only.is_empty() || only.iter().any(|name| name == "qgan") {
        for &count in &replicas {
            // The initial weights are part of the time, as in an experiment of 100 steps.
            let mut times: Vec<f64> = (0..3).map(|_| pairs(&ctx, count, 100) * 1e6 / (100 * count) as f64).collect();
            times.sort_by(f64::total_cmp);
            println!("{:8} {count:5} {:16.3} {:10.3} {:8}", "qgan", times[1], times[0], ctx.threads());
        }
    }
}
