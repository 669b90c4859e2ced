//! The operations that `fiedler run` has.

use super::{Dense, Run};
use fiedler::array::{Array, HostArray, Real};
use fiedler::ops::eigen::choose_eigh;
use fiedler::ops::svd::choose_svd;
use fiedler::ops::{Certificate, Eigh, Vectors, eigh, eigh_subset, eigvalsh, svd, svdvals};
use fiedler::policy::Side;
use fiedler::{Context, Error};
use std::sync::Arc;

/// What an operation made, by the names of the output file.
pub(super) struct Found<T> {
    pub(super) arrays: Vec<(&'static str, HostArray<T>)>,
    pub(super) certificates: Arc<Vec<Certificate>>,
}

impl Run {
    fn vectors(&self) -> Vectors {
        if self.full { Vectors::Full } else { Vectors::Thin }
    }

    fn eigh<T: Real>(&self, ctx: &Context, a: &Array<T>) -> Result<Eigh<T>, Error> {
        match self.k {
            Some(k) => eigh_subset(ctx, a, self.which.into(), k),
            None => eigh(ctx, a),
        }
    }

    /// From the host to the host.
    pub(super) fn call<T: Real>(&self, operation: Dense, ctx: &Context, a: &Array<T>) -> Result<Found<T>, Error> {
        match operation {
            Dense::Eigh => {
                let found = self.eigh(ctx, a)?;
                let arrays = vec![("w", found.values.to_host(ctx)?), ("v", found.vectors.to_host(ctx)?)];
                Ok(Found { arrays, certificates: found.certificates(ctx)? })
            }
            Dense::Eigvalsh => {
                let found = eigvalsh(ctx, a)?;
                Ok(Found { arrays: vec![("w", found.values.to_host(ctx)?)], certificates: found.certificates(ctx)? })
            }
            Dense::Svd => {
                let found = svd(ctx, a, self.vectors())?;
                let arrays =
                    vec![("u", found.u.to_host(ctx)?), ("s", found.s.to_host(ctx)?), ("vh", found.vh.to_host(ctx)?)];
                Ok(Found { arrays, certificates: found.certificates(ctx)? })
            }
            Dense::Svdvals => {
                let found = svdvals(ctx, a)?;
                Ok(Found { arrays: vec![("s", found.s.to_host(ctx)?)], certificates: found.certificates(ctx)? })
            }
        }
    }

    /// The results left where they are made.
    pub(super) fn leave_there<T: Real>(&self, operation: Dense, ctx: &Context, a: &Array<T>) -> Result<(), Error> {
        match operation {
            Dense::Eigh => self.eigh(ctx, a).map(drop)?,
            Dense::Eigvalsh => eigvalsh(ctx, a).map(drop)?,
            Dense::Svd => svd(ctx, a, self.vectors()).map(drop)?,
            Dense::Svdvals => svdvals(ctx, a).map(drop)?,
        }
        ctx.wait()
    }

    /// Whether the device would be chosen for what lies there already.
    pub(super) fn runs_on_device<T: Real>(&self, operation: Dense, ctx: &Context, a: &Array<T>) -> bool {
        let shape = a.shape();
        let choice = match operation {
            Dense::Eigh | Dense::Eigvalsh => {
                let orders = vec![u32::try_from(shape.rows).unwrap_or(u32::MAX); shape.batch];
                choose_eigh::<T>(ctx, &orders, true)
            }
            Dense::Svd | Dense::Svdvals => choose_svd::<T>(ctx, shape, self.vectors(), true),
        };
        choice.side == Side::Gpu
    }
}
