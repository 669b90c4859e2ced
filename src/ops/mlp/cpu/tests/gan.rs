//! Adversarial pairs: gradients against differences, losses against torch's, the best discriminator, and bits that
//! depend on nothing but the pair.

use super::golden::lines;
use super::{Activation, Hyper, Lcg, Mlp, Number, Optimizer, Replica, all};
use crate::lanes::{SimdScalar, Task, Vector};
use crate::ops::elementary::Elementary;
use crate::ops::mlp::cpu::Trains as _;
use crate::ops::mlp::cpu::gan::{Bout, Contending, GanWorker, judge, learn, losses};
use crate::ops::mlp::gan::{GanProgram, Pair};
use crate::ops::mlp::weights::Init;
use pulp::{Scalar128b, Scalar256b, Scalar512b};

const SIDE: usize = 8;
const POINTS: usize = SIDE * SIDE;

fn points<T: Number>() -> Vec<T> {
    let place = |i: usize| i as f64 / (SIDE - 1) as f64;
    all(&(0..POINTS).flat_map(|i| [place(i % SIDE), place(i / SIDE)]).collect::<Vec<_>>())
}

const LEAKY: Activation = Activation::LeakyRelu(0.2);

fn program<T: Number>(
    hidden: &[usize],
    [activation, of_judge]: [Activation; 2],
    optimizer: Optimizer,
) -> GanProgram<T> {
    let begun = hidden.iter().fold(Mlp::builder(24), |net, &width| net.layer(width, activation));
    let generator = begun.output(POINTS).expect("a generator");
    let discriminator = Mlp::builder(2).layer(20, of_judge).output(1).expect("a discriminator");
    GanProgram::new(generator, discriminator, optimizer, points()).expect("a valid program")
}

/// Returns a distribution over the points.
fn distribution<T: Number>(numbers: &mut Lcg) -> Vec<T> {
    let above: Vec<f64> = numbers.fill(POINTS).iter().map(|x| x + 1.0).collect();
    let sum: f64 = above.iter().sum();
    all(&above.iter().map(|x| x / sum).collect::<Vec<_>>())
}

/// One step, for which the worker's inputs and target are set.
struct Step<'a, T> {
    program: &'a GanProgram<T>,
    worker: &'a mut GanWorker<T>,
    pair: &'a mut Pair<T>,
    learns: bool,
}

impl<T: Elementary> Task<T> for Step<'_, T> {
    type Output = [f64; 2];

    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> [f64; 2] {
        let losses = judge::<V>(token, self.worker, self.pair);
        if self.learns {
            learn::<V>(token, self.program, self.worker, self.pair);
        }
        losses
    }
}

/// Selects a network of a pair.
type Network = fn(&mut Pair<f64>) -> &mut Replica<f64>;

/// Plain descent with the learning rate 1 subtracts the gradient. It is compared with difference quotients of each
/// network's loss, whose error is below 1e-9 with h = 6e-6 (see `gradients.rs`); the bound is 1e-7 of the longest
/// component. The discriminator has no kinks, because one of its points may lie close to one.
#[test]
fn gradients_are_the_derivatives() {
    let descent = Optimizer::Sgd { nesterov: false };
    for activation in [Activation::LeakyRelu(0.1), Activation::Gelu, Activation::Tanh, Activation::Sigmoid] {
        // The layer of 6 stores its rows by output.
        let program = program::<f64>(&[17, 6, 21], [activation, Activation::Tanh], descent);
        let hyper = Hyper { learning_rate: 1.0, ..descent.defaults() };
        let pair = Pair::new(&program, Init::Xavier, 5, hyper);
        let mut numbers = Lcg(3);
        let (inputs, target) = (numbers.fill(24), distribution::<f64>(&mut numbers));
        let mut worker = f64::gan_worker(&program);
        worker.set(&inputs, &target);
        let mut step =
            |pair: &mut Pair<f64>, learns| f64::in_lanes(Step { program: &program, worker: &mut worker, pair, learns });
        let mut moved = pair.clone();
        step(&mut moved, true);
        let networks: [Network; 2] = [|pair| &mut pair.generator, |pair| &mut pair.discriminator];
        for (network, of) in networks.into_iter().enumerate() {
            let (mut before, mut after) = (pair.clone(), moved.clone());
            let (before, after) = (&of(&mut before).moved.weights, &of(&mut after).moved.weights);
            let gradient: Vec<f64> = before.iter().zip(after).map(|(before, after)| before - after).collect();
            let scale = gradient.iter().fold(0.0_f64, |max, g| max.max(g.abs()));
            assert!(scale > 1e-4, "gradient {scale}");
            let layouts = program.layouts();
            for block in &layouts[network].blocks {
                for at in (0..block.rows).flat_map(|row| block.row(row)) {
                    let mut shifted = |h: f64| {
                        let mut other = pair.clone();
                        of(&mut other).moved.weights[at] += h;
                        step(&mut other, false)[network]
                    };
                    let h = 6e-6;
                    let off = (gradient[at] - (shifted(h) - shifted(-h)) / (2.0 * h)).abs();
                    assert!(off <= 1e-7 * scale, "{activation:?}, network {network}, {at}: {off:e} of {scale:e}");
                }
            }
        }
    }
}

/// The discriminator's loss is least at D = p / (p + g), up to the 1e-8 beside the judgments.
#[test]
fn the_best_judgment_is_the_share_of_the_target() {
    let mut numbers = Lcg(8);
    let (p, g) = (distribution::<f64>(&mut numbers), distribution::<f64>(&mut numbers));
    let best: Vec<f64> = p.iter().zip(&g).map(|(p, g)| (p / g).ln()).collect();
    let (mut slopes, mut outputs) = (vec![0.0; POINTS], best.clone());
    let [_, least] = losses(&p, &g, &mut outputs, &mut slopes);
    for ((derivative, p), g) in outputs.iter().zip(&p).zip(&g) {
        // Without the 1e-8, D g and (1 - D) p would cancel.
        assert!(derivative.abs() <= 1e-8 * (p + g), "{derivative} for {p} and {g}");
    }
    for place in 0..POINTS {
        for shift in [-0.1, 0.1] {
            let mut outputs = best.clone();
            outputs[place] += shift;
            let [_, other] = losses(&p, &g, &mut outputs, &mut slopes);
            assert!(other > least, "{other} at {shift} from the best, {least} there");
        }
    }
}

/// Returns the losses of 100 steps on the numbers of `gan` in `tests/host/golden/training.py`.
fn trajectory<T: Number + Elementary + SimdScalar>() -> Vec<[f64; 2]> {
    let program = program::<T>(&[16, 20], [Activation::Relu, LEAKY], Optimizer::Adam);
    let hyper = Hyper { learning_rate: 0.01, beta_1: 0.7, weight_decay: 0.005, ..Optimizer::Adam.defaults() };
    let mut pair = Pair::new(&program, Init::Torch, 0, hyper);
    let mut numbers = Lcg(13);
    for (replica, net) in
        [(&mut pair.generator, program.generator()), (&mut pair.discriminator, program.discriminator())]
    {
        let set = |name: &str, shape: &[usize]| {
            let len: usize = shape.iter().product();
            if !name.starts_with("layers") {
                return Ok(vec![T::from_f64(0.0); len]);
            }
            let layer: usize = name.split('.').nth(1).and_then(|n| n.parse().ok()).expect("a layer's number");
            let inputs = net.with_inputs().nth(layer).map_or(1, |(inputs, _)| inputs);
            let bound = 1.0 / (inputs as f64).sqrt();
            Ok(all(&numbers.fill(len).iter().map(|x| x * bound).collect::<Vec<_>>()))
        };
        replica.set_tensors(net, set).expect("tensors that fit");
    }
    let target = distribution::<T>(&mut numbers);
    let mut worker = T::gan_worker(&program);
    let mut step = |_| {
        worker.set(&all(&numbers.fill(24)), &target);
        T::in_lanes(Step { program: &program, worker: &mut worker, pair: &mut pair, learns: true })
    };
    (0..100).map(&mut step).collect()
}

/// Both losses of 100 steps within 1e-4 (f32) and 1e-12 (f64) of torch's. A step of Adam divides by the root of the
/// mean squared gradient, so where a gradient is mere rounding, its sign decides a whole step, and trajectories in f32
/// part by more than the rounding of one step.
#[test]
fn losses_are_torchs() {
    for (precision, bound, found) in [("f32", 1e-4, trajectory::<f32>()), ("f64", 1e-12, trajectory::<f64>())] {
        let wanted = lines(&format!("gan {precision}"));
        assert_eq!((found.len(), wanted.len()), (100, 100));
        for (step, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            for (found, wanted) in found.iter().zip(wanted) {
                let off = (found - wanted).abs() / wanted.abs();
                assert!(off <= bound, "{precision}, step {step}: {found} and {wanted}: off by {off:e}");
            }
        }
    }
}

fn every_width<T: Number + Elementary + SimdScalar>() {
    let program = program::<T>(&[17, 6, 1100], [Activation::Gelu, LEAKY], Optimizer::Adam);
    let target = distribution::<T>(&mut Lcg(2));
    let start = Pair::new(&program, Init::Torch, 9, Optimizer::Adam.defaults());
    let trained = |train: &dyn Fn(Bout<'_, T>)| {
        let mut pair = start.clone();
        let work = Contending { program: &program, pair: &mut pair, target: &target, steps: 5 };
        train(Bout { worker: &mut T::gan_worker(&program), work });
        pair
    };
    let widths = [
        trained(&|task| drop(T::in_lanes_of(Scalar128b, task))),
        trained(&|task| drop(T::in_lanes_of(Scalar256b, task))),
        trained(&|task| drop(T::in_lanes_of(Scalar512b, task))),
    ];
    assert!(widths[0] != start && widths[0].steps == 5, "nothing was trained");
    assert!(widths[0] == widths[1] && widths[1] == widths[2], "{}", T::NAME);
    // One worker trains two pairs in turns, a step at a time.
    let (mut worker, mut cut) = (T::gan_worker(&program), start.clone());
    let mut other = Pair::new(&program, Init::Torch, 10, Optimizer::Adam.defaults());
    for _ in 0..5 {
        for pair in [&mut other, &mut cut] {
            let work = Contending { program: &program, pair, target: &target, steps: 1 };
            T::in_lanes_of(Scalar256b, Bout { worker: &mut worker, work });
        }
    }
    assert!(cut == widths[1], "cuts or neighbors changed bits");
    assert!(cut != other, "two seeds, one result");
}

#[test]
fn widths_cuts_and_neighbors_change_no_bit() {
    every_width::<f32>();
    every_width::<f64>();
}
