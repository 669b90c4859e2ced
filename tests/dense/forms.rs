//! The forms of the device's eigendecomposition. Each form runs alone on every adapter that supports it. Its
//! results have to be within the promised bounds on difficult matrices, and independent of the other matrices in
//! the batch, whether those have converged, have other orders, are not finite, or are absent.

use common::families::{Case, banded_types, glued_wilkinson, lapack_types};
use common::graphs::{self, Kind};
use common::random::SplitMix64;
use common::solve::{Checked, alike, bits, judge, solve};
use common::{Test, on_gpus, suite};
use fiedler::array::Array;
use fiedler::forms::{JacobiForm, KernelForm};
use fiedler::ops::eigen::{HostEigh, choose_eigh, device_order_limit, eigh, eigvalsh};
use fiedler::ops::{Certificate, Status};
use fiedler::policy::{DeviceClass, Rates, Slower};
use fiedler::{Context, Shape};
use std::time::Duration;

/// A form, and orders on both sides of the limits of each of its size classes (ops/eigen/tiny.rs,
/// ops/jacobi/ring.rs).
type Form = (JacobiForm, &'static [usize]);
const TINY: Form = (JacobiForm::Tiny, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
const LANE: Form = (JacobiForm::Lane, &[0, 1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 31, 32]);
const REGISTER: Form = (JacobiForm::Register, &[0, 1, 2, 3, 5, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 79, 80]);
const LARGE: Form = (JacobiForm::Register, &[81, 96, 97, 100, 110, 112, 113, 127, 128]);
const WORKGROUP: Form = (JacobiForm::Workgroup, &[0, 1, 2, 3, 5, 8, 9, 16, 17, 32, 33]);

pub fn tests() -> Vec<Test> {
    suite(
        "forms",
        vec![
            on_gpus("tiny", |ctx| families(ctx, TINY)),
            on_gpus("lane", |ctx| families(ctx, LANE)),
            on_gpus("register", |ctx| families(ctx, REGISTER)),
            on_gpus("register, large", |ctx| few_families(ctx, LARGE)),
            on_gpus("workgroup", |ctx| families(ctx, WORKGROUP)),
            on_gpus("tiny, in mixed batches", |ctx| among_others(ctx, TINY)),
            on_gpus("lane, in mixed batches", |ctx| among_others(ctx, LANE)),
            on_gpus("register, in mixed batches", |ctx| {
                among_others(ctx, (JacobiForm::Register, &[0, 1, 2, 16, 17, 33, 64]))
            }),
            on_gpus("lane, subgroups of 16", wide_lanes),
            on_gpus("forms that lost a trial are not used", left_aside),
            on_gpus("a million of order 3 under 512 MiB", million),
        ],
    )
}

/// Returns a context that may use this form alone, and those of `orders` that the form takes on this adapter.
fn alone(ctx: &Context, (form, orders): Form) -> fiedler::Result<(Context, Vec<usize>)> {
    let ctx = alike(ctx).kernels(&[KernelForm::Eigh(form)]).build()?;
    let limit = device_order_limit(&ctx) as usize;
    let orders: Vec<usize> = orders.iter().copied().filter(|&n| n <= limit).collect();
    println!("{} takes orders to {limit}", form.name());
    Ok((ctx, orders))
}

fn families(ctx: &Context, form: Form) -> Checked {
    let (ctx, orders) = alone(ctx, form)?;
    let mut cases: Vec<Case> = Vec::new();
    for n in orders {
        cases.extend(lapack_types(n, 11));
        cases.extend(banded_types(n, 11));
        cases.extend([1e-30, 1e30].map(|factor| lapack_types(n, 12)[12].scaled(factor)));
        cases.extend(laplacians(n));
    }
    certified(&ctx, &cases)
}

/// Runs the families of matrices that take the most sweeps, or that have the closest eigenvalues.
fn few_families(ctx: &Context, form: Form) -> Checked {
    let (ctx, orders) = alone(ctx, form)?;
    let mut cases: Vec<Case> = Vec::new();
    for &n in &orders {
        let types = lapack_types(n, 13);
        cases.extend([7, 8, 9, 12, 15].map(|kind| types[kind].clone()));
        cases.extend(laplacians(n));
    }
    if orders.contains(&110) {
        cases.push(glued_wilkinson(5, 10, 1e-3));
    }
    certified(&ctx, &cases)
}

fn certified(ctx: &Context, cases: &[Case]) -> Checked {
    let found = solve::<f32>(ctx, cases)?;
    let worst = judge(cases, &found, |_| None)?;
    let sweeps = found.certificates.iter().map(|certificate| certificate.sweeps).max();
    println!("{} matrices, {sweeps:?} sweeps, {worst:?}", cases.len());
    Ok(())
}

/// Returns the Laplacians of a path, which needs the most sweeps, and of a star, whose eigenvalues are all equal
/// except for two.
fn laplacians(n: usize) -> Vec<Case> {
    let forms = if n > 2 { vec![graphs::path(n), graphs::cycle(n), graphs::star(n)] } else { Vec::new() };
    let case = |form: graphs::ClosedForm| {
        let a = graphs::laplacian(&form.graph, Kind::Combinatorial, 0.0);
        let a = a.into_iter().map(|x| f64::from(x as f32)).collect();
        Case { name: format!("Laplacian of {}", form.graph.name), n: form.graph.n, a }
    };
    forms.into_iter().map(case).collect()
}

/// Returns the eigenvalues, eigenvectors and certificate of matrix `i` as bits.
fn bits_of(found: &HostEigh<f32>, i: usize) -> (Vec<u32>, Vec<u32>, [u64; 4]) {
    let Certificate { status, sweeps, residual, orthogonality, .. } = found.certificates[i];
    (
        bits(&found.values[found.layout.rows(i)]),
        bits(&found.vectors[found.layout.elements(i)]),
        [status as u64, sweeps.into(), residual.to_bits(), orthogonality.to_bits()],
    )
}

fn among_others(ctx: &Context, form: Form) -> Checked {
    let (ctx, orders) = alone(ctx, form)?;
    // The batch has all orders in turn. Diagonal matrices, which need no rotation, are next to matrices that need
    // many sweeps.
    let clean: Vec<Case> = (0..150)
        .map(|i| lapack_types(orders[i % orders.len()], i as u64)[[12, 3, 7, 8, 1][i / 2 % 5]].clone())
        .collect();
    let whole = solve::<f32>(&ctx, &clean)?;
    judge(&clean, &whole, |_| None)?;

    // In some matrices, the first entry of the last row, which is in the lower triangle, is not finite.
    let bad = [0, 1, 40, 41, 42, 77, 149].map(|i| (i, [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][i % 3]));
    let mut spoiled = clean.clone();
    for (i, x) in bad {
        let n = spoiled[i].n;
        if n > 0 {
            spoiled[i].a[n - 1] = x;
        }
    }
    let found = solve::<f32>(&ctx, &spoiled)?;
    for (i, case) in clean.iter().enumerate() {
        if bad.iter().any(|&(k, _)| k == i) && case.n > 0 {
            let (w, v) = (&found.values[found.layout.rows(i)], &found.vectors[found.layout.elements(i)]);
            assert_eq!(found.certificates[i].status, Status::NonFinite, "matrix {i}");
            assert!(w.iter().all(|x| x.is_nan()) && v.iter().all(|&x| x == 0.0), "matrix {i}: {w:?}");
        } else {
            assert_eq!(
                bits_of(&found, i),
                bits_of(&whole, i),
                "matrix {i}, {} next to matrices that are not finite",
                case.name
            );
        }
    }

    // The matrices are solved in reverse order, alone, and in batches under a small memory budget.
    let backwards: Vec<Case> = clean.iter().rev().cloned().collect();
    let found = solve::<f32>(&ctx, &backwards)?;
    for i in 0..clean.len() {
        assert_eq!(bits_of(&found, clean.len() - 1 - i), bits_of(&whole, i), "matrix {i} backwards");
    }
    for i in (0..clean.len()).step_by(13) {
        assert_eq!(bits_of(&solve(&ctx, &clean[i..=i])?, 0), bits_of(&whole, i), "matrix {i} alone");
    }
    let small = alike(&ctx).kernels(&[KernelForm::Eigh(form.0)]).memory_budget(256 << 10).build()?;
    let found = solve::<f32>(&small, &clean)?;
    for i in 0..clean.len() {
        assert_eq!(bits_of(&found, i), bits_of(&whole, i), "matrix {i} in batches");
    }
    Ok(())
}

/// Runs the form for lanes on wider subgroups. lavapipe's subgroups are as wide as its vectors, and an environment
/// variable sets their width. Matrices of order 32 take 16 lanes. (With 32 lanes, which is wider than the vectors of
/// the CPU's instructions, lavapipe's reductions over a subgroup are wrong.)
fn wide_lanes(ctx: &Context) -> Checked {
    if ctx.adapter().is_some_and(|adapter| adapter.name.contains("llvmpipe")) {
        for test in ["forms::lane@llvmpipe", "forms::lane, in mixed batches@llvmpipe"] {
            let output = common::run_trial(test, &[("LP_NATIVE_VECTOR_WIDTH", "512")], Duration::from_secs(120))?;
            println!("{output}");
            assert!(output.contains("takes orders to 32"), "its vectors are not 512 bits wide");
        }
    }
    Ok(())
}

/// Solves a million matrices with the form that is chosen for the device. Every matrix has to be certified. Other
/// tests check that certificates are true.
fn million(ctx: &Context) -> Checked {
    const COUNT: usize = 1_000_000;
    let ctx = alike(ctx).memory_budget(512 << 20).build()?;
    let mut random = SplitMix64::new(3);
    let data: Vec<f32> = (0..9 * COUNT).map(|_| random.signed() as f32).collect();
    let a = Array::from_vec(Shape::new(3, 3, COUNT), data.clone())?;
    let found = eigh(&ctx, &a)?.ok(&ctx)?;
    let values = found.values.to_host(&ctx)?;
    // The trace equals the sum of the eigenvalues. The diagonal is read from the lower triangle, which alone
    // determines the eigenvalues.
    for (a, w) in data.chunks_exact(9).zip(values.as_slice().chunks_exact(3)) {
        let trace = a[0] + a[4] + a[8];
        assert!(w[0] <= w[1] && w[1] <= w[2] && (w[0] + w[1] + w[2] - trace).abs() < 1e-5, "{a:?}: {w:?}");
    }
    let alone = eigvalsh(&ctx, &a)?;
    assert_eq!(bits(alone.values.to_host(&ctx)?.as_slice()), bits(values.as_slice()));
    Ok(())
}

/// A form that a trial found to be slower is not used at the sizes of that trial, but is still used at other sizes.
/// If all forms lost their trials, one of them is used nevertheless.
fn left_aside(ctx: &Context) -> Checked {
    let form = |ctx: &Context, order: u32| choose_eigh::<f32>(ctx, &[order; 20], true).workload.algorithms[1];
    let without = |forms: &[&str]| {
        let one =
            |form: &&str| Slower { form: KernelForm::named("eigh", form).expect("a form of eigh"), sizes: [5.0, 20.0] };
        let mut rates = Rates::of(DeviceClass::Discrete, 0, 1);
        rates.gpu.slower = forms.iter().map(one).collect();
        alike(ctx).rates(rates).build()
    };
    let mut lost = Vec::new();
    loop {
        let ctx = without(&lost)?;
        let now = form(&ctx, 8);
        certified(&ctx, &lapack_types(8, 7))?;
        for order in [4, 21, 64] {
            if form(&ctx, order) != form(&without(&[])?, order) {
                return Err(format!("{lost:?}: order {order} is none of theirs").into());
            }
        }
        if lost.contains(&now) {
            break;
        }
        lost.push(now);
    }
    println!("{lost:?} of order 8");
    // At least three forms lost: those that use registers, workgroup memory and blocks.
    if lost.len() < 3 { Err(format!("only {lost:?}").into()) } else { Ok(()) }
}
