//! Divergences computed from their definitions, and how close a result has to be to them.

use super::solve::Checked;
use fiedler::array::Array;
use fiedler::ops::divergence::{Divergence, DivergenceOptions, divergence};
use fiedler::{Context, Shape};

pub const DEFAULT: DivergenceOptions =
    DivergenceOptions { base: std::f64::consts::E, normalize: false, smoothing: 0.0 };
pub const COUNTS: DivergenceOptions = DivergenceOptions { normalize: true, ..DEFAULT };

/// Evaluates the definition on histograms that are divided by their sums.
pub fn truth(kind: Divergence, p: &[f64], q: &[f64], options: &DivergenceOptions) -> f64 {
    let smooth = |x: &[f64]| -> Vec<f64> {
        let (sum, spread) = (x.iter().sum::<f64>(), 1.0 + x.len() as f64 * options.smoothing);
        x.iter().map(|x| (x / sum + options.smoothing) / spread).collect()
    };
    let (p, q) = (smooth(p), smooth(q));
    let sum = |term: &dyn Fn(f64, f64) -> f64| p.iter().zip(&q).map(|(&p, &q)| term(p, q)).sum::<f64>();
    let log = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    let shannon = || sum(&|p, q| 0.5 * (log(p, 0.5 * (p + q)) + log(q, 0.5 * (p + q)))) / options.base.ln();
    match kind {
        Divergence::KullbackLeibler => sum(&log) / options.base.ln(),
        Divergence::JensenShannon => shannon(),
        Divergence::JensenShannonDistance => shannon().max(0.0).sqrt(),
        Divergence::TotalVariation => 0.5 * sum(&|p, q| (p - q).abs()),
        Divergence::ChiSquare => sum(&|p, q| if p == q { 0.0 } else { (p - q).powi(2) / q }),
        Divergence::SymmetricChiSquare => 0.5 * sum(&|p, q| if p + q > 0.0 { (p - q).powi(2) / (p + q) } else { 0.0 }),
        Divergence::Hellinger => (0.5 * sum(&|p, q| (p.sqrt() - q.sqrt()).powi(2))).sqrt(),
    }
}

/// Returns the allowed error: the error that `divergence` promises in f32, plus the rounding error of [`truth`] in f64.
/// The definition sums terms that cancel, and their magnitudes add up to about the total variation.
pub fn allowed(kind: Divergence, p: &[f64], q: &[f64], want: f64, normalized: bool) -> f64 {
    let relative = (40.0 + p.len() as f64 / 512.0) * 2_f64.powi(-23);
    let unit = 2_f64.powi(-22);
    let apart = (p.iter().sum::<f64>() - q.iter().sum::<f64>()).abs();
    let (root, variation) =
        (matches!(kind, Divergence::JensenShannonDistance | Divergence::Hellinger), kind == Divergence::TotalVariation);
    let own = match (normalized, root, variation) {
        (true, true, _) => unit,
        (true, _, true) => relative,
        (true, false, false) => unit * (2.0 * want).sqrt() + unit * unit,
        // The sums are 1 up to rounding.
        (false, true, _) => apart,
        (false, _, true) => apart,
        (false, false, false) => apart * apart,
    };
    let lost = if root { 1e-15_f64.sqrt().min(1e-15 / want.max(1e-300)) } else { 1e-15 };
    relative * want + own + lost
}

pub fn check(kind: Divergence, p: &[f32], q: &[f32], got: f32, options: &DivergenceOptions) -> Result<(), String> {
    let [p, q] = [p, q].map(|x| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>());
    let (want, got) = (truth(kind, &p, &q, options), f64::from(got));
    if want.is_infinite() {
        return if got == want { Ok(()) } else { Err(format!("{kind:?}: {got}, in truth {want}")) };
    }
    let allowed = allowed(kind, &p, &q, want, options.normalize);
    let near = (got - want).abs() <= allowed;
    if near { Ok(()) } else { Err(format!("{kind:?} of {} bins: {got:e}, in truth {want:e} to {allowed:e}", p.len())) }
}

pub fn column(bins: usize, count: usize, data: Vec<f32>) -> fiedler::Result<Array<f32>> {
    Array::from_vec(Shape::new(bins, count, 1), data)
}

pub fn compare(ctx: &Context, p: &[Vec<f32>], q: &[Vec<f32>], options: &DivergenceOptions) -> Checked {
    let bins = p[0].len();
    let (a, b) = (column(bins, p.len(), p.concat())?, column(bins, q.len(), q.concat())?);
    for kind in Divergence::ALL {
        let found = divergence(ctx, kind, &a, &b, options)?.to_host(ctx)?;
        assert_eq!(found.shape(), Shape::new(p.len(), 1, 1));
        for (i, &got) in found.as_slice().iter().enumerate() {
            check(kind, &p[i], &q[i], got, options).map_err(|e| format!("pair {i}: {e}"))?;
        }
    }
    Ok(())
}
