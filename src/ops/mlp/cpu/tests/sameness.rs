//! The bits of a run depend on its row alone.

use super::{
    Activation, Hyper, Layer, Loss, MixedPrecision, Norm, Optimizer, Program, Replica, Samples, hidden, output,
    program, samples,
};
use crate::lanes::SimdScalar;
use crate::ops::elementary::Elementary;
use crate::ops::mlp::cpu::{Training, Trains as _, Work, Worker};
use crate::ops::mlp::weights::Init;
use crate::ops::mlp::{Number, Segment};
use pulp::{Scalar128b, Scalar256b, Scalar512b};

/// Networks that use every part of a step between them.
fn cases() -> Vec<(Program, Hyper)> {
    let sgd = Optimizer::Sgd { nesterov: false };
    let gelu = |n| hidden(n, Activation::Gelu, Norm::Batch, 0.25);
    let wide = vec![gelu(35), hidden(18, Activation::Tanh, Norm::Layer, 0.0), output(3)];
    let narrow = vec![hidden(5, Activation::Sigmoid, Norm::None, 0.5), output(1)];
    let bounded = Loss::BoundedCrossEntropy(4.0);
    let adam = Hyper { l1: 0.01, clip: 0.1, ..Optimizer::Adam.defaults() };
    let sgld = Hyper { temperature: 0.1, prior_precision: 1.0, ..Optimizer::Sgld.defaults() };
    let psgld = Hyper { burn_in: 5.0, clip: 1.0, ..Optimizer::Psgld.defaults() };
    let momentum = Hyper { momentum: 0.9, ..sgd.defaults() };
    vec![
        (program(21, wide.clone(), Loss::CROSS_ENTROPY, Optimizer::Adam, 13), adam),
        (program(50, narrow.clone(), bounded.clone(), Optimizer::Sgld, 10), sgld),
        (program(50, narrow, bounded, Optimizer::Psgld, 10), psgld),
        (program(21, wide.clone(), Loss::CROSS_ENTROPY, sgd, 8), momentum),
        (in_mixed(MixedPrecision::F16, &wide), adam),
        (in_mixed(MixedPrecision::Bf16, &wide), adam),
    ]
}

fn in_mixed(mixed: MixedPrecision, layers: &[Layer]) -> Program {
    Program { mixed, ..program(21, layers.to_vec(), Loss::CROSS_ENTROPY, Optimizer::Adam, 13) }
}

fn segment(rows: &[u32]) -> Segment<'_> {
    Segment { rows, shuffled: true, epoch: 3, batches: 0..6, rate: 0.01, loss: 0.0, traces: false }
}

/// The emulated vectors have 4, 8 and 16 lanes of f32, all with fused multiply-add.
fn every_width<T: Number + Elementary + SimdScalar>() {
    for (program, hyper) in cases() {
        let samples = samples::<T>(&program, 70, 2);
        let rows: Vec<u32> = (0..70).collect();
        let segment = segment(&rows);
        let trained = |train: &dyn Fn(Training<'_, T>)| {
            let mut replica = Replica::new(&program, Init::Xavier, 9, hyper);
            let mut worker: Worker<T> = T::worker(&program);
            let work = Work { program: &program, samples: &samples, replica: &mut replica };
            train(Training { worker: &mut worker, work, segment: &segment });
            assert_eq!(replica.steps, 6);
            replica
        };
        let widths = [
            trained(&|task| drop(T::in_lanes_of(Scalar128b, task))),
            trained(&|task| drop(T::in_lanes_of(Scalar256b, task))),
            trained(&|task| drop(T::in_lanes_of(Scalar512b, task))),
        ];
        assert!(widths[0] != Replica::new(&program, Init::Xavier, 9, hyper), "nothing was trained");
        assert!(widths[0] == widths[1] && widths[1] == widths[2], "{program:?}");
        // The machine's own vectors, if they have fused multiply-add.
        if cfg!(target_arch = "aarch64") || std::arch::is_x86_feature_detected!("fma") {
            assert!(trained(&|task| drop(T::in_lanes(task))) == widths[0], "{program:?}");
        }
    }
}

#[test]
fn the_width_of_vectors_changes_no_bit() {
    every_width::<f32>();
    every_width::<f64>();
}

#[test]
fn cuts_and_neighbors_change_no_bit() {
    for (program, hyper) in cases() {
        let samples: Samples<f32> = samples(&program, 70, 2);
        let rows: Vec<u32> = (0..70).collect();
        let whole = segment(&rows);
        let mut alone = Replica::new(&program, Init::Xavier, 9, hyper);
        let mut other = Replica::new(&program, Init::Xavier, 10, hyper);
        let mut cut = alone.clone();
        f32::train(
            &mut f32::worker(&program),
            Work { program: &program, samples: &samples, replica: &mut alone },
            &whole,
        );
        // One worker trains two runs in turns, a step at a time.
        let mut worker = f32::worker(&program);
        for batch in 0..6 {
            let part = Segment { batches: batch..batch + 1, ..whole.clone() };
            for replica in [&mut other, &mut cut] {
                f32::train(&mut worker, Work { program: &program, samples: &samples, replica }, &part);
            }
        }
        assert!(alone == cut, "{program:?}");
        assert!(alone != other, "two seeds, one result");
    }
}
