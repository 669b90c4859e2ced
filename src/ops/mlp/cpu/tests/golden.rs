//! Steps and losses against those that torch computed (`tests/host/golden/training.py`).

use super::{
    Activation, Hyper, Lcg, Loss, Norm, Number, Optimizer, Program, Samples, Targets, all, hidden, output, program,
};
use crate::lanes::{SimdScalar, Task, Vector};
use crate::ops::elementary::Elementary;
use crate::ops::mlp::cpu::Work;
use crate::ops::mlp::cpu::update::{Moving, Normals, update};
use crate::ops::mlp::layout::Layout;
use crate::ops::mlp::noise::Words;
use crate::ops::mlp::optimizer::Update;
use crate::ops::mlp::weights::Init;
use crate::ops::mlp::{Mlp, Replica, Segment};

const FILE: &str = include_str!("../../../../../tests/host/golden/training.txt");

/// Returns the lines after the line `title`, up to the next title.
pub(super) fn lines(title: &str) -> Vec<Vec<f64>> {
    let (_, after) = FILE.split_once(&format!("{title}\n")).expect("a title of the file");
    let numbers = |line: &str| line.split(' ').map(|x| x.parse().expect("a number")).collect();
    after.lines().take_while(|line| !line.starts_with(['s', 'r', 'g'])).map(numbers).collect()
}

fn optimizer(name: &str) -> (Optimizer, Hyper) {
    let optimizer = match name {
        "nesterov" => Optimizer::Sgd { nesterov: true },
        "adam" => Optimizer::Adam,
        "adamw" => Optimizer::AdamW,
        _ => Optimizer::Sgd { nesterov: false },
    };
    let hyper = optimizer.defaults();
    (
        optimizer,
        match name {
            "sgd" => Hyper { learning_rate: 0.05, ..hyper },
            "decay" => Hyper { learning_rate: 0.05, weight_decay: 0.01, ..hyper },
            "momentum" => Hyper { learning_rate: 0.05, momentum: 0.9, dampening: 0.1, weight_decay: 0.01, ..hyper },
            "nesterov" => Hyper { learning_rate: 0.05, momentum: 0.9, ..hyper },
            _ => Hyper { learning_rate: 1e-3, weight_decay: 0.01, ..hyper },
        },
    )
}

/// An update of the 8 weights of a network with 7 inputs, one output and its bias.
struct Step<'a, T> {
    layout: &'a Layout,
    update: Update<T>,
    gradient: &'a [T],
    vectors: &'a mut [Vec<T>; 3],
}

impl<T: Elementary> Task<T> for Step<'_, T> {
    type Output = ();

    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        let [weights, first, second] = self.vectors;
        let (one, none) = (T::from_f64(1.0), T::from_f64(0.0));
        let mut noise = Normals::new(Words::new(0, "none"), 0);
        let moving = Moving { weights, first, second };
        update::<V>(token, self.layout, self.update, [one, none], self.gradient, moving, &mut noise);
    }
}

fn check_steps<T: Number + Elementary + SimdScalar>(name: &str) {
    let (optimizer, hyper) = optimizer(name);
    let layout = Layout::new(&Mlp::from_layers(7, vec![output(1)]).expect("a network"));
    let places: Vec<usize> = layout.blocks.iter().flat_map(|block| block.row(0)).collect();
    let spread = |numbers: &[f64]| {
        let mut vector = vec![T::from_f64(0.0); layout.len];
        places.iter().zip(numbers).for_each(|(&place, &x)| vector[place] = T::from_f64(x));
        vector
    };
    let mut numbers = Lcg(7);
    let mut vectors = [spread(&numbers.fill(8)), spread(&[]), spread(&[])];
    let wanted = lines(&format!("step {name} {}", T::NAME));
    assert_eq!(wanted.len(), 11);
    for step in 0..1000 {
        let gradient = spread(&numbers.fill(8));
        let update = Update::new(optimizer, &hyper, hyper.learning_rate, [step; 2]);
        T::in_lanes(Step { layout: &layout, update, gradient: &gradient, vectors: &mut vectors });
        let steps = step + 1;
        let Some(wanted) = (if steps <= 10 { wanted.get(step as usize) } else { (steps == 1000).then(|| &wanted[10]) })
        else {
            continue;
        };
        for (&place, &wanted) in places.iter().zip(wanted) {
            // Two units of the last place of the larger numbers that a step adds up, for each step so far; 1e-6 (f32)
            // after 1,000 steps.
            let ulp = T::EPSILON * wanted.abs().max(0.5);
            let bound = if steps == 1000 {
                1e-6 * T::EPSILON / f64::from(f32::EPSILON) * 4.0
            } else {
                2.0 * steps as f64 * ulp
            };
            let off = (vectors[0][place].to_f64() - wanted).abs();
            assert!(off <= bound, "{name} {} after {steps} steps: off by {off}, bound {bound}", T::NAME);
        }
    }
}

#[test]
fn optimizers_step_as_torchs() {
    for name in ["sgd", "decay", "momentum", "nesterov", "adam", "adamw"] {
        check_steps::<f32>(name);
        check_steps::<f64>(name);
    }
}

/// The networks of the file. The numbers are those of `RUNS` there.
fn networks() -> Vec<(&'static str, Program, Hyper)> {
    let made = |name, inputs, layers, loss, by: &str, l1, clip| {
        let (optimizer, hyper) = optimizer(by);
        (name, program(inputs, layers, loss, optimizer, 16), Hyper { l1, clip, ..hyper })
    };
    let none = f64::INFINITY;
    let (relu, ce) = (Activation::Relu, Loss::CROSS_ENTROPY);
    let plain = |n, activation| hidden(n, activation, Norm::None, 0.0);
    let smooth = Loss::CrossEntropy { label_smoothing: 0.1, class_weights: vec![] };
    let weighted = Loss::CrossEntropy { label_smoothing: 0.0, class_weights: vec![1.0, 2.0, 0.5] };
    let normed = |n| hidden(n, Activation::Gelu, Norm::Layer, 0.0);
    vec![
        made("digits", 64, vec![plain(32, relu), output(10)], ce.clone(), "momentum", 0.0, none),
        made("devices", 20, vec![plain(30, relu), plain(20, relu), output(3)], ce, "adam", 0.002, 1.0),
        made(
            "batch",
            20,
            vec![hidden(24, Activation::LeakyRelu(0.01), Norm::Batch, 0.0), output(3)],
            smooth,
            "adamw",
            0.0,
            none,
        ),
        made("layer", 20, vec![normed(24), normed(17), output(3)], weighted, "nesterov", 0.0, 0.5),
        made("tanh", 20, vec![plain(12, Activation::Tanh), output(1)], Loss::BinaryCrossEntropy, "sgd", 0.0, none),
        made("sigmoid", 20, vec![plain(12, Activation::Sigmoid), output(1)], Loss::MeanSquares, "decay", 0.0, none),
    ]
}

fn losses<T: Number>(program: &Program, hyper: Hyper) -> Vec<f64> {
    const ROWS: usize = 96;
    let mut numbers = Lcg(11);
    let inputs = program.net.inputs();
    let x = all(&numbers.fill(ROWS * inputs));
    let classes = program.net.outputs().max(2);
    let labels: Vec<u32> = (0..ROWS).map(|_| ((numbers.next() + 1.0) / 2.0 * classes as f64) as u32).collect();
    let targets = if program.loss == Loss::MeanSquares {
        Targets::Values(labels.iter().map(|&y| T::from_f64(y.into())).collect(), 1)
    } else {
        Targets::Labels(labels)
    };
    let samples = Samples::new(inputs, x, targets).expect("samples");
    let mut replica = Replica::<T>::new(program, Init::Torch, 0, hyper);
    let start = replica.clone();
    let ones: Vec<_> = start.tensors(&program.net);
    let set = |name: &str, shape: &[usize]| {
        let len: usize = shape.iter().product();
        if name.starts_with("layers") {
            let layer: usize = name.split('.').nth(1).and_then(|n| n.parse().ok()).expect("a layer's number");
            let inputs = program.net.with_inputs().nth(layer).map_or(1, |(inputs, _)| inputs);
            let bound = 1.0 / (inputs as f64).sqrt();
            return Ok(numbers.fill(len).iter().map(|x| T::from_f64(x * bound)).collect());
        }
        let kept = ones.iter().find(|tensor| tensor.name == name).map(|tensor| tensor.data.clone());
        Ok(kept.unwrap_or_else(|| vec![T::from_f64(0.0); len]))
    };
    replica.set_tensors(&program.net, set).expect("tensors that fit");
    let mut worker = T::worker(program);
    let mut found = Vec::new();
    for step in 0..200 {
        let rows: Vec<u32> = (0..16).map(|i| ((step * 16 + i) * 5 % ROWS) as u32).collect();
        let segment = Segment {
            rows: &rows,
            shuffled: false,
            epoch: 0,
            batches: 0..1,
            rate: hyper.learning_rate,
            loss: 0.0,
            traces: true,
        };
        let tally = T::train(&mut worker, Work { program, samples: &samples, replica: &mut replica }, &segment);
        found.extend(tally.losses);
    }
    found
}

/// Losses of 200 steps within 1e-5 (f32) and 1e-12 (f64) of torch's, relative to losses of at least 0.1.
#[test]
fn losses_are_torchs() {
    for (name, program, hyper) in networks() {
        for (precision, bound) in [("f32", 1e-5), ("f64", 1e-12)] {
            let found =
                if precision == "f32" { losses::<f32>(&program, hyper) } else { losses::<f64>(&program, hyper) };
            let wanted = lines(&format!("run {name} {precision}"));
            assert_eq!((found.len(), wanted.len()), (200, 200));
            for (step, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                let off = (found - wanted[0]).abs() / wanted[0].abs().max(0.1);
                assert!(off <= bound, "{name} {precision}, step {step}: {found} and {}: off by {off:e}", wanted[0]);
            }
        }
    }
}
