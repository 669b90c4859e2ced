//! The async forms, which are all that a browser has: the same bits as the forms that block, nothing to wait for
//! afterwards, futures that other threads may poll, and reads that a cancelled or dropped call leaves behind.

use common::random::SplitMix64;
use common::solve::Checked;
use common::{Test, on_each, suite};
use fiedler::array::Array;
use fiedler::encode::Encoding;
use fiedler::graph::molecules;
use fiedler::ops::{Vectors, eigh_async, fft_async, matmul, matmul_async, svd_async};
use fiedler::{Axis, Cancel, Context, Result, Shape, SpectralEncoder, eigh, fft, svd};
use num_complex::Complex;

pub fn tests() -> Vec<Test> {
    suite(
        "futures",
        vec![
            on_each("dense operations have the bits of those that block", dense),
            on_each("encodings have the bits of those that block", encodings),
            on_each("a cancelled future ends, and the next one does not", cancelled),
            on_each("contexts open asynchronously", contexts),
        ],
    )
}

fn numbers(count: usize) -> Vec<f32> {
    let mut random = SplitMix64::new(24);
    (0..count).map(|_| random.unit() as f32 - 0.5).collect()
}

/// Compares the elements of two arrays bit by bit. The second one must be on the host, where nothing is waited for.
fn same(ctx: &Context, what: &str, blocking: &Array, awaited: &Array) -> Result<()> {
    assert!(!awaited.is_resident(), "{what}");
    assert_eq!(blocking.choice(), awaited.choice(), "{what}");
    let (a, b) = (blocking.to_host(ctx)?, awaited.to_host(ctx)?);
    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!((a.shape(), bits(a.as_slice())), (b.shape(), bits(b.as_slice())), "{what}");
    Ok(())
}

fn dense(ctx: &Context) -> Checked {
    let a = Array::from_vec(Shape::new(6, 6, 9), numbers(6 * 6 * 9))?;
    let (blocking, awaited) = (eigh(ctx, &a)?, pollster::block_on(eigh_async(ctx, &a))?);
    same(ctx, "eigenvalues", &blocking.values, &awaited.values)?;
    same(ctx, "eigenvectors", &blocking.vectors, &awaited.vectors)?;
    assert_eq!(blocking.certificates(ctx)?, awaited.certificates(ctx)?);

    let a = Array::from_vec(Shape::new(7, 5, 9), numbers(7 * 5 * 9))?;
    let (blocking, awaited) = (svd(ctx, &a, Vectors::Thin)?, pollster::block_on(svd_async(ctx, &a, Vectors::Thin))?);
    same(ctx, "singular values", &blocking.s, &awaited.s)?;
    same(ctx, "left vectors", &blocking.u, &awaited.u)?;
    same(ctx, "right vectors", &blocking.vh, &awaited.vh)?;
    assert_eq!(blocking.certificates(ctx)?, awaited.certificates(ctx)?);

    let b = Array::from_vec(Shape::new(5, 3, 9), numbers(5 * 3 * 9))?;
    same(ctx, "products", &matmul(ctx, &a, &b)?, &pollster::block_on(matmul_async(ctx, &a, &b))?)?;

    let signal = numbers(2 * 48 * 5).chunks_exact(2).map(|x| Complex::new(x[0], x[1])).collect();
    let signal = Array::from_vec(Shape::new(48, 5, 1), signal)?;
    let awaited = pollster::block_on(fft_async(ctx, &signal, Axis::Rows))?;
    assert!(!awaited.is_resident());
    assert_eq!(fft(ctx, &signal, Axis::Rows)?.to_host(ctx)?.as_slice(), awaited.to_host(ctx)?.as_slice());

    // A call that refuses its arguments does so when it is awaited.
    let a = Array::from_vec(Shape::new(2, 3, 1), numbers(6))?;
    let refused = pollster::block_on(eigh_async(ctx, &a)).expect_err("a matrix that is not square");
    assert_eq!(refused.to_string(), eigh(ctx, &a).expect_err("a matrix that is not square").to_string());
    Ok(())
}

fn encodings(ctx: &Context) -> Checked {
    let graphs = molecules(60, 3)?;
    let encoder = SpectralEncoder::new(6).walk_steps(2);
    let (blocking, report) = encoder.encode_with(ctx, &graphs, |_| ())?;
    // The future is polled on a different thread from the one that created it.
    let mut told = Vec::new();
    let future = encoder.encode_async(ctx, &graphs, |progress| told.push((progress.done, progress.total)));
    let (awaited, again) =
        std::thread::scope(|scope| scope.spawn(|| pollster::block_on(future)).join()).expect("no panic")?;
    assert_eq!((report.on_cpu, report.on_gpu, report.choice), (again.on_cpu, again.on_gpu, again.choice));
    assert_eq!(told.last(), Some(&(60, 60)));
    let bits = |e: &Encoding| {
        let floats = [&e.eigenvalues, &e.eigenvectors, &e.residual, &e.orthogonality, &e.random_walk];
        let bits: Vec<u32> = floats.iter().flat_map(|all| all.iter().map(|x| x.to_bits())).collect();
        (bits, e.status.clone(), e.tie_group.clone(), e.mask.clone())
    };
    assert!(bits(&blocking) == bits(&awaited));
    Ok(())
}

fn cancelled(ctx: &Context) -> Checked {
    let cancel = Cancel::new();
    let own = Context::builder().device_of(ctx).backend(ctx.policy().backend).cancel(cancel.clone()).build()?;
    let graphs = molecules(60, 3)?;
    let encoder = SpectralEncoder::new(4);
    cancel.cancel();
    let error = pollster::block_on(encoder.encode_async(&own, &graphs, |_| ())).expect_err("a cancelled call");
    assert!(error.is_cancelled(), "{error}");
    cancel.reset();
    // A future that is dropped midway leaves the context as it was.
    let mut dropped = Box::pin(encoder.encode_async(&own, &graphs, |_| ()));
    let mut waker = std::task::Context::from_waker(std::task::Waker::noop());
    let _ = dropped.as_mut().poll(&mut waker);
    drop(dropped);
    let (found, _) = pollster::block_on(encoder.encode_async(&own, &graphs, |_| ()))?;
    assert_eq!(found.uncertified(), 0);
    assert_eq!(found.eigenvectors, encoder.encode(ctx, &graphs)?.eigenvectors);
    Ok(())
}

fn contexts(ctx: &Context) -> Checked {
    let Some(adapter) = ctx.adapter() else {
        let alone = pollster::block_on(Context::builder().device(false).build_async())?;
        assert!(alone.adapter().is_none());
        return Ok(());
    };
    let name = format!("{}#{}", adapter.name, adapter.index);
    let opened = pollster::block_on(Context::builder().adapter(name.as_str()).build_async())?;
    assert_eq!(opened.adapter().map(|found| &found.name), Some(&adapter.name));
    let all = pollster::block_on(fiedler::Adapter::all_async());
    assert!(all.iter().any(|found| found.name == adapter.name && found.index == adapter.index));
    let missing = pollster::block_on(Context::builder().adapter("no such adapter").build_async());
    assert!(matches!(missing.expect_err("no such adapter").kind(), fiedler::ErrorKind::NoAdapter { .. }));
    Ok(())
}
