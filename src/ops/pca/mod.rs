//! Principal components.

mod affine;
pub(super) mod kernels;

use super::certificate::{Certificate, Status, all_converged};
use super::eigen::{Which, eigh_subset};
use super::stats::{Output, RunningCovariance, Unit, choose_cov, covariance, in_f64};
use super::svd::{TruncatedOptions, Vectors, choose_svd, choose_svd_truncated, svd, svd_truncated};
use crate::array::{Array, Real, Storage, both_to_host};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::policy::{Backend, Choice, Side};
use crate::shape::Shape;
use affine::Map;
use std::sync::Arc;

/// The method by which [`pca`] finds the components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// A solver that depends on the shape: [`Solver::Covariance`] if there are at most 2048 columns and at least as
    /// many rows as columns, otherwise [`Solver::Svd`] if the smaller dimension is at most 1024, and otherwise
    /// [`Solver::Truncated`].
    #[default]
    Auto,
    /// The eigenpairs of the covariance. The covariance takes one pass over the rows. Variances below a few eps times
    /// the largest variance are rounding errors.
    Covariance,
    /// The singular value decomposition of the centered rows. It resolves far smaller variances than
    /// [`Solver::Covariance`].
    Svd,
    /// The leading singular values of the centered rows, which block Lanczos computes on the CPU. It iterates until
    /// they are as accurate as those of the other solvers. The status is NotConverged if [`TruncatedOptions::passes`]
    /// passes did not suffice.
    Truncated,
}

/// The options of [`pca`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PcaOptions {
    /// The method that finds the components.
    pub solver: Solver,
    /// The options of the truncated decomposition.
    pub truncated: TruncatedOptions,
}

/// The k leading principal components of some rows.
#[derive(Clone, Debug)]
pub struct Pca<T = f32> {
    /// The components, `(k, cols)`: one component per row, of unit length, in the order of descending variance. In each
    /// component the entry of largest magnitude is positive; if several entries have this magnitude up to rounding, the
    /// first of them is positive.
    pub components: Array<T>,
    /// The variance along each component, `(k, 1)`, with the divisor rows - 1. An f32 cannot hold the variance of
    /// elements whose differences are 1e-20 or less, or 1e20 or more.
    pub explained_variance: Array<T>,
    /// The variance along each component as a share of the total variance of all columns, `(k, 1)`; NaN if the total
    /// is 0.
    pub explained_variance_ratio: Array<T>,
    /// The singular values of the centered rows, `(k, 1)`. Each one is the square root of the product of rows - 1 and
    /// the variance along the component.
    pub singular_values: Array<T>,
    /// The means of the columns, `(1, cols)`.
    pub mean: Array<T>,
    /// The mean of the variances along the `min(rows, cols) - k` remaining directions (Tipping and Bishop 1999); 0 if
    /// no direction remains.
    pub noise_variance: f64,
    /// The number of rows that the components were computed from.
    pub rows: u64,
    /// The certificate of the decomposition from which the components were computed. It is a certificate for the matrix
    /// that was decomposed: the covariance or the matrix of the centered rows.
    pub certificate: Certificate,
    /// A bound relative to the largest singular value. A singular value up to this bound may consist of rounding
    /// errors only.
    rounding: f64,
}

/// The maximum number of columns for which [`Solver::Auto`] uses the covariance. With more columns, decomposing the
/// covariance costs more than the single pass over the rows saves.
const COVARIANCE: usize = 2048;
/// [`Solver::Auto`] computes the whole singular value decomposition only if the smaller dimension of the matrix is at
/// most this number.
const WHOLE: usize = 1024;

/// Computes the k leading principal components of the rows of `x`. Rows are centered but not scaled, as in
/// scikit-learn's PCA.
///
/// The components come from the eigenpairs of the covariance or from the singular values of the centered rows, as
/// [`Solver`] says. On the CPU the covariance is assembled and decomposed in f64 whatever `T` is, but the products
/// within each group of 2048 rows are summed in `T`. The signs of the components are canonical; for equal variances any
/// basis may be returned. On a device, deviations from the mean are scaled by a power of two, and the scaling is undone
/// in f64. So an explained variance is 0 or infinite if `T` does not hold it, but ratios, singular values and
/// components are right. If the largest deviation of an array that is on the device already, or of a stream, is below
/// 2^-103 (1e-31), the status is Unresolved, because some digits of the deviations are subnormal there. The results are
/// on the host; the side of [`Pca::transform`] is chosen for each call.
///
/// # Shapes
/// X `(rows, cols)`, one matrix of at least two rows; k at most `min(rows, cols)`.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::{PcaOptions, pca};
/// use fiedler::{Context, Shape};
///
/// // Points on the line y = 2 x.
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(3, 2, 1), vec![-1.0_f32, 0.0, 1.0, -2.0, 0.0, 2.0])?;
/// let found = pca(&ctx, &x, 1, PcaOptions::default())?;
/// assert!((found.explained_variance.to_host(&ctx)?.as_slice()[0] - 5.0).abs() < 1e-5);
/// assert_eq!(found.transform(&ctx, &x, false)?.shape(), Shape::new(3, 1, 1));
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if `x` is not one matrix with at least two rows; [`crate::ErrorKind::Domain`] if k
/// exceeds the number of rows or of columns, or if [`Backend::Gpu`] is set and `T` is f64; [`crate::ErrorKind::Limit`]
/// as for the decomposition; device errors.
pub fn pca<T: Real>(ctx: &Context, x: &Array<T>, k: usize, options: PcaOptions) -> Result<Pca<T>> {
    let shape = x.shape();
    let Shape { rows, cols, batch } = shape;
    if batch != 1 || rows < 2 {
        return Err(Error::shape("pca", "one matrix of two rows at least", shape.to_string()));
    }
    if k > rows.min(cols) {
        return Err(Error::domain("pca", format!("k = {k} is more than either side of {shape}")));
    }
    let choice = Arc::new(choose_pca::<T>(ctx, shape, k, options, x.is_resident()));
    Ok(found(ctx, x, k, options)?.chosen(&choice))
}

/// Runs [`pca`] with arguments that are already checked.
fn found<T: Real>(ctx: &Context, x: &Array<T>, k: usize, options: PcaOptions) -> Result<Pca<T>> {
    let shape = x.shape();
    let Shape { rows, cols, .. } = shape;
    let solver = options.solver.on(shape);
    log::debug!("pca of {shape} by {solver:?}");
    if solver == Solver::Covariance {
        if choose_cov::<T>(ctx, shape, x.is_resident()).side == Side::Cpu {
            let (mean, matrix) = ctx.on_host(|| Ok(in_f64(&x.storage().to_vec(ctx)?, rows, cols)))?;
            return of_covariance::<T, f64>(&ctx.with_backend(Backend::Cpu), mean, matrix, rows as u64, k);
        }
        let (mean, matrix, unit) = covariance("pca", ctx, x, Output::Scaled)?;
        return of_resident(ctx, &mean, matrix, unit, rows as u64, k);
    }
    of_rows(ctx, x, k, solver, options.truncated)
}

/// Returns where [`pca`] would do most of its work for a matrix of the given shape, and why.
#[must_use]
pub fn choose_pca<T: Real>(ctx: &Context, shape: Shape, k: usize, options: PcaOptions, resident: bool) -> Choice {
    match options.solver.on(shape) {
        Solver::Truncated => choose_svd_truncated(ctx, shape, k, options.truncated),
        Solver::Svd => choose_svd::<T>(ctx, shape, Vectors::Thin, resident),
        Solver::Auto | Solver::Covariance => choose_cov::<T>(ctx, shape, resident),
    }
}

impl Solver {
    /// Returns `self`, or the solver that [`Solver::Auto`] chooses for a matrix of the given shape.
    fn on(self, Shape { rows, cols, .. }: Shape) -> Self {
        match self {
            Self::Auto if cols <= COVARIANCE && cols <= rows => Self::Covariance,
            Self::Auto if rows.min(cols) <= WHOLE => Self::Svd,
            Self::Auto => Self::Truncated,
            named => named,
        }
    }
}

/// Computes the principal components of a stream of rows from the covariance of the stream, like [`pca`]. More rows may
/// be pushed afterwards.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::pca_of_stream;
/// use fiedler::ops::stats::RunningCovariance;
/// use fiedler::{Context, Shape};
///
/// let ctx = Context::cpu();
/// let mut stream = RunningCovariance::new(2);
/// for chunk in [[-1.0_f32, 0.0, -2.0, 0.0], [1.0, 2.0, 2.0, 4.0]] {
///     stream.push(&ctx, &Array::from_vec(Shape::new(2, 2, 1), chunk.to_vec())?)?; // two rows at a time
/// }
/// let found = pca_of_stream(&ctx, &stream, 1)?;
/// assert_eq!(found.rows, 4);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Shape`] if the stream has fewer than two rows; otherwise as for [`pca`].
pub fn pca_of_stream<T: Real>(ctx: &Context, stream: &RunningCovariance<T>, k: usize) -> Result<Pca<T>> {
    let (rows, cols) = (stream.rows(), stream.cols());
    if rows < 2 {
        return Err(Error::shape("pca_of_stream", "two rows at least", rows.to_string()));
    }
    if k > cols || k as u64 > rows {
        let what = format!("k = {k} is more than either side of a stream of {rows} rows and {cols} columns");
        return Err(Error::domain("pca_of_stream", what));
    }
    match stream.in_f64(ctx)? {
        Some((mean, matrix)) => of_covariance::<T, f64>(&ctx.with_backend(Backend::Cpu), mean, matrix, rows, k),
        None => {
            let (mean, matrix, unit) = stream.finish(ctx, Output::Scaled)?;
            of_resident(ctx, &mean, matrix, unit, rows, k)
        }
    }
}

/// Computes the components from means and a covariance that the device computed in f32. The covariance is in the given
/// unit.
fn of_resident<T: Real>(
    ctx: &Context,
    mean: &Array<T>,
    matrix: Array<T>,
    unit: Unit,
    rows: u64,
    k: usize,
) -> Result<Pca<T>> {
    let cols = matrix.shape().cols;
    let found = eigh_subset(ctx, &matrix, Which::Largest, k)?;
    let diagonal = matrix.to_host(ctx)?;
    let total = (0..cols).map(|j| diagonal.as_slice()[j * cols + j].to_f64()).sum();
    let (values, vectors) = both_to_host(ctx, &found.values, &found.vectors)?;
    let mut certificate = first(&found.certificates(ctx)?);
    if unit.lost && certificate.status == Status::Converged {
        certificate.status = Status::Unresolved;
    }
    let mean = T::all_to_f64(mean.to_host(ctx)?.as_slice()).into_owned();
    let (values, vectors) = descending(values.as_slice(), vectors.as_slice(), cols);
    let found =
        Found { mean, values, vectors, total, unit: 2_f64.powi(unit.exponent), epsilon: T::EPSILON, certificate };
    Ok(found.assemble(rows))
}

/// Computes the components on the CPU from the means and from a covariance in the precision `F`.
fn of_covariance<T: Real, F: Real>(
    ctx: &Context,
    mean: Vec<f64>,
    matrix: Vec<F>,
    rows: u64,
    k: usize,
) -> Result<Pca<T>> {
    let cols = mean.len();
    let total = (0..cols).map(|j| matrix[j * cols + j].to_f64()).sum();
    let matrix = Array::from_vec(Shape::new(cols, cols, 1), matrix)?;
    let found = eigh_subset(ctx, &matrix, Which::Largest, k)?;
    let (values, vectors) = both_to_host(ctx, &found.values, &found.vectors)?;
    let certificate = first(&found.certificates(ctx)?);
    let (values, vectors) = descending(values.as_slice(), vectors.as_slice(), cols);
    Ok(Found { mean, values, vectors, total, unit: 1.0, epsilon: T::EPSILON, certificate }.assemble(rows))
}

/// Converts ascending eigenpairs, with one vector per column, to f64 and to descending order.
fn descending<F: Real>(values: &[F], vectors: &[F], cols: usize) -> (Vec<f64>, Vec<f64>) {
    let values = F::all_to_f64(values).iter().rev().copied().collect();
    let vectors = F::all_to_f64(vectors).chunks_exact(cols.max(1)).rev().flatten().copied().collect();
    (values, vectors)
}

/// Computes the components from the centered rows themselves.
fn of_rows<T: Real>(
    ctx: &Context,
    x: &Array<T>,
    k: usize,
    solver: Solver,
    options: TruncatedOptions,
) -> Result<Pca<T>> {
    let Shape { rows, cols, .. } = x.shape();
    let host = x.storage().to_vec(ctx)?;
    let mut centered = Vec::with_capacity(host.len());
    let mut mean = Vec::with_capacity(cols);
    let mut total = 0.0;
    for column in host.chunks_exact(rows) {
        let moments = super::stats::Moments::of(column);
        let near = moments.mean();
        centered.extend(column.iter().map(|x| T::from_f64(x.to_f64() - near)));
        mean.push(near);
        total += moments.variance(1);
    }
    let centered = Array::from_vec(x.shape(), centered)?;
    let ((s, vh), certificate) = if solver == Solver::Truncated {
        let found = svd_truncated(ctx, &centered, k, options)?;
        (both_to_host(ctx, &found.s, &found.vh)?, first(found.certificates()))
    } else {
        let found = svd(ctx, &centered, Vectors::Thin)?;
        (both_to_host(ctx, &found.s, &found.vh)?, first(&found.certificates(ctx)?))
    };
    let height = vh.shape().rows;
    #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
    let divisor = (rows - 1) as f64;
    let values = s.as_slice().iter().take(k).map(|s| s.to_f64() * s.to_f64() / divisor).collect();
    let vectors = (0..k * cols).map(|e| vh.as_slice()[e % cols * height + e / cols].to_f64()).collect();
    Ok(Found { mean, values, vectors, total, unit: 1.0, epsilon: 0.0, certificate }.assemble(rows as u64))
}

fn first(certificates: &[Certificate]) -> Certificate {
    certificates.first().copied().unwrap_or_default()
}

/// The results of a decomposition of the covariance or of the centered rows.
struct Found {
    mean: Vec<f64>,
    /// The k variances in descending order, in units of `unit` squared.
    values: Vec<f64>,
    /// The directions of these variances, concatenated.
    vectors: Vec<f64>,
    /// The sum of the variances of all columns, in units of `unit` squared.
    total: f64,
    unit: f64,
    /// The eps of the precision of the input, if the variances were computed from a covariance; 0 if singular values
    /// were computed.
    epsilon: f64,
    certificate: Certificate,
}

impl Found {
    /// Builds the [`Pca`] of `rows` rows.
    fn assemble<T: Real>(self, rows: u64) -> Pca<T> {
        let Self { mean, values, mut vectors, total, unit, epsilon, certificate } = self;
        let (k, cols) = (values.len(), mean.len());
        #[expect(clippy::cast_precision_loss, reason = "a count of columns")]
        let rounding = (10.0 * cols as f64 * epsilon).sqrt();
        vectors.chunks_exact_mut(cols.max(1)).for_each(|own| canonical(own, T::EPSILON));
        // Rounding may make a zero variance negative.
        let values: Vec<f64> = values.into_iter().map(|x| if x < 0.0 { 0.0 } else { x }).collect();
        #[expect(clippy::cast_precision_loss, reason = "counts of rows and columns")]
        let (divisor, left) = (rows.saturating_sub(1) as f64, (cols as u64).min(rows).saturating_sub(k as u64) as f64);
        let rest = total - values.iter().sum::<f64>();
        let noise_variance = if left > 0.0 { if rest < 0.0 { 0.0 } else { rest / left * unit * unit } } else { 0.0 };
        let ratio = |&x: &f64| if total == 0.0 { f64::NAN } else { x / total };
        let array = |rows, cols, data: Vec<f64>| {
            let data = data.into_iter().map(T::from_f64).collect();
            Array::from_storage(Shape::new(rows, cols, 1), Storage::host(data))
        };
        Pca {
            components: array(k, cols, (0..k * cols).map(|e| vectors[e % k * cols + e / k]).collect()),
            explained_variance_ratio: array(k, 1, values.iter().map(ratio).collect()),
            singular_values: array(k, 1, values.iter().map(|x| (x * divisor).sqrt() * unit).collect()),
            explained_variance: array(k, 1, values.into_iter().map(|x| x * unit * unit).collect()),
            mean: array(1, cols, mean),
            noise_variance,
            rows,
            certificate,
            rounding,
        }
    }
}

/// Sets the sign of a vector so that its entry of largest magnitude is positive. If several entries have this magnitude
/// to within 1000 `epsilon`, the first of them is made positive.
fn canonical(vector: &mut [f64], epsilon: f64) {
    let largest = vector.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let first = vector.iter().find(|x| x.abs() >= largest * (1.0 - 1000.0 * epsilon));
    if first.is_some_and(|&x| x < 0.0) {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
}

impl<T: Real> Pca<T> {
    /// Returns where most of the work was done, and why; `None` if the components come from a stream.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.components.choice()
    }

    fn chosen(self, choice: &Arc<Choice>) -> Self {
        Self {
            components: self.components.chosen(choice),
            explained_variance: self.explained_variance.chosen(choice),
            explained_variance_ratio: self.explained_variance_ratio.chosen(choice),
            singular_values: self.singular_values.chosen(choice),
            mean: self.mean.chosen(choice),
            ..self
        }
    }

    /// Returns this decomposition if it has converged.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Uncertified`] if the decomposition has not converged.
    pub fn ok(self) -> Result<Self> {
        all_converged(&[self.certificate])?;
        Ok(self)
    }

    /// Returns whether the decomposition converged, so that the components are reliable.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.certificate.status == Status::Converged
    }

    /// Transforms the rows of `x` to the coordinates of the components: `(X - mean) components'`.
    ///
    /// If `whiten` is set, each coordinate is divided by the square root of its variance. With whitening, a coordinate
    /// is exactly 0 along a direction whose singular value is at most `max(rows, cols) eps` times the largest singular
    /// value. NumPy's `matrix_rank` uses the same bound for rounding errors. The eigenvalues of a covariance are
    /// accurate to `10 cols eps` times the largest eigenvalue. So if the components come from a covariance, a
    /// coordinate is also 0 along a direction whose variance is at most `10 cols eps` times the largest variance. These
    /// rules are the same on every backend.
    ///
    /// # Shapes
    /// X `(any, cols)`, any batch; the result is `(any, k)`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Shape`] if `x` has a different number of columns; with [`Backend::Gpu`],
    /// [`crate::ErrorKind::Domain`] if `T` is f64, or [`crate::ErrorKind::Limit`] if the device cannot hold the rows;
    /// device errors.
    pub fn transform(&self, ctx: &Context, x: &Array<T>, whiten: bool) -> Result<Array<T>> {
        let Shape { rows: k, cols, .. } = self.components.shape();
        if x.shape().cols != cols {
            return Err(Error::shape("Pca::transform", format!("{cols} columns"), x.shape().to_string()));
        }
        let components = self.components.to_host(ctx)?;
        let scales = self.scales(ctx, whiten)?;
        let scaled = |e: usize| {
            let (j, i) = (e / cols, e % cols);
            let value = components.as_slice()[i * k + j].to_f64();
            if scales[j] == 0.0 { 0.0 } else { value / scales[j] }
        };
        Map {
            before: T::all_to_f64(self.mean.to_host(ctx)?.as_slice()).into_owned(),
            w: (0..k * cols).map(scaled).collect(),
            after: vec![0.0; k],
        }
        .apply("Pca::transform", ctx, x)
    }

    /// Computes rows from their coordinates. This reverts [`Pca::transform`], except along the directions that were
    /// left out.
    ///
    /// # Shapes
    /// Y `(any, k)`, any batch; the result is `(any, cols)`.
    ///
    /// # Errors
    /// As for [`Pca::transform`].
    pub fn inverse_transform(&self, ctx: &Context, y: &Array<T>, whiten: bool) -> Result<Array<T>> {
        let Shape { rows: k, cols, .. } = self.components.shape();
        if y.shape().cols != k {
            return Err(Error::shape("Pca::inverse_transform", format!("{k} columns"), y.shape().to_string()));
        }
        let scales = self.scales(ctx, whiten)?;
        let components = self.components.to_host(ctx)?;
        let scaled = components.as_slice().iter().enumerate().map(|(e, x)| x.to_f64() * scales[e % k]);
        Map {
            before: vec![0.0; k],
            w: scaled.collect(),
            after: T::all_to_f64(&self.mean.to_host(ctx)?.as_slice()[..cols]).into_owned(),
        }
        .apply("Pca::inverse_transform", ctx, y)
    }

    /// Returns the number of directions that whitening leaves out, as described in [`Pca::transform`].
    ///
    /// # Errors
    /// Device errors.
    pub fn within_rounding(&self, ctx: &Context) -> Result<usize> {
        Ok(self.scales(ctx, true)?.into_iter().filter(|&scale| scale == 0.0).count())
    }

    /// Returns the divisor of the coordinate along each component; 0 if whitening leaves the direction out.
    fn scales(&self, ctx: &Context, whiten: bool) -> Result<Vec<f64>> {
        let Shape { rows: k, cols, .. } = self.components.shape();
        if !whiten {
            return Ok(vec![1.0; k]);
        }
        let singular = T::all_to_f64(self.singular_values.to_host(ctx)?.as_slice()).into_owned();
        #[expect(clippy::cast_precision_loss, reason = "counts of rows and columns")]
        let (rows, longer) = (self.rows.saturating_sub(1) as f64, self.rows.max(cols as u64) as f64);
        let rounding = self.rounding.max(longer * T::EPSILON) * singular.first().copied().unwrap_or(0.0);
        // A NaN stays NaN, because its comparison is false.
        Ok(singular.into_iter().map(|s| if s <= rounding { 0.0 } else { s / rows.sqrt() }).collect())
    }
}
