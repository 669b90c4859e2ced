//! Transforms on the device: selects the passes with their strides and tables, and records them.

use super::kernels::{
    FromReal, Pass, ToReal, Transform, Tuning, TwoFromReal, TwoToReal, TwoTransforms, Unfold, Unfolding, digits, flags,
    variant,
};
use super::plan::{FftPlan, Method, Stages};
use super::tables::{Offsets, tables};
use crate::device::{Buffer, Gpu, Grid, Recorder};
use crate::error::Result;
use crate::ops::convert::tiny::Lines;
use crate::shape::to_u32;

/// The kind of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Complex to complex.
    Forward,
    /// The inverse, complex to complex, divided by the length.
    Inverse,
    /// Reals to half of a spectrum.
    RealForward,
    /// Half of a spectrum to reals, divided by the length.
    RealInverse,
}

impl Kind {
    pub(super) fn is_real(self) -> bool {
        matches!(self, Self::RealForward | Self::RealInverse)
    }

    /// Returns the numbers of elements along the axis before and after a transform of this length.
    pub(super) fn lengths(self, length: usize) -> [usize; 2] {
        let half = length / 2 + 1;
        match self {
            Self::Forward | Self::Inverse => [length, length],
            Self::RealForward => [length, half],
            Self::RealInverse => [half, length],
        }
    }

    /// Returns the number of 32-bit words of an element before and after the transform.
    pub(super) fn words(self) -> [usize; 2] {
        match self {
            Self::Forward | Self::Inverse => [2, 2],
            Self::RealForward => [1, 2],
            Self::RealInverse => [2, 1],
        }
    }
}

/// Records the transforms of all lines.
///
/// # Errors
/// Device errors.
pub(super) fn transform(
    gpu: &Gpu,
    plan: &FftPlan,
    kind: Kind,
    lines: Lines,
    input: &Buffer<f32>,
    window: Option<&Buffer<f32>>,
) -> Result<Buffer<f32>> {
    let constants = gpu.constant(&key(plan), || tables(plan))?;
    let mut rec = gpu.record();
    let [before, after] = kind.lengths(plan.length());
    let count = lines.inner * lines.outer;
    let mut output: Buffer<f32> = rec.array(after * count * kind.words()[1])?;
    if count == 0 {
        return Ok(output);
    }
    let tuning = Tuning::on(gpu.adapter(), plan.length());
    let job = Job { plan, kind, lines, tables: &constants, at: Offsets::of(plan), before, after, tuning };
    job.record(&mut rec, input, window, &mut output)?;
    Ok(output)
}

/// Returns the key of a plan's tables among the device's constants.
fn key(plan: &FftPlan) -> [u64; 3] {
    [0x00ff_f7ab, plan.length() as u64, u64::from(plan.is_real())]
}

/// The layout of the input or the output of a pass.
#[derive(Clone, Copy)]
struct End {
    /// The distances in the array from one line to the next, from one element along the axis to the next, and from one
    /// block of [`Lines`] to the next.
    line: usize,
    step: usize,
    block: usize,
    /// The number of elements along the axis that exist in the input, or that are wanted in the output.
    len: usize,
    flags: u32,
    scale: f64,
}

struct Job<'a> {
    plan: &'a FftPlan,
    kind: Kind,
    lines: Lines,
    tables: &'a Buffer<[f32; 2]>,
    at: Offsets,
    before: usize,
    after: usize,
    tuning: Tuning,
}

/// One pass, without its input and output layouts.
struct Step<'a> {
    stages: &'a Stages,
    twiddles: usize,
    order: usize,
    /// The number of transforms in one line. It is 1 if the transform takes one pass. In two passes, it is the factor
    /// of the length that this pass does not transform.
    digit: usize,
    /// The distances in the input between adjacent elements of one transform, and between adjacent transforms of one
    /// line, counted in elements of the line.
    before: [usize; 2],
    /// The same distances in the output.
    after: [usize; 2],
    flags: u32,
}

/// The input of a pass.
#[derive(Clone, Copy)]
enum Source<'a> {
    Complex(&'a Buffer<f32>),
    Real(&'a Buffer<f32>, Option<&'a Buffer<f32>>),
}

impl Job<'_> {
    /// Returns the input and output layouts of the whole transform.
    fn ends(&self) -> [End; 2] {
        let (inner, points, length) = (self.lines.inner, self.plan.points(), self.plan.length());
        let in_pairs = self.plan.in_pairs();
        let complex =
            |axis: usize, len, flags| End { line: 1, step: inner, block: inner * axis, len, flags, scale: 1.0 };
        let real = |axis: usize| End {
            step: if in_pairs { 2 * inner } else { inner },
            ..complex(axis, points, if in_pairs { flags::PAIRS } else { 0 })
        };
        let [from, to] = match self.kind {
            Kind::Forward => [complex(self.before, points, 0), complex(self.after, points, 0)],
            Kind::Inverse => {
                [complex(self.before, points, flags::CONJUGATE_IN), complex(self.after, points, flags::CONJUGATE_OUT)]
            }
            Kind::RealForward => [real(self.before), complex(self.after, points.min(self.after), 0)],
            Kind::RealInverse => {
                let half = if in_pairs { flags::FOLD } else { flags::MIRROR };
                let to = real(self.after);
                [
                    complex(self.before, points, flags::CONJUGATE_IN | half),
                    End { flags: to.flags | flags::CONJUGATE_OUT, ..to },
                ]
            }
        };
        let scale = if to.flags & flags::CONJUGATE_OUT == 0 { 1.0 } else { 1.0 / length as f64 };
        [from, End { scale, ..to }]
    }

    fn record(
        &self,
        rec: &mut Recorder<'_>,
        input: &Buffer<f32>,
        window: Option<&Buffer<f32>>,
        output: &mut Buffer<f32>,
    ) -> Result<()> {
        let [from, mut to] = self.ends();
        let source = match self.kind {
            Kind::RealForward => Source::Real(input, window),
            _ => Source::Complex(input),
        };
        let unfolds = self.kind == Kind::RealForward && self.plan.in_pairs();
        if !unfolds {
            return self.passes(rec, source, [from, to], output);
        }
        if self.plan.unfolds_inside() {
            to.flags |= flags::UNFOLD;
            return self.passes(rec, source, [from, to], output);
        }
        // Transform the pairs first, then unfold their spectra.
        let (Lines { inner, outer }, h) = (self.lines, self.plan.points());
        let mut pairs = rec.array(2 * inner * h * outer)?;
        to.block = inner * h;
        self.passes(rec, source, [from, to], &mut pairs)?;
        let count = inner * (h + 1) * outer;
        let params =
            Unfolding { count: to_u32(count), inner: to_u32(inner), h: to_u32(h), folds: to_u32(self.at.folds) };
        let mut output = output.cast_mut();
        let kernel = Unfold { params, tables: self.tables, input: &pairs.cast_ref(), output: &mut output };
        rec.dispatch(&kernel, &[], Grid::Invocations(to_u32(count)), 10.0 * count as f64)
    }

    /// Records the passes of the complex transforms.
    fn passes(
        &self,
        rec: &mut Recorder<'_>,
        source: Source<'_>,
        [from, to]: [End; 2],
        output: &mut Buffer<f32>,
    ) -> Result<()> {
        let (inner, outer) = (self.lines.inner, self.lines.outer);
        let between =
            |axis: usize| End { line: 1, step: inner, block: inner * axis, len: usize::MAX, flags: 0, scale: 1.0 };
        let one = |stages, flags| self.step(stages, 0, flags);
        match self.plan.method() {
            Method::OnePass(stages) => self.pass(rec, &one(stages, 0), source, [from, to], output),
            Method::Chirp(stages) => {
                let chirped = flags::TWICE | flags::CHIRP_IN | flags::CHIRP_OUT | flags::CONJUGATE_FIRST;
                self.pass(rec, &one(stages, chirped), source, [from, to], output)
            }
            Method::TwoPasses(first, second) => {
                let through = between(self.plan.points());
                let mut turned = rec.array(2 * inner * self.plan.points() * outer)?;
                self.pass(rec, &self.columns(first, second, 0), source, [from, through], &mut turned)?;
                let source = Source::Complex(&turned);
                self.pass(rec, &self.rows(first, second, 0), source, [through, to], output)
            }
            Method::LongChirp(first, second) => {
                let padded = first.length() * second.length();
                let through = between(padded);
                let mut turned = rec.array(2 * inner * padded * outer)?;
                let mut filtered = rec.array(2 * inner * padded * outer)?;
                let columns = self.columns(first, second, flags::CHIRP_IN);
                self.pass(rec, &columns, source, [from, through], &mut turned)?;
                let conjugated = End { flags: flags::CONJUGATE_OUT, ..through };
                let rows = self.rows(first, second, flags::FILTER);
                self.pass(rec, &rows, Source::Complex(&turned), [through, conjugated], &mut filtered)?;
                let columns = self.columns(first, second, 0);
                self.pass(rec, &columns, Source::Complex(&filtered), [through, through], &mut turned)?;
                let rows = self.rows(first, second, flags::CHIRP_OUT | flags::CONJUGATE_FIRST);
                self.pass(rec, &rows, Source::Complex(&turned), [through, to], output)
            }
        }
    }

    /// Returns the first of two passes. The line is viewed as a rectangle, in which (e1, e2) is element `e2 + n2 e1`,
    /// where n2 is the length of `second`. The pass transforms over e1, and then multiplies by the roots of unity of
    /// the whole length.
    fn columns<'s>(&self, first: &'s Stages, second: &Stages, flags: u32) -> Step<'s> {
        let n = second.length();
        let flags = flags | flags::TURN;
        Step { digit: n, before: [n, 1], after: [n, 1], ..self.step(first, 0, flags) }
    }

    /// Returns the second of two passes, which transforms over e2. The result at frequency k1 of the first pass and
    /// frequency k2 of the second pass belongs to frequency `k1 + n1 k2` of the line, where n1 is the length of
    /// `first`.
    fn rows<'s>(&self, first: &Stages, second: &'s Stages, flags: u32) -> Step<'s> {
        let n = first.length();
        let before = [1, second.length()];
        Step { digit: n, before, after: [n, 1], ..self.step(second, 1, flags) }
    }

    /// Returns a pass of one transform per line. The number `pass` selects the tables of the first pass (0) or of the
    /// second pass (1).
    fn step<'s>(&self, stages: &'s Stages, pass: usize, flags: u32) -> Step<'s> {
        let twiddles = [self.at.first, self.at.second][pass];
        Step { stages, twiddles, order: self.at.order[pass], digit: 1, before: [1, 0], after: [1, 0], flags }
    }

    fn pass(
        &self,
        rec: &mut Recorder<'_>,
        step: &Step<'_>,
        source: Source<'_>,
        [from, to]: [End; 2],
        output: &mut Buffer<f32>,
    ) -> Result<()> {
        let (inner, length) = (self.lines.inner, step.stages.length());
        let mut flags = step.flags | from.flags | to.flags;
        // On the input and on the output: whether adjacent transforms are closer to each other in memory than adjacent
        // elements of one transform. If they are, consecutive invocations access adjacent transforms.
        let [load_across, store_across] = [(from, step.before), (to, step.after)].map(|(end, [apart, next])| {
            let neighbor = if inner > 1 {
                end.line
            } else if step.digit > 1 {
                end.step * next
            } else {
                end.block
            };
            end.step * apart > neighbor
        });
        flags |= if load_across { flags::LOAD_ACROSS } else { 0 };
        flags |= if store_across { flags::STORE_ACROSS } else { 0 };
        // Returns the last position along the axis that the pass accesses. It is compared with the number of elements
        // that exist in the input, or that are wanted in the output.
        let last = |[apart, next]: [usize; 2]| (length - 1) * apart + (step.digit - 1) * next;
        flags |= if last(step.before) < from.len { 0 } else { flags::PARTIAL_INPUT };
        flags |= if last(step.after) < to.len { 0 } else { flags::PARTIAL_OUTPUT };
        let (most, together) = (self.tuning.group(length, load_across || store_across), self.tuning.together(length));
        let count = inner * step.digit * self.lines.outer;
        let units = count.div_ceil(together);
        // If there are few transforms, each workgroup takes fewer than it could hold. In this way, up to 16 workgroups
        // have work, and not too many lanes are idle.
        let group = most.min(units.div_ceil(16)).max(1);
        if let Source::Real(_, Some(_)) = source {
            flags |= flags::WINDOW;
        }
        let params = Pass {
            first: 0,
            count: to_u32(count),
            length: to_u32(length),
            group: to_u32(group),
            radices: digits(step.stages),
            stages: to_u32(step.stages.radices().len()),
            digit_0: to_u32(inner),
            digit_1: to_u32(step.digit),
            in_0: to_u32(from.line),
            in_1: to_u32(from.step * step.before[1]),
            in_2: to_u32(from.block),
            in_step: to_u32(from.step * step.before[0]),
            out_0: to_u32(to.line),
            out_1: to_u32(to.step * step.after[1]),
            out_2: to_u32(to.block),
            out_step: to_u32(to.step * step.after[0]),
            in_place_step: to_u32(step.before[0]),
            in_place_digit: to_u32(step.before[1]),
            out_place_step: to_u32(step.after[0]),
            out_place_digit: to_u32(step.after[1]),
            given: to_u32(from.len),
            kept: to_u32(to.len),
            in_stride: to_u32(inner),
            out_stride: to_u32(inner),
            whole: to_u32(if flags & flags::MIRROR == 0 { self.plan.points() } else { self.plan.length() }),
            twiddles: to_u32(step.twiddles),
            order: to_u32(step.order),
            chirp: to_u32(self.at.chirp),
            filtered: to_u32(self.at.filter),
            roots: to_u32(self.at.roots),
            folds: to_u32(self.at.folds),
            #[expect(clippy::cast_possible_truncation, reason = "f32 is the kernels' precision")]
            scale: to.scale as f32,
        };
        let overrides = variant(step.stages, most, flags, self.tuning);
        let twice = if flags & flags::TWICE == 0 { 1.0 } else { 2.0 };
        let flops = twice * step.stages.cost() as f64 * (group * together) as f64;
        for range in rec.ranges(to_u32(units.div_ceil(group)), flops) {
            let params = Pass { first: range.first, ..params };
            let (grid, flops) = (range.grid(), range.flops);
            let tables = self.tables;
            let reals = self.kind == Kind::RealInverse && to.len != usize::MAX;
            match source {
                Source::Real(input, window) => {
                    let (window, output) = (window.unwrap_or(input), &mut output.cast_mut());
                    if together == 2 {
                        rec.dispatch(&TwoFromReal { params, tables, input, window, output }, &overrides, grid, flops)?;
                    } else {
                        rec.dispatch(&FromReal { params, tables, input, window, output }, &overrides, grid, flops)?;
                    }
                }
                Source::Complex(input) if reals => {
                    let input = &input.cast_ref();
                    if together == 2 {
                        rec.dispatch(&TwoToReal { params, tables, input, output }, &overrides, grid, flops)?;
                    } else {
                        rec.dispatch(&ToReal { params, tables, input, output }, &overrides, grid, flops)?;
                    }
                }
                Source::Complex(input) => {
                    let (input, output) = (&input.cast_ref(), &mut output.cast_mut());
                    if together == 2 {
                        rec.dispatch(&TwoTransforms { params, tables, input, output }, &overrides, grid, flops)?;
                    } else {
                        rec.dispatch(&Transform { params, tables, input, output }, &overrides, grid, flops)?;
                    }
                }
            }
        }
        Ok(())
    }
}
