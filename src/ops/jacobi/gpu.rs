//! Selects the kernels that make the columns of a matrix orthogonal, and determines how much of the work one dispatch
//! does.

pub(in crate::ops) use super::batch::Batch;
pub(in crate::ops) use super::batch::MAX_SWEEPS;
use super::blocked;
use super::kernels::{SIZE_CLASSES, SizeClass, Sweeps, Workgroup};
use super::register::Register;
use crate::device::{Adapter, Buffer, Recorder};
use crate::error::Result;
use crate::forms::{JacobiForm, KernelForm};

/// The method that makes the columns of square matrices orthogonal. The choice of a method depends only on the order
/// and the adapter, so the bits of a result do not depend on the other matrices of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops) enum Method {
    /// In workgroup memory, one workgroup per matrix.
    Workgroup(SizeClass),
    /// In registers, only for positive definite matrices.
    Register(Register),
    /// In blocks of columns in global memory. The field is the maximum number of columns of a matrix.
    Blocked(u32),
}

impl Method {
    /// Returns the method for matrices of the given order; `None` if this adapter cannot solve such matrices. `family`
    /// is a variant of [`KernelForm`], and only its forms are considered.
    pub(in crate::ops) fn of(adapter: &Adapter, family: fn(JacobiForm) -> KernelForm, order: u32) -> Option<Self> {
        adapter.form(order.into(), |may| Self::within(adapter, order, &|form| may(family(form))))
    }

    /// Returns the method for matrices of the given order, among the forms that `may` allows.
    fn within(adapter: &Adapter, order: u32, may: &dyn Fn(JacobiForm) -> bool) -> Option<Self> {
        let limits = &adapter.limits;
        SIZE_CLASSES
            .into_iter()
            .find(|class| {
                may(JacobiForm::Workgroup)
                    && order <= class.capacity
                    && class.workgroup_bytes() <= limits.workgroup_storage
                    && class.invocations() <= limits.workgroup_invocations
            })
            .map(Self::Workgroup)
            .or_else(|| blocked::class_of(order).filter(|_| may(JacobiForm::Blocked)).map(Self::Blocked))
    }

    /// Returns the method for matrices that are safely positive definite, among the forms that `may` allows.
    pub(in crate::ops) fn of_definite(adapter: &Adapter, order: u32, may: &dyn Fn(JacobiForm) -> bool) -> Option<Self> {
        let register = Register::of(adapter, order).filter(|_| may(JacobiForm::Register));
        register.map(Self::Register).or_else(|| Self::within(adapter, order, may))
    }

    /// Returns the form of the method.
    pub(in crate::ops) fn form(self) -> JacobiForm {
        match self {
            Self::Workgroup(_) => JacobiForm::Workgroup,
            Self::Register(_) => JacobiForm::Register,
            Self::Blocked(_) => JacobiForm::Blocked,
        }
    }

    /// Returns the largest order of the matrices that the method solves.
    pub(in crate::ops) fn largest_order(self) -> u32 {
        match self {
            Self::Workgroup(class) => class.capacity,
            Self::Register(register) => register.largest_order(),
            Self::Blocked(columns) => columns,
        }
    }
}

/// Records sweeps until the columns of every matrix are orthogonal, or the maximum number of sweeps is reached. On
/// input, the first word of a matrix's state (shared/state.wgsl) says whether to skip the matrix. On output, it says
/// whether the columns are orthogonal, and after how many sweeps.
///
/// # Errors
/// Device errors.
pub(in crate::ops) fn orthogonalize(
    rec: &mut Recorder<'_>,
    adapter: &Adapter,
    method: Method,
    batch: &Batch<'_>,
    w: &mut Buffer<f32>,
    state: &mut Buffer<[u32; 4]>,
) -> Result<()> {
    match method {
        Method::Workgroup(class) => in_workgroups(rec, adapter, class, batch, w, state),
        Method::Register(register) => register.orthogonalize(rec, batch, w, state),
        Method::Blocked(columns) => blocked::orthogonalize(rec, adapter, columns, batch, w, state),
    }
}

fn in_workgroups(
    rec: &mut Recorder<'_>,
    adapter: &Adapter,
    class: SizeClass,
    batch: &Batch<'_>,
    w: &mut Buffer<f32>,
    state: &mut Buffer<[u32; 4]>,
) -> Result<()> {
    let Batch { table, matrices } = batch;
    let sweeps = sweeps_of_one_dispatch(class, adapter.loop_budget);
    let dispatches = MAX_SWEEPS.div_ceil(sweeps);
    // About seven sweeps over n^2 / 2 pairs of columns, with three inner products and one rotation for each pair.
    let work = 7.0 * f64::from(class.capacity).powi(3) / 2.0 * 12.0;
    for range in rec.ranges(matrices.end - matrices.start, work) {
        for _ in 0..dispatches {
            let params = Sweeps { first: matrices.start + range.first, sweeps };
            let kernel = Workgroup { params, table, w, state };
            // The dispatches after the last sweep have nothing to do. The estimate is spread evenly over all
            // dispatches, so that the total estimate is right.
            let flops = range.flops / f64::from(dispatches);
            rec.dispatch(&kernel, &class.overrides(), range.grid(), flops)?;
        }
    }
    Ok(())
}

/// Returns how many sweeps one dispatch may make within the adapter's loop budget. Half of the loop budget is left for
/// the loops of the kernel outside the sweeps.
fn sweeps_of_one_dispatch(class: SizeClass, loop_budget: u32) -> u32 {
    let quads = class.capacity.div_ceil(4);
    let round = 2 * quads.div_ceil(class.lanes) + class.lanes + 1;
    (loop_budget / 2 / (class.capacity * round)).clamp(1, MAX_SWEEPS / 2)
}

#[cfg(test)]
mod tests {
    use super::{MAX_SWEEPS, SIZE_CLASSES, sweeps_of_one_dispatch};

    /// lavapipe silently cuts off the loops of an invocation after 65,535 iterations in total. The counts follow
    /// workgroup.wgsl: the columns are loaded and stored, and each round of a sweep loops twice over the part of a
    /// column that a lane holds, and once over the lanes.
    #[test]
    fn the_loops_of_every_size_class_fit_lavapipe() {
        const BUDGET: u32 = 65_535;
        for class in SIZE_CLASSES {
            let (n, quads) = (class.capacity, class.capacity.div_ceil(4));
            let sweeps = sweeps_of_one_dispatch(class, BUDGET);
            let moving = 2 * 5 * (n * quads).div_ceil(class.pairs() * class.lanes);
            let sweep = 1 + n * (1 + 2 * quads.div_ceil(class.lanes) + class.lanes);
            let total = moving + sweeps * sweep;
            assert!(
                (1..=MAX_SWEEPS).contains(&sweeps) && total <= BUDGET,
                "{class:?}: {sweeps} sweeps, {total} iterations"
            );
            // A device with a larger budget makes at least as many sweeps in a dispatch.
            assert!(sweeps_of_one_dispatch(class, 1 << 24) >= sweeps);
        }
    }
}
