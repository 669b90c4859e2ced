//! Computes transforms on the CPU: many lines of some lengths in SIMD lanes, and all others one by one.
//! The lines are distributed over all threads.

mod across;
mod chirp;
mod cosine;
mod in_lanes;
mod large;
mod lengths;
mod line;
mod moves;
mod passes;
mod planes;
mod plans;
mod power;
mod prime;
mod rader;
mod raising;
mod real;
mod reals;
mod strided;
mod sums;

use super::cosine::Wave;
use super::gpu::Kind;
use crate::array::{Real, Scalar};
use crate::ops::convert::tiny::Lines;
use crate::parallel;
pub(super) use cosine::roots_of;
use in_lanes::Complexes;
use lengths::Vectors;
pub(super) use line::transformed_in_f64;
pub(in crate::ops) use line::{LinePlan, Planned};
use num_complex::Complex;
use planes::Planes;
pub(super) use plans::Plans;
pub(in crate::ops) use power::{Memory, PowerInLanes};
use raising::Raising;
pub(in crate::ops) use real::{Memory as LinesMemory, RealLine};
use reals::Reals;
use std::sync::Arc;
use strided::{Room, Strip};

/// The default number of elements in a task of one thread: a few microseconds of work.
const TASK: usize = 1 << 12;

/// Returns the name of the algorithm that transforms lines of length `n`, in f32 or in f64.
pub(super) fn algorithm(kind: Kind, n: usize, lines: Lines, in_f32: bool) -> &'static str {
    let vectors = Vectors::new(in_f32);
    let in_lanes = match kind {
        Kind::Forward | Kind::Inverse => lengths::takes(n, lines, vectors),
        Kind::RealForward => lengths::takes_reals(n, lines, vectors),
        Kind::RealInverse => false,
    };
    // Lines of an even number of reals are lines of half as many complex numbers.
    let halved = n.is_multiple_of(2) && matches!(kind, Kind::RealForward | Kind::RealInverse);
    match in_lanes {
        true => "one line per SIMD lane",
        false => line::algorithm(if halved { n / 2 } else { n }, in_f32),
    }
}

/// The precisions, with their transforms. The transforms are methods of concrete types, so that they are compiled once
/// in this crate and not again in every crate that calls them.
pub(super) trait Working: Planned {
    /// Computes complex transforms; the inverse divides by the length.
    fn complex(
        plans: &Plans<Self>,
        kind: Kind,
        n: usize,
        lines: Lines,
        from: &[Complex<Self>],
        to: &mut [Complex<Self>],
    );
    /// Transforms matrices, whose contiguous lines and lines across them have the lengths `sides`, along both axes.
    fn matrices(plans: &Plans<Self>, kind: Kind, sides: [usize; 2], from: &[Complex<Self>], to: &mut [Complex<Self>]);
    /// Transforms reals to half of a spectrum. If there is a window, each line is first multiplied by the window.
    fn forward(
        plans: &Plans<Self>,
        n: usize,
        lines: Lines,
        from: &[Self],
        window: Option<&[Self]>,
        to: &mut [Complex<Self>],
    );
    /// Transforms half of a spectrum to reals and divides by the length.
    fn backward(plans: &Plans<Self>, n: usize, lines: Lines, from: &[Complex<Self>], to: &mut [Self]);
    /// Computes cosine and sine transforms.
    fn cosine(plans: &Plans<Self>, wave: &Wave, n: usize, lines: Lines, from: &[Self], to: &mut [Self]);
}

macro_rules! working {
    ($($real:ty),+) => { $(impl Working for $real {
        fn complex(
            plans: &Plans<Self>,
            kind: Kind,
            n: usize,
            lines: Lines,
            from: &[Complex<Self>],
            to: &mut [Complex<Self>],
        ) {
            complex(plans, kind, n, lines, from, to);
        }
        fn matrices(
            plans: &Plans<Self>,
            kind: Kind,
            sides: [usize; 2],
            from: &[Complex<Self>],
            to: &mut [Complex<Self>],
        ) {
            matrices(plans, kind, sides, from, to);
        }
        fn forward(
            plans: &Plans<Self>,
            n: usize,
            lines: Lines,
            from: &[Self],
            window: Option<&[Self]>,
            to: &mut [Complex<Self>],
        ) {
            if lengths::takes_reals(n, lines, Vectors::new(<Self as Scalar>::ON_DEVICE)) {
                let engine = Reals { n, plan: plans.real_in_lanes(n), window };
                every(&engine, <Self as Scalar>::ON_DEVICE, lines, from, to);
            } else {
                let engine = Forward { plan: plans.real_forward(n), window };
                every(&engine, <Self as Scalar>::ON_DEVICE, lines, from, to);
            }
        }
        fn backward(plans: &Plans<Self>, n: usize, lines: Lines, from: &[Complex<Self>], to: &mut [Self]) {
            let engine = Backward { plan: plans.real_inverse(n), scale: <Self as Real>::from_f64(1.0 / n as f64) };
            every(&engine, <Self as Scalar>::ON_DEVICE, lines, from, to);
        }
        fn cosine(plans: &Plans<Self>, wave: &Wave, n: usize, lines: Lines, from: &[Self], to: &mut [Self]) {
            cosine::transform(plans, wave, n, lines, from, to);
        }
    })+ };
}
working!(f32, f64);

/// The elements of lines.
trait Element: bytemuck::Pod + Send + Sync {}

impl<T: bytemuck::Pod + Send + Sync> Element for T {}

/// A transform of lines.
trait Engine<I: Element, O: Element>: Sync + Sized {
    /// Returns the numbers of elements of a line before and after the transform.
    fn lengths(&self) -> [usize; 2];
    /// Returns the number of lines in a task of one thread.
    fn lines(&self) -> usize {
        (TASK / self.lengths().into_iter().max().unwrap_or(1)).max(1)
    }
    /// The scratch memory of one thread.
    type Scratch: Send;
    fn scratch(&self) -> Self::Scratch;
    /// Transforms the contiguous lines in `from` and writes the results to `to`.
    fn run(&self, from: &[I], to: &mut [O], scratch: &mut Self::Scratch);
    /// Transforms the lines of a strip. Unless the engine has a better way, they become contiguous.
    fn across(&self, strip: Strip<'_, '_, I, O>, room: &mut Room<I, O>, scratch: &mut Self::Scratch) {
        strided::turned(self, strip, room, scratch);
    }
    /// Transforms the lines of matrices whose rows have `inner` elements, on one thread.
    fn matrices(&self, inner: usize, from: &[I], to: &mut [O], room: &mut Room<I, O>, scratch: &mut Self::Scratch) {
        strided::one_by_one(self, inner, from, to, room, scratch);
    }
}

struct Whole<F> {
    plan: Arc<dyn LinePlan<F>>,
    /// The factor 1/n by which an inverse transform of length n is multiplied; `None` for a forward transform.
    scale: Option<F>,
}

impl<F: Working> Engine<Complex<F>, Complex<F>> for Whole<F> {
    type Scratch = Vec<Complex<F>>;

    fn lengths(&self) -> [usize; 2] {
        [self.plan.len(); 2]
    }

    fn scratch(&self) -> Self::Scratch {
        zeroed(self.plan.scratch_len())
    }

    fn run(&self, from: &[Complex<F>], to: &mut [Complex<F>], scratch: &mut Self::Scratch) {
        self.plan.run(from, to, scratch);
        if let Some(scale) = self.scale {
            to.iter_mut().for_each(|z| *z *= scale);
        }
    }
}

struct Forward<'a, F> {
    plan: Arc<RealLine<F>>,
    window: Option<&'a [F]>,
}

impl<F: Working> Engine<F, Complex<F>> for Forward<'_, F> {
    type Scratch = (Vec<F>, real::Memory<F>);

    fn lengths(&self) -> [usize; 2] {
        [self.plan.len(), self.plan.len() / 2 + 1]
    }

    fn scratch(&self) -> Self::Scratch {
        (zeroed(self.plan.len()), self.plan.memory())
    }

    fn run(&self, from: &[F], to: &mut [Complex<F>], (line, memory): &mut Self::Scratch) {
        let [before, after] = self.lengths();
        for (from, to) in from.chunks_exact(before).zip(to.chunks_exact_mut(after)) {
            let Some(window) = self.window else {
                self.plan.forward(from, to, memory);
                continue;
            };
            line.iter_mut().zip(from.iter().zip(window)).for_each(|(line, (x, w))| *line = *x * *w);
            self.plan.forward(line, to, memory);
        }
    }
}

struct Backward<F> {
    plan: Arc<RealLine<F>>,
    scale: F,
}

impl<F: Working> Engine<Complex<F>, F> for Backward<F> {
    type Scratch = real::Memory<F>;

    fn lengths(&self) -> [usize; 2] {
        [self.plan.len() / 2 + 1, self.plan.len()]
    }

    fn scratch(&self) -> Self::Scratch {
        self.plan.memory()
    }

    fn run(&self, from: &[Complex<F>], to: &mut [F], memory: &mut Self::Scratch) {
        let [before, after] = self.lengths();
        for (from, to) in from.chunks_exact(before).zip(to.chunks_exact_mut(after)) {
            self.plan.backward(from, to, self.scale, memory);
        }
    }
}

fn complex<F: Working>(
    plans: &Plans<F>,
    kind: Kind,
    n: usize,
    lines: Lines,
    from: &[Complex<F>],
    to: &mut [Complex<F>],
) {
    if lengths::takes(n, lines, Vectors::new(F::ON_DEVICE)) {
        let scale = inverse_scale(kind, n);
        return every(&Complexes { plan: plans.in_lanes(n), scale }, F::ON_DEVICE, lines, from, to);
    }
    let plan = if matches!(kind, Kind::Inverse) { plans.inverse(n) } else { plans.forward(n) };
    every(&Whole { plan, scale: inverse_scale(kind, n) }, F::ON_DEVICE, lines, from, to);
}

fn matrices<F: Working>(
    plans: &Plans<F>,
    kind: Kind,
    [rows, cols]: [usize; 2],
    from: &[Complex<F>],
    to: &mut [Complex<F>],
) {
    let (n, batch) = (rows * cols, from.len() / (rows * cols));
    if planes::takes(rows, cols, batch) {
        let engine = Planes { rows: plans.in_lanes(rows), cols: plans.in_lanes(cols), scale: inverse_scale(kind, n) };
        return every(&engine, F::ON_DEVICE, Lines { inner: 1, outer: batch }, from, to);
    }
    let mut half = zeroed(from.len());
    complex(plans, kind, rows, Lines { inner: 1, outer: cols * batch }, from, &mut half);
    complex(plans, kind, cols, Lines { inner: rows, outer: batch }, &half, to);
}

/// Returns the factor 1/n by which an inverse transform of n elements is multiplied; `None` for a forward transform.
fn inverse_scale<F: Working>(kind: Kind, n: usize) -> Option<F> {
    matches!(kind, Kind::Inverse).then(|| <F as Real>::from_f64(1.0 / n as f64))
}

/// Transforms all lines. `in_f32` says that the numbers are f32, whose tiny lines are scaled.
fn every<I: Element, O: Element, E: Engine<I, O>>(engine: &E, in_f32: bool, lines: Lines, from: &[I], to: &mut [O]) {
    by_layout(&Raising { engine, in_f32 }, lines, from, to);
}

/// Transforms all lines, in parallel if there is enough work. Every element of `to` is written.
fn by_layout<I: Element, O: Element, E: Engine<I, O>>(engine: &E, lines: Lines, from: &[I], to: &mut [O]) {
    if to.is_empty() {
        return;
    }
    if lines.inner == 1 {
        return side_by_side(engine, from, to);
    }
    strided::run(engine, lines, from, to);
}

/// Transforms lines that are contiguous in memory, in parallel if there is enough work.
fn side_by_side<I: Element, O: Element, E: Engine<I, O>>(engine: &E, from: &[I], to: &mut [O]) {
    let [before, after] = engine.lengths();
    let lines = engine.lines();
    if to.len() <= lines * after {
        return engine.run(from, to, &mut engine.scratch());
    }
    let tasks = to.chunks_mut(lines * after).zip(from.chunks(lines * before));
    parallel::for_each_with(tasks, || engine.scratch(), |scratch, _, (to, from)| engine.run(from, to, scratch));
}

fn zeroed<X: bytemuck::Pod>(len: usize) -> Vec<X> {
    bytemuck::allocation::zeroed_vec(len)
}
