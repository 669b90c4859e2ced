//! Tests of the policy, which turns a workload into a choice with its reason. This is arithmetic and needs no
//! device.

use fiedler::ops::eigen::{choose_eigh, choose_eigvalsh};
use fiedler::ops::fft::{choose_fft, choose_rfft};
use fiedler::ops::matmul::Gemm;
use fiedler::ops::sparse::choose_spmm;
use fiedler::ops::stats::{choose_cov, choose_describe, choose_histogram, choose_quantiles};
use fiedler::ops::svd::{Vectors, choose_svd};
use fiedler::policy::{
    Backend, Choice, CpuRates, Curve, Curves, DeviceClass, Family, GpuRates, Point, Policy, Rates, Reason, Side,
    Workload,
};
use fiedler::{Axis, Context, ErrorKind, Shape};

/// Returns rates that make the arithmetic easy to follow: one CPU thread of 1 Gflop/s and a device of 100 Gflop/s,
/// 1 GB/s, 10 us per dispatch and 100 us per round trip.
fn rates() -> Rates {
    let cpu = CpuRates { threads: 1.0, copy: 0.0, fma: 0.0, fresh: f64::INFINITY, curves: Curves::flat(1e9, 1e9) };
    Rates { cpu, gpu: GpuRates { dispatch: 1e-5, round_trip: 1e-4, ..GpuRates::flat(1e11, 1e9) } }
}

fn policy(backend: Backend, class: DeviceClass) -> Policy {
    of(backend, class, rates())
}

fn of(backend: Backend, class: DeviceClass, rates: Rates) -> Policy {
    Policy { backend, class, rates: rates.into(), measured: [false; 2] }
}

fn workload(flops: f64, bytes: f64, dispatches: f64) -> Workload {
    Workload { cpu_flops: flops, gpu_flops: flops, upload: bytes, dispatches, ..Workload::default() }
}

#[test]
fn the_faster_side_wins() {
    // (workload, seconds on the CPU, seconds on the device)
    let table = [
        (workload(0.0, 0.0, 0.0), 0.0, 1e-4),
        (workload(1e5, 0.0, 1.0), 1e-4, 1e-4 + 1e-5 + 1e-6), // a little work: the round trip alone takes as long as the CPU
        (workload(1e6, 0.0, 1.0), 1e-3, 1e-4 + 1e-5 + 1e-5), // ten times as much work
        (workload(1e6, 1e6, 1.0), 1e-3, 1e-4 + 1e-5 + 1e-3 + 1e-5), // the same work if its data has to be transferred
        (workload(1e6, 0.0, 100.0), 1e-3, 1e-4 + 1e-3 + 1e-5), // the same work in a hundred dispatches
        (workload(1e12, 1e9, 100.0), 1e3, 1e-4 + 1e-3 + 1.0 + 10.0),
    ];
    for (work, cpu, gpu) in table {
        for class in [DeviceClass::Discrete, DeviceClass::Integrated] {
            let choice = policy(Backend::Auto, class).choose(&work, true);
            // The tolerance covers a few rounding errors.
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
    for (threads, side) in
        [(0.0_f64, Side::Gpu), (1.0, Side::Gpu), (7.0, Side::Gpu), (8.0, Side::Cpu), (64.0, Side::Cpu)]
    {
        let curves = Curves::flat(1e9 * threads.max(1.0), 1e9);
        let rates = Rates { cpu: CpuRates { threads, curves, ..rates().cpu }, ..rates() };
        let many = Workload { items: 1000.0, ..work };
        let choice = of(Backend::Auto, DeviceClass::Discrete, rates.clone()).choose(&many, true);
        // One item runs on one thread, however many threads there are.
        assert_eq!(of(Backend::Auto, DeviceClass::Discrete, rates).choose(&work, true).cpu_seconds, 1e-3);
        // The CPU takes 1 ms divided by the number of threads, and the device takes 120 us. A difference of less
        // than a tenth is a tie, which goes to the CPU.
        assert_eq!(choice.side, side, "{threads} threads: {choice:?}");
    }
}

#[test]
fn backend_class_and_fit_decide_the_side() {
    use Backend::{Auto, Cpu, Gpu};
    use DeviceClass::{Absent, Discrete, Integrated, Software, Unopened};
    let (small, large) = (workload(1.0, 0.0, 1.0), workload(1e15, 1.0, 1.0));
    // (backend, class, whether it fits, side of the small workload, side of the large workload, reason)
    let table = [
        (Auto, Discrete, true, Side::Cpu, Side::Gpu, Reason::Faster),
        (Auto, Integrated, true, Side::Cpu, Side::Gpu, Reason::Faster),
        (Auto, Discrete, false, Side::Cpu, Side::Cpu, Reason::BeyondKernels),
        (Auto, Integrated, false, Side::Cpu, Side::Cpu, Reason::BeyondKernels),
        (Auto, Absent, true, Side::Cpu, Side::Cpu, Reason::NoAdapter),
        (Auto, Absent, false, Side::Cpu, Side::Cpu, Reason::NoAdapter),
        (Auto, Unopened, true, Side::Cpu, Side::Cpu, Reason::NotWorthOpening),
        (Cpu, Unopened, true, Side::Cpu, Side::Cpu, Reason::Asked),
        (Auto, Software, true, Side::Cpu, Side::Cpu, Reason::SoftwareAdapter),
        (Auto, Software, false, Side::Cpu, Side::Cpu, Reason::SoftwareAdapter),
        (Cpu, Discrete, true, Side::Cpu, Side::Cpu, Reason::Asked),
        (Cpu, Software, true, Side::Cpu, Side::Cpu, Reason::Asked),
        (Cpu, Absent, false, Side::Cpu, Side::Cpu, Reason::Asked),
        (Gpu, Discrete, true, Side::Gpu, Side::Gpu, Reason::Asked),
        (Gpu, Discrete, false, Side::Gpu, Side::Gpu, Reason::Asked), // the operation reports what it cannot do
        (Gpu, Software, true, Side::Gpu, Side::Gpu, Reason::Asked),
        (Gpu, Absent, true, Side::Gpu, Side::Gpu, Reason::Asked), // and the missing adapter
    ];
    for (backend, class, fits, on_small, on_large, reason) in table {
        for (work, side) in [(small, on_small), (large, on_large)] {
            let choice = policy(backend, class).choose(&work, fits);
            let what = format!("{backend:?}, {class:?}, fits {fits}, {work:?}: {choice:?}");
            assert_eq!((choice.side, choice.reason), (side, reason), "{what}");
            assert_eq!(choice.gpu_seconds.is_infinite(), !fits || matches!(class, Absent | Unopened), "{what}");
            assert!(choice.cpu_seconds.is_finite(), "{what}");
        }
    }
}

/// A software adapter is only used if the caller selects it, however fast it is according to its rates.
#[test]
fn software_adapters_are_never_chosen_by_auto() {
    let gpu = GpuRates { dispatch: 0.0, round_trip: 0.0, ..GpuRates::flat(1e30, 1e30) };
    let policy = of(Backend::Auto, DeviceClass::Software, Rates { gpu, ..rates() });
    for flops in [0.0, 1.0, 1e9, 1e30] {
        assert_eq!(policy.choose(&workload(flops, 0.0, 0.0), true).side, Side::Cpu);
    }
}

#[test]
fn the_default_rates_order_the_classes() {
    let rates = |class| Rates::of(class, 0, 4);
    let [discrete, integrated, software] =
        [DeviceClass::Discrete, DeviceClass::Integrated, DeviceClass::Software].map(rates);
    for family in Family::MEASURED {
        let (size, items, gpu_flops) = (32.0, 1e6, 1e12);
        let work = Workload { family, size, items, gpu_flops, dispatches: 1.0, ..Workload::default() };
        let seconds = |rates: &Rates| rates.gpu.seconds(&work);
        assert!(seconds(&discrete) < seconds(&integrated) && seconds(&integrated) < seconds(&software), "{family}");
    }
    assert_eq!(discrete.cpu.threads, 4.0);
    // A data set of small eigenproblems goes to a discrete GPU. A single one of them does not.
    let eigh = |count: f64| Workload {
        cpu_flops: 9.0 * 32_f64.powi(3) * count,
        gpu_flops: 46.0 * 32_f64.powi(3) * count,
        family: Family::Eigh,
        size: 32.0,
        items: count,
        upload: 4096.0 * count,
        download: 4096.0 * count,
        dispatches: 1.0,
        ..Workload::default()
    };
    let policy = of(Backend::Auto, DeviceClass::Discrete, discrete);
    assert_eq!(policy.choose(&eigh(1.0), true).side, Side::Cpu);
    assert_eq!(policy.choose(&eigh(100_000.0), true).side, Side::Gpu);
}

/// Rates are measured at several sizes and for several counts of items. Between measured sizes, the logarithm of
/// the rate is linear in the logarithm of the size. Below the smallest measured size, a call takes as long as at
/// this size. Above the largest measured size, the rate is that of this size. Between measured counts, the time is
/// linear in the count. Fewer items take as long as the smallest measured count, and more items run at the rate of
/// the largest. The measured times include the launches.
#[test]
fn curves_are_followed() {
    // The rate is 10 flop per second for one item and 100 flop per second for a hundred items. So each flop of an
    // item takes 0.1 s for one item and 1 s for a hundred items.
    let slow = Point { size: 10.0, rates: vec![[1.0, 10.0], [100.0, 100.0]] };
    let fast = Point { size: 1000.0, rates: vec![[1.0, 1000.0], [100.0, 10_000.0]] };
    let curve = Curve { points: vec![slow, fast], first: 0.25 };
    let mut measured = rates();
    measured.gpu.curves.own.push((Family::Svd, curve));
    let policy = of(Backend::Gpu, DeviceClass::Discrete, measured);
    for (size, items, seconds) in [
        (10.0, 1.0, 0.1),
        (10.0, 0.5, 0.1),
        (10.0, 100.0, 1.0),
        (10.0, 34.0, 0.4),
        (10.0, 1000.0, 10.0),
        (100.0, 1.0, 0.01),
        (100.0, 34.0, 0.04),
        (1000.0, 100.0, 0.01),
        (1.0, 1.0, 100.0),
        (1e6, 1.0, 0.001),
    ] {
        let flops = f64::max(items, 1.0);
        let work =
            Workload { family: Family::Svd, size, items, gpu_flops: flops, dispatches: 9.0, ..Workload::default() };
        let choice = policy.choose(&work, true);
        // The tolerance covers the error of a power and a few rounding errors.
        assert!((choice.gpu_seconds - seconds).abs() <= 1e-12 * seconds, "{size}, {items}: {choice:?}");
        assert_eq!((choice.first_seconds, choice.workload), (0.25, work));
    }
    // Nothing takes less than the round trip, and transfers are added.
    let work =
        Workload { family: Family::Svd, size: 1e6, items: 1.0, gpu_flops: 1e-3, upload: 1e9, ..Workload::default() };
    assert!((policy.choose(&work, true).gpu_seconds - 1.0001).abs() < 1e-12);
    // A family without a curve uses the common rate, and its launches are added.
    let work = Workload { family: Family::Eigh, size: 10.0, items: 9.0, gpu_flops: 1e11, ..Workload::default() };
    assert!((policy.choose(&work, true).gpu_seconds - 1e-4 - 1.0).abs() < 1e-12);
    assert_eq!(policy.choose(&work, true).first_seconds, 0.0);
}

/// A call whose data comes from the host and whose results go back pays the overhead of a host round trip. A call
/// with resident data does not.
#[test]
fn data_of_the_host_pays_a_fixed_overhead() {
    let gpu = GpuRates { handover: 1e-3, ..rates().gpu };
    let policy = of(Backend::Gpu, DeviceClass::Discrete, Rates { gpu, ..rates() });
    for (upload, seconds) in [(0.0, 1e-4), (1.0, 1.1e-3 + 1e-9)] {
        let choice = policy.choose(&Workload { upload, ..Workload::default() }, true);
        assert!((choice.gpu_seconds - seconds).abs() < 1e-12, "{choice:?}");
    }
}

/// Results that are larger than the memory that an allocator keeps take additional time for new pages, on either
/// side.
#[test]
fn large_results_pay_for_their_pages() {
    let cpu = CpuRates { fresh: 1e9, ..rates().cpu };
    let policy = of(Backend::Auto, DeviceClass::Discrete, Rates { cpu, ..rates() });
    let of = |bytes: f64| policy.choose(&Workload { download: bytes, made: bytes, ..Workload::default() }, true);
    for (bytes, pages) in [(33_554_431.0, 0.0), (33_554_432.0, 0.033_554_432), (1e9, 1.0)] {
        let choice = of(bytes);
        assert!((choice.cpu_seconds - pages).abs() < 1e-12, "{choice:?}");
        assert!((choice.gpu_seconds - 1e-4 - bytes / 1e9 - pages).abs() < 1e-12, "{choice:?}");
    }
    // The CPU writes products to the memory of earlier ones, up to 512 MiB.
    for (bytes, pages) in [(536_870_912.0, 0.0), (536_870_913.0, 0.536_870_913)] {
        let work = Workload { family: Family::Matmul, download: bytes, made: bytes, ..Workload::default() };
        let choice = policy.choose(&work, true);
        assert!((choice.cpu_seconds - pages).abs() < 1e-12, "{choice:?}");
        assert!((choice.gpu_seconds - 1e-4 - 2.0 * bytes / 1e9).abs() < 1e-12, "{choice:?}");
    }
}

/// The algorithm in a choice is the algorithm of the chosen side.
#[test]
fn a_choice_names_its_algorithm() {
    let work = Workload { algorithms: ["lanes", "register"], ..workload(1e9, 0.0, 1.0) };
    for (backend, name, words) in
        [(Backend::Cpu, "lanes", "cpu (lanes): asked"), (Backend::Auto, "register", "gpu (register): ")]
    {
        let choice = policy(backend, DeviceClass::Discrete).choose(&work, true);
        assert_eq!(choice.algorithm(), name);
        assert!(choice.to_string().starts_with(words), "{choice}");
    }
}

/// Downloads have their own rate.
#[test]
fn uploads_and_downloads_have_separate_rates() {
    let gpu = GpuRates { upload: 1e9, download: 1e8, ..rates().gpu };
    let policy = of(Backend::Gpu, DeviceClass::Discrete, Rates { gpu, ..rates() });
    let work = Workload { upload: 1e9, download: 1e9, ..Workload::default() };
    let choice = policy.choose(&work, true);
    assert!((choice.gpu_seconds - 1e-4 - 1.0 - 10.0).abs() < 1e-9, "{choice:?}");
    // Here the CPU is chosen: its work takes a second, and the transfers take 11.0001 seconds.
    let choice = policy.choose(&Workload { cpu_flops: 1e9, ..work }, true);
    assert!((choice.margin() - 1.0 / 11.0001).abs() < 1e-12, "{choice:?}");
}

/// The work that the CPU does on either side is part of both times, at the CPU's rate. A measured curve already
/// includes it.
#[test]
fn work_on_the_host_is_in_both_times() {
    let policy = policy(Backend::Auto, DeviceClass::Discrete);
    let (without, work) = (workload(1e9, 0.0, 1.0), Workload { host_flops: 5e8, ..workload(1e9, 0.0, 1.0) });
    let (before, after) = (policy.choose(&without, true), policy.choose(&work, true));
    // 1e9 flop take the CPU a second, so half as many take half a second.
    assert!((after.cpu_seconds - before.cpu_seconds - 0.5).abs() < 1e-12, "{before:?} {after:?}");
    assert!((after.gpu_seconds - before.gpu_seconds - 0.5).abs() < 1e-12, "{before:?} {after:?}");
    let family = Family::Encode;
    let point = Point { size: 1.0, rates: vec![[1.0, 1e9]] };
    let curve = vec![(family, Curve { points: vec![point], first: 0.0 })];
    let curves = |flat: &Curves| Curves { own: curve.clone(), ..flat.clone() };
    let Rates { cpu, gpu } = rates();
    let measured = Rates {
        cpu: CpuRates { curves: curves(&cpu.curves), ..cpu },
        gpu: GpuRates { curves: curves(&gpu.curves), ..gpu },
    };
    let policy = of(Backend::Auto, DeviceClass::Discrete, measured);
    let [without, with] = [without, work].map(|work| policy.choose(&Workload { family, size: 1.0, ..work }, true));
    assert_eq!((without.cpu_seconds, without.gpu_seconds), (with.cpu_seconds, with.gpu_seconds));
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
            "cpu: too large for the GPU's kernels, or not in f32 (cpu 1.00e0 s, gpu n/a)",
        ),
        (Backend::Auto, DeviceClass::Absent, true, "cpu: there is no GPU (cpu 1.00e0 s, gpu n/a)"),
        (
            Backend::Auto,
            DeviceClass::Software,
            true,
            "cpu: a software adapter is slower than the CPU itself (cpu 1.00e0 s, gpu 1.01e-2 s)",
        ),
        (
            Backend::Auto,
            DeviceClass::Unopened,
            true,
            "cpu: too small to be worth opening a GPU (cpu 1.00e0 s, gpu n/a)",
        ),
        (Backend::Gpu, DeviceClass::Discrete, true, "gpu: asked for (cpu 1.00e0 s, gpu 1.01e-2 s)"),
        (Backend::Cpu, DeviceClass::Absent, false, "cpu: asked for (cpu 1.00e0 s, gpu n/a)"),
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
    let a = fiedler::array::Array::from_vec(Shape::new(1, 1, 1), vec![1.0_f32]).unwrap();
    let error = fiedler::ops::eigh(&gpu, &a).expect_err("no device");
    assert!(matches!(error.kind(), ErrorKind::NoAdapter { .. }), "{error}");
}

/// `resident` means the same in every family: the arguments are on the device and the results stay there, so
/// neither is transferred. The bytes that the CPU would write do not change.
#[test]
fn resident_means_the_same_in_every_family() {
    let ctx = Context::cpu();
    let (square, rows) = (Shape::new(64, 64, 10), Shape::new(10_000, 64, 1));
    /// A family's name, its choice for data that is resident or not, and whether its results are large enough to
    /// affect the time.
    type Chooses<'a> = (&'a str, &'a dyn Fn(bool) -> Choice, bool);
    let families: [Chooses<'_>; 11] = [
        ("eigh", &|resident| choose_eigh::<f32>(&ctx, &[64; 10], resident), true),
        ("eigvalsh", &|resident| choose_eigvalsh::<f32>(&ctx, &[64; 10], resident), true),
        ("svd", &|resident| choose_svd::<f32>(&ctx, square, Vectors::Thin, resident), true),
        ("fft", &|resident| choose_fft::<f32>(&ctx, square, Axis::Rows, resident), true),
        ("rfft", &|resident| choose_rfft::<f32>(&ctx, square, Axis::Rows, resident), true),
        ("matmul", &|resident| Gemm::<f32>::new().choose(&ctx, square, square, resident).expect("factors"), true),
        ("cov", &|resident| choose_cov::<f32>(&ctx, rows, resident), true),
        ("quantiles", &|resident| choose_quantiles::<f32>(&ctx, rows, Axis::Rows, 3, resident), true),
        ("spmm", &|resident| choose_spmm::<f32>(&ctx, (10_000, 50_000), 64, resident), true),
        // The results of these calls are a few words per series.
        ("describe", &|resident| choose_describe::<f32>(&ctx, rows, resident), false),
        ("histogram", &|resident| choose_histogram::<f32>(&ctx, rows, Axis::Rows, 10, resident), false),
    ];
    // The matrix of a sparse product is on the host.
    let matrix = 4.0 * (50_000.0 + 4.0 * 10_000.0);
    for (name, choose, large) in families {
        let [there, here] = [true, false].map(|resident| choose(resident).workload);
        let always = if name == "spmm" { matrix } else { 0.0 };
        assert_eq!((there.upload, there.download), (always, 0.0), "{name}: {there:?}");
        assert_eq!((here.upload > always, here.download > 0.0), (true, large), "{name}: {here:?}");
        assert_eq!((there.made, here.download), (here.made, here.made), "{name}: {there:?}, {here:?}");
    }
}

/// Rates of a device that trains a thousand times as fast as [`rates`] says of the CPU, measured or not.
fn trains(measured: bool) -> Rates {
    let point = Point { size: 1e5, rates: vec![[1.0, 1e12]] };
    let own = if measured { vec![(Family::Train, Curve { points: vec![point], first: 0.0 })] } else { Vec::new() };
    let curves = Curves { own, ..Curves::flat(1e12, 1e12) };
    Rates { gpu: GpuRates { curves, ..rates().gpu }, ..rates() }
}

/// Trainings run on a device only if it was measured with them, however fast other rates say that it is.
#[test]
fn an_unmeasured_device_trains_nothing() {
    let (family, size, items) = (Family::Train, 1e5, 10.0);
    let work = Workload { family, size, items, cpu_flops: 1e12, gpu_flops: 1e12, ..Workload::default() };
    let choose = |measured, work: &Workload, fits| {
        let choice = of(Backend::Auto, DeviceClass::Discrete, trains(measured)).choose(work, fits);
        (choice.side, choice.reason)
    };
    assert_eq!(choose(true, &work, true), (Side::Gpu, Reason::Faster));
    assert_eq!(choose(false, &work, true), (Side::Cpu, Reason::NotMeasured));
    assert_eq!(choose(true, &work, false), (Side::Cpu, Reason::BeyondKernels));
    assert_eq!(choose(true, &Workload { cpu_flops: 1e3, ..work }, true), (Side::Cpu, Reason::Faster));
    assert_eq!(choose(false, &Workload { family: Family::Eigh, ..work }, true), (Side::Gpu, Reason::Faster));
    let asked = of(Backend::Gpu, DeviceClass::Discrete, trains(false)).choose(&work, true);
    assert_eq!((asked.side, asked.reason), (Side::Gpu, Reason::Asked));
    let software = of(Backend::Auto, DeviceClass::Software, trains(true)).choose(&work, true);
    assert_eq!((software.side, software.reason), (Side::Cpu, Reason::SoftwareAdapter));
}

/// Neither the waits nor what the CPU keeps are part of a measured curve of the device.
#[test]
fn waits_and_kept_work_are_added_to_measured_times() {
    let (family, size, items) = (Family::Train, 1e5, 1.0);
    let work = Workload { family, size, items, cpu_flops: 2e9, gpu_flops: 1e12, ..Workload::default() };
    let seconds = |work: &Workload| {
        let choice = of(Backend::Auto, DeviceClass::Discrete, trains(true)).choose(work, true);
        (choice.cpu_seconds, choice.gpu_seconds)
    };
    let (cpu, gpu) = seconds(&work);
    assert!((cpu - 2.0).abs() < 1e-12 && (gpu - 1.0).abs() < 1e-12, "{cpu} {gpu}");
    // A round trip takes 100 us, and the CPU makes 1e9 operations in a second.
    let (cpu, gpu) = seconds(&Workload { waits: 50.0, kept_flops: 5e8, ..work });
    assert!((cpu - 2.0).abs() < 1e-12 && (gpu - 1.505).abs() < 1e-12, "{cpu} {gpu}");
}
