//! The polynomials of a batch in the form that the kernels read. Each problem has its own number of steps.

use crate::ops::eigsh::space::{FilterPlan, Step};

/// The plans of all problems. Each table has, for each step, one vector of four coefficients for each problem.
pub(super) struct Schedule {
    /// The number of steps of the longest plan.
    pub(super) degree: usize,
    /// The first column that any plan filters.
    pub(super) from: usize,
    pub(super) steps: Vec<[f32; 4]>,
    /// Two tables that tell which problems are deflated after each step: the first table for Y, the second for
    /// Y_before.
    pub(super) deflations: [Vec<[f32; 4]>; 2],
}

impl Schedule {
    /// Builds the tables. A plan that is shorter than the longest one has an additional step that keeps its result.
    /// The two blocks are exchanged after every step, so both must hold the result. After the additional step, the
    /// problem of that plan is skipped while the other problems continue.
    pub(super) fn of(plans: &[Option<FilterPlan>]) -> Self {
        let degree = plans.iter().flatten().map(|own| own.steps.len()).max().unwrap_or(0);
        let from = plans.iter().flatten().map(|own| own.from).min().unwrap_or(0);
        let table = |of: &dyn Fn(usize, &FilterPlan) -> [f32; 4]| {
            let row = |i: usize| plans.iter().map(move |own| own.as_ref().map_or([0.0; 4], |own| of(i, own)));
            (0..degree).flat_map(row).collect()
        };
        #[expect(clippy::cast_precision_loss, reason = "columns are few")]
        let place = |own: &FilterPlan| (1 + own.from) as f32;
        let steps = table(&|i, own| match own.steps.get(i) {
            Some(&step) => factors(step, place(own)),
            None if i == own.steps.len() => factors(Step::KEEP, place(own)),
            None => [0.0; 4],
        });
        let due =
            |i: usize, own: &FilterPlan| (i + 1).is_multiple_of(own.deflate_every.max(1)) && i + 1 < own.steps.len();
        let who = |own: &FilterPlan, yes: bool| [0.0, 0.0, 0.0, if yes { place(own) } else { 0.0 }];
        let deflations = [
            table(&|i, own| who(own, due(i, own) || i + 1 == own.steps.len())),
            table(&|i, own| who(own, due(i, own))),
        ];
        Self { degree, from, steps, deflations }
    }
}

/// Returns a step's coefficients as a kernel reads them. `place` is 1 plus the first column that is filtered.
fn factors(Step { product, own, before }: Step, place: f32) -> [f32; 4] {
    #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
    let [product, own, before] = [product, own, before].map(|x: f64| x as f32);
    [product, own, before, place]
}
