//! The device as users see it: its loss, memory, the buffer pool, threads, reads, timestamps, and the choice of an
//! adapter. Tests of devices and buffers that the caller owns are in tests/device/foreign.rs.

use common::families::{Case, lapack_types};
use common::solve::{Checked, alike, apart, bits, judge, ragged, solve};
use common::{Test, device_free, on_gpus, sample, suite};
use fiedler::array::Array;
use fiedler::encode::SpectralEncoder;
use fiedler::forms::{JacobiForm, KernelForm};
use fiedler::graph::molecules;
use fiedler::ops::eigen::{Certificate, HostEigh, eigh, eigh_ragged};
use fiedler::{Adapter, Backend, Clock, Context, ErrorKind, Shape, bytes_from};

pub fn tests() -> Vec<Test> {
    suite(
        "floor",
        vec![
            on_gpus("a lost device", loss),
            on_gpus("a lost device under an encoding", loss_in_encode),
            on_gpus("too little memory for a batch", smaller_batches),
            on_gpus("too little memory for a matrix", out_of_memory),
            on_gpus("memory held by other arrays", held_memory),
            on_gpus("the pool's counters", pool),
            on_gpus("results do not depend on old contents of buffers", poison),
            on_gpus("two threads and one context", threads),
            on_gpus("reads", reads),
            on_gpus("timestamps", timestamps),
            on_gpus("trusted modules", trusted),
            device_free("the choice of an adapter", choice),
            device_free("budgets as text", budgets),
        ],
    )
}

/// Returns some matrices of several orders.
fn cases(count: usize) -> Vec<Case> {
    let orders = [3, 17, 33, 8, 48, 60];
    (0..count).map(|i| lapack_types(orders[i % orders.len()], i as u64)[12].clone()).collect()
}

/// Returns everything that was computed: the eigenvalues and eigenvectors as bits, and the certificates, which have
/// the numbers of sweeps and no NaN.
fn all(found: &HostEigh<f32>) -> (Vec<u32>, Vec<u32>, Vec<Certificate>) {
    (bits(&found.values), bits(&found.vectors), found.certificates.to_vec())
}

fn loss(ctx: &Context) -> Checked {
    let doomed = apart(ctx).build()?;
    let a = Array::from_vec(Shape::new(2, 2, 1), vec![2.0_f32, 1.0, 1.0, 2.0])?.to_device(&doomed)?;
    let before = eigh(&doomed, &a)?;
    let recorded = eigh_ragged(&doomed, &ragged::<f32>(&cases(3)))?;
    let beside = alike(&doomed).build()?;
    doomed.destroy_device();
    let lost = |what: &str, error: fiedler::Error| {
        let named =
            matches!(error.kind(), ErrorKind::DeviceLost { .. }) && error.is_device() && !error.is_out_of_memory();
        if named { Ok(()) } else { Err(format!("{what}: {error}")) }
    };
    // An existing array, a recorded result, and new work: each of them fails the first time and the second time.
    for round in ["first", "again"] {
        lost(&format!("a read, {round}"), a.to_host(&doomed).map(drop).expect_err("a read"))?;
        lost("values", before.values.to_host(&doomed).map(drop).expect_err("values"))?;
        lost("an async read", pollster::block_on(a.to_host_async(&doomed)).map(drop).expect_err("an async read"))?;
        lost("certificates", before.certificates(&doomed).map(drop).expect_err("certificates"))?;
        lost("a ragged read", recorded.to_host(&doomed).map(drop).expect_err("a ragged read"))?;
        lost("an operation", solve::<f32>(&doomed, &cases(2)).map(drop).expect_err("an operation"))?;
        lost("eigh of a resident", eigh(&doomed, &a).map(drop).expect_err("eigh of a resident"))?;
        let host = Array::from_vec(Shape::new(1, 1, 1), vec![1.0_f32])?;
        lost("an upload", host.to_device(&doomed).map(drop).expect_err("an upload"))?;
        lost("a context beside", solve::<f32>(&beside, &cases(2)).map(drop).expect_err("a context beside"))?;
    }
    // Here an operation, and not a read, is the first to notice the loss. A read that has already begun notices it
    // too.
    let doomed = apart(ctx).build()?;
    doomed.destroy_device();
    lost("an operation first", solve::<f32>(&doomed, &cases(2)).map(drop).expect_err("an operation first"))?;
    let doomed = apart(ctx).build()?;
    let begun = eigh_ragged(&doomed, &ragged::<f32>(&cases(3)))?.read(&doomed)?;
    doomed.destroy_device();
    // Work submitted before the loss may still arrive complete, but it must not arrive wrong.
    match begun.wait() {
        Ok(found) => drop(judge(&cases(3), &found, |_| None)?),
        Err(error) => lost("a read that had begun", error)?,
    }
    // The process can continue with a new context, and with the existing context whose device was not lost.
    let fresh = apart(ctx).build()?;
    judge(&cases(6), &solve::<f32>(&fresh, &cases(6))?, |_| None)?;
    judge(&cases(6), &solve::<f32>(ctx, &cases(6))?, |_| None)?;
    doomed.trim();
    drop((a, before, recorded, doomed));
    Ok(())
}

fn loss_in_encode(ctx: &Context) -> Checked {
    let doomed = apart(ctx).memory_budget(1 << 20).build()?;
    let graphs = molecules(2000, 1)?;
    let mut seen = 0;
    let outcome = SpectralEncoder::new(4).encode_with(&doomed, &graphs, |_| {
        seen += 1;
        if seen == 2 {
            doomed.destroy_device();
        }
    });
    let error = outcome.map(drop).expect_err("the device went in the middle");
    assert!(matches!(error.kind(), ErrorKind::DeviceLost { .. }) && error.is_device(), "{error}");
    Ok(())
}

fn smaller_batches(ctx: &Context) -> Checked {
    let cases = cases(240);
    let want = solve::<f32>(ctx, &cases)?;
    judge(&cases, &want, |_| None)?;
    let bytes = 4 * ragged::<f32>(&cases).layout().len() as u64;
    for budget in sample(ctx, [3 * bytes, 2 * bytes, bytes, bytes / 2, bytes / 4, bytes / 8]) {
        let small = alike(ctx).memory_budget(budget).build()?;
        for round in ["first", "again"] {
            let found = solve::<f32>(&small, &cases).map_err(|e| format!("{budget} of {bytes} bytes, {round}: {e}"))?;
            assert_eq!(all(&found), all(&want), "{budget} of {bytes} bytes, {round}");
        }
        let pool = small.pool();
        assert!(pool.peak <= budget && pool.allocated <= pool.peak && pool.in_use <= pool.allocated, "{pool:?}");
        assert!(pool.peak > budget / 8, "it uses what it may: {pool:?}");
    }
    Ok(())
}

fn out_of_memory(ctx: &Context) -> Checked {
    // A matrix of order 60 takes 14,400 bytes, and its copy W takes as many, which exceeds the budget.
    let tiny = alike(ctx).memory_budget(8 << 10).build()?;
    let big = [lapack_types(60, 1)[12].clone()];
    for _ in 0..2 {
        let error = solve::<f32>(&tiny, &big).map(drop).expect_err("14,400 bytes in 8,192");
        assert!(error.is_out_of_memory() && error.is_device(), "{error}");
        assert!(matches!(*error.kind(), ErrorKind::OutOfMemory { wanted, allowed } if wanted > allowed), "{error}");
    }
    // Work also fails if other arrays leave too little memory for the last matrix of a batch. Afterwards, work that
    // fits succeeds.
    let small = alike(ctx).memory_budget(100 << 10).build()?;
    let mut batch = vec![lapack_types(3, 2)[12].clone(); 50];
    judge(&batch, &solve::<f32>(&small, &batch)?, |_| None)?;
    let held: Vec<Array> = (0..2)
        .map(|_| Array::from_vec(Shape::new(60, 60, 1), big[0].as_f32()).and_then(|a| a.to_device(&small)))
        .collect::<Result<_, _>>()?;
    batch.extend(big);
    let error = solve::<f32>(&small, &batch).map(drop).expect_err("too much is held");
    assert!(error.is_out_of_memory(), "{error}");
    drop(held);
    judge(&batch[..50], &solve::<f32>(&small, &batch[..50])?, |_| None)?;
    assert!(small.pool().peak <= 100 << 10, "{:?}", small.pool());
    Ok(())
}

/// The caller's arrays hold half of the memory budget. The device then refuses an allocation in the middle of a
/// recording, and the same work continues in smaller batches.
fn held_memory(ctx: &Context) -> Checked {
    let cases = cases(240);
    let want = all(&solve::<f32>(ctx, &cases)?);
    let bytes = 4 * ragged::<f32>(&cases).layout().len() as u64;
    for budget in [4 * bytes, 2 * bytes, bytes] {
        let small = alike(ctx).memory_budget(budget).build()?;
        // The arrays are 32 parts of the held memory, because each part has to be read back while all of them are
        // held.
        let part = usize::try_from(budget / 64 / 4)?;
        let hold = |i| Array::from_vec(Shape::new(part, 1, 1), vec![i as f32; part])?.to_device(&small);
        let held = (0..32).map(hold).collect::<Result<Vec<_>, _>>()?;
        let found = solve::<f32>(&small, &cases).map_err(|e| format!("half of {budget} bytes: {e}"))?;
        assert_eq!(all(&found), want, "half of {budget} bytes");
        for (i, held) in held.iter().enumerate() {
            assert!(held.to_host(&small)?.as_slice().iter().all(|&x| x == i as f32), "what is held stays what it was");
        }
        assert!(small.pool().peak <= budget, "{:?}", small.pool());
    }
    Ok(())
}

fn pool(ctx: &Context) -> Checked {
    let given = alike(ctx).memory_budget(64 << 20).build()?;
    assert_eq!([given.pool().budget, given.memory_budget()], [64 << 20; 2]);
    let ctx = alike(ctx).build()?;
    // The default on a device, about whose memory WebGPU says nothing.
    assert_eq!((ctx.pool().allocated, ctx.pool().in_use, ctx.pool().budget), (0, 0, 2 << 30));
    let cases = cases(30);
    solve::<f32>(&ctx, &cases)?;
    let first = ctx.pool();
    assert!(first.in_use == 0 && first.allocated > 0 && first.peak == first.allocated, "{first:?}");
    solve::<f32>(&ctx, &cases)?;
    let second = ctx.pool();
    // All buffers are reused: those of the table, the state, A, W, the eigenvalues and the certificates, and the
    // buffers for reading back.
    assert!(second.reused >= first.reused + 9, "{first:?}, then {second:?}");
    assert_eq!((second.allocated, second.in_use, second.peak), (first.allocated, 0, first.peak));

    let resident = eigh_ragged(&ctx, &ragged::<f32>(&cases))?;
    let elements = 4 * ragged::<f32>(&cases).layout().len() as u64;
    assert!(ctx.pool().in_use > elements, "the vectors stay: {:?}", ctx.pool());
    let copy = resident.clone();
    drop(resident);
    ctx.trim();
    assert!(ctx.pool().in_use > elements, "a copy is a handle");
    judge(&cases, &copy.to_host(&ctx)?, |_| None)?;
    drop(copy);
    let third = ctx.pool();
    assert!(third.in_use == 0 && third.allocated > 0, "{third:?}");
    ctx.trim();
    assert_eq!((ctx.pool().allocated, ctx.pool().in_use), (0, 0));
    assert!(ctx.pool().peak <= ctx.pool().budget);
    judge(&cases, &solve::<f32>(&ctx, &cases)?, |_| None)?;
    Ok(())
}

fn poison(ctx: &Context) -> Checked {
    let clean = alike(ctx).poison(false).build()?;
    let graphs = molecules(60, 5)?;
    let encoder = SpectralEncoder::new(5);
    for count in [1, 7, 60, 30] {
        assert_eq!(all(&solve(&clean, &cases(count))?), all(&solve(ctx, &cases(count))?), "{count} matrices");
    }
    let (a, b) = (encoder.encode(&clean, &graphs)?, encoder.encode(ctx, &graphs)?);
    assert_eq!((bits(&a.eigenvalues), bits(&a.eigenvectors)), (bits(&b.eigenvalues), bits(&b.eigenvectors)));
    Ok(())
}

fn threads(ctx: &Context) -> Checked {
    let works: Vec<Vec<Case>> = (0..4).map(|t| cases(20 + 7 * t)).collect();
    let want = works.iter().map(|cases| solve(ctx, cases).map(|f| all(&f))).collect::<Result<Vec<_>, _>>()?;
    std::thread::scope(|scope| {
        let handles: Vec<_> = works
            .iter()
            .zip(&want)
            .map(|(cases, want)| {
                scope.spawn(move || {
                    for round in 0..6 {
                        let found = solve::<f32>(ctx, cases).map_err(|e| e.to_string())?;
                        if all(&found) != *want {
                            return Err(format!("{} matrices, round {round}: other bits", cases.len()));
                        }
                        if round == 3 {
                            ctx.trim();
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        handles.into_iter().try_for_each(|handle| handle.join().map_err(|_| "a thread panicked".to_owned())?)
    })?;
    assert_eq!(ctx.pool().in_use, 0);
    Ok(())
}

fn reads(ctx: &Context) -> Checked {
    let numbers = |from: usize, count: usize| (from..from + count).map(|x| x as f32).collect::<Vec<_>>();
    let arrays: Vec<Array> = [1, 3, 100, 4096, 100_000, 2_500_000] // the last size exceeds one staging buffer
        .into_iter()
        .enumerate()
        .map(|(i, count)| Array::from_vec(Shape::new(count, 1, 1), numbers(i, count)).and_then(|a| a.to_device(ctx)))
        .collect::<Result<_, _>>()?;
    for (i, array) in arrays.iter().enumerate() {
        let blocking = array.to_host(ctx)?;
        assert_eq!(blocking.as_slice(), numbers(i, array.shape().len()));
        assert_eq!(pollster::block_on(array.to_host_async(ctx))?.as_slice(), blocking.as_slice());
    }
    // All reads are pending together, and the last read is polled first.
    let all = pollster::block_on(async {
        let mut begun: Vec<_> = arrays.iter().map(|a| Box::pin(a.to_host_async(ctx))).collect();
        std::future::poll_fn(|cx| {
            for read in begun.iter_mut().rev() {
                // Each read begins here. A read that is already ready must not be polled again below, so a new read
                // replaces it.
                if Future::poll(read.as_mut(), cx).is_ready() {
                    *read = Box::pin(arrays[0].to_host_async(ctx));
                }
            }
            std::task::Poll::Ready(())
        })
        .await;
        let mut out = Vec::new();
        for read in begun {
            out.push(read.await);
        }
        out
    });
    for read in all {
        let read = read?;
        let first = read.as_slice()[0];
        assert_eq!(read.as_slice(), numbers(first as usize, read.shape().len()));
    }
    // All reads begin before the first one is waited for. They are waited for in the order of their creation and in
    // reverse order.
    for backwards in [false, true] {
        let mut begun: Vec<_> = arrays.iter().map(|a| a.read(ctx)).enumerate().collect();
        if backwards {
            begun.reverse();
        }
        for (i, read) in begun {
            assert_eq!(read?.wait()?.as_slice(), numbers(i, arrays[i].shape().len()), "array {i}");
        }
    }
    // Reads on several threads.
    std::thread::scope(|scope| {
        for (i, array) in arrays.iter().enumerate() {
            scope.spawn(move || {
                let read = pollster::block_on(array.to_host_async(ctx)).expect("an async read");
                assert_eq!(read.as_slice()[array.shape().len() - 1], (i + array.shape().len() - 1) as f32);
            });
        }
    });
    // Reads that are dropped before they end, blocking and async, return their buffers for reuse.
    let cases = cases(12);
    for _ in 0..5 {
        drop(eigh_ragged(ctx, &ragged::<f32>(&cases))?.read(ctx)?);
        let mut read = Box::pin(arrays[4].to_host_async(ctx));
        pollster::block_on(std::future::poll_fn(|cx| {
            let _ = Future::poll(read.as_mut(), cx);
            std::task::Poll::Ready(())
        }));
        drop(read);
        judge(&cases, &solve::<f32>(ctx, &cases)?, |_| None)?;
    }
    let resident = eigh(ctx, &arrays_of(&cases[0]))?;
    let certificates = pollster::block_on(resident.certificates_async(ctx))?;
    assert_eq!(certificates, resident.certificates(ctx)?);
    drop(arrays);
    drop(resident);
    assert_eq!(ctx.pool().in_use, 0, "{:?}", ctx.pool());
    Ok(())
}

fn arrays_of(case: &Case) -> Array {
    Array::from_vec(Shape::new(case.n, case.n, 1), case.as_f32()).expect("n x n numbers")
}

fn timestamps(ctx: &Context) -> Checked {
    solve::<f32>(ctx, &cases(4))?;
    assert!(ctx.profile()?.is_none(), "no profile was requested");
    // A kernel form that solves a matrix in three dispatches (prepare, rotate, finish).
    let timed = alike(ctx).profile(true).kernels(&[KernelForm::Eigh(JacobiForm::Workgroup)]).build()?;
    let has = timed.adapter().is_some_and(|a| a.features.contains(&"timestamps"));
    judge(&cases(30), &solve::<f32>(&timed, &cases(30))?, |_| None)?;
    let by_name = || -> Result<_, Box<dyn std::error::Error>> {
        let profile = timed.profile()?.ok_or("a profile was asked for")?;
        assert_eq!(profile.clock == Clock::Timestamps, has, "{profile}");
        let mut times = profile.kernels;
        times.sort_by(|a, b| a.kernel.cmp(&b.kernel));
        Ok(times)
    };
    let times = by_name()?;
    let names: Vec<&str> = times.iter().map(|t| t.kernel.as_str()).collect();
    assert_eq!(names, ["Finish", "Prepare", "Workgroup"]);
    assert!(times.iter().all(|t| t.calls > 0 && t.seconds >= 0.0 && t.seconds.is_finite()), "{times:?}");
    // Each size class is prepared and finished in one dispatch each, and rotated in one or several.
    assert!(times[2].calls >= times[0].calls && times[0].calls == times[1].calls, "{times:?}");
    assert_eq!(by_name()?, [], "since the last call");
    // There are many submissions, and all of them are counted.
    for _ in 0..80 {
        solve::<f32>(&timed, &cases(1))?;
    }
    let times = by_name()?;
    assert_eq!((times[0].calls, times[1].calls), (80, 80), "{times:?}");
    Ok(())
}

fn trusted(ctx: &Context) -> Checked {
    // Without the compiler's checks on indices and loops, the results are the same.
    let cases = cases(60);
    for checked in [false, true] {
        let other = alike(ctx).checked(checked).build()?;
        let found = solve::<f32>(&other, &cases)?;
        judge(&cases, &found, |_| None)?;
        assert_eq!(all(&found), all(&solve(ctx, &cases)?), "checked: {checked}");
    }
    Ok(())
}

fn choice() -> Checked {
    let all = Adapter::all();
    let error = Context::builder().adapter("no such adapter").build().map(drop).expect_err("no such adapter");
    let ErrorKind::NoAdapter { wanted, found } = error.kind() else { return Err(error.into()) };
    assert!(wanted.contains("no such adapter"), "{error}");
    assert_eq!(found, &all.iter().map(|a| a.name.clone()).collect::<Vec<_>>());
    assert!(all.iter().all(|a| error.to_string().contains(&a.name)) && !error.is_device(), "{error}");
    // A software adapter is not used unless it is named: `Auto` falls back to the CPU, and a required GPU is an
    // error.
    let real = all.iter().find(|a| !a.software);
    let auto = Context::builder().build()?;
    assert_eq!(auto.adapter().map(|a| a.name.as_str()), real.map(|a| a.name.as_str()));
    let insisted = Context::builder().backend(Backend::Gpu).build();
    match real {
        Some(best) => assert_eq!(insisted?.adapter().map(|a| &a.name), Some(&best.name)),
        None => {
            let error = insisted.map(drop).expect_err("no GPU");
            assert!(matches!(error.kind(), ErrorKind::NoAdapter { .. }), "{error}");
            assert!(auto.without_adapter_because().is_some_and(|why| why.contains("no adapter")));
        }
    }
    // A context without an adapter says so.
    let cpu = Context::cpu();
    assert!(cpu.adapter().is_none() && cpu.without_adapter_because().is_some() && cpu.pool().budget == 0);
    assert!(cpu.profile()?.is_none());
    cpu.trim();
    cpu.destroy_device();
    let error = Array::from_vec(Shape::new(1, 1, 1), vec![1.0_f32])?.to_device(&cpu).map(drop).expect_err("no device");
    assert!(matches!(error.kind(), ErrorKind::NoAdapter { .. }), "{error}");
    // A part of a name or of a driver, in any case, is enough.
    for adapter in &all {
        let part = adapter.name[..5.min(adapter.name.len())].to_uppercase();
        assert!(Context::builder().adapter(part).build()?.adapter().is_some());
        // An adapter's index among the adapters of the same name identifies it, and so does its address.
        let exactly = Context::builder().adapter(format!("{}#{}", adapter.name, adapter.index)).build()?;
        assert_eq!(exactly.adapter().map(|a| (&a.name, a.index)), Some((&adapter.name, adapter.index)));
        if let Some(address) = &adapter.pci {
            let there = Context::builder().adapter(format!("pci:{address}")).build()?;
            assert_eq!(there.adapter().and_then(|a| a.pci.as_ref()), Some(address));
        }
        let beyond =
            Context::builder().adapter(format!("{}#99", adapter.name)).build().map(drop).expect_err("the hundredth");
        assert!(beyond.to_string().contains("more than 99 adapters"), "{beyond}");
    }
    let error = Context::builder().adapter("pci:ffff:ff:ff.f").build().map(drop).expect_err("no such address");
    assert!(error.to_string().contains("at the PCI address ffff:ff:ff.f"), "{error}");
    Ok(())
}

fn budgets() {
    for (text, want) in [
        ("123", Some(123)),
        (" 64K ", Some(64 << 10)),
        ("512M", Some(512 << 20)),
        ("2GiB", Some(2 << 30)),
        ("2 gb", Some(2 << 30)),
        ("0", None),
        ("", None),
        ("M", None),
        ("-1", None),
        ("1.5G", None),
        ("5T", None),
        ("99999999999G", None),
    ] {
        assert_eq!(bytes_from(text), want, "{text:?}");
    }
}
