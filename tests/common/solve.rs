//! Solves test cases through the library and judges the results in f64.

use std::error::Error;

use fiedler::array::{Ragged, Real};
use fiedler::ops::eigen::{HostEigh, eigh_ragged};
use fiedler::ops::{Certificate, Status};
use fiedler::{Backend, Context, ContextBuilder, Layout};
use rayon::prelude::*;

use super::dump::dump;
use super::families::Case;
use super::referee::dot;
use super::{gates, referee};

/// The return type of a test body.
pub type Checked = Result<(), Box<dyn Error>>;

/// Returns the bits of f32 values, for comparisons that treat equal NaNs as equal.
pub fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Returns settings for another context of the same kind as `ctx`: on its device, or the CPU alone.
pub fn alike(ctx: &Context) -> ContextBuilder {
    match ctx.adapter() {
        Some(_) => Context::builder().device_of(ctx).backend(Backend::Gpu).poison(true).tuned(false),
        None => Context::builder().backend(Backend::Cpu).tuned(false),
    }
}

/// Returns the settings of [`alike`], but with a separate device.
pub fn apart(ctx: &Context) -> ContextBuilder {
    match ctx.adapter() {
        Some(adapter) => {
            Context::builder().adapter(adapter.name.clone()).backend(Backend::Gpu).poison(true).tuned(false)
        }
        None => Context::builder().backend(Backend::Cpu).tuned(false),
    }
}

/// Returns the cases as one ragged batch.
pub fn ragged<T: Real>(cases: &[Case]) -> Ragged<T> {
    let layout = Layout::new(cases.iter().map(|case| case.n as u32));
    let data = cases.iter().flat_map(|case| case.a.iter().map(|&x| T::from_f64(x))).collect();
    Ragged::from_vec(layout, data).expect("as many elements as the layout says")
}

/// Solves all cases in one call.
pub fn solve<T: Real>(ctx: &Context, cases: &[Case]) -> fiedler::Result<HostEigh<T>> {
    eigh_ragged(ctx, &ragged(cases))?.to_host(ctx)
}

/// The worst of every measure over a batch, divided by its allowed bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worst {
    pub residual: f64,
    pub orthogonality: f64,
    pub values: f64,
}

/// Checks every decomposition of `found` against the promised bounds and its certificate against a recomputation in
/// f64. `truth` returns the true eigenvalues if there is a closed form.
pub fn judge<T: Real + Into<f64>>(
    cases: &[Case],
    found: &HostEigh<T>,
    truth: impl Fn(usize) -> Option<Vec<f64>> + Sync,
) -> Result<Worst, String> {
    assert_eq!((found.layout.batch(), found.certificates.len()), (cases.len(), cases.len()));
    let one = |(i, case): (usize, &Case)| {
        let reference = truth(i).map_or_else(|| referee::eigenvalues(&case.a, case.n), Ok);
        let (w, v) = (&found.values[found.layout.rows(i)], &found.vectors[found.layout.elements(i)]);
        reference.and_then(|reference| judge_one(case, w, v, &reference, &found.certificates[i])).map_err(|e| {
            let why = format!("matrix {i}, {}: {e}", case.name);
            let wide = |x: &[T]| x.iter().map(|&x| x.into()).collect::<Vec<f64>>();
            dump(&format!("eigh {why}"), &[("a", &case.a), ("w", &wide(w)), ("v", &wide(v))]);
            why
        })
    };
    let worst = |a: Worst, b: Worst| Worst {
        residual: a.residual.max(b.residual),
        orthogonality: a.orthogonality.max(b.orthogonality),
        values: a.values.max(b.values),
    };
    cases.par_iter().enumerate().map(one).try_reduce(Worst::default, |a, b| Ok(worst(a, b)))
}

/// Checks one decomposition: its eigenvalues ascend, it is within the bounds for its precision, and the numbers of
/// its certificate are true.
fn judge_one<T: Real + Into<f64>>(
    case: &Case,
    w: &[T],
    v: &[T],
    reference: &[f64],
    certificate: &Certificate,
) -> Result<Worst, String> {
    let (n, norm) = (case.n, gates::norm(&case.a, case.n));
    gates::ascending(w)?;
    // The unit of the gates is f32's epsilon.
    let finer = gates::EPS / T::EPSILON;
    let within = |mut measure: gates::Measure, allowed: f64| {
        measure.got *= finer;
        measure.within(allowed).map(|measure| measure.got / allowed)
    };
    // In f64 the referee itself is off by up to 16 n eps |A| (its SLACK); in f32 that is negligible.
    let values = gates::allowed_values(n) + if finer > 1.0 { 16.0 * n as f64 } else { 0.0 };
    let worst = Worst {
        residual: within(gates::residual(&case.a, w, v), gates::ALLOWED)?,
        orthogonality: within(gates::orthogonality(v, n), gates::ALLOWED)?,
        values: within(gates::values(w, reference, norm), values)?,
    };
    if certificate.status != Status::Converged {
        return Err(format!("{certificate:?}"));
    }
    let (residual, orthogonality) = recomputed(&case.a, n, w, v);
    agrees("residual", certificate.residual, residual, n, T::EPSILON)?;
    agrees("orthogonality", certificate.orthogonality, orthogonality, n, T::EPSILON)?;
    Ok(worst)
}

/// Computes the numbers of a certificate from their definitions: `max_j |A v_j - l_j v_j|_2 / |A|_1` for the
/// residual and `max |V'V - I|` for orthogonality.
pub fn recomputed<T: Copy + Into<f64>>(a: &[f64], n: usize, w: &[T], v: &[T]) -> (f64, f64) {
    let wide = |numbers: &[T]| numbers.iter().map(|&x| x.into()).collect::<Vec<f64>>();
    recomputed_wide(a, n, &wide(w), &wide(v))
}

fn recomputed_wide(a: &[f64], n: usize, w: &[f64], v: &[f64]) -> (f64, f64) {
    let column = |j: usize| &v[n * j..n * (j + 1)];
    let (mut residual, mut orthogonality) = (0.0_f64, 0.0_f64);
    // The smallest normal f32 replaces the norm of a zero matrix. Squares of values of 1e-30 and less stay in f64's
    // range.
    let norm = gates::norm(a, n).max(f64::from(f32::MIN_POSITIVE));
    for (j, &value) in w.iter().enumerate() {
        let mut away = vec![0.0; n];
        for k in 0..n {
            away.iter_mut().zip(&a[n * k..n * (k + 1)]).for_each(|(x, y)| *x += y * column(j)[k]);
        }
        away.iter_mut().zip(column(j)).for_each(|(x, y)| *x = (*x - value * y) / norm);
        residual = residual.max(dot(&away, &away).sqrt());
        for i in 0..=j {
            let off = dot(column(i), column(j)) - if i == j { 1.0 } else { 0.0 };
            orthogonality = orthogonality.max(off.abs());
        }
    }
    (residual, orthogonality)
}

/// Checks a number of a certificate. The certificate is computed in the working precision, in which the rounding
/// error of a sum of n products is at most n eps (a tenth of the promised bound), and in practice about sqrt(n)
/// eps, in either direction. The number is wrong if it is less than half of the true number minus 2 eps, or more
/// than twice the true number plus a tenth of the promised bound.
fn agrees(what: &str, certified: f64, truth: f64, n: usize, epsilon: f64) -> Result<(), String> {
    let (least, most) = (truth / 2.0 - 2.0 * epsilon, 2.0 * truth + (n as f64).max(4.0) * epsilon);
    if certified >= least && certified <= most {
        return Ok(());
    }
    Err(format!("certified {what} {certified:.3e}, in truth {truth:.3e}"))
}
