//! Lines across the rows of a matrix. Its columns are divided into strips, each of which one thread transforms and
//! writes, so that there is no second pass over the result.

use super::{Element, Engine, TASK, zeroed};
use crate::lanes::in_widest;
use crate::ops::convert::tiny::Lines;
use crate::parallel;

/// The multiple of the number of columns in a strip, so that every group of lanes in it is full.
const COLUMNS: usize = 32;
/// The number of strips of a thread. With several, a thread that is late is waited for briefly.
const STRIPS: usize = 4;
/// The side of a tile whose rows become columns at once. A row of complex f32 fills one line of the cache.
const TILE: usize = 8;
/// The number of elements of the lines that are turned together.
const TURNED: usize = 1 << 14;

/// Some adjacent columns of one matrix, each of which is a line.
pub(super) struct Strip<'a, 'b, I, O> {
    /// The whole matrix, and the length of its rows.
    pub(super) from: &'a [I],
    pub(super) inner: usize,
    /// The first column of the strip.
    pub(super) first: usize,
    /// What the strip has of each row of the result.
    pub(super) to: &'a mut [&'b mut [O]],
}

impl<I, O> Strip<'_, '_, I, O> {
    /// Returns the number of columns.
    pub(super) fn width(&self) -> usize {
        self.to.first().map_or(0, |row| row.len())
    }

    /// Returns what the strip has of each row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[I]> {
        let columns = self.first..self.first + self.width();
        self.from.chunks_exact(self.inner).map(move |row| &row[columns.clone()])
    }
}

/// Contiguous lines before and after a transform, which the strips of a thread use again.
pub(super) type Room<I, O> = (Vec<I>, Vec<O>);

/// Transforms all lines of `outer` matrices, whose rows have `inner` elements.
pub(super) fn run<I: Element, O: Element, E: Engine<I, O>>(
    engine: &E,
    Lines { inner, outer }: Lines,
    from: &[I],
    to: &mut [O],
) {
    let lengths = engine.lengths();
    let [block_in, block_out] = lengths.map(|n| inner * n);
    let most = block_in.max(block_out);
    let memory = || ((Vec::new(), Vec::new()), engine.scratch());
    let whole = |from: &[I], to: &mut [O], (room, scratch): &mut (Room<I, O>, E::Scratch)| {
        engine.matrices(inner, from, to, room, scratch);
    };
    if most * outer <= TASK {
        return whole(from, to, &mut memory());
    }
    let strips = (STRIPS * parallel::threads()).div_ceil(outer).min(most / TASK + 1);
    if strips < 2 || inner < 2 * COLUMNS {
        let run = (TASK / most).max(1);
        let tasks = to.chunks_mut(run * block_out).zip(from.chunks(run * block_in));
        return parallel::for_each_with(tasks, memory, |memory, _, (to, from)| whole(from, to, memory));
    }
    let width = inner.div_ceil(strips).next_multiple_of(COLUMNS);
    let mut tasks = Vec::new();
    for (from, to) in from.chunks_exact(block_in).zip(to.chunks_exact_mut(block_out)) {
        let firsts = (0..inner).step_by(width);
        let mut parts: Vec<(usize, Vec<&mut [O]>)> =
            firsts.map(|first| (first, Vec::with_capacity(lengths[1]))).collect();
        for row in to.chunks_exact_mut(inner) {
            row.chunks_mut(width).zip(&mut parts).for_each(|(piece, (_, rows))| rows.push(piece));
        }
        tasks.extend(parts.into_iter().map(|(first, to)| (from, first, to)));
    }
    parallel::for_each_with(tasks, memory, |(room, scratch), _, (from, first, mut to)| {
        engine.across(Strip { from, inner, first, to: &mut to }, room, scratch)
    });
}

/// Transforms the lines of matrices whose rows have `inner` elements, one matrix after the other.
pub(super) fn one_by_one<I: Element, O: Element, E: Engine<I, O>>(
    engine: &E,
    inner: usize,
    from: &[I],
    to: &mut [O],
    room: &mut Room<I, O>,
    scratch: &mut E::Scratch,
) {
    let [before, after] = engine.lengths();
    for (from, to) in from.chunks_exact(inner * before).zip(to.chunks_exact_mut(inner * after)) {
        let mut to: Vec<&mut [O]> = to.chunks_exact_mut(inner).collect();
        engine.across(Strip { from, inner, first: 0, to: &mut to }, room, scratch);
    }
}

/// Transforms the lines of a strip as contiguous ones: some of them are turned, transformed and turned back.
pub(super) fn turned<I: Element, O: Element, E: Engine<I, O>>(
    engine: &E,
    strip: Strip<'_, '_, I, O>,
    (lines, made): &mut Room<I, O>,
    scratch: &mut E::Scratch,
) {
    let [before, after] = engine.lengths();
    let (width, inner) = (strip.width(), strip.inner);
    let most = (TURNED / before.max(after)).next_multiple_of(TILE).clamp(TILE, COLUMNS).min(width);
    if lines.len() < most * before || made.len() < most * after {
        (*lines, *made) = (zeroed(most * before), zeroed(most * after));
    }
    for first in (0..width).step_by(most) {
        let count = most.min(width - first);
        let (lines, made) = (&mut lines[..count * before], &mut made[..count * after]);
        let from = &strip.from[strip.first + first..];
        in_widest(
            #[inline(always)]
            || gather(from, inner, lines, before),
        );
        engine.run(lines, made, scratch);
        in_widest(
            #[inline(always)]
            || scatter(made, after, strip.to, first),
        );
    }
}

/// Writes the columns of `from`, whose rows are `inner` apart, to lines of length `n`.
#[inline(always)]
fn gather<X: Element>(from: &[X], inner: usize, lines: &mut [X], n: usize) {
    for (group, lines) in lines.chunks_mut(TILE * n).enumerate() {
        let from = &from[group * TILE..];
        let count = lines.len() / n;
        let mut e = 0;
        if count == TILE {
            while e + TILE <= n {
                let mut tile = [[X::zeroed(); TILE]; TILE];
                for r in 0..TILE {
                    let piece = &from[(e + r) * inner..][..TILE];
                    tile.iter_mut().zip(piece).for_each(|(line, x)| line[r] = *x);
                }
                for (i, piece) in tile.iter().enumerate() {
                    lines[i * n + e..][..TILE].copy_from_slice(piece);
                }
                e += TILE;
            }
        }
        for e in e..n {
            for (i, x) in from[e * inner..][..count].iter().enumerate() {
                lines[i * n + e] = *x;
            }
        }
    }
}

/// Writes lines of length `n` to columns of `to`, from column `first` on.
#[inline(always)]
fn scatter<X: Element>(lines: &[X], n: usize, to: &mut [&mut [X]], first: usize) {
    for (group, lines) in lines.chunks(TILE * n).enumerate() {
        let first = first + group * TILE;
        let count = lines.len() / n;
        let mut e = 0;
        if count == TILE {
            while e + TILE <= n {
                let mut tile = [[X::zeroed(); TILE]; TILE];
                for i in 0..TILE {
                    let piece = &lines[i * n + e..][..TILE];
                    tile.iter_mut().zip(piece).for_each(|(row, x)| row[i] = *x);
                }
                for (row, piece) in to[e..e + TILE].iter_mut().zip(&tile) {
                    row[first..first + TILE].copy_from_slice(piece);
                }
                e += TILE;
            }
        }
        for (e, row) in to.iter_mut().enumerate().skip(e) {
            for (i, x) in row[first..first + count].iter_mut().enumerate() {
                *x = lines[i * n + e];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Working;
    use super::super::plans::Plans;
    use crate::ops::convert::tiny::Lines;
    use crate::ops::fft::gpu::Kind;
    use num_complex::Complex;

    fn on(threads: usize, work: impl FnOnce() + Send) {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work);
    }

    fn signal(len: usize) -> Vec<Complex<f32>> {
        let part = |i: usize| ((i * 7919 + 13) % 1013) as f32 / 500.0 - 1.0;
        (0..len).map(|i| Complex::new(part(i), part(3 * i + 1))).collect()
    }

    /// Columns have the bits of the same lines in any other number of columns, for any number of threads, and are close
    /// to what contiguous lines become. The lengths are transformed in lanes and with rustfft.
    #[test]
    fn columns_alone_and_in_strips() {
        let plans = Plans::<f32>::default();
        for n in [5, 59, 100, 211, 1013] {
            for (inner, outer) in [(2, 3), (5, 9), (7, 1), (40, 2), (161, 1), (300, 1)] {
                let from = signal(n * inner * outer);
                let transform = |lines: Lines, from: &[Complex<f32>]| {
                    let mut to = from.to_vec();
                    f32::complex(&plans, Kind::Forward, n, lines, from, &mut to);
                    to
                };
                let lines = Lines { inner, outer };
                let mut made = Vec::new();
                on(1, || made = transform(lines, &from));
                on(3, || assert_eq!(transform(lines, &from), made, "{n} x {inner} x {outer} on three threads"));
                let column =
                    |z: &[Complex<f32>], c: usize| -> Vec<Complex<f32>> { (0..n).map(|e| z[e * inner + c]).collect() };
                for c in [0, 1, inner / 2, inner - 1] {
                    let line = column(&from, c);
                    let pair: Vec<_> = line.iter().flat_map(|&z| [z, z]).collect();
                    let pair = transform(Lines { inner: 2, outer: 1 }, &pair);
                    let found = column(&made, c);
                    assert!(found.iter().zip(&pair).all(|(a, _)| a.is_finite()));
                    assert!(found.iter().eq(pair.iter().step_by(2)), "{n} x {inner}, column {c} in another matrix");
                    let truth = transform(Lines { inner: 1, outer: 1 }, &line);
                    let norm = |z: &mut dyn Iterator<Item = Complex<f32>>| z.map(|z| z.norm_sqr()).sum::<f32>().sqrt();
                    let off = norm(&mut found.iter().zip(&truth).map(|(a, b)| a - b));
                    let allowed = 8.0 * f32::EPSILON * (n as f32).log2() * norm(&mut truth.iter().copied());
                    assert!(off <= allowed, "{n} x {inner}, column {c}: off by {off}, allowed {allowed}");
                }
            }
        }
    }

    /// A column of subnormal numbers has as many digits as the others, and does not change their bits.
    #[test]
    fn tiny_columns() {
        let plans = Plans::<f32>::default();
        let (n, inner) = (100, 20);
        let from = signal(n * inner);
        let mut tiny = from.clone();
        tiny.iter_mut().skip(3).step_by(inner).for_each(|z| *z *= 2.0_f32.powi(-65) * 2.0_f32.powi(-65));
        let [mut made, mut small] = [from.clone(), tiny.clone()];
        let lines = Lines { inner, outer: 1 };
        f32::complex(&plans, Kind::Forward, n, lines, &from, &mut made);
        f32::complex(&plans, Kind::Forward, n, lines, &tiny, &mut small);
        for (i, (a, b)) in made.iter().zip(&small).enumerate() {
            if i % inner == 3 {
                assert!((a - b * 2.0_f32.powi(100) * 2.0_f32.powi(30)).norm() < 1e-2, "element {i}: {a}, {b}");
            } else {
                assert_eq!(a, b, "element {i}");
            }
        }
    }
}
