//! Certificates: the status and the measured errors that every decomposition reports about itself.

use crate::array::Real;
use crate::context::Context;
use crate::device::{Read, Shared};
use crate::error::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The outcome of the decomposition of one matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The residual and the departure from orthogonality are within the promised limits.
    #[default]
    Converged = 0,
    /// A promised limit is exceeded, or the maximum number of sweeps was reached before the iteration converged.
    NotConverged = 1,
    /// The matrix contains a NaN or an infinity. In the result, its eigenvalues or singular values are NaN, and its
    /// vectors are 0.
    NonFinite = 2,
    /// The working precision cannot resolve the result. In `eigsh` and in encodings, the residual of an eigenvalue does
    /// not distinguish it from 0. In PCA on a device, some digits of the deviations from the mean are subnormal.
    Unresolved = 3,
}

impl Status {
    /// Returns the status that `code`, a byte read from a file, stands for. An unknown code gives `NotConverged`.
    pub(crate) fn from_code(code: u8) -> Self {
        match code {
            0 => Self::Converged,
            2 => Self::NonFinite,
            3 => Self::Unresolved,
            _ => Self::NotConverged,
        }
    }

    /// Describes the status in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::NotConverged => "not converged",
            Self::NonFinite => "a NaN or an infinity in the matrix",
            Self::Unresolved => "not resolved by the working precision",
        }
    }
}

/// The limit that is promised for the residual of a decomposition, and also for its departure from orthogonality. The
/// limit is in units of `n eps`, where n is the order of the matrix.
pub(super) const PROMISE: f64 = 10.0;

/// The limits promised for eigenpairs that an iterative method computes. Both `eigsh` and the encoder use these limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iterated;

/// The only value of [`Iterated`].
pub(crate) const ITERATED: Iterated = Iterated;

impl Iterated {
    /// Returns the largest `|A v - l v|_2 / |A|_1` that a converged pair may have. The f32 limit is four times the
    /// residuals measured in graphs with vertices of very high degree (2026-11-21). The f64 limit is far below the
    /// rounding error of f32 output.
    pub(crate) fn residual<T: Real>(self) -> f64 {
        if T::EPSILON > 1e-10 { 2e-6 } else { 1e-10 }
    }

    /// Returns the largest `|V'V - I|` that a converged block may have. In f32, the columns of a block are recombined
    /// by rotations in f32, whose rounding errors amount to a few eps per column. In f64, an iteration accepts a block
    /// X if the condition number of X'X is at most `1e-8 / eps`, so the departure may be about 1e-8.
    pub(crate) fn orthogonality<T: Real>(self) -> f64 {
        if T::EPSILON > 1e-10 { 1e-5 } else { 1e-8 }
    }
}

/// The certificate of one decomposition, measured against the original matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certificate {
    /// The outcome.
    pub status: Status,
    /// The number of Jacobi sweeps, or of passes of `svd_truncated`; 0 for other methods.
    pub sweeps: u32,
    /// The largest relative residual of an eigenpair `(l_j, v_j)` of A, `max_j |A v_j - l_j v_j|_2 / |A|_1`.
    pub residual: f64,
    /// The departure from orthogonality, which is the largest element of `|V'V - I|`.
    pub orthogonality: f64,
}

impl Certificate {
    /// Returns the certificate with the status that follows from its residual and its orthogonality. The limit for each
    /// of the two is `10 n eps`, where n is `order` and eps is `epsilon`. LAPACK has the same limit: it divides these
    /// two measures by `n eps` and promises results below 10. A NaN counts as exceeding the limit.
    #[must_use]
    pub(crate) fn judged(self, order: usize, epsilon: f64) -> Self {
        self.judged_by(PROMISE, order, epsilon)
    }

    /// Does the same as [`Certificate::judged`], with the limit `promise n eps` instead of `10 n eps`.
    #[must_use]
    pub(crate) fn judged_by(self, promise: f64, order: usize, epsilon: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "orders are far below 2^52")]
        let promise = promise * epsilon * order.max(1) as f64;
        self.judged_as(promise, promise)
    }

    /// Returns the certificate with the status that follows from the given limits for its residual and its
    /// orthogonality. A NaN counts as exceeding a limit.
    #[must_use]
    pub(crate) fn judged_as(self, residual: f64, orthogonality: f64) -> Self {
        let kept = self.residual <= residual && self.orthogonality <= orthogonality;
        match self.status {
            Status::Converged if !kept => Self { status: Status::NotConverged, ..self },
            _ => self,
        }
    }

    /// Encodes a certificate as the device does.
    pub(crate) fn for_device(self) -> [f32; 4] {
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a bound, and a small count")]
        let (residual, orthogonality, sweeps) = (self.residual as f32, self.orthogonality as f32, self.sweeps as f32);
        [residual, orthogonality, sweeps, f32::from(self.status as u8)]
    }

    /// Decodes a certificate from the four words that the device writes.
    fn from_device(words: [f32; 4]) -> Self {
        let [residual, orthogonality, sweeps, status] = words;
        let status = [Status::Converged, Status::NonFinite].into_iter().find(|known| f32::from(*known as u8) == status);
        let status = status.unwrap_or(Status::NotConverged);
        let (residual, orthogonality) = match status {
            Status::NonFinite => (f64::NAN, f64::NAN),
            _ => (residual.into(), orthogonality.into()),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count, written as f32")]
        let sweeps = sweeps as u32;
        Self { status, sweeps, residual, orthogonality }
    }
}

/// The certificates of a batch, on the host or on the device.
#[derive(Clone, Debug)]
pub(crate) enum Certificates {
    Host(Arc<Vec<Certificate>>),
    Device(Shared<[f32; 4]>),
}

impl Certificates {
    /// Returns the certificates with the precision of those that a device writes, so that the certificate of a matrix
    /// that the CPU solves does not depend on whether others of its batch are on a device.
    pub(crate) fn rounded(self) -> Self {
        match self {
            Self::Host(all) => {
                let rounded = all.iter().map(|one| Certificate::from_device(one.for_device()));
                Self::Host(Arc::new(rounded.collect()))
            }
            device @ Self::Device(_) => device,
        }
    }

    /// Starts copying the certificates to the host; does not wait.
    pub(crate) fn read(&self, ctx: &Context) -> Result<CertificatesRead> {
        Ok(match self {
            Self::Host(all) => CertificatesRead::Here(Arc::clone(all)),
            Self::Device(buffer) => CertificatesRead::Coming(ctx.gpu_of(buffer)?.read(buffer)?),
        })
    }
}

/// Certificates that are on the host or on their way to it.
#[derive(Debug)]
pub(crate) enum CertificatesRead {
    Here(Arc<Vec<Certificate>>),
    Coming(Read<[f32; 4]>),
}

impl CertificatesRead {
    pub(crate) fn wait(self) -> Result<Arc<Vec<Certificate>>> {
        match self {
            Self::Here(all) => Ok(all),
            Self::Coming(read) => Ok(Arc::new(decode(read.wait()?))),
        }
    }

    pub(crate) async fn arrive(self) -> Result<Arc<Vec<Certificate>>> {
        match self {
            Self::Here(all) => Ok(all),
            Self::Coming(read) => Ok(Arc::new(decode(read.await?))),
        }
    }
}

/// Decodes the certificates that the device wrote.
pub(crate) fn decode(words: Vec<[f32; 4]>) -> Vec<Certificate> {
    words.into_iter().map(Certificate::from_device).collect()
}

/// Returns an error if any status is not `Converged`.
///
/// # Errors
/// [`ErrorKind::Uncertified`], which names the first matrix that has not converged and counts all such matrices.
pub fn all_converged(certificates: &[Certificate]) -> Result<()> {
    let bad = |c: &Certificate| c.status != Status::Converged;
    match certificates.iter().position(bad) {
        None => Ok(()),
        Some(first) => Err(Error::from(ErrorKind::Uncertified {
            count: certificates.iter().filter(|c| bad(c)).count(),
            of: certificates.len(),
            first,
            status: certificates[first].status.name(),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::{Certificate, Status, all_converged};
    use crate::error::ErrorKind;

    const EPS: f64 = f32::EPSILON as f64;

    fn of(residual: f64, orthogonality: f64) -> Certificate {
        Certificate { residual, orthogonality, ..Certificate::default() }
    }

    #[test]
    fn the_promise_is_ten_n_eps_and_nan_breaks_it() {
        let promise = 10.0 * EPS * 20.0;
        for (certificate, status) in [
            (of(0.0, 0.0), Status::Converged),
            (of(promise, promise), Status::Converged),
            (of(1.001 * promise, 0.0), Status::NotConverged),
            (of(0.0, 1.001 * promise), Status::NotConverged),
            (of(f64::NAN, 0.0), Status::NotConverged),
            (of(0.0, f64::NAN), Status::NotConverged),
            (of(f64::INFINITY, 0.0), Status::NotConverged),
            (Certificate { status: Status::NonFinite, ..of(f64::NAN, f64::NAN) }, Status::NonFinite),
            (Certificate { status: Status::Unresolved, ..of(0.0, 0.0) }, Status::Unresolved),
        ] {
            assert_eq!(certificate.judged(20, EPS).status, status, "{certificate:?}");
        }
        assert_eq!(of(0.0, 0.0).judged(0, EPS).status, Status::Converged);
        assert_eq!(of(promise, 0.0).judged(20, f64::EPSILON).status, Status::NotConverged, "f64 promises more");
    }

    #[test]
    fn the_device_says_how_it_ended() {
        for (word, status) in [(0.0, Status::Converged), (1.0, Status::NotConverged), (f32::NAN, Status::NotConverged)]
        {
            let got = Certificate::from_device([1e-6, 2e-6, 7.0, word]);
            assert_eq!((got.status, got.sweeps), (status, 7));
            assert_eq!((got.residual, got.orthogonality), (f64::from(1e-6_f32), f64::from(2e-6_f32)));
        }
        let got = Certificate::from_device([0.0, 0.0, 0.0, 2.0]);
        assert!(got.status == Status::NonFinite && got.residual.is_nan() && got.orthogonality.is_nan());
    }

    #[test]
    fn the_first_that_is_not_converged_is_named() {
        let good = Certificate::default();
        let bad = |status| Certificate { status, ..good };
        assert!(all_converged(&[]).is_ok() && all_converged(&[good; 3]).is_ok());
        let error = all_converged(&[good, bad(Status::NotConverged), good, bad(Status::NonFinite)]).unwrap_err();
        let ErrorKind::Uncertified { count, of, first, status } = *error.kind() else { panic!("{error}") };
        assert_eq!((count, of, first, status), (2, 4, 1, "not converged"));
    }
}
