//! All families in one context: each has the bits that it has in a context of its own, in whatever order they are called.

mod common;

use common::on_each;
use common::solve::{Checked, alike};
use fiedler::array::Array;
use fiedler::graph::generate::grid;
use fiedler::graph::{GraphBatch, molecules};
use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence_matrix};
use fiedler::ops::random::{Stream, normal};
use fiedler::ops::sparse::Operator;
use fiedler::ops::stats::{Nan, StatsOptions};
use fiedler::ops::{
    EigshOptions, Normalization, Vectors, Which, cov, describe, eigh, eigsh, eigvalsh, histogram, laplacian, matmul,
    quantiles, rfft, spmm, svd,
};
use fiedler::{Axis, Context, Result, Shape};

type Call = fn(&Context) -> Result<Vec<u32>>;

/// One call of each family that has kernels.
const CALLS: [(&str, Call); 14] = [
    ("eigh", |ctx| words(ctx, &eigh(ctx, &numbers(Shape::new(12, 12, 5))?)?.vectors)),
    ("svd", |ctx| words(ctx, &svd(ctx, &numbers(Shape::new(12, 12, 5))?, Vectors::Thin)?.u)),
    ("eigvalsh", |ctx| words(ctx, &eigvalsh(ctx, &numbers(Shape::new(20, 20, 3))?)?.values)),
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

fn main() -> std::process::ExitCode {
    common::run(&[on_each("the bits of a context of its own", together)])
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

fn words(ctx: &Context, a: &Array<f32>) -> Result<Vec<u32>> {
    Ok(a.to_host(ctx)?.as_slice().iter().map(|x| x.to_bits()).collect())
}

/// Normal numbers, the same everywhere.
fn numbers(shape: Shape) -> Result<Array<f32>> {
    normal(&Context::cpu(), &mut Stream::new(4, "together"), shape, 0.0, 1.0)
}
