//! The basic methods: block subspace iteration and power iteration.
//!
//! Both methods multiply by `A - s I`, where s is the bound on the spectrum at the unwanted end, so that the wanted
//! eigenvalues are largest in magnitude. The methods serve as a baseline for the Chebyshev filter. In each product,
//! the eigenvector of an eigenvalue l grows by the factor `f = |l - s| / |l' - s|` relative to the eigenvector of
//! the neighboring eigenvalue l'. In each step of a filter, it grows by the factor `exp(2 sqrt(log f))`,
//! approximately.

use super::chebyshev::Found;
use super::cpu::{CpuSpace, check_memory};
use super::options::{EigshMethod, EigshOptions};
use super::ritz::rayleigh_ritz;
use super::solved::{Solved, Wanted, collect, target};
use super::space::{FilterPlan, Space, Step};
use crate::array::Real;
use crate::context::Context;
use crate::error::Result;
use crate::ops::eigen::Which;
use crate::ops::sparse::Operator;
use crate::order::{ascending, descending};

/// The number of products between two restarts. If the values of the block are in the wanted half of the spectrum,
/// these products amplify one column at most 2^10 times as much as another. f32 resolves this ratio.
const BETWEEN: usize = 10;

/// Returns the step `X <- (A - s I) X`, scaled so that no component of X grows.
fn step<T: Real>(a: &Operator<'_, T>, which: Which) -> Step {
    let bounds = a.bounds(0);
    let far = match which {
        Which::Smallest => bounds.upper,
        Which::Largest => bounds.lower,
    };
    let span = (bounds.upper - bounds.lower).max(f64::MIN_POSITIVE);
    Step { product: 1.0 / span, own: -far / span, before: 0.0 }
}

/// Block subspace iteration with Rayleigh-Ritz (Bauer 1957; Rutishauser 1969).
///
/// # Errors
/// The same errors as [`super::eigsh`].
pub(super) fn iterate_blocks<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    width: usize,
    options: &EigshOptions,
) -> Result<Solved> {
    check_memory::<T>(ctx, a.rows(), width)?;
    let mut space = CpuSpace::new(ctx, a, width);
    space.randomize(options.seed)?;
    let target = target(a, wanted, options.tolerance_in::<T>());
    let steps = vec![step(a, wanted.which); BETWEEN];
    let plan = [Some(FilterPlan { from: 0, steps, deflate_every: BETWEEN })];
    let mut found = Found::default();
    loop {
        // Two Rayleigh-Ritz steps are made, because the block is orthonormal only after the first.
        for _ in 0..2 {
            let ritz = rayleigh_ritz(ctx, &space.grams()?, wanted.which, CpuSpace::<T>::GRAM_EPSILON, false)?.remove(0);
            found.values.clone_from(&ritz.rotation.values);
            found.residuals = space.rotate(&[Some(ritz.rotation)])?.remove(0);
            found.products += 1;
        }
        found.restarts += 1;
        found.converged = found.residuals[..target.wanted].iter().take_while(|&&r| r <= target.tolerance).count();
        if found.converged == target.wanted || found.products >= options.most_products {
            break;
        }
        space.filter(&plan)?;
        found.products += BETWEEN;
    }
    found.apart = found.converged >= target.wanted;
    collect(&mut space, 0, wanted, &found, &Found::default(), EigshMethod::Subspace)
}

/// Power iteration (von Mises and Pollaczek-Geiringer 1929): multiplies one vector until its direction converges,
/// then keeps the following vectors orthogonal to that vector (Hotelling's deflation, done by orthogonalization).
///
/// # Errors
/// The same errors as [`super::eigsh`].
pub(super) fn power<T: Real>(
    ctx: &Context,
    a: &Operator<'_, T>,
    wanted: Wanted,
    options: &EigshOptions,
) -> Result<Solved> {
    check_memory::<T>(ctx, a.rows(), wanted.count + 1)?;
    let n = a.rows();
    let target = target(a, wanted, options.tolerance_in::<T>());
    let steps = vec![step(a, wanted.which); BETWEEN];
    let plan = [Some(FilterPlan { from: 0, steps, deflate_every: BETWEEN })];
    let mut vectors = Vec::new();
    let mut found = Vec::new();
    let (mut products, mut restarts) = (0, 0);
    for pair in 0..target.wanted {
        let mut space = CpuSpace::new(ctx, a, 1);
        space.randomize(options.seed + pair as u64)?;
        let (mut value, mut vector, mut residual);
        loop {
            let mut x = space.read(0, 0..1)?;
            orthonormalize(&mut x, &vectors, n);
            space.load(&x);
            let grams = space.grams()?.remove(0);
            let ritz = rayleigh_ritz(ctx, &[grams], wanted.which, CpuSpace::<T>::GRAM_EPSILON, false)?.remove(0);
            value = ritz.rotation.values[0];
            residual = space.rotate(&[Some(ritz.rotation)])?.remove(0)[0];
            (products, restarts) = (products + 1, restarts + 1);
            vector = x;
            if residual <= target.tolerance || products >= options.most_products {
                break;
            }
            space.filter(&plan)?;
            products += BETWEEN;
        }
        found.push((value, residual));
        vectors.append(&mut vector);
    }
    // Pairs are found one after the other and may be out of order if their values are close.
    let found_values = found.iter().map(|(value, _)| *value);
    let order = match wanted.which {
        Which::Smallest => ascending(found_values),
        Which::Largest => descending(found_values),
    };
    let (values, residuals) = order.iter().map(|&i| found[i]).unzip();
    let vectors = order.iter().flat_map(|&i| vectors[i * n..(i + 1) * n].iter().copied()).collect();
    let method = EigshMethod::Power;
    Ok(Solved { values, vectors, residuals, reached: true, next: None, method, products, restarts })
}

/// Projects the columns of `others` out of `x` and scales `x` to unit norm. Does so twice, to remove rounding
/// errors.
fn orthonormalize(x: &mut [f64], others: &[f64], n: usize) {
    for _ in 0..2 {
        for other in others.chunks_exact(n.max(1)) {
            let along: f64 = other.iter().zip(&*x).map(|(a, b)| a * b).sum();
            x.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
        }
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 {
            x.iter_mut().for_each(|x| *x /= norm);
        }
    }
}
