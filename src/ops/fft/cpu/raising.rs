//! Lines of tiny numbers, which are transformed at an ordinary scale. Otherwise the terms of their sums would be
//! rounded to subnormal numbers.

use super::strided::{self, Room, Strip};
use super::{Element, Engine};
use crate::ops::convert::tiny::{exponent, times_power};
use bytemuck::{cast_slice, cast_slice_mut};

/// A transform that scales those of its lines that are tiny.
pub(super) struct Raising<'a, E> {
    pub(super) engine: &'a E,
    /// Whether the numbers are f32. The lines of others are never scaled.
    pub(super) in_f32: bool,
}

impl<I: Element, O: Element, E: Engine<I, O>> Engine<I, O> for Raising<'_, E> {
    type Scratch = E::Scratch;

    fn lengths(&self) -> [usize; 2] {
        self.engine.lengths()
    }

    fn lines(&self) -> usize {
        self.engine.lines()
    }

    fn scratch(&self) -> Self::Scratch {
        self.engine.scratch()
    }

    fn run(&self, from: &[I], to: &mut [O], scratch: &mut Self::Scratch) {
        let [before, after] = self.engine.lengths();
        let (before, after) = (before * size_of::<I>() / 4, after * size_of::<O>() / 4);
        // Most lines begin with a number that is not tiny, so that this takes little time.
        let of = |line: &[f32]| exponent(line.iter().map(|&x| x.into()));
        if !self.in_f32 || cast_slice::<I, f32>(from).chunks_exact(before).all(|line| of(line) == 0) {
            return self.engine.run(from, to, scratch);
        }
        let mut raised = from.to_vec();
        let mut exponents = Vec::new();
        for line in cast_slice_mut::<I, f32>(&mut raised).chunks_exact_mut(before) {
            let e = of(line);
            scale(line, -e);
            exponents.push(e);
        }
        self.engine.run(&raised, to, scratch);
        let made = cast_slice_mut::<O, f32>(to).chunks_exact_mut(after);
        made.zip(exponents).for_each(|(line, e)| scale(line, e));
    }

    fn matrices(&self, inner: usize, from: &[I], to: &mut [O], room: &mut Room<I, O>, scratch: &mut Self::Scratch) {
        let each = size_of::<I>() / 4;
        let block = inner * self.engine.lengths()[0] * each;
        let is_tiny = |matrix: &[f32]| has_tiny(matrix.chunks_exact(inner * each), inner, each);
        if self.in_f32 && cast_slice(from).chunks_exact(block).any(is_tiny) {
            strided::one_by_one(self, inner, from, to, room, scratch);
        } else {
            self.engine.matrices(inner, from, to, room, scratch);
        }
    }

    fn across(&self, strip: Strip<'_, '_, I, O>, room: &mut Room<I, O>, scratch: &mut Self::Scratch) {
        if self.in_f32 && has_tiny(strip.rows().map(cast_slice), strip.width(), size_of::<I>() / 4) {
            strided::turned(self, strip, room, scratch);
        } else {
            self.engine.across(strip, room, scratch);
        }
    }
}

/// Returns whether one of `width` lines across rows may be tiny. An element has `each` words.
fn has_tiny<'a>(mut rows: impl Iterator<Item = &'a [f32]>, width: usize, each: usize) -> bool {
    let is_ordinary = |x: &[f32]| x.iter().any(|&x| x != 0.0 && exponent([x.into()]) == 0);
    let Some(first) = rows.next() else { return false };
    // Most lines begin with a number that is not tiny.
    if first.chunks_exact(each).all(is_ordinary) {
        return false;
    }
    let mut peaks = vec![0.0_f32; width];
    for row in std::iter::once(first).chain(rows) {
        for (peak, x) in peaks.iter_mut().zip(row.chunks_exact(each)) {
            *peak = x.iter().fold(*peak, |peak, x| peak.max(x.abs()));
        }
    }
    peaks.iter().any(|&peak| exponent([peak.into()]) != 0)
}

/// Multiplies numbers by 2^e.
fn scale(line: &mut [f32], e: i32) {
    if e != 0 {
        line.iter_mut().for_each(|x| *x = times_power(*x, e));
    }
}
