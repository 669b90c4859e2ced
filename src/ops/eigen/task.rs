//! A batch of decompositions as the policy sees it.

use super::{cpu, gpu};
use crate::array::Field;
use crate::context::Context;
use crate::device::Gpu;
use crate::ops::operation::{Operation, Precision};
use crate::policy::{Choice, Family, Workload};
use crate::shape::Layout;

/// Returns where [`super::eigh_ragged`] would run on matrices of the orders `orders`, and why.
#[must_use]
pub fn choose_eigh<T: Field>(ctx: &Context, orders: &[u32], resident: bool) -> Choice {
    choose::<T>(ctx, Family::Eigh, orders, resident)
}

/// Returns where [`super::eigvalsh`] would run on matrices of the orders `orders`, and why.
#[must_use]
pub fn choose_eigvalsh<T: Field>(ctx: &Context, orders: &[u32], resident: bool) -> Choice {
    choose::<T>(ctx, Family::Eigvalsh, orders, resident)
}

fn choose<T: Field>(ctx: &Context, family: Family, orders: &[u32], resident: bool) -> Choice {
    Task::of::<T>(family, orders, resident).choose(ctx)
}

/// A batch of decompositions, described for the cost model.
pub(super) struct Task<'a> {
    pub family: Family,
    precision: Precision,
    pub orders: &'a [u32],
    pub resident: bool,
    /// Whether the elements are complex, and products of them four of real numbers.
    complex: bool,
}

impl<'a> Task<'a> {
    pub(super) fn of<T: Field>(family: Family, orders: &'a [u32], resident: bool) -> Self {
        let precision = if T::IS_COMPLEX { Precision::on_cpu::<T>() } else { Precision::of::<T>() };
        Self { family, precision, orders, resident, complex: T::IS_COMPLEX }
    }
}

impl Operation for Task<'_> {
    fn name(&self) -> &'static str {
        if self.family == Family::Eigvalsh { "eigvalsh" } else { "eigh" }
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn workload(&self, ctx: &Context) -> Workload {
        let mut work = Workload { family: self.family, items: self.orders.len() as f64, ..Workload::default() };
        let (mut sizes, mut given, mut made) = (0.0, 0.0, 0.0);
        for &order in self.orders {
            let n = f64::from(order);
            let flops = cpu::flops(order) * if self.complex { 4.0 } else { 1.0 };
            sizes += n * flops;
            work.cpu_flops += flops;
            work.gpu_flops += gpu::flops(order);
            given += 4.0 * n * n;
            made += 4.0 * if self.family == Family::Eigvalsh { n } else { n * n };
        }
        // This is the mean order, weighted by work. In a batch of unequal orders, the orders with most of the work
        // therefore dominate.
        work.size = if work.cpu_flops > 0.0 { sizes / work.cpu_flops } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an order, which was a u32")]
        let order = work.size.round() as u32;
        let (form, dispatches) = ctx.gpu().map_or(("", 0.0), |gpu| gpu::form(gpu, order));
        (work.dispatches, work.algorithms) = (dispatches, [cpu::algorithm(order, self.orders.len()), form]);
        work.transferring(self.resident, given, made)
    }

    fn fits(&self, gpu: &Gpu, _: u64) -> bool {
        self.orders.iter().all(|&order| order <= gpu::largest_order(gpu))
    }

    fn waits(&self, gpu: &Gpu, budget: u64) -> bool {
        let layout = Layout::new(self.orders.iter().copied());
        layout.len() as u64 > gpu::elements_within(gpu, &layout, budget)
    }
}

/// Returns the largest order that the device's kernels solve; 0 without a device.
#[must_use]
pub fn device_order_limit(ctx: &Context) -> u32 {
    ctx.gpu().map_or(0, |gpu| gpu::largest_order(gpu))
}
