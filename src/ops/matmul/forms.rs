//! Selects the kernel for a product, and the length of the parts into which its sums are cut. Both depend only on the
//! shape of one product, so that the bits of one result do not depend on the rest of the batch.

use super::kernels::{DIRECT, ORDERS, ROOM, SMALL_SUBGROUP_SIZES, SUBGROUP_SIZES, WIDTH, is_rolled};
use crate::device::Adapter;
use crate::forms::{KernelForm, MatmulForm};
use crate::shape::to_u32;

/// The maximum number of rows, and of columns, of each result if several results share a workgroup.
const TINY: u32 = 32;
/// The maximum number of terms in each sum if several results share a workgroup. The number is limited because one
/// workgroup adds the terms in sequence.
const TINY_TERMS: u32 = 512;
/// The minimum number of workgroups that a result should have: about the number of multiprocessors of a large device
/// (132 on an H200). If there are fewer workgroups, smaller tiles are used. If there are still too few, sums are cut.
const BUSY: u32 = 128;
/// The minimum number of terms in a part of a sum. With this number, a workgroup that computes one part of the sums of
/// a 64 x 64 tile writes one element for every 16 elements that it reads.
const PART: u32 = 512;

/// A form of the kernels for products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Several products per workgroup. `order` is the order of both factors if they are square and there is a variant
    /// for that order, otherwise 0.
    Tiny { order: u32 },
    /// One tile per workgroup, of `8 side` rows and columns. Each step of the kernel's loop adds `depth` terms, with a
    /// loop over the terms if `rolled`.
    Tile { side: u32, depth: u32, rolled: bool },
    /// One tile per invocation without workgroup memory, for adapters on a CPU. A tile has 16 rows if `tall` and 16
    /// columns if `wide`, otherwise 8.
    Direct { tall: bool, wide: bool },
    /// One tile per workgroup, of `4 fragment` rows and columns. Four subgroups of `lanes` lanes compute the tile on
    /// matrix units of `fragment x fragment`.
    Cooperative { fragment: u32, lanes: u32 },
}

/// The plan for the products of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) form: Form,
    /// The number of terms in a part of a sum. If there is more than one part, `span` is a multiple of the number of
    /// terms per step.
    pub(super) span: u32,
    /// The number of matrices per workgroup.
    pub(super) together: u32,
    /// The number of terms that one step of the kernel's loop adds.
    pub(super) depth: u32,
}

impl Plan {
    /// Plans how an adapter multiplies op(A), `m x k`, by op(B), `k x n`. `half` says whether the elements are f16.
    /// Returns `None` if none of the allowed forms fits.
    pub(super) fn of(adapter: &Adapter, m: u32, n: u32, k: u32, half: bool) -> Option<Self> {
        adapter
            .form(size_of(m, n, k), |may| Self::within(adapter, [m, n, k], half, &|form| may(KernelForm::Matmul(form))))
    }

    fn within(adapter: &Adapter, [m, n, k]: [u32; 3], half: bool, may: &dyn Fn(MatmulForm) -> bool) -> Option<Self> {
        let limits = &adapter.limits;
        let has = |bytes: u32, invocations: u32| {
            limits.workgroup_storage >= bytes && limits.workgroup_invocations >= invocations
        };
        if half && adapter.prefers_matrix_units(size_of(m, n, k)) {
            return Self::on_matrix_units(adapter, [m, n, k], has);
        }
        let fours = k > 0 && [m, n, k].iter().all(|side| side.is_multiple_of(4));
        if adapter.software && !half && fours && may(MatmulForm::Direct) {
            let form = Form::Direct { tall: m > 8, wide: n > 8 };
            return Some(Self { form, span: span(adapter, m, n, k, 8, 8), together: 1, depth: 4 });
        }
        if m.max(n) <= TINY && k <= TINY_TERMS && may(MatmulForm::Tiny) && has(16 << 10, WIDTH) {
            let (down, across) = (m.div_ceil(4).max(1), n.div_ceil(4).max(1));
            let together = WIDTH / (down * across);
            let depth = (ROOM / (together * down.max(across))).clamp(1, k.max(1));
            let order = if m == n && n == k && ORDERS.contains(&m) { m } else { 0 };
            return Some(Self { form: Form::Tiny { order }, span: k.max(1), together, depth });
        }
        let large = may(MatmulForm::Tile128) && has(16 << 10, 256);
        let small = may(MatmulForm::Tile64) && has(8 << 10, 64);
        let (side, depth) = match (large, small) {
            (true, _) if !small || tiles(m, n, 16) >= BUSY.into() => (16, if has(32 << 10, 256) { 16 } else { 8 }),
            (_, true) => (8, 8),
            _ => return None,
        };
        let span = span(adapter, m, n, k, side, depth);
        let rolled = is_rolled(adapter.few_registers, depth);
        Some(Self { form: Form::Tile { side, depth, rolled }, span, together: 1, depth })
    }

    fn on_matrix_units(adapter: &Adapter, shape: [u32; 3], has: impl Fn(u32, u32) -> bool) -> Option<Self> {
        let fragment = adapter.cooperative?;
        let teams = if fragment == 8 { &SMALL_SUBGROUP_SIZES[..] } else { &SUBGROUP_SIZES };
        let lanes = adapter.subgroup().filter(|lanes| teams.contains(lanes) && has(16 << 10, 4 * lanes))?;
        let form = Form::Cooperative { fragment, lanes };
        let span = span_of(adapter, shape, fragment / 2, 32, cooperative_loops(fragment, lanes));
        Some(Self { form, span, together: 1, depth: 32 })
    }

    /// Returns the name of the form.
    pub(super) fn name(&self) -> &'static str {
        let form = match self.form {
            Form::Tiny { .. } => MatmulForm::Tiny,
            Form::Tile { side: 16, .. } => MatmulForm::Tile128,
            Form::Tile { .. } => MatmulForm::Tile64,
            Form::Direct { .. } => MatmulForm::Direct,
            Form::Cooperative { .. } => MatmulForm::Cooperative,
        };
        form.name()
    }

    /// Returns the number of parts of a sum of `k` terms.
    pub(super) fn parts(&self, k: u32) -> u32 {
        k.div_ceil(self.span).max(1)
    }

    /// Returns whether raw sums are stored before results are computed, either because there are several parts or
    /// because two invocations would write to the same word of two f16.
    pub(super) fn through_sums(&self, m: u32, k: u32, half: bool) -> bool {
        self.parts(k) > 1 || half && !m.is_multiple_of(2)
    }

    /// Returns the number of workgroups of a batch.
    pub(super) fn units(&self, m: u32, n: u32, parts: u32, batch: u32) -> u32 {
        match self.form {
            Form::Tiny { .. } => batch.div_ceil(self.together),
            Form::Tile { side, .. } => Self::tiled(m, n, side, parts, batch),
            Form::Direct { tall, wide } => {
                let invocations = m.div_ceil(direct_side(tall)) * n.div_ceil(direct_side(wide));
                invocations.saturating_mul(parts).saturating_mul(batch).div_ceil(DIRECT)
            }
            Form::Cooperative { fragment, .. } => Self::tiled(m, n, fragment / 2, parts, batch),
        }
    }

    fn tiled(m: u32, n: u32, side: u32, parts: u32, batch: u32) -> u32 {
        to_u32(tiles(m, n, side)).saturating_mul(parts).saturating_mul(batch)
    }

    /// Returns the number of flops of a workgroup. Flops for elements beyond the edges of the matrix are included.
    pub(super) fn flops(&self, k: u32) -> f64 {
        match self.form {
            Form::Tiny { .. } => 2.0 * f64::from(16 * WIDTH) * f64::from(k.max(1)),
            Form::Tile { side, .. } => 128.0 * f64::from(side * side) * f64::from(self.span.min(k).max(1)),
            Form::Direct { tall, wide } => {
                2.0 * f64::from(DIRECT * direct_side(tall) * direct_side(wide)) * f64::from(self.span.min(k).max(1))
            }
            Form::Cooperative { fragment, .. } => {
                f64::from(32 * fragment * fragment) * f64::from(self.span.min(k).max(1))
            }
        }
    }
}

/// Returns the size of a product as the policy defines it: the cube root of the number of its multiplications.
fn size_of(m: u32, n: u32, k: u32) -> f64 {
    (f64::from(m) * f64::from(n) * f64::from(k)).cbrt()
}

/// Returns the number of rows, or of columns, of a tile of [`Form::Direct`].
fn direct_side(long: bool) -> u32 {
    if long { 16 } else { 8 }
}

/// Returns the number of tiles of `8 side` rows and columns.
fn tiles(m: u32, n: u32, side: u32) -> u64 {
    u64::from(m.div_ceil(8 * side)) * u64::from(n.div_ceil(8 * side))
}

/// Returns the number of terms in a part of a sum. The sums are cut into enough parts to keep the device busy, but only
/// the last part may have fewer than [`PART`] terms. No part exceeds the loop budget of a dispatch.
fn span(adapter: &Adapter, m: u32, n: u32, k: u32, side: u32, depth: u32) -> u32 {
    span_of(adapter, [m, n, k], side, depth, depth + 1)
}

/// Returns the number of terms in a part of a sum, if a step of `depth` terms takes `loops` iterations.
fn span_of(adapter: &Adapter, [m, n, k]: [u32; 3], side: u32, depth: u32, loops: u32) -> u32 {
    let wanted = u64::from(BUSY).div_ceil(tiles(m, n, side).max(1));
    let even = u32::try_from(u64::from(k).div_ceil(wanted)).unwrap_or(k);
    let most = most_steps(adapter.loop_budget, loops);
    even.max(PART).div_ceil(depth).min(most) * depth
}

/// Returns the maximum number of steps in a part, if each step takes `loops` iterations. The steps take at most half of
/// the loop budget, including one additional step that the kernel's loop makes.
fn most_steps(loop_budget: u32, loops: u32) -> u32 {
    (loop_budget / 2 / loops).max(2) - 1
}

/// Returns the number of loop iterations in a step on matrix units. The step loads 32 terms of both factors and
/// multiplies them.
fn cooperative_loops(fragment: u32, lanes: u32) -> u32 {
    1 + 2 * (32 * fragment).div_ceil(lanes) + 32 / fragment
}

#[cfg(test)]
mod tests {
    use super::{Form, PART, Plan, TINY_TERMS, cooperative_loops, most_steps};
    use crate::device::Adapter;
    use crate::ops::matmul::kernels::{ROOM, SMALL_SUBGROUP_SIZES, SUBGROUP_SIZES, WIDTH};
    use crate::ops::matmul::split::CHUNK;

    /// On adapters with few registers, the loop over eight terms is not unrolled.
    #[test]
    fn tiles_follow_the_registers_of_the_adapter() {
        let tile = |few_registers, kib: u32, n| {
            let mut adapter = Adapter::made_up();
            adapter.few_registers = few_registers;
            adapter.limits.workgroup_storage = kib << 10;
            Plan::of(&adapter, n, n, n, false).expect("a plan").form
        };
        let form = |side, depth, rolled| Form::Tile { side, depth, rolled };
        assert_eq!([64, 4096].map(|n| tile(false, 48, n)), [form(8, 8, false), form(16, 16, false)]);
        assert_eq!([64, 4096].map(|n| tile(true, 64, n)), [form(8, 8, true), form(16, 16, false)]);
        assert_eq!([64, 4096].map(|n| tile(true, 16, n)), [form(8, 8, true), form(16, 8, true)]);
    }

    /// Without a trial or a request, matrix units are not used. After a trial, products of f16 of the sizes for which
    /// they were faster use them. Products of f32 do not, and neither does an adapter without matrix units.
    #[test]
    fn matrix_units_follow_the_trial() {
        let mut adapter = Adapter::made_up();
        adapter.cooperative = Some(16);
        adapter.subgroup_size = [32, 32];
        adapter.features = vec!["subgroups", "matrix-units"];
        let on_units = |adapter: &Adapter, n, half| {
            let plan = Plan::of(adapter, n, n, n, half).expect("a plan");
            plan.form == Form::Cooperative { fragment: 16, lanes: 32 }
        };
        assert!(!on_units(&adapter, 1024, true));
        adapter.matrix_units = Some([256.0, 2048.0]);
        let found = [64, 256, 1024, 2048, 4096].map(|n| on_units(&adapter, n, true));
        assert_eq!(found, [false, true, true, true, false]);
        assert!(!on_units(&adapter, 1024, false));
        adapter.cooperative = None;
        assert!(!on_units(&adapter, 1024, true));
    }

    /// lavapipe silently ends the loops of an invocation after 65,535 iterations in total. This test counts the
    /// iterations as the kernels make them.
    #[test]
    fn the_loops_of_every_kernel_fit_lavapipe() {
        const BUDGET: u32 = 65_535;
        let loads = ROOM.div_ceil(WIDTH);
        // tiny.wgsl: each step loads and multiplies `depth` terms. The worst case is one term per step.
        for depth in [1, 2, 4, 8, 32] {
            assert!(TINY_TERMS.div_ceil(depth) * (1 + 2 * loads + depth) <= BUDGET);
        }
        // tile.wgsl: the loop over the steps, which takes one more step than there are, and in each of them the loop
        // over `depth` terms.
        for depth in [8, 16] {
            let most = most_steps(BUDGET, depth + 1);
            assert!((most + 1) * (1 + depth) <= BUDGET / 2 && most * depth > PART, "{depth}");
        }
        // direct.wgsl: four terms per iteration. The length of a part is computed as for tiles with eight terms per
        // step.
        let most = 8 * most_steps(BUDGET, 8 + 1);
        assert!(most.div_ceil(4) <= BUDGET / 2 && most > PART);
        // cooperative.wgsl: the loop over the steps, and finally the loop over the elements of the fragments.
        for (fragment, lanes) in
            SUBGROUP_SIZES.map(|lanes| (16, lanes)).into_iter().chain(SMALL_SUBGROUP_SIZES.map(|lanes| (8, lanes)))
        {
            let loops = cooperative_loops(fragment, lanes);
            let most = most_steps(BUDGET, loops);
            assert!(most * loops + 2 * fragment * fragment + 4 <= BUDGET && most * 32 > PART, "{fragment} {lanes}");
        }
        // split.wgsl and largest.wgsl: 32 invocations share a line. One loop is over its chunks, the other over the
        // terms of one chunk.
        assert!((u32::MAX.div_ceil(CHUNK) / 32 + 1) + 5 + CHUNK / 32 <= BUDGET && CHUNK.is_multiple_of(2));
        let plan = Plan { form: Form::Tile { side: 8, depth: 8, rolled: false }, span: 512, together: 1, depth: 8 };
        assert_eq!((plan.parts(0), plan.parts(512), plan.parts(513)), (1, 1, 2));
    }
}
