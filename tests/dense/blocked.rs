//! The device's kernels for matrices beyond workgroup memory: blocked Jacobi, and the tiled steps before and after
//! it. The tests run each kernel on orders around the size of a block, of a pair of blocks, of a tile and of a size
//! class. They check that results are bit-equal whatever other matrices are in the batch and however the batch is
//! cut, also under a memory budget, and that a part of the eigenpairs can be selected on the device.

use common::families::{Case, banded_types, glued_wilkinson, lapack_type, lapack_types};
use common::graphs::{self, Kind};
use common::random::SplitMix64;
use common::solve::{Checked, alike, bits, judge, ragged, solve};
use common::{Test, on_gpus, sample, suite};
use fiedler::array::Array;
use fiedler::forms::{JacobiForm, KernelForm};
use fiedler::ops::Status;
use fiedler::ops::eigen::{HostEigh, Which, device_order_limit, eigh, eigh_ragged, eigh_subset, eigvalsh};
use fiedler::{Context, Shape};

pub fn tests() -> Vec<Test> {
    suite(
        "blocked",
        vec![
            on_gpus("orders within a few blocks", few_blocks),
            on_gpus("orders beyond workgroup memory", large),
            on_gpus("orders 385 and 1000", larger),
            on_gpus("scales", scales),
            on_gpus("bit-equal in mixed batches and when cut", cuts),
            on_gpus("input that is not finite, and input that is not read", spoiled),
            on_gpus("some pairs, and values alone", parts),
            on_gpus("ten of the largest order under 512 MiB", ten),
        ],
    )
}

/// Returns a context that may use the blocked form alone, which takes every order.
fn blocked(ctx: &Context) -> fiedler::Result<Context> {
    let ctx = alike(ctx).kernels(&[KernelForm::Eigh(JacobiForm::Blocked)]).build()?;
    assert_eq!(device_order_limit(&ctx), 2048);
    Ok(ctx)
}

/// Returns one of LAPACK's types alone, because it takes a while to make all types of a large order.
fn one(kind: u32, n: usize, seed: u64) -> Case {
    Case {
        name: format!("LAPACK type {kind}, n = {n}, seed {seed}"),
        n,
        a: lapack_type(kind, n, &mut SplitMix64::new(seed)),
    }
}

fn laplacian(form: graphs::ClosedForm) -> Case {
    let a = graphs::laplacian(&form.graph, Kind::Combinatorial, 0.0).into_iter().map(|x| f64::from(x as f32)).collect();
    Case { name: format!("Laplacian of {}", form.graph.name), n: form.graph.n, a }
}

fn certified(ctx: &Context, cases: Vec<Case>) -> Checked {
    let found = solve::<f32>(ctx, &cases)?;
    let worst = judge(&cases, &found, |_| None)?;
    let sweeps = found.certificates.iter().map(|certificate| certificate.sweeps).max();
    println!("{} matrices, {sweeps:?} sweeps, {worst:?}", cases.len());
    Ok(())
}

/// Orders around a block of 16 columns, a pair of blocks, and a tile of 64 rows. They include a single block,
/// padding with columns of zeros, and odd numbers of blocks.
fn few_blocks(ctx: &Context) -> Checked {
    let mut cases = Vec::new();
    for n in [1, 2, 17, 33] {
        cases.extend(lapack_types(n, 31));
        cases.extend(banded_types(n, 31));
    }
    for n in [0, 5, 15, 16, 31, 32, 48, 49, 63, 64, 65, 96, 100] {
        cases.extend([9, 13].map(|kind| one(kind, n, 31)));
    }
    certified(&blocked(ctx)?, sample(ctx, cases))
}

/// Orders around the size classes of 128 and 256 columns. The matrices are Laplacians of graphs that have one
/// multiple eigenvalue or need the most sweeps, and matrices whose eigenvalues are spread out, are close together,
/// or are 1 and -1.
fn large(ctx: &Context) -> Checked {
    let mut cases = vec![glued_wilkinson(5, 10, 1e-3), laplacian(graphs::hypercube(7))];
    for (n, kinds) in [(110, [8, 13]), (127, [4, 10]), (128, [15, 21]), (129, [11, 17])] {
        cases.extend(kinds.map(|kind| one(kind, n, 32)));
        cases.push(laplacian(graphs::path(n)));
    }
    cases.extend([graphs::star(256), graphs::complete(200), graphs::path(257)].map(laplacian));
    cases.extend([(8, 200), (13, 256), (9, 257)].map(|(kind, n)| one(kind, n, 32)));
    certified(&blocked(ctx)?, sample(ctx, cases))
}

/// Runs order 385 on adapters that are no slower than Mesa's software adapter. Runs order 1000 on GPUs, and
/// elsewhere only if `FIEDLER_LARGE` is set, because it takes Mesa's software adapter a minute.
fn larger(ctx: &Context) -> Checked {
    let adapter = ctx.adapter().expect("an adapter");
    if adapter.name.contains("SwiftShader") {
        return Ok(());
    }
    let mut cases = vec![one(13, 385, 33)];
    if !adapter.software || std::env::var_os("FIEDLER_LARGE").is_some() {
        cases.extend([one(9, 1000, 33), laplacian(graphs::path(1000))]);
    }
    certified(ctx, cases)
}

fn scales(ctx: &Context) -> Checked {
    let types = lapack_types(110, 34);
    let cases: Vec<Case> = [1e-30, 1e-6, 1e6, 1e30]
        .into_iter()
        .zip([2, 7, 12, 20])
        .flat_map(|(factor, kind)| [types[kind].scaled(factor), laplacian(graphs::star(65)).scaled(factor)])
        .collect();
    certified(&blocked(ctx)?, sample(ctx, cases))
}

/// Returns the eigenvalues, eigenvectors and certificate of one matrix as bits.
fn of(found: &HostEigh<f32>, i: usize) -> (Vec<u32>, Vec<u32>, String) {
    let layout = &found.layout;
    let (w, v) = (&found.values[layout.rows(i)], &found.vectors[layout.elements(i)]);
    (bits(w), bits(v), format!("{:?}", found.certificates[i]))
}

/// One call has matrices of several size classes, some of which converge immediately. Each matrix has the same
/// result as alone, also under a memory budget that cuts the batch.
fn cuts(ctx: &Context) -> Checked {
    let cases: Vec<Case> =
        [130, 17, 65, 0, 130].into_iter().enumerate().map(|(i, n)| one([13, 2, 8, 10][i % 4], n, i as u64)).collect();
    let forced = alike(ctx).kernels(&[KernelForm::Eigh(JacobiForm::Blocked)]);
    for ctx in sample(ctx, [forced, alike(ctx)]) {
        let whole = solve::<f32>(&ctx.clone().build()?, &cases)?;
        judge(&cases, &whole, |_| None)?;
        for i in [0, 1] {
            let alone = solve::<f32>(&ctx.clone().build()?, &cases[i..=i])?;
            assert_eq!(of(&alone, 0), of(&whole, i), "{} alone", cases[i].name);
        }
        let budget = 2 << 20;
        let small = ctx.memory_budget(budget).build()?;
        let cut = solve::<f32>(&small, &cases)?;
        for (i, case) in cases.iter().enumerate() {
            assert_eq!(of(&cut, i), of(&whole, i), "{} under a budget", case.name);
        }
        assert!(small.pool().peak <= budget, "{:?}", small.pool());
    }
    Ok(())
}

/// A NaN spoils only its own matrix. A NaN above the diagonal spoils no matrix, because only the lower triangle is
/// read.
fn spoiled(ctx: &Context) -> Checked {
    let ctx = &blocked(ctx)?;
    let n = 70;
    let clean: Vec<f32> = (0..3).flat_map(|seed| one(13, n, seed).as_f32()).collect();
    let array = |data: Vec<f32>| Array::from_vec(Shape::new(n, n, 3), data);
    let want = eigh(ctx, &array(clean.clone())?)?;
    let mut bad = clean;
    for matrix in bad.chunks_exact_mut(n * n) {
        (1..n).for_each(|j| matrix[n * j] = f32::NAN);
    }
    bad[n * n + 69] = f32::NEG_INFINITY;
    let found = eigh(ctx, &array(bad)?)?;
    let status: Vec<Status> = found.certificates(ctx)?.iter().map(|certificate| certificate.status).collect();
    assert_eq!(status, [Status::Converged, Status::NonFinite, Status::Converged]);
    for (found, want, own, nothing) in [
        (found.values.to_host(ctx)?, want.values.to_host(ctx)?, n, f32::NAN),
        (found.vectors.to_host(ctx)?, want.vectors.to_host(ctx)?, n * n, 0.0),
    ] {
        let part = |x: &[f32], i: usize| bits(&x[own * i..own * (i + 1)]);
        assert_eq!(part(found.as_slice(), 0), part(want.as_slice(), 0));
        assert_eq!(part(found.as_slice(), 2), part(want.as_slice(), 2));
        let middle = &found.as_slice()[own..2 * own];
        assert!(middle.iter().all(|x| if nothing.is_nan() { x.is_nan() } else { x.to_bits() == 0 }));
    }
    Ok(())
}

/// The eigenvalues alone, and the first or last eigenpairs, equal those of the whole decomposition, whether they
/// are computed in one piece on the device or in batches.
fn parts(ctx: &Context) -> Checked {
    for (n, batch, small) in [(7, 400, 192 << 10), (33, 30, 256 << 10), (110, 4, 512 << 10)] {
        let data: Vec<f32> = (0..batch).flat_map(|seed| one(13, n, seed).as_f32()).collect();
        let a = Array::from_vec(Shape::new(n, n, batch as usize), data)?;
        for bytes in [1 << 30, small] {
            let ctx = &alike(ctx).memory_budget(bytes).build()?;
            let whole = eigh(ctx, &a)?;
            let (w, v) = (whole.values.to_host(ctx)?, whole.vectors.to_host(ctx)?);
            let alone = eigvalsh(ctx, &a)?;
            assert!(whole.vectors.is_resident() == (bytes != small), "n = {n} under {bytes} bytes");
            assert_eq!(bits(alone.values.to_host(ctx)?.as_slice()), bits(w.as_slice()), "n = {n}");
            assert_eq!(alone.certificates(ctx)?, whole.certificates(ctx)?, "n = {n}");
            for (which, k) in [(Which::Smallest, 3), (Which::Largest, 2), (Which::Largest, n), (Which::Smallest, 0)] {
                let begin = if which == Which::Largest { n - k } else { 0 };
                let found = eigh_subset(ctx, &a, which, k)?;
                assert_eq!(found.vectors.shape(), Shape::new(n, k, batch as usize));
                let cut = |x: &[f32], own: usize, unit: usize| -> Vec<u32> {
                    x.chunks_exact(own).flat_map(|x| bits(&x[unit * begin..unit * (begin + k)])).collect()
                };
                let (some_w, some_v) = (found.values.to_host(ctx)?, found.vectors.to_host(ctx)?);
                assert_eq!(bits(some_w.as_slice()), cut(w.as_slice(), n, 1), "n = {n}, {which:?} {k}");
                assert_eq!(bits(some_v.as_slice()), cut(v.as_slice(), n * n, n), "n = {n}, {which:?} {k}");
                assert_eq!(found.certificates(ctx)?, whole.certificates(ctx)?, "n = {n}, {which:?} {k}");
            }
        }
    }
    Ok(())
}

/// This test runs on GPUs only, because a software adapter takes too long.
fn ten(ctx: &Context) -> Checked {
    if ctx.adapter().is_some_and(|adapter| adapter.software) {
        return Ok(());
    }
    let (n, budget) = (2048, 512 << 20);
    let ctx = alike(ctx).memory_budget(budget).poison(false).build()?;
    let cases: Vec<Case> = (0..10).map(|seed| one(13, n, seed)).collect();
    let found = eigh_ragged(&ctx, &ragged::<f32>(&cases))?.to_host(&ctx)?;
    assert!(found.certificates.iter().all(|certificate| certificate.status == Status::Converged));
    assert!(ctx.pool().peak <= budget, "{:?}", ctx.pool());
    Ok(())
}
