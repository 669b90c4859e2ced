//! All families of operations in one context. The results of each family have the same bits as in a separate context,
//! in any order of calls and on any number of threads. No family starts in a context that is cancelled.

use common::batches::all_bits;
use common::solve::{Checked, alike};
use common::{Test, on_each, suite};
use fiedler::array::Array;
use fiedler::encode::SpectralEncoder;
use fiedler::graph::generate::grid;
use fiedler::graph::{GraphBatch, molecules};
use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence, divergence_matrix};
use fiedler::ops::fft::Window;
use fiedler::ops::random::{Stream, normal, uniform};
use fiedler::ops::sparse::Operator;
use fiedler::ops::stats::{Nan, StatsOptions};
use fiedler::ops::svd::TruncatedOptions;
use fiedler::ops::{
    Degeneracy, EigshMethod, EigshOptions, Normalization, PcaOptions, Vectors, Which, corr, cov, describe, eigh,
    eigh_ragged, eigh_subset, eigh_vjp, eigsh, eigvalsh, histogram, irfft, laplacian, matmul, pca, power_spectrum,
    quantiles, rfft, spmm, svd, svd_truncated, svd_vjp, svdvals,
};
use fiedler::policy::{Choice, Reason, Side};
use fiedler::{Axis, Backend, Cancel, Context, ErrorKind, Result, Shape};
use std::time::Duration;

type Call = fn(&Context) -> Result<Vec<u32>>;

/// One call of each family that has kernels.
const CALLS: [(&str, Call); 15] = [
    ("eigh", |ctx| words(ctx, &eigh(ctx, &numbers(Shape::new(12, 12, 5))?)?.vectors)),
    ("svd", |ctx| words(ctx, &svd(ctx, &numbers(Shape::new(12, 12, 5))?, Vectors::Thin)?.u)),
    ("eigvalsh", |ctx| words(ctx, &eigvalsh(ctx, &numbers(Shape::new(20, 20, 3))?)?.values)),
    ("eigh_vjp", |ctx| {
        let (values, square) = (numbers(Shape::new(12, 1, 5))?, numbers(Shape::new(12, 12, 5))?);
        let bars = [Some(&values), Some(&square)];
        words(ctx, &eigh_vjp(ctx, [&values, &square], bars, Degeneracy::Exact)?.array)
    }),
    ("describe", |ctx| {
        words(
            ctx,
            &describe(ctx, &numbers(Shape::new(300, 4, 2))?, Some(Axis::Rows), StatsOptions::default())?.kurtosis,
        )
    }),
    ("cov", |ctx| words(ctx, &cov(ctx, &numbers(Shape::new(300, 7, 2))?)?)),
    ("quantiles", |ctx| {
        words(ctx, &quantiles(ctx, &numbers(Shape::new(300, 4, 2))?, Axis::Rows, &[0.1, 0.5], Nan::Propagate)?)
    }),
    ("histogram", |ctx| {
        Ok(histogram(ctx, &numbers(Shape::new(300, 4, 2))?, Axis::Rows, 9, Some((-3.0, 3.0)))?
            .counts
            .iter()
            .map(|&n| n as u32)
            .collect())
    }),
    ("matmul", |ctx| words(ctx, &matmul(ctx, &numbers(Shape::new(33, 20, 2))?, &numbers(Shape::new(20, 17, 2))?)?)),
    ("rfft", |ctx| {
        let found = rfft(ctx, &numbers(Shape::new(60, 5, 1))?, Axis::Rows)?.to_host(ctx)?;
        Ok(found.as_slice().iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]).collect())
    }),
    ("laplacian", |ctx| {
        let found = laplacian::<f32>(ctx, &molecules(20, 3)?, Normalization::Symmetric)?.to_host(ctx)?;
        Ok(found.iter().map(|x| x.to_bits()).collect())
    }),
    ("eigsh", |ctx| {
        let graph = grid(20, 31)?;
        let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
        let found = eigsh(ctx, &operator, 5, Which::Smallest, &EigshOptions::default())?;
        Ok(found.values.iter().map(|x| x.to_bits()).collect())
    }),
    ("spmm", |ctx| {
        let graphs = GraphBatch::from_graphs(&[grid(9, 9)?])?;
        let operator = Operator::<f32>::laplacian(graphs.graph(0), Normalization::Symmetric)?;
        words(ctx, &spmm(ctx, &operator, &numbers(Shape::new(8, 81, 1))?)?)
    }),
    ("normal", |ctx| {
        words(ctx, &normal::<f32>(ctx, &mut Stream::new(9, "together"), Shape::new(100, 2, 1), 0.0, 1.0)?)
    }),
    ("divergence", |ctx| {
        let histograms: Vec<f32> = (0..60).map(|i| (1 + i * 7 % 11) as f32).collect();
        let histograms = Array::from_vec(Shape::new(6, 10, 1), histograms)?;
        let options = DivergenceOptions { normalize: true, ..DivergenceOptions::default() };
        words(ctx, &divergence_matrix(ctx, Divergence::JensenShannon, &histograms, &options)?)
    }),
];

pub fn tests() -> Vec<Test> {
    suite(
        "together",
        vec![
            on_each("the same bits as in a separate context", together),
            on_each("the same bits on a context's own threads", threads),
            on_each("results say where they were computed", places),
            on_each("cancelled", cancelled),
            on_each("cancelled during the work", cancelled_on_the_way),
        ],
    )
}

fn together(ctx: &Context) -> Checked {
    let alone: Vec<Vec<u32>> = CALLS.iter().map(|(_, call)| call(&alike(ctx).build()?)).collect::<Result<_>>()?;
    let (forwards, backwards) = (alike(ctx).build()?, alike(ctx).build()?);
    for (i, (name, call)) in CALLS.iter().enumerate() {
        assert_eq!(call(&forwards)?, alone[i], "{name} after those before it");
    }
    for (i, (name, call)) in CALLS.iter().enumerate().rev() {
        assert_eq!(call(&backwards)?, alone[i], "{name} after those behind it");
    }
    Ok(())
}

/// Returns the choice that a result of each type carries, with the name of the operation.
fn chosen(ctx: &Context) -> Result<Vec<(&'static str, Option<Choice>)>> {
    let square = numbers(Shape::new(12, 12, 5))?;
    let samples = numbers(Shape::new(300, 4, 1))?;
    let graphs = molecules(3, 3)?;
    let normalization = Normalization::Combinatorial;
    let operator = Operator::<f32>::laplacian(graphs.graph(0), normalization)?;
    let laplacians = laplacian::<f32>(ctx, &graphs, normalization)?;
    let nodes = graphs.graph(0).nodes();
    let columns = numbers(Shape::new(8, nodes, 1))?;
    let pairs = eigh(ctx, &square)?;
    let triplets = svd(ctx, &square, Vectors::Thin)?;
    let options = DivergenceOptions { normalize: true, ..DivergenceOptions::default() };
    let positive = Array::from_vec(Shape::new(2, 3, 1), vec![1.0_f32, 2.0, 3.0, 1.0, 1.0, 1.0])?;
    let stats = StatsOptions::default();
    let transformed = rfft(ctx, &samples, Axis::Rows)?;
    Ok(vec![
        ("eigh", pairs.choice().copied()),
        ("eigh, vectors", pairs.vectors.choice().copied()),
        ("eigh, on the host", pairs.values.to_host(ctx)?.choice().copied()),
        ("eigh_subset", eigh_subset(ctx, &square, Which::Smallest, 2)?.choice().copied()),
        (
            "eigh_vjp",
            eigh_vjp(ctx, [&pairs.values, &pairs.vectors], [None, Some(&square)], Degeneracy::Exact)?.choice().copied(),
        ),
        (
            "svd_vjp",
            svd_vjp(ctx, [&triplets.u, &triplets.s, &triplets.vh], [Some(&square), None, None], Degeneracy::Exact)?
                .choice()
                .copied(),
        ),
        ("eigvalsh", eigvalsh(ctx, &square)?.choice().copied()),
        ("laplacian", laplacians.choice().copied()),
        ("eigh_ragged", Some(*eigh_ragged(ctx, &laplacians)?.choice())),
        ("svd", triplets.choice().copied()),
        ("svdvals", svdvals(ctx, &square)?.choice().copied()),
        ("pca", pca(ctx, &samples, 2, PcaOptions::default())?.choice().copied()),
        ("describe", describe(ctx, &samples, Some(Axis::Rows), stats)?.choice().copied()),
        ("cov", cov(ctx, &samples)?.choice().copied()),
        ("corr", corr(ctx, &samples)?.choice().copied()),
        ("quantiles", quantiles(ctx, &samples, Axis::Rows, &[0.5], Nan::Propagate)?.choice().copied()),
        ("histogram", histogram(ctx, &samples, Axis::Rows, 9, Some((-3.0, 3.0)))?.choice().copied()),
        ("matmul", matmul(ctx, &square, &square)?.choice().copied()),
        ("rfft", transformed.choice().copied()),
        ("irfft", irfft(ctx, &transformed, 300, Axis::Rows)?.choice().copied()),
        ("power_spectrum", power_spectrum(ctx, &samples, Window::Hann, Axis::Rows)?.choice().copied()),
        ("eigsh", Some(eigsh(ctx, &operator, 2, Which::Smallest, &EigshOptions::default())?.choice)),
        ("spmm", spmm(ctx, &operator, &columns)?.choice().copied()),
        (
            "normal",
            normal::<f32>(ctx, &mut Stream::new(9, "together"), Shape::new(100, 2, 1), 0.0, 1.0)?.choice().copied(),
        ),
        (
            "uniform",
            uniform::<f32>(ctx, &mut Stream::new(9, "together"), Shape::new(100, 2, 1), 0.0..1.0)?.choice().copied(),
        ),
        ("divergence", divergence(ctx, Divergence::KullbackLeibler, &positive, &positive, &options)?.choice().copied()),
        (
            "divergence_matrix",
            divergence_matrix(ctx, Divergence::JensenShannon, &positive, &options)?.choice().copied(),
        ),
    ])
}

fn places(ctx: &Context) -> Checked {
    let other = ctx.with_backend(Backend::Cpu);
    for (ctx, asked) in [(ctx, ctx.adapter().is_some()), (&other, false)] {
        let side = if asked { Side::Gpu } else { Side::Cpu };
        for (name, choice) in chosen(ctx)? {
            let choice = choice.unwrap_or_else(|| panic!("{name} does not say where it ran"));
            assert_eq!((choice.side, choice.reason), (side, Reason::Asked), "{name}: {choice}");
        }
        // This operation has no kernels yet.
        if !asked {
            let found = svd_truncated(ctx, &numbers(Shape::new(12, 12, 5))?, 2, TruncatedOptions::default())?;
            assert_eq!(found.choice().map(|choice| choice.side), Some(Side::Cpu));
        }
        // An array that was only passed through has no choice.
        let given = Array::from_vec(Shape::new(1, 2, 1), vec![1.0_f32, 2.0])?;
        let there = if asked { given.to_device(ctx)? } else { given };
        assert!(there.choice().is_none() && there.to_host(ctx)?.choice().is_none());
    }
    Ok(())
}

fn threads(ctx: &Context) -> Checked {
    for count in [1, 3] {
        let other = alike(ctx).threads(count).build()?;
        assert_eq!(other.threads(), count);
        for (name, call) in CALLS {
            assert_eq!(call(&other)?, call(ctx)?, "{name} on {count} threads");
        }
    }
    Ok(())
}

fn cancelled(ctx: &Context) -> Checked {
    let cancel = Cancel::new();
    let other = alike(ctx).cancel(cancel.clone()).build()?;
    let given = numbers(Shape::new(12, 12, 5))?;
    let given = if ctx.adapter().is_some() { given.to_device(&other)? } else { given };
    let graphs = molecules(20, 3)?;
    let encoder = SpectralEncoder::new(4);
    let before = encoder.encode(&other, &graphs)?;
    for round in 0..2 {
        cancel.cancel();
        for (name, call) in CALLS {
            let error = call(&other).map(drop).expect_err(name);
            assert!(error.is_cancelled() && matches!(error.kind(), ErrorKind::Cancelled), "{name}, {round}: {error}");
        }
        call_all(ctx).map_err(|error| format!("the switch of a context on the same device: {error}"))?;
        let error = encoder.encode(&other, &graphs).map(drop).expect_err("an encoding");
        assert!(error.is_cancelled(), "{error}");
        // A clone of the context is cancelled with it.
        assert!(eigh(&other.clone(), &given).map(drop).expect_err("an array that lies there").is_cancelled());
        cancel.reset();
        for (name, call) in CALLS {
            assert_eq!(call(&other)?, call(ctx)?, "{name} after {round} was cancelled");
        }
        assert_eq!(all_bits(&encoder.encode(&other, &graphs)?), all_bits(&before));
    }
    Ok(())
}

fn call_all(ctx: &Context) -> Result<()> {
    CALLS.iter().try_for_each(|(_, call)| call(ctx).map(drop))
}

/// A call whose results are not read back to the host.
type Work<'a> = Box<dyn Fn(&Context) -> Result<()> + 'a>;

/// The work takes seconds on any machine, and another thread cancels it shortly after its start. From then on nothing
/// is computed.
fn cancelled_on_the_way(ctx: &Context) -> Checked {
    let many = numbers(Shape::new(96, 96, 3000))?;
    let graph = grid(300, 300)?;
    let operator = Operator::<f64>::laplacian(graph.view(), Normalization::Combinatorial)?;
    let works: [(&str, Work<'_>); 4] = [
        ("eigh", Box::new(|ctx| eigh(ctx, &many)?.values.to_host(ctx).map(drop))),
        ("svd", Box::new(|ctx| svd(ctx, &many, Vectors::Thin)?.s.to_host(ctx).map(drop))),
        ("lanczos", Box::new(|ctx| iterated(ctx, &operator, EigshMethod::Lanczos))),
        ("chebyshev", Box::new(|ctx| iterated(ctx, &operator, EigshMethod::Chebyshev))),
    ];
    for (name, work) in works {
        let cancel = Cancel::new();
        let other = alike(ctx).cancel(cancel.clone()).build()?;
        let found = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                cancel.cancel();
            });
            // Large sparse matrices in f64 run on the CPU.
            let on_cpu = name == "lanczos" || name == "chebyshev";
            if on_cpu { work(&other.with_backend(Backend::Cpu)) } else { work(&other) }
        });
        assert!(found.expect_err(name).is_cancelled(), "{name}");
    }
    Ok(())
}

fn iterated(ctx: &Context, operator: &Operator<'_, f64>, method: EigshMethod) -> Result<()> {
    eigsh(ctx, operator, 24, Which::Smallest, &EigshOptions::default().method(method)).map(drop)
}

fn words(ctx: &Context, a: &Array<f32>) -> Result<Vec<u32>> {
    Ok(a.to_host(ctx)?.as_slice().iter().map(|x| x.to_bits()).collect())
}

/// Returns normally distributed numbers, which are the same on every machine.
fn numbers(shape: Shape) -> Result<Array<f32>> {
    normal(&Context::cpu(), &mut Stream::new(4, "together"), shape, 0.0, 1.0)
}
