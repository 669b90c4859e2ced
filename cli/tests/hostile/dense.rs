//! Decompositions and products.

use super::problems::{Problem, gram, noise, product, wide};
use fiedler::array::{Array, Ragged};
use fiedler::forms::{JacobiForm, KernelForm, MatmulForm};
use fiedler::ops::eigen::{Which, eigh_ragged, eigh_subset};
use fiedler::ops::matmul::{Activation, Bias, Gemm, Precision};
use fiedler::ops::pca::{PcaOptions, Solver, pca};
use fiedler::ops::svd::{Vectors, svd, svdvals};
use fiedler::ops::{self, Certificate};
use fiedler::{Context, Layout, Result, Shape};
use half::f16;

pub(super) fn problems() -> Vec<Problem> {
    eigen().into_iter().chain(rectangles()).chain(products()).chain([components()]).collect()
}

/// Orders around the size classes of each form.
const EIGH: [(JacobiForm, &[&[u32]]); 5] = [
    (JacobiForm::Tiny, &[&[1, 2, 3, 4, 0], &[5, 6, 7, 8], &[2], &[3], &[4], &[6], &[8]]),
    (JacobiForm::Lane, &[&[1, 7, 8, 0], &[9, 15, 16], &[17, 31, 32]]),
    (
        JacobiForm::Register,
        &[&[1, 9, 15, 16, 0], &[17, 32], &[33, 48], &[49, 64], &[65, 80], &[81, 96], &[97, 112], &[113]],
    ),
    (JacobiForm::Workgroup, &[&[1, 7, 8, 0], &[9, 16], &[17, 32], &[48], &[49, 60], &[61, 64], &[65, 84], &[85]]),
    (JacobiForm::Blocked, &[&[1, 31, 0], &[32], &[33, 64], &[65], &[129]]),
];

/// Returns symmetric matrices: for each order noise, and for the first order also zeros, descending and ascending
/// diagonals, noise whose eigenvalues are subnormal numbers in part, noise with a NaN, large numbers, whose largest
/// eigenvalue f32 does not hold, tiny numbers beside large ones, and a diagonal around the smallest normal number.
fn symmetric(orders: &[u32]) -> Result<Ragged<f32>> {
    let mut all = Vec::new();
    let mut data = Vec::new();
    let kinds = orders.iter().map(|&order| (order, 0)).chain((1..9).map(|kind| (orders[0], kind)));
    for (seed, (order, kind)) in kinds.enumerate() {
        let n = order as usize;
        let x = noise(n * n, seed);
        let entry = |i: usize, j: usize| match kind {
            1 => 0.0,
            2 | 5 | 8 if i != j => 0.0,
            2 => (n - i) as f32,
            5 => i as f32,
            3 => 2e-39 * x[i.max(j) * n + i.min(j)],
            4 if (i, j) == (n - 1, 0) => f32::NAN,
            6 => 2e38 + 1e38 * x[i.max(j) * n + i.min(j)],
            7 if i == j => 1024.0 + i as f32,
            7 => 1e-37 * x[i.max(j) * n + i.min(j)],
            8 => 3e-39 + 8e-39 * i as f32 / n as f32,
            _ => x[i.max(j) * n + i.min(j)],
        };
        data.extend((0..n * n).map(|at| entry(at % n, at / n)));
        all.push(order);
    }
    Ragged::from_vec(Layout::new(all), data)
}

/// Returns whether each decomposition converged, as numbers.
fn statuses(certificates: &[Certificate]) -> impl Iterator<Item = f64> {
    certificates.iter().map(|certificate| f64::from(certificate.status as u8))
}

/// Returns the eigenvalues, the matrices that the pairs make, and the products of the vectors.
fn decompose(ctx: &Context, orders: &[u32]) -> Result<Vec<f64>> {
    let solved = eigh_ragged(ctx, &symmetric(orders)?)?.to_host(ctx)?;
    let mut out: Vec<f64> = statuses(&solved.certificates).collect();
    for i in 0..solved.layout.batch() {
        let n = solved.layout.orders()[i] as usize;
        let own = |data: &[f32], range| wide(&data[range]);
        let (values, v) = (own(&solved.values, solved.layout.rows(i)), own(&solved.vectors, solved.layout.elements(i)));
        // Tiny matrices count as much as others.
        let unit = values.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        let scaled: Vec<f64> = values.iter().map(|x| if unit > 0.0 { x / unit } else { *x }).collect();
        let turned: Vec<f64> = v.iter().enumerate().map(|(at, x)| x * scaled[at / n]).collect();
        out.extend(product(&turned, &v, n));
        out.extend(gram(&v, n));
        out.extend(scaled);
    }
    Ok(out)
}

/// The eigenvalues of noise of order 1025.
pub(super) fn large() -> Problem {
    let run = |ctx: &Context| {
        let n = 1025;
        let x = noise(n * n, 1);
        let entry = |i: usize, j: usize| x[i.max(j) * n + i.min(j)];
        let a = Array::from_vec(Shape::new(n, n, 1), (0..n * n).map(|at| entry(at % n, at / n)).collect())?;
        let found = ops::eigh(ctx, &a)?;
        let mut out: Vec<f64> = statuses(&found.certificates(ctx)?).collect();
        // Relative to the norm, which is about 2 sqrt(n / 3).
        out.extend(wide(found.values.to_host(ctx)?.as_slice()).iter().map(|x| x / 37.0));
        Ok(out)
    };
    Problem::new("eigh of order 1025", run).form(KernelForm::Eigh(JacobiForm::Blocked))
}

fn eigen() -> Vec<Problem> {
    let mut all = Vec::new();
    for (form, lists) in EIGH {
        for &orders in lists {
            let run = move |ctx: &Context| decompose(ctx, orders);
            all.push(Problem::new(format!("eigh {orders:?} {}", form.name()), run).form(KernelForm::Eigh(form)));
        }
    }
    let alone = [16, 32, 48, 64, 80, 96, 112, 128].map(|n| (JacobiForm::Register, n));
    for (form, n) in alone.into_iter().chain([(JacobiForm::Blocked, 32)]) {
        let run = move |ctx: &Context| three_columns(ctx, n);
        let name = format!("three columns of {n}, {}", form.name());
        all.push(Problem::new(name, run).form(KernelForm::Eigh(form)));
    }
    let of_noise = |n: usize| {
        let x = noise(n * n, n);
        let entry = |i: usize, j: usize| x[i.max(j) * n + i.min(j)];
        Array::from_vec(Shape::new(n, n, 1), (0..n * n).map(|at| entry(at % n, at / n)).collect())
    };
    let of_order_8 = move |ctx: &Context| Ok(wide(ops::eigvalsh(ctx, &of_noise(8)?)?.values.to_host(ctx)?.as_slice()));
    all.push(Problem::new("eigvalsh of order 8, lane", of_order_8).form(KernelForm::Eigh(JacobiForm::Lane)));
    all.push(Problem::new("eigvalsh and parts of eigenpairs", move |ctx| {
        let mut out = Vec::new();
        for n in [2, 3, 4, 6, 8, 12, 20, 130] {
            let a = of_noise(n)?;
            out.extend(wide(ops::eigvalsh(ctx, &a)?.values.to_host(ctx)?.as_slice()));
            for which in [Which::Smallest, Which::Largest] {
                let part = eigh_subset(ctx, &a, which, 2)?;
                out.extend(wide(part.values.to_host(ctx)?.as_slice()));
                out.extend(gram(&wide(part.vectors.to_host(ctx)?.as_slice()), n));
            }
        }
        Ok(out)
    }));
    all
}

/// Solves a diagonal matrix in which three columns alone are coupled. The first team of invocations rotates none of
/// them in the first sweep, after which the columns are not orthogonal yet.
fn three_columns(ctx: &Context, n: usize) -> Result<Vec<f64>> {
    let (own, coupled) = ([1, n / 2 + 3, n - 3], [[2.0, 1.0, 0.9], [1.0, 2.2, -1.1], [0.9, -1.1, 1.9]]);
    let entry = |i: usize, j: usize| match [i, j].map(|k| own.iter().position(|&at| at == k)) {
        [Some(i), Some(j)] => coupled[i][j],
        _ if i == j => 1.0 + i as f32 / n as f32,
        _ => 0.0,
    };
    let a = Array::from_vec(Shape::new(n, n, 1), (0..n * n).map(|at| entry(at % n, at / n)).collect())?;
    let found = ops::eigh(ctx, &a)?;
    let mut out: Vec<f64> = statuses(&found.certificates(ctx)?).collect();
    out.extend(wide(found.values.to_host(ctx)?.as_slice()));
    Ok(out)
}

/// Shapes around the size classes of each form, and whether complete bases are wanted.
const RECTANGLES: [(JacobiForm, (usize, usize), bool); 10] = [
    (JacobiForm::Workgroup, (1, 1), false),
    (JacobiForm::Workgroup, (5, 3), true),
    (JacobiForm::Workgroup, (3, 5), true),
    (JacobiForm::Workgroup, (16, 16), false),
    (JacobiForm::Workgroup, (17, 33), false),
    (JacobiForm::Workgroup, (70, 35), true),
    (JacobiForm::Blocked, (5, 4), false),
    (JacobiForm::Blocked, (33, 40), true),
    (JacobiForm::Blocked, (90, 66), false),
    (JacobiForm::Blocked, (64, 129), false),
];

fn rectangles() -> Vec<Problem> {
    let decompose = |ctx: &Context, (m, n): (usize, usize), full: bool| -> Result<Vec<f64>> {
        let (len, short) = (m * n, m.min(n));
        // Noise, zeros, a matrix of rank 1, tiny noise, and a NaN.
        let mut data = noise(len, m);
        data.extend(vec![0.0; len]);
        data.extend((0..len).map(|at| (at % m) as f32 + 1.0));
        data.extend(noise(len, n).into_iter().map(|x| 1e-38 * x));
        data.extend(noise(len, 3));
        data[5 * len - 1] = f32::NAN;
        let a = Array::from_vec(Shape::new(m, n, 5), data)?;
        let solved = svd(ctx, &a, if full { Vectors::Full } else { Vectors::Thin })?;
        let mut out: Vec<f64> = statuses(&solved.certificates(ctx)?).collect();
        let (of_u, of_v) = if full { (m, n) } else { (short, short) };
        let (u, s, vh) = (solved.u.to_host(ctx)?, solved.s.to_host(ctx)?, solved.vh.to_host(ctx)?);
        for i in 0..5 {
            let own = |data: &[f32], len: usize| wide(&data[i * len..][..len]);
            let (u, s, vh) = (own(u.as_slice(), m * of_u), own(s.as_slice(), short), own(vh.as_slice(), of_v * n));
            let unit = s.first().copied().filter(|&x| x > 0.0).unwrap_or(1.0);
            let v: Vec<f64> = (0..n * of_v).map(|at| vh[at / n + of_v * (at % n)]).collect();
            let scaled: Vec<f64> = u.iter().take(m * short).enumerate().map(|(at, x)| x * s[at / m] / unit).collect();
            // U S Vh, a column of Vh at a time.
            for j in 0..n {
                let entry = |i: usize| (0..short).map(|k| scaled[i + m * k] * v[j + n * k]).sum::<f64>();
                out.extend((0..m).map(entry));
            }
            out.extend(gram(&u, m));
            out.extend(gram(&v, n));
            out.extend(s.iter().map(|x| x / unit));
        }
        Ok(out)
    };
    let mut all: Vec<Problem> = RECTANGLES
        .into_iter()
        .map(|(form, shape, full)| {
            let name = format!("svd {shape:?} {}", form.name());
            Problem::new(name, move |ctx| decompose(ctx, shape, full)).form(KernelForm::Svd(form))
        })
        .collect();
    // The CPU solves the graded matrices of a batch.
    all.push(Problem::new("graded matrices", |ctx| {
        let mut out = Vec::new();
        let (n, len) = (4, 16);
        let graded = noise(len, 1).into_iter().enumerate().map(|(at, x)| x * 10_f32.powi(-3 * (at % n) as i32));
        let square = [noise(len, 2), graded.collect(), noise(len, 3)].concat();
        let solved = svd(ctx, &Array::from_vec(Shape::new(n, n, 3), square)?, Vectors::Thin)?;
        out.extend(wide(solved.s.to_host(ctx)?.as_slice()));
        let definite = |i: usize, j: usize, decade: i32| {
            let entry = if i == j { 1.0 } else { 0.1 };
            entry * 10_f32.powi(decade * (i + j) as i32)
        };
        let data = [0, -2, 0].iter().flat_map(|&d| (0..len).map(move |at| definite(at % n, at / n, d))).collect();
        let solved = ops::eigh(ctx, &Array::from_vec(Shape::new(n, n, 3), data)?)?;
        out.extend(wide(solved.values.to_host(ctx)?.as_slice()));
        out.extend(statuses(&solved.certificates(ctx)?));
        Ok(out)
    }));
    // On the device, because the host keeps graded matrices for itself.
    all.push(Problem::new("short columns in front", |ctx| {
        let n = 40;
        let x = noise(n * n, 1).into_iter().enumerate().map(|(at, x)| if at / n < 33 { 1e-6 * x } else { x }).collect();
        let solved = svd(ctx, &resident(ctx, Array::from_vec(Shape::new(n, n, 1), x)?)?, Vectors::Thin)?;
        let mut out: Vec<f64> = statuses(&solved.certificates(ctx)?).collect();
        out.extend(wide(solved.s.to_host(ctx)?.as_slice()));
        Ok(out)
    }));
    all.push(Problem::new("svdvals", |ctx| {
        let mut out = Vec::new();
        for (m, n) in [(9, 7), (40, 66)] {
            let a = Array::from_vec(Shape::new(m, n, 2), noise(2 * m * n, n))?;
            out.extend(wide(svdvals(ctx, &a)?.s.to_host(ctx)?.as_slice()));
        }
        Ok(out)
    }));
    all
}

/// Everything that a product may have besides its factors.
fn products() -> Vec<Problem> {
    let forms = [MatmulForm::Tiny, MatmulForm::Tile64, MatmulForm::Tile128, MatmulForm::Direct];
    let shapes: [(usize, usize, usize, usize); 9] = [
        (1, 1, 1, 1),
        (3, 5, 2, 7),
        (17, 9, 16, 2),
        (65, 63, 33, 1),
        (130, 66, 20, 2),
        (20, 12, 700, 1),
        (6, 7, 4, 3),
        (12, 20, 16, 2),
        (4, 8, 8, 1),
    ];
    let mut all = Vec::new();
    for form in forms {
        for (at, (m, n, k, batch)) in shapes.into_iter().enumerate() {
            if form == MatmulForm::Tiny && m * n > 400 {
                continue;
            }
            let run = move |ctx: &Context| {
                let mut out = Vec::new();
                for bits in 0..4 {
                    let (a_across, b_across) = (bits & 1 != 0, bits & 2 != 0);
                    let of = |rows, cols, across, seed| {
                        let (rows, cols) = if across { (cols, rows) } else { (rows, cols) };
                        Array::from_vec(Shape::new(rows, cols, batch), noise(rows * cols * batch, seed))
                    };
                    let (a, b) = (of(m, k, a_across, 1)?, of(k, n, b_across, 2)?);
                    let mut gemm = Gemm::new().transpose_a(a_across).transpose_b(b_across);
                    if bits > 0 {
                        gemm = gemm.alpha(0.5).add(0.25, &of(m, n, false, 3)?);
                    }
                    let activations =
                        [Activation::None, Activation::Relu, Activation::Gelu, Activation::Tanh, Activation::Sigmoid];
                    gemm = gemm.activation(activations[(bits + at) % 5]);
                    let shared = |rows, cols| Array::from_vec(Shape::new(rows, cols, 1), noise(rows * cols, 4));
                    match bits {
                        1 => gemm = gemm.bias(Bias::Rows(shared(m, 1)?)),
                        2 => gemm = gemm.bias(Bias::Columns(shared(1, n)?)),
                        3 => gemm = gemm.bias(Bias::Columns(of(1, n, false, 5)?)),
                        _ => {}
                    }
                    out.extend(wide(gemm.run(ctx, &a, &b)?.to_host(ctx)?.as_slice()));
                }
                Ok(out)
            };
            let name = format!("products of {m} x {k} by {k} x {n}, {}", form.name());
            let problem = Problem::new(name, run).form(KernelForm::Matmul(form));
            all.push(if form == MatmulForm::Direct { problem.software() } else { problem });
        }
    }
    all.push(Problem::new("long sums with an activation or a bias alone", |ctx| {
        let (m, n, k) = (21, 12, 700);
        let of = |rows, cols, seed| Array::from_vec(Shape::new(rows, cols, 1), noise(rows * cols, seed));
        let (a, b) = (of(m, k, 1)?, of(k, n, 2)?);
        let mut out = Vec::new();
        for activation in [Activation::None, Activation::Sigmoid] {
            let gemm = Gemm::new().alpha(0.1).activation(activation);
            out.extend(wide(gemm.run(ctx, &a, &b)?.to_host(ctx)?.as_slice()));
        }
        let gemm = Gemm::new().alpha(0.1).bias(Bias::Columns(of(1, n, 3)?));
        out.extend(wide(gemm.run(ctx, &a, &b)?.to_host(ctx)?.as_slice()));
        Ok(out)
    }));
    for (m, n, k) in [(2, 3, 5), (5, 7, 3), (20, 12, 33), (70, 66, 130)] {
        all.push(Problem::new(format!("products of f16, {m} x {k} by {k} x {n}"), move |ctx| {
            let (x, y) = (noise(m * k, 1), noise(k * n, 2));
            let (a, b) = (Array::from_vec(Shape::new(m, k, 1), x)?, Array::from_vec(Shape::new(k, n, 1), y)?);
            let split = Gemm::new().precision(Precision::SplitF16).run(ctx, &a, &b)?.to_host(ctx)?;
            let halves = ops::matmul(ctx, &a.to_f16(ctx)?, &b.to_f16(ctx)?)?;
            let mut out = wide(split.as_slice());
            out.extend(halves.to_host(ctx)?.as_slice().iter().map(|x| f64::from(*x)));
            out.extend(wide(halves.to_device(ctx).unwrap_or(halves).to_f32(ctx)?.to_host(ctx)?.as_slice()));
            Ok(out)
        }));
    }
    // Sums that are halfway between two subnormal numbers of f16.
    all.push(Problem::new("products of f16 that are ties", |ctx| {
        let (mut out, unit) = (Vec::new(), 2_f32.powi(-12));
        for m in [1, 2] {
            let of = |shape, data: Vec<f32>| Array::from_vec(shape, data)?.to_f16(ctx);
            let a = of(Shape::new(m, 1, 1), [1.5, 2.5][..m].iter().map(|x| x * unit).collect())?;
            let found = ops::matmul(ctx, &a, &of(Shape::new(1, 1, 1), vec![unit])?)?;
            out.extend(found.to_host(ctx)?.as_slice().iter().map(|x| f64::from(*x) * 2_f64.powi(24)));
        }
        Ok(out)
    }));
    // Rows of subnormal numbers and of zeros, in several chunks.
    all.push(Problem::new("products of subnormal numbers as pairs of f16", |ctx| {
        let (m, n, k) = (3, 5, 4100);
        let mut x = noise(m * k, 1);
        x.chunks_exact_mut(m).for_each(|column| (column[1], column[2]) = (column[1] * f32::from_bits(1 << 17), 0.0));
        let (a, b) = (Array::from_vec(Shape::new(m, k, 1), x)?, Array::from_vec(Shape::new(k, n, 1), noise(k * n, 2))?);
        let found = Gemm::new().precision(Precision::SplitF16).run(ctx, &a, &b)?.to_host(ctx)?;
        let unit = |row| if row == 1 { 2_f64.powi(132) } else { 1.0 };
        Ok(wide(found.as_slice()).iter().enumerate().map(|(at, x)| x * unit(at % m)).collect())
    }));
    // Lengths that are not multiples of what an invocation converts, and numbers that f16 does not hold.
    all.push(Problem::new("conversions", |ctx| {
        let mut out = Vec::new();
        for n in [1, 2, 3, 63, 64, 65, 129] {
            let mut x = noise(n, n);
            x[0] = 1e6;
            // Halfway between two numbers of f16.
            x[n / 2] = 1.5 * 2_f32.powi(-24);
            x[n - 1] = 1.0 + 2_f32.powi(-11);
            let there = resident(ctx, Array::from_vec(Shape::new(n, 1, 1), x)?)?.to_f16(ctx)?;
            let halves = there.to_host(ctx)?.as_slice().to_vec();
            out.extend(halves.iter().map(|x: &f16| f64::from(*x)));
            out.extend(wide(there.to_f32(ctx)?.to_host(ctx)?.as_slice()));
        }
        Ok(out)
    }));
    all
}

/// Moves an array to the device, if there is one.
fn resident(ctx: &Context, array: Array<f32>) -> Result<Array<f32>> {
    if ctx.adapter().is_some() { array.to_device(ctx) } else { Ok(array) }
}

fn components() -> Problem {
    Problem::new("principal components", |ctx| {
        let mut out = Vec::new();
        for (rows, cols, solver) in [(40, 6, Solver::Covariance), (12, 20, Solver::Svd), (70, 5, Solver::Svd)] {
            let x = noise(rows * cols, cols);
            // Variances that differ by far more than the errors.
            let x = x.iter().enumerate().map(|(at, x)| x * (1.0 + (at / rows) as f32)).collect();
            let x = Array::from_vec(Shape::new(rows, cols, 1), x)?;
            let found = pca(ctx, &x, 3, PcaOptions { solver, ..PcaOptions::default() })?;
            out.extend(wide(found.explained_variance.to_host(ctx)?.as_slice()));
            for whiten in [false, true] {
                let there = found.transform(ctx, &x, whiten)?;
                out.extend(wide(there.to_host(ctx)?.as_slice()));
                out.extend(wide(found.inverse_transform(ctx, &there, whiten)?.to_host(ctx)?.as_slice()));
            }
        }
        Ok(out)
    })
}
