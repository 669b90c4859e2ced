//! A workload's calls: with its data where they compute, from host to host, and the comparison with what is right.

use super::case::Case;
use fiedler::Context;
use fiedler::Result;
use fiedler::array::{Array, HostArray, Real, Scalar};
use fiedler::encode::SpectralEncoder;
use fiedler::graph::generate::{cycle, grid, path, preferential_attachment, uniform};
use fiedler::graph::{Graph, GraphBatch};
use fiedler::ops::all_converged;
use fiedler::ops::sparse::{OnDevice, Operator};
use fiedler::ops::stats::StatsOptions;
use fiedler::ops::{
    Certificate, EigshOptions, Normalization, Vectors, Which, cov, describe, eigh, eigsh, eigvalsh, fft, laplacian,
    matmul, random, rfft, spmm, svd,
};
use fiedler::policy::{Family, Side, Workload};
use fiedler::{Axis, Shape};
use num_complex::Complex;

/// Something that can be called again and again.
pub(super) type Call<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// The calls of one workload.
pub(super) struct Calls<'a> {
    /// With its data where it is computed; waits until it is done. None where the library has no such call.
    pub(super) resident: Option<Call<'a>>,
    /// From host to host.
    pub(super) transfers: Call<'a>,
    /// The largest error as a share of what is promised: above 1 the result is wrong.
    pub(super) check: Box<dyn FnMut() -> Result<f64> + 'a>,
}

/// The seed of everything here.
const SEED: u64 = 6;
/// Numbers that a result is compared on: whole items of them.
const COMPARED: usize = 1 << 16;
/// Single precision's distance between 1 and the next number.
const EPS: f64 = f32::EPSILON as f64;

/// Makes a workload's input and hands its calls on `ctx` to `use_them`.
pub(super) fn with_calls<R>(case: &Case, ctx: &Context, use_them: impl FnOnce(Calls<'_>) -> Result<R>) -> Result<R> {
    let there = |a: &Array<f32>| if on_device(ctx) { a.to_device(ctx) } else { Ok(a.clone()) };
    match case.family {
        Family::Eigh => {
            let host = numbers(case.shape())?;
            let device = there(&host)?;
            use_them(Calls {
                resident: Some(Box::new(|| eigh(ctx, &device).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| {
                    let found = eigh(ctx, &host)?;
                    found.vectors.to_host(ctx)?;
                    found.values.to_host(ctx).map(drop)
                }),
                check: Box::new(|| worst(&eigh(ctx, &host)?.certificates(ctx)?, 10.0 * case.size as f64 * EPS)),
            })
        }
        Family::Eigvalsh => {
            let host = numbers(case.shape())?;
            let device = there(&host)?;
            use_them(Calls {
                resident: Some(Box::new(|| eigvalsh(ctx, &device).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| eigvalsh(ctx, &host)?.values.to_host(ctx).map(drop)),
                check: Box::new(|| worst(&eigvalsh(ctx, &host)?.certificates(ctx)?, 10.0 * case.size as f64 * EPS)),
            })
        }
        Family::Svd => {
            let host = numbers(case.shape())?;
            let device = there(&host)?;
            use_them(Calls {
                resident: Some(Box::new(|| svd(ctx, &device, Vectors::Thin).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| {
                    let found = svd(ctx, &host, Vectors::Thin)?;
                    found.u.to_host(ctx)?;
                    found.vh.to_host(ctx)?;
                    found.s.to_host(ctx).map(drop)
                }),
                check: Box::new(|| {
                    worst(&svd(ctx, &host, Vectors::Thin)?.certificates(ctx)?, 15.0 * case.size as f64 * EPS)
                }),
            })
        }
        Family::Fft => {
            let host = complex(case.shape())?;
            let device = if on_device(ctx) { host.to_device(ctx)? } else { host.clone() };
            use_them(Calls {
                resident: Some(Box::new(|| fft(ctx, &device, Axis::Rows).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| fft(ctx, &host, Axis::Rows)?.to_host(ctx).map(drop)),
                check: Box::new(|| {
                    let few = few(case, case.size);
                    let truth = wide(&host, few, Complex::<f64>::from_narrow)?;
                    let truth = fft(&Context::cpu(), &truth, Axis::Rows)?.to_host(&Context::cpu())?;
                    let found = fft(ctx, &host, Axis::Rows)?.to_host(ctx)?;
                    Ok(spectra(&found, &truth, case.size))
                }),
            })
        }
        Family::Rfft => {
            let host = numbers(case.shape())?;
            let device = there(&host)?;
            use_them(Calls {
                resident: Some(Box::new(|| rfft(ctx, &device, Axis::Rows).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| rfft(ctx, &host, Axis::Rows)?.to_host(ctx).map(drop)),
                check: Box::new(|| {
                    let truth = wide(&host, few(case, case.size), |x: f32| f64::from(x))?;
                    let truth = rfft(&Context::cpu(), &truth, Axis::Rows)?.to_host(&Context::cpu())?;
                    Ok(spectra(&rfft(ctx, &host, Axis::Rows)?.to_host(ctx)?, &truth, case.size))
                }),
            })
        }
        Family::Matmul => {
            let (a, b) = (numbers(case.shape())?, numbers(case.shape())?);
            let (on_a, on_b) = (there(&a)?, there(&b)?);
            use_them(Calls {
                resident: Some(Box::new(|| matmul(ctx, &on_a, &on_b).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| matmul(ctx, &a, &b)?.to_host(ctx).map(drop)),
                check: Box::new(|| {
                    let few = few(case, case.size * case.size);
                    let product = |widen: fn(f32) -> f64| {
                        let [a, b] = [&a, &b].map(|x| wide(x, few, widen));
                        matmul(&Context::cpu(), &a?, &b?)?.to_host(&Context::cpu())
                    };
                    // |A||B| of every place.
                    let (truth, size) = (product(f64::from)?, product(|x| f64::from(x.abs()))?);
                    let found = matmul(ctx, &a, &b)?.to_host(ctx)?;
                    let each = found.as_slice().iter().zip(truth.as_slice()).zip(size.as_slice());
                    let shares = each.map(|((&f, t), size)| (f64::from(f) - t).abs() / size.max(f64::MIN_POSITIVE));
                    let worst = shares.fold(0.0, |worst, e| if e.is_nan() { f64::INFINITY } else { e.max(worst) });
                    Ok(worst / (4.0 * EPS * (case.size as f64).sqrt()))
                }),
            })
        }
        Family::Cov => {
            let host = numbers(case.shape())?;
            let device = there(&host)?;
            use_them(Calls {
                resident: Some(Box::new(|| cov(ctx, &device).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| cov(ctx, &host)?.to_host(ctx).map(drop)),
                check: Box::new(|| {
                    let truth = cov(&Context::cpu(), &wide(&host, usize::MAX, |x: f32| f64::from(x))?)?;
                    let truth = truth.to_host(&Context::cpu())?;
                    // A uniform number's variance is 1/3; 1e-5 of it is what covariances are held to.
                    Ok(apart(cov(ctx, &host)?.to_host(ctx)?.as_slice(), truth.as_slice()) / (1e-5 / 3.0))
                }),
            })
        }
        Family::Describe | Family::Other => {
            let host = numbers(case.shape())?;
            let device = there(&host)?;
            let (rows, options) = (Some(Axis::Rows), StatsOptions::default());
            use_them(Calls {
                resident: Some(Box::new(move || describe(ctx, &device, rows, options).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| describe(ctx, &host, rows, options)?.mean.to_host(ctx).map(drop)),
                check: Box::new(|| {
                    let truth =
                        describe(&Context::cpu(), &wide(&host, usize::MAX, |x: f32| f64::from(x))?, rows, options)?;
                    let found = describe(ctx, &host, rows, options)?;
                    let of = |found: &Array<f32>, truth: &Array<f64>| {
                        let (found, truth) = (found.to_host(ctx)?, truth.to_host(&Context::cpu())?);
                        Ok::<_, fiedler::Error>(apart(found.as_slice(), truth.as_slice()) / 1e-5)
                    };
                    Ok(of(&found.mean, &truth.mean)?.max(of(&found.variance, &truth.variance)?))
                }),
            })
        }
        Family::Laplacian => {
            let graphs = GraphBatch::from_graphs(&vec![ring(case.size)?; case.items])?;
            let norm = Normalization::Symmetric;
            use_them(Calls {
                resident: Some(Box::new(|| laplacian::<f32>(ctx, &graphs, norm).and_then(|_| ctx.wait()))),
                transfers: Box::new(|| laplacian::<f32>(ctx, &graphs, norm)?.to_host(ctx).map(drop)),
                check: Box::new(|| {
                    let truth = laplacian::<f64>(&Context::cpu(), &graphs, norm)?.to_host(&Context::cpu())?;
                    Ok(apart(&laplacian::<f32>(ctx, &graphs, norm)?.to_host(ctx)?, &truth) / (4.0 * EPS))
                }),
            })
        }
        Family::Spmm => {
            let graph = uniform(case.size, case.items, SEED)?;
            let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Symmetric)?;
            let x = numbers(case.shape())?;
            let on_x = there(&x)?;
            let held = if on_device(ctx) { Some(OnDevice::new(ctx, &operator)?) } else { None };
            use_them(Calls {
                resident: Some(Box::new(|| match &held {
                    Some(held) => held.spmm(ctx, &on_x).and_then(|_| ctx.wait()),
                    None => spmm(ctx, &operator, &x).map(drop),
                })),
                transfers: Box::new(|| spmm(ctx, &operator, &x)?.to_host(ctx).map(drop)),
                check: Box::new(|| {
                    let exact = Operator::<f64>::laplacian(graph.view(), Normalization::Symmetric)?;
                    let truth = spmm(&Context::cpu(), &exact, &wide(&x, usize::MAX, |x: f32| f64::from(x))?)?;
                    let truth = truth.to_host(&Context::cpu())?;
                    // Sums of tens of terms up to 1.
                    Ok(apart(spmm(ctx, &operator, &x)?.to_host(ctx)?.as_slice(), truth.as_slice()) / (64.0 * EPS))
                }),
            })
        }
        Family::Encode => {
            let graphs = GraphBatch::from_graphs(&vec![tree_and_more(case.size)?; case.items])?;
            let encoder = SpectralEncoder::new(case.k);
            let encode = || encoder.encode(ctx, &graphs);
            use_them(Calls {
                resident: None,
                transfers: Box::new(move || encode().map(drop)),
                check: Box::new(move || {
                    let found = encode()?;
                    let certificates: Vec<_> = (0..found.graphs()).map(|i| found.certificate(i)).collect();
                    worst(&certificates, 10.0 * case.size as f64 * EPS)
                }),
            })
        }
        Family::Eigsh => {
            let graph = grid(case.size, case.size)?;
            let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Symmetric)?;
            let options = EigshOptions::default();
            let find = || eigsh(ctx, &operator, case.k, Which::Smallest, &options);
            use_them(Calls {
                resident: None,
                transfers: Box::new(move || find().map(drop)),
                check: Box::new(move || worst(&[find()?.certificate], options.tolerance_in::<f32>())),
            })
        }
    }
}

/// Whether operations of this context may run on a device at all.
fn on_device(ctx: &Context) -> bool {
    ctx.explain(&Workload::default(), true).side == Side::Gpu
}

/// Each node linked to the next ones.
fn ring(nodes: usize) -> Result<Graph> {
    cycle(nodes.max(3))
}

/// A connected graph with about two links a node.
fn tree_and_more(nodes: usize) -> Result<Graph> {
    if nodes > 3 { preferential_attachment(nodes, 2, SEED) } else { path(nodes) }
}

/// Numbers in -1..1.
fn numbers(shape: Shape) -> Result<Array<f32>> {
    let mut stream = random::Stream::new(SEED, "bench");
    random::uniform(&Context::cpu(), &mut stream, shape, -1.0..1.0)
}

fn complex(shape: Shape) -> Result<Array<Complex<f32>>> {
    let twice = numbers(Shape { rows: 2 * shape.rows, ..shape })?.to_host(&Context::cpu())?;
    Array::from_vec(shape, twice.as_slice().chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect())
}

/// Items that are compared, each of so many numbers.
fn few(case: &Case, numbers: usize) -> usize {
    (COMPARED / numbers.max(1)).clamp(1, case.items)
}

/// The first items in double precision; of transforms and series these are columns, of matrices whole ones.
fn wide<T: Scalar, W: Scalar>(a: &Array<T>, items: usize, widen: impl Fn(T) -> W) -> Result<Array<W>> {
    let shape = a.shape();
    let first = if shape.batch > 1 {
        Shape { batch: shape.batch.min(items), ..shape }
    } else {
        Shape { cols: shape.cols.min(items), ..shape }
    };
    let first = if items == usize::MAX || shape.batch == 1 && shape.rows == shape.cols { shape } else { first };
    let host = a.to_host(&Context::cpu())?;
    Array::from_vec(first, host.as_slice()[..first.len()].iter().map(|&x| widen(x)).collect())
}

trait FromNarrow<T> {
    fn from_narrow(x: T) -> Self;
}

impl FromNarrow<Complex<f32>> for Complex<f64> {
    fn from_narrow(x: Complex<f32>) -> Self {
        Self::new(x.re.into(), x.im.into())
    }
}

/// The largest difference; infinite where something is no number.
fn apart<T: Real>(found: &[T], truth: &[f64]) -> f64 {
    // What has to be no number, as the variance of one, is none.
    let difference = |(f, t): (&T, &f64)| if f.to_f64().is_nan() && t.is_nan() { 0.0 } else { (f.to_f64() - t).abs() };
    let differences = found.iter().zip(truth).map(difference);
    differences.fold(0.0, |worst, d| if d.is_nan() { f64::INFINITY } else { d.max(worst) })
}

/// The largest relative error of a spectrum, as a share of 4 eps log2 n.
fn spectra(found: &HostArray<Complex<f32>>, truth: &HostArray<Complex<f64>>, n: usize) -> f64 {
    let rows = truth.shape().rows.max(1);
    let each = found.as_slice().chunks(rows).zip(truth.as_slice().chunks(rows)).map(|(found, truth)| {
        let off: f64 = found.iter().zip(truth).map(|(f, t)| (Complex::<f64>::from_narrow(*f) - t).norm_sqr()).sum();
        let all: f64 = truth.iter().map(Complex::norm_sqr).sum();
        (off / all.max(f64::MIN_POSITIVE)).sqrt()
    });
    let worst = each.fold(0.0, |worst, e| if e.is_nan() { f64::INFINITY } else { e.max(worst) });
    worst / (4.0 * EPS * (n as f64).log2().max(1.0))
}

/// The worst measure of certificates as a share of what is allowed.
fn worst(certificates: &[Certificate], allowed: f64) -> Result<f64> {
    all_converged(certificates)?;
    let measures = certificates.iter().flat_map(|c| [c.residual, c.orthogonality]);
    Ok(measures.filter(|x| !x.is_nan()).fold(0.0, f64::max) / allowed)
}
