//! The leading singular triplets, by a randomized method.

use super::{Problem, cpu};
use crate::array::{Array, HostArray, Real, Storage};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::certificate::Certificate;
use crate::policy::{Choice, Side, Workload};
use crate::shape::Shape;
use std::sync::Arc;

/// The options of the iteration of [`svd_truncated`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedOptions {
    /// The number of directions that are sampled in addition to k.
    pub oversample: usize,
    /// The maximum number of passes. Each pass computes one product with A and one with A'.
    pub passes: usize,
    /// The seed of the sample. The same seed gives the same result.
    pub seed: u64,
}

impl Default for TruncatedOptions {
    /// Samples ten additional directions (Halko, Martinsson and Tropp 2011, section 9) and allows a hundred passes. If
    /// the singular values decay at all, three to ten passes are enough.
    fn default() -> Self {
        Self { oversample: 10, passes: 100, seed: 0 }
    }
}

/// The k leading singular triplets of a batch of matrices (m, n), and the share of each matrix that the triplets miss.
#[derive(Clone, Debug)]
pub struct SvdTruncated<T = f32> {
    /// The left singular vectors, `(m, k)` for each matrix.
    pub u: Array<T>,
    /// The singular values in descending order, `(k, 1)` for each matrix.
    pub s: Array<T>,
    /// The right singular vectors, `(k, n)` for each matrix.
    pub vh: Array<T>,
    /// The share of each matrix that the triplets miss, `|A - U S Vh|_F / |A|_F`, or 0 for a zero matrix; `(1, 1)` for
    /// each matrix. The minimum for k triplets is the 2-norm of the other singular values, divided by the 2-norm of all
    /// singular values.
    pub residual: Array<T>,
    certificates: Arc<Vec<Certificate>>,
}

impl<T: Real> SvdTruncated<T> {
    /// Returns where the call ran, and why.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.s.choice()
    }

    /// Returns the certificate of each matrix. Its orthogonality is the larger of the departures of U and V from
    /// orthonormality. Its sweeps are the number of passes. Its residual is the maximum of `|A v_j - s_j u_j|_2` and
    /// `|A' u_j - s_j v_j|_2` over all triplets, divided by s_1.
    ///
    /// The status is Converged if, for every triplet, both norms are at most 1e-8 s_j or at most the rounding error of
    /// products in the working precision, `eps (8 |A|_F + sqrt(max(m, n)) s_1)`. If r is the larger norm and g is the
    /// gap between s_j and the singular values that are not wanted, then the error of s_j is r^2 / g, and the error of
    /// its vectors is r / g. The status is NotConverged if the maximum number of passes did not suffice.
    #[must_use]
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }
}

/// Computes the k leading singular triplets of every matrix of `a`, by block Lanczos bidiagonalization (Golub, Luk and
/// Overton, ACM TOMS 7, 1981; see Musco and Musco 2015 for why it needs far fewer passes than a power iteration). The
/// iteration starts from k + oversample random directions, orthogonalizes all directions against each other, and
/// restarts with the best directions (Baglama and Reichel 2006). It stops when the triplets have converged (see
/// [`SvdTruncated::certificates`]), or after the maximum number of passes. The result is deterministic: the sample
/// depends only on the seed and the shape.
///
/// The computation runs on the CPU, because the device has no kernels for it yet. It consists of a few products of
/// matrices. [`choose_svd_truncated`] returns this choice with its reason. Data on a device is copied to the host.
///
/// # Shapes
/// A is `(m, n)`, with any batch size; k is at most `min(m, n)`.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::svd::TruncatedOptions;
/// use fiedler::ops::svd_truncated;
/// use fiedler::{Context, Shape};
///
/// // The outer product of (1, 2, ..., 100) and (1, ..., 1), of rank 1.
/// let ctx = Context::cpu();
/// let a: Vec<f32> = (0..40).flat_map(|_| (1..=100).map(|i| i as f32)).collect();
/// let found = svd_truncated(&ctx, &Array::from_vec(Shape::new(100, 40, 1), a)?, 1, TruncatedOptions::default())?;
/// let wanted = (338_350.0_f32 * 40.0).sqrt(); // 1^2 + ... + 100^2 = 338350
/// assert!((found.s.to_host(&ctx)?.as_slice()[0] / wanted - 1.0).abs() < 1e-5);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if k exceeds `min(m, n)`, or if [`Backend::Gpu`](crate::Backend::Gpu) is set; device
/// errors while `a` is copied to the host.
pub fn svd_truncated<T: Real>(
    ctx: &Context,
    a: &Array<T>,
    k: usize,
    options: TruncatedOptions,
) -> Result<SvdTruncated<T>> {
    let shape = a.shape();
    let Shape { rows, cols, batch } = shape;
    if k > rows.min(cols) {
        return Err(Error::domain("svd_truncated", format!("k = {k} is more than either side of {shape}")));
    }
    let choice = Arc::new(choose_svd_truncated(ctx, shape, k, options));
    log::debug!("svd_truncated of {shape}: {choice}");
    if choice.side == Side::Gpu {
        let what = "it has no kernels yet; leave the choice to the policy, or take svd, which has".to_owned();
        return Err(Error::domain("svd_truncated", what));
    }
    let problem = Problem { rows, cols, batch, full: false };
    let host: HostArray<T> = a.to_host(ctx)?;
    let found = ctx.on_host(|| Ok(cpu::truncated(&problem, host.as_slice(), k, options, ctx.cancel())))?;
    let array =
        |rows, cols, data| Array::from_storage(Shape::new(rows, cols, batch), Storage::host(data)).chosen(&choice);
    Ok(SvdTruncated {
        u: array(rows, k, found.u),
        s: array(k, 1, found.s),
        vh: array(k, cols, found.vh),
        residual: array(1, 1, found.residual),
        certificates: Arc::new(found.certificates),
    })
}

/// Returns where [`svd_truncated`] would run, and why. It runs on the CPU until the device has kernels for it.
#[must_use]
pub fn choose_svd_truncated(ctx: &Context, shape: Shape, k: usize, options: TruncatedOptions) -> Choice {
    let count = super::as_f64;
    let sample = count((k + options.oversample).min(shape.rows).min(shape.cols));
    // About five passes with two products each, and the products for the certificate.
    let passes = count(2 * options.passes.min(5) + 3);
    let flops = 2.0 * passes * count(shape.len()) * sample;
    ctx.explain(&Workload { cpu_flops: flops, gpu_flops: flops, ..Workload::default() }, false)
}
