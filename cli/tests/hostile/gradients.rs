//! Gradients of decompositions that the CPU computed.

use super::problems::{Problem, noise, wide};
use fiedler::array::Array;
use fiedler::ops::gradient::{
    Degeneracy, Gradient, GradientCertificate, Tangent, eigh_jvp, eigh_vjp, svd_jvp, svd_vjp,
};
use fiedler::ops::{Vectors, eigh, svd};
use fiedler::{Context, Result, Shape};

/// Matrices that are larger than a workgroup, smaller, and of one row; square and not.
const SHAPES: [(usize, usize); 7] = [(1, 1), (2, 2), (5, 5), (70, 70), (7, 4), (3, 66), (130, 5)];

pub(super) fn problems() -> Vec<Problem> {
    let mut all = Vec::new();
    for (rows, cols) in SHAPES {
        if rows == cols {
            all.push(Problem::new(format!("gradients of pairs of {rows}"), move |ctx| of_pairs(ctx, rows)));
        }
        let run = move |ctx: &Context| of_triplets(ctx, rows, cols);
        all.push(Problem::new(format!("gradients of triplets of {rows} x {cols}"), run));
    }
    all
}

fn array(rows: usize, cols: usize, batch: usize, seed: usize) -> Result<Array<f32>> {
    Array::from_vec(Shape::new(rows, cols, batch), noise(rows * cols * batch, seed))
}

/// Appends the gradients, and what their certificates say.
fn append(ctx: &Context, gradient: &Gradient, out: &mut Vec<f64>) -> Result<()> {
    out.extend(wide(gradient.array.to_host(ctx)?.as_slice()));
    append_said(gradient.certificates(ctx)?, out);
    Ok(())
}

fn append_directions<const N: usize>(ctx: &Context, found: &Tangent<f32, N>, out: &mut Vec<f64>) -> Result<()> {
    for part in &found.parts {
        out.extend(wide(part.to_host(ctx)?.as_slice()));
    }
    append_said(found.certificates(ctx)?, out);
    Ok(())
}

/// Appends whether each loss has a gradient, how large the share is that has none, and the sensitivity.
fn append_said(said: Vec<GradientCertificate>, out: &mut Vec<f64>) {
    for one in said {
        let undefined = if one.defined { 0.0 } else { one.undefined };
        out.extend([f64::from(u8::from(one.defined)), undefined, one.sensitivity]);
    }
}

/// The diagonal matrices of three batches are without ties, with pairs of ties, and the identity.
fn of_pairs(ctx: &Context, n: usize) -> Result<Vec<f64>> {
    let value = |kind: usize, i: usize| [i as f32, (i / 2) as f32, 1.0][kind];
    let element = |e: usize| if e % n == e / n % n { value(e / (n * n), e % n) } else { 0.0 };
    let a = Array::from_vec(Shape::new(n, n, 3), (0..3 * n * n).map(element).collect())?;
    let found = eigh(&Context::cpu(), &a)?;
    let (values, vectors) = (array(n, 1, 3, 1)?, array(n, n, 3, 2)?);
    let mut out = Vec::new();
    for bars in [[Some(&values), Some(&vectors)], [Some(&values), None], [None, Some(&vectors)]] {
        for degeneracy in [Degeneracy::Exact, Degeneracy::Lorentzian(0.1)] {
            append(ctx, &eigh_vjp(ctx, [&found.values, &found.vectors], bars, degeneracy)?, &mut out)?;
        }
    }
    let directions = eigh_jvp(ctx, [&found.values, &found.vectors], &vectors, Degeneracy::Exact)?;
    append_directions(ctx, &directions, &mut out)?;
    Ok(out)
}

/// The singular values of three batches are different, tied in pairs, and partly 0.
fn of_triplets(ctx: &Context, rows: usize, cols: usize) -> Result<Vec<f64>> {
    let k = rows.min(cols);
    let value =
        |kind: usize, i: usize| [(k - i) as f32, ((k - i).div_ceil(2)) as f32, if i < k / 2 { 1.0 } else { 0.0 }][kind];
    let size = rows * cols;
    let element = |e: usize| {
        let (row, column) = (e % size % rows, e % size / rows);
        if row == column { value(e / size, row) } else { 0.0 }
    };
    let a = Array::from_vec(Shape::new(rows, cols, 3), (0..3 * size).map(element).collect())?;
    let found = svd(&Context::cpu(), &a, Vectors::Thin)?;
    let (u, s, vh) = (array(rows, k, 3, 3)?, array(k, 1, 3, 4)?, array(k, cols, 3, 5)?);
    let mut out = Vec::new();
    for bars in [[Some(&u), Some(&s), Some(&vh)], [None, Some(&s), None], [None, None, Some(&vh)]] {
        append(ctx, &svd_vjp(ctx, [&found.u, &found.s, &found.vh], bars, Degeneracy::Exact)?, &mut out)?;
    }
    let direction = array(rows, cols, 3, 6)?;
    let found = svd_jvp(ctx, [&found.u, &found.s, &found.vh], &direction, Degeneracy::Exact)?;
    append_directions(ctx, &found, &mut out)?;
    Ok(out)
}
