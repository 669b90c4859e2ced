//! Devices and buffers made through wgpu itself, and arrays of another context.

use common::families::{Case, lapack_types};
use common::solve::{Checked, alike, judge, solve};
use common::{Test, on_gpus, suite};
use fiedler::array::Array;
use fiedler::ops::eigen::{eigh, eigvalsh};
use fiedler::policy::Side;
use fiedler::train::{Loss, Mlp, Optimizer, Runs, Samples, Split, Targets, Trainer};
use fiedler::{Backend, Context, ErrorKind, Shape, WgpuBuffer, WgpuDevice};
use wgpu::BufferUsages;

pub fn tests() -> Vec<Test> {
    suite(
        "foreign",
        vec![
            on_gpus("a wgpu device of the caller", adopted),
            on_gpus("a wgpu buffer of the caller", buffers),
            on_gpus("an array of another context", mixed_up),
            on_gpus("a training beyond one binding", beyond_one_binding),
        ],
    )
}

/// Returns some matrices of several orders.
fn cases(count: usize) -> Vec<Case> {
    let orders = [3, 17, 33, 8, 48, 60];
    (0..count).map(|i| lapack_types(orders[i % orders.len()], i as u64)[12].clone()).collect()
}

/// Opens the adapter of `ctx` through wgpu itself, with the given limits or with all limits that the adapter has.
fn opened(ctx: &Context, limits: Option<wgpu::Limits>) -> Result<WgpuDevice, Box<dyn std::error::Error>> {
    let name = &ctx.adapter().expect("an adapter").name;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let found = pollster::block_on(instance.enumerate_adapters(backends));
    let found = common::adversary::adapter(name).or_else(|| found.into_iter().find(|a| a.get_info().name == *name));
    let adapter = found.ok_or("the adapter is not found again")?;
    let required_limits = limits.unwrap_or_else(|| adapter.limits());
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
    Ok(WgpuDevice { adapter, device, queue })
}

fn adopted(ctx: &Context) -> Checked {
    // The device is also opened with the smallest limits that WebGPU guarantees, because a caller may have requested
    // these.
    for limits in [None, Some(wgpu::Limits::default())] {
        let least = limits.is_some();
        let theirs = opened(ctx, limits)?;
        let shared = Context::from_wgpu(theirs.clone())?;
        let facts = shared.adapter().expect("an adapter");
        assert_eq!((&facts.name, shared.memory_budget() > 0), (&ctx.adapter().expect("an adapter").name, true));
        assert!(facts.features.is_empty(), "the device was opened with none: {:?}", facts.features);
        if least {
            assert_eq!((facts.limits.workgroup_storage, facts.limits.storage_binding), (16 << 10, 128 << 20));
        }
        let cases: Vec<Case> = cases(20);
        let gpu = shared.with_backend(Backend::Gpu);
        judge(&cases, &solve::<f32>(&gpu, &cases)?, |_| None)?;
        assert!(shared.pool().allocated > 0);
        // The library notices the loss, whoever destroys the device.
        theirs.device.destroy();
        let error = solve::<f32>(&gpu, &cases).map(drop).expect_err("a lost device");
        assert!(matches!(error.kind(), ErrorKind::DeviceLost { .. }), "{error}");
    }
    Ok(())
}

fn buffers(ctx: &Context) -> Checked {
    let theirs = opened(ctx, None)?;
    let shared = Context::builder().backend(Backend::Gpu).memory_budget(64 << 20).build_on(theirs.clone())?;
    assert_eq!(shared.memory_budget(), 64 << 20);
    let make = |usage, size| {
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        theirs.device.create_buffer(&descriptor)
    };
    let full = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
    let raw = make(full, 64);
    theirs.queue.write_buffer(&raw, 0, bytemuck::cast_slice(&[2.0_f32, 1.0, 1.0, 2.0, 5.0, 0.0, 0.0, -1.0]));
    let shape = Shape::new(2, 2, 2);
    let a = Array::from_wgpu(&shared, shape, WgpuBuffer(raw.clone()))?;
    assert!(a.is_resident());
    let found = eigvalsh(&shared, &a)?;
    for (got, want) in found.values.to_host(&shared)?.as_slice().iter().zip([1.0, 3.0, -1.0, 5.0]) {
        // The error may be a few eps of |A|, which is at most 5.
        assert!((got - want).abs() <= 8.0 * 5.0 * f32::EPSILON, "{got} for {want}");
    }
    // The buffer belongs to the caller, so it is not returned to a pool, and its contents are unchanged.
    let before = shared.pool();
    drop((a, found));
    assert_eq!(shared.pool().allocated, before.allocated);
    assert_eq!(
        Array::from_wgpu(&shared, shape, WgpuBuffer(raw))?.to_host(&shared)?.as_slice()[4..],
        [5.0, 0.0, 0.0, -1.0]
    );

    for (usage, size, words) in [(full, 28, "at least 32 bytes"), (BufferUsages::COPY_DST, 64, "COPY_DST")] {
        let error = Array::from_wgpu(&shared, shape, WgpuBuffer(make(usage, size))).map(drop).expect_err(words);
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }) && error.to_string().contains(words), "{error}");
    }
    Ok(())
}

/// A data set of 1.5 MiB, on a device with bindings of 1 MiB. In f64, the mean loss of the epoch is the same to the
/// rounding errors of 4 steps.
fn beyond_one_binding(ctx: &Context) -> Checked {
    let small = wgpu::Limits { max_storage_buffer_binding_size: 1 << 20, ..wgpu::Limits::default() };
    let theirs = opened(ctx, Some(small))?;
    let shared = Context::builder().backend(Backend::Gpu).memory_budget(64 << 20).build_on(theirs)?;
    assert_eq!(shared.adapter().expect("an adapter").limits.storage_binding, 1 << 20);
    let x: Vec<f32> =
        (0..6144 * 64_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0).collect();
    let labels: Vec<u32> = x.chunks(64).map(|x| u32::from(x[3] > 0.0)).collect();
    let wide = Samples::new(64, x.iter().map(|x| f64::from(*x)).collect(), Targets::Labels(labels.clone()))?;
    let samples = Samples::new(64, x, Targets::Labels(labels))?;
    let trainer = Trainer::new(Mlp::builder(64).output(2)?, Loss::CROSS_ENTROPY, Optimizer::Adam)
        .batch(256)
        .epochs(1)
        .split(Split { shares: [0.125, 0.125, 0.75], seed: None });
    let runs = Runs::seeds(Optimizer::Adam, 1, 2)?;
    let error = trainer.fit(&shared, &samples, &runs).expect_err("one group");
    assert!(error.to_string().contains("bytes of the inputs of all samples"), "{error}");
    let found = trainer.fit_groups(&shared, &samples, &runs)?;
    let wanted = trainer.row_group(3072).fit(&Context::cpu(), &wide, &runs)?;
    assert_eq!((found.groups(), found.choice().side), (2, Side::Gpu));
    for (found, wanted) in found.runs().iter().zip(wanted.runs()) {
        assert_eq!((found.steps(), wanted.steps()), (4, 4));
        let (a, b) = (found.history()[0].loss, wanted.history()[0].loss);
        assert!((a - b).abs() < 1e-5 * b, "{a} and {b}");
    }
    Ok(())
}

fn mixed_up(ctx: &Context) -> Checked {
    let other = alike(ctx).build()?;
    let diagonal = |x: f32| Array::from_vec(Shape::new(2, 2, 1), vec![x, 0.0, 0.0, x + 1.0]);
    let (ours, theirs) = (diagonal(1.0)?.to_device(ctx)?, diagonal(100.0)?.to_device(&other)?);
    let refused = |error: Option<fiedler::Error>, what: &str| {
        let error = error.unwrap_or_else(|| panic!("{what} was allowed"));
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{what}: {error}");
        assert!(!error.is_device() && error.to_string().contains("another context"), "{what}: {error}");
    };
    refused(eigh(ctx, &theirs).err(), "eigh");
    refused(theirs.to_host(ctx).err(), "to_host");
    refused(theirs.to_device(ctx).err(), "to_device");
    refused(theirs.to_host(&Context::cpu()).err(), "to_host of the CPU's context");
    refused(eigh(&Context::cpu(), &theirs).err(), "eigh on the CPU");
    let found = eigh(&other, &theirs)?;
    refused(found.certificates(ctx).err(), "certificates");
    // Both contexts continue to work.
    for (ctx, found, want) in [(&other, found, 101.0_f32), (ctx, eigh(ctx, &ours)?, 2.0)] {
        let got = found.values.to_host(ctx)?.as_slice()[1];
        // The error may be a few eps of |A|.
        assert!((got - want).abs() <= 8.0 * want * f32::EPSILON, "{got} for {want}");
    }
    Ok(())
}
