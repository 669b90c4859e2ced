//! Faults of the host side: at each call that may fail, and by chance. A call returns the right result or a typed
//! error, nothing panics, and afterwards the context works or says that its device is lost.

use common::adversary;
use fiedler::array::Array;
use fiedler::ops::eigen::eigvalsh;
use fiedler::ops::matmul::matmul;
use fiedler::{Context, ErrorKind, Shape};
use std::time::Duration;
use wgpu_adversary::{Adversary, Fault, Faults, Profile};

/// Multiplies two matrices of order 8 and returns the product, whose entries are exact, and the eigenvalues of a small
/// matrix.
fn work(ctx: &Context) -> fiedler::Result<(Vec<f32>, Vec<f32>)> {
    let shape = Shape::new(8, 8, 1);
    let a = Array::from_vec(shape, (0..64).map(|i| (i % 7) as f32).collect())?.to_device(ctx)?;
    let product = matmul(ctx, &a, &a)?.to_host(ctx)?;
    let small = Array::from_vec(Shape::new(2, 2, 1), vec![2.0_f32, 1.0, 1.0, 2.0])?.to_device(ctx)?;
    let values = eigvalsh(ctx, &small)?.values.to_host(ctx)?;
    Ok((product.as_slice().to_vec(), values.as_slice().to_vec()))
}

fn check((product, values): (Vec<f32>, Vec<f32>)) {
    let a = |i: usize, j: usize| ((8 * i + j) % 7) as f32;
    for (at, &found) in product.iter().enumerate() {
        let wanted: f32 = (0..8).map(|k| a(at / 8, k) * a(k, at % 8)).sum();
        assert_eq!(found, wanted, "entry {at}");
    }
    assert!((values[0] - 1.0).abs() < 1e-5 && (values[1] - 3.0).abs() < 1e-5, "{values:?}");
}

fn open(seed: u64, faults: Faults) -> (Adversary, Context) {
    let adversary = Adversary::new(Profile::with_subgroups(8), seed).faults(faults.delay(Duration::from_millis(20)));
    let ctx = adversary::open(&adversary, &[]);
    (adversary, ctx)
}

/// Runs the work with these faults, and then again. Each fault makes one call fail at most, if not the device is lost.
/// That may be a later call: whether the ring of uploads is mapped again shows at the next upload.
fn try_with(seed: u64, faults: Faults, what: &str) {
    let (adversary, ctx) = open(seed, faults);
    let (mut lost, mut errors) = (false, 0);
    for round in 0..3 {
        match work(&ctx) {
            Ok(found) => {
                assert!(!lost, "{what}, round {round}: a lost device works");
                check(found);
            }
            Err(error) => {
                assert!(error.is_device() || matches!(error.kind(), ErrorKind::Kernel { .. }), "{what}: {error}");
                lost |= matches!(error.kind(), ErrorKind::DeviceLost { .. });
                errors += 1;
                let injected = adversary.injected();
                assert!(errors <= injected.len() || lost, "{what}, round {round}: {error}, after {injected:?}");
            }
        }
        ctx.trim();
    }
}

#[test]
fn each_call_may_fail() {
    let (adversary, ctx) = open(0, Faults::default());
    check(work(&ctx).expect("no fault was injected"));
    for fault in [
        Fault::DeviceLost,
        Fault::OutOfMemory,
        Fault::MapFailed,
        Fault::MapDelayed,
        Fault::PipelineFailed,
        Fault::Stalled,
        Fault::Timestamp,
    ] {
        let calls = adversary.calls(fault);
        println!("{fault:?}: {calls} calls");
        for call in 1..=calls {
            try_with(0, Faults::nth(fault, call), &format!("{fault:?} at call {call}"));
        }
    }
}

#[test]
fn faults_by_chance() {
    for seed in 0..60 {
        try_with(seed, Faults::seeded(seed, 0.02), &format!("seed {seed}"));
    }
}
