//! The policy: a workload in, a choice with its reason out. Arithmetic, without a device.

use fiedler::policy::{Backend, DeviceClass, Policy, Rates, Reason, Side, Workload};
use fiedler::{Context, ErrorKind};

/// Rates that make the arithmetic plain: one thread of 1 Gflop/s against a device of 100, 1 GB/s, 10 us a dispatch, 100 us a round trip.
const RATES: Rates =
    Rates { cpu_flops: 1e9, threads: 1.0, gpu_flops: 1e11, transfer: 1e9, dispatch: 1e-5, round_trip: 1e-4 };

fn policy(backend: Backend, class: DeviceClass) -> Policy {
    Policy { backend, class, rates: RATES }
}

fn workload(flops: f64, bytes: f64, dispatches: f64) -> Workload {
    Workload { cpu_flops: flops, gpu_flops: flops, bytes_to_move: bytes, dispatches }
}

#[test]
fn the_faster_side_wins() {
    // (workload, seconds on the CPU, seconds on the device)
    let table = [
        (workload(0.0, 0.0, 0.0), 0.0, 1e-4),
        (workload(1e5, 0.0, 1.0), 1e-4, 1e-4 + 1e-5 + 1e-6), // a little work: the round trip alone takes as long
        (workload(1e6, 0.0, 1.0), 1e-3, 1e-4 + 1e-5 + 1e-5), // ten times as much
        (workload(1e6, 1e6, 1.0), 1e-3, 1e-4 + 1e-5 + 1e-3 + 1e-5), // but not if its data has to travel
        (workload(1e6, 0.0, 100.0), 1e-3, 1e-4 + 1e-3 + 1e-5), // nor in a hundred steps
        (workload(1e12, 1e9, 100.0), 1e3, 1e-4 + 1e-3 + 1.0 + 10.0),
    ];
    for (work, cpu, gpu) in table {
        for class in [DeviceClass::Discrete, DeviceClass::Integrated] {
            let choice = policy(Backend::Auto, class).choose(&work, true);
            // A few roundings.
            assert!((choice.cpu_seconds - cpu).abs() <= 1e-15 * cpu, "{work:?}: {choice:?}");
            assert!((choice.gpu_seconds - gpu).abs() <= 1e-15 * gpu.max(1.0), "{work:?}: {choice:?}");
            assert_eq!(choice.side, if gpu < cpu { Side::Gpu } else { Side::Cpu }, "{work:?}: {choice:?}");
            assert_eq!(choice.reason, Reason::Faster);
        }
    }
}

#[test]
fn threads_share_the_work_of_the_cpu() {
    let work = workload(1e6, 0.0, 1.0);
    for (threads, side) in [(0.0, Side::Gpu), (1.0, Side::Gpu), (8.0, Side::Gpu), (9.0, Side::Cpu), (64.0, Side::Cpu)] {
        let rates = Rates { threads, ..RATES };
        let choice = Policy { backend: Backend::Auto, class: DeviceClass::Discrete, rates }.choose(&work, true);
        // 1 ms by threads against 120 us.
        assert_eq!(choice.side, side, "{threads} threads: {choice:?}");
    }
}

#[test]
fn forced_absent_software_and_beyond() {
    use Backend::{Auto, Cpu, Gpu};
    use DeviceClass::{Absent, Discrete, Integrated, Software};
    let (small, large) = (workload(1.0, 0.0, 1.0), workload(1e15, 1.0, 1.0));
    // (backend, class, fits, small's side, large's side, reason)
    let table = [
        (Auto, Discrete, true, Side::Cpu, Side::Gpu, Reason::Faster),
        (Auto, Integrated, true, Side::Cpu, Side::Gpu, Reason::Faster),
        (Auto, Discrete, false, Side::Cpu, Side::Cpu, Reason::BeyondKernels),
        (Auto, Integrated, false, Side::Cpu, Side::Cpu, Reason::BeyondKernels),
        (Auto, Absent, true, Side::Cpu, Side::Cpu, Reason::NoAdapter),
        (Auto, Absent, false, Side::Cpu, Side::Cpu, Reason::NoAdapter),
        (Auto, Software, true, Side::Cpu, Side::Cpu, Reason::SoftwareAdapter),
        (Auto, Software, false, Side::Cpu, Side::Cpu, Reason::SoftwareAdapter),
        (Cpu, Discrete, true, Side::Cpu, Side::Cpu, Reason::Asked),
        (Cpu, Software, true, Side::Cpu, Side::Cpu, Reason::Asked),
        (Cpu, Absent, false, Side::Cpu, Side::Cpu, Reason::Asked),
        (Gpu, Discrete, true, Side::Gpu, Side::Gpu, Reason::Asked),
        (Gpu, Discrete, false, Side::Gpu, Side::Gpu, Reason::Asked), // the operation says what it cannot do
        (Gpu, Software, true, Side::Gpu, Side::Gpu, Reason::Asked),
        (Gpu, Absent, true, Side::Gpu, Side::Gpu, Reason::Asked), // and that there is no adapter
    ];
    for (backend, class, fits, on_small, on_large, reason) in table {
        for (work, side) in [(small, on_small), (large, on_large)] {
            let choice = policy(backend, class).choose(&work, fits);
            let what = format!("{backend:?}, {class:?}, fits {fits}, {work:?}: {choice:?}");
            assert_eq!((choice.side, choice.reason), (side, reason), "{what}");
            assert_eq!(choice.gpu_seconds.is_infinite(), !fits || class == Absent, "{what}");
            assert!(choice.cpu_seconds.is_finite(), "{what}");
        }
    }
}

/// However fast its rates claim to be: nobody but the caller chooses a software adapter.
#[test]
fn software_never_wins_by_itself() {
    let rates = Rates { gpu_flops: 1e30, transfer: 1e30, dispatch: 0.0, round_trip: 0.0, ..RATES };
    let policy = Policy { backend: Backend::Auto, class: DeviceClass::Software, rates };
    for flops in [0.0, 1.0, 1e9, 1e30] {
        assert_eq!(policy.choose(&workload(flops, 0.0, 0.0), true).side, Side::Cpu);
    }
}

#[test]
fn the_default_rates_order_the_classes() {
    let rates = |class| Rates::of(class, 4);
    let [discrete, integrated, software] =
        [DeviceClass::Discrete, DeviceClass::Integrated, DeviceClass::Software].map(rates);
    assert!(discrete.gpu_flops > integrated.gpu_flops && integrated.gpu_flops > software.gpu_flops);
    assert_eq!(discrete.threads, 4.0);
    // A data set's worth of small eigenproblems goes to a discrete GPU, one of them does not.
    let eigh = |count: f64| Workload {
        cpu_flops: 9.0 * 32_f64.powi(3) * count,
        gpu_flops: 46.0 * 32_f64.powi(3) * count,
        bytes_to_move: 8192.0 * count,
        dispatches: 16.0,
    };
    let policy = Policy { backend: Backend::Auto, class: DeviceClass::Discrete, rates: discrete };
    assert_eq!(policy.choose(&eigh(1.0), true).side, Side::Cpu);
    assert_eq!(policy.choose(&eigh(100_000.0), true).side, Side::Gpu);
}

#[test]
fn choices_explain_themselves() {
    let work = workload(1e9, 0.0, 1.0);
    for (backend, class, fits, words) in [
        (Backend::Auto, DeviceClass::Discrete, true, "gpu: predicted to be faster (cpu 1.00e0 s, gpu 1.01e-2 s)"),
        (
            Backend::Auto,
            DeviceClass::Discrete,
            false,
            "cpu: the device's kernels cannot take it (cpu 1.00e0 s, gpu none)",
        ),
        (Backend::Auto, DeviceClass::Absent, true, "cpu: there is no adapter (cpu 1.00e0 s, gpu none)"),
        (
            Backend::Auto,
            DeviceClass::Software,
            true,
            "cpu: a software adapter is slower than the CPU itself (cpu 1.00e0 s, gpu 1.01e-2 s)",
        ),
        (Backend::Gpu, DeviceClass::Discrete, true, "gpu: asked for (cpu 1.00e0 s, gpu 1.01e-2 s)"),
        (Backend::Cpu, DeviceClass::Absent, false, "cpu: asked for (cpu 1.00e0 s, gpu none)"),
    ] {
        assert_eq!(policy(backend, class).choose(&work, fits).to_string(), words);
    }
}

#[test]
fn backends_have_names() {
    for (name, backend) in [("auto", Backend::Auto), ("gpu", Backend::Gpu), ("cpu", Backend::Cpu)] {
        assert_eq!(name.parse(), Ok(backend));
    }
    for name in ["", "GPU", "cuda", "auto "] {
        let error = name.parse::<Backend>().unwrap_err();
        assert!(error.contains("auto, gpu or cpu") && error.contains(name), "{error}");
    }
    assert_eq!(Backend::default(), Backend::Auto);
}

#[test]
fn without_a_device_contexts_choose_the_cpu_or_say_what_is_missing() {
    let (ctx, work) = (Context::cpu(), workload(1e15, 0.0, 1.0));
    assert_eq!(ctx.explain(&work, true).side, Side::Cpu);
    assert_eq!(ctx.explain(&work, true).reason, Reason::Asked);
    let auto = ctx.with_backend(Backend::Auto);
    assert_eq!((auto.explain(&work, true).side, auto.explain(&work, true).reason), (Side::Cpu, Reason::NoAdapter));
    let gpu = ctx.with_backend(Backend::Gpu);
    assert!(gpu.explain(&work, true).gpu_seconds.is_infinite());
    let a = fiedler::array::Array::from_vec(fiedler::Shape::new(1, 1, 1), vec![1.0_f32]).unwrap();
    let error = fiedler::ops::eigh(&gpu, &a).expect_err("no device");
    assert!(matches!(error.kind(), ErrorKind::NoAdapter { .. }), "{error}");
}
