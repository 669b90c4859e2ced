//! Transforms of many lines, one line per SIMD lane.
//!
//! rustfft's shuffles between lanes are fast for some lengths only. In lanes, every length without large prime factors
//! is transformed at the same rate by `passes`. A prime length n for which n - 1 has only small factors becomes a
//! cyclic convolution (`rader`).

use super::across::{ComplexMatrices, ComplexStrip};
use super::lengths::is_rader;
use super::moves::Copies;
use super::passes::{Pair, Passes};
use super::rader::Rader;
use super::strided::{self, Room, Strip};
use super::{Engine, Working};
use crate::array::Real;
use crate::lanes::{Task, Vector};
use num_complex::Complex;
use std::any::Any;
use std::sync::Arc;

/// The number of lanes of the widest vectors.
pub(super) const LANES: usize = 16;
/// The number of elements in a task of one thread, rounded to a multiple of [`LANES`] lines.
const TASK: usize = 1 << 13;

/// Returns the number of lines in a task of one thread.
pub(super) fn lines_of(n: usize) -> usize {
    (TASK / n / LANES).max(1) * LANES
}

/// A plan for forward transforms of one length.
pub(in super::super) struct Plan<F> {
    pub(super) n: usize,
    method: Method<F>,
}

enum Method<F> {
    Passes(Passes<F>),
    Prime(Rader<F>),
}

impl<F: Working> Plan<F> {
    /// Plans transforms of a length that `lengths` has accepted.
    pub(super) fn new(n: usize) -> Self {
        let passes = if is_rader(n) { None } else { Passes::new(n) };
        Self { n, method: passes.map_or_else(|| Method::Prime(Rader::new(n)), Method::Passes) }
    }

    /// Transforms the lines whose elements are the first n of `x`. `y` is scratch memory.
    #[inline(always)]
    pub(super) fn run<V: Vector<Scalar = F>>(&self, token: V::Token, x: &mut Vec<Pair<V>>, y: &mut Vec<Pair<V>>) {
        match &self.method {
            Method::Passes(passes) => passes.run(token, 1, x, y),
            Method::Prime(rader) => rader.run(token, x, y),
        }
    }

    /// Returns the passes; `None` if the length is a prime of Rader's method.
    pub(super) fn passes(&self) -> Option<&Passes<F>> {
        match &self.method {
            Method::Passes(passes) => Some(passes),
            Method::Prime(_) => None,
        }
    }
}

/// Complex transforms in lanes.
pub(super) struct Complexes<F> {
    pub(super) plan: Arc<Plan<F>>,
    /// The factor 1/n by which an inverse transform of length n is multiplied; `None` for a forward transform.
    pub(super) scale: Option<F>,
}

impl<F: Working> Engine<Complex<F>, Complex<F>> for Complexes<F> {
    type Scratch = Scratch;

    fn lengths(&self) -> [usize; 2] {
        [self.plan.n; 2]
    }

    fn scratch(&self) -> Scratch {
        None
    }

    fn lines(&self) -> usize {
        lines_of(self.plan.n)
    }

    fn run(&self, from: &[Complex<F>], to: &mut [Complex<F>], scratch: &mut Scratch) {
        F::in_lanes(ComplexLines { engine: self, from, to, scratch });
    }

    fn across(
        &self,
        strip: Strip<'_, '_, Complex<F>, Complex<F>>,
        _: &mut Room<Complex<F>, Complex<F>>,
        scratch: &mut Scratch,
    ) {
        F::in_lanes(ComplexStrip { engine: self, strip, scratch });
    }

    fn matrices(
        &self,
        inner: usize,
        from: &[Complex<F>],
        to: &mut [Complex<F>],
        room: &mut Room<Complex<F>, Complex<F>>,
        scratch: &mut Scratch,
    ) {
        if inner < LANES && from.len() > inner * self.plan.n {
            F::in_lanes(ComplexMatrices { engine: self, inner, from, to, scratch });
        } else {
            strided::one_by_one(self, inner, from, to, room, scratch);
        }
    }
}

struct ComplexLines<'a, F> {
    engine: &'a Complexes<F>,
    from: &'a [Complex<F>],
    to: &'a mut [Complex<F>],
    scratch: &'a mut Scratch,
}

impl<F: Working> Task<F> for ComplexLines<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = F>>(self, token: V::Token) {
        let Self { engine: Complexes { plan, scale }, from, to, scratch } = self;
        let n = plan.n;
        // An inverse transform is a forward transform with the parts of all numbers exchanged.
        let swap = scale.is_some();
        let by = V::splat(token, scale.unwrap_or(<F as Real>::from_f64(1.0)));
        let Some(Memory { x, y, copies }) = memory::<V>(token, n, scratch) else { return };
        for (from, to) in from.chunks(V::LANES * n).zip(to.chunks_mut(V::LANES * n)) {
            copies.gather(token, 2 * n, bytemuck::cast_slice(from), |i, part| {
                x[i / 2][(i % 2) ^ usize::from(swap)] = part
            });
            plan.run(token, x, y);
            let to = bytemuck::cast_slice_mut(to);
            if swap {
                copies.scatter(token, 2 * n, to, |i| x[i / 2][1 - i % 2] * by);
            } else {
                copies.scatter(token, 2 * n, to, |i| x[i / 2][i % 2]);
            }
        }
    }
}

/// The working memory of a thread, whose type depends on the vectors.
pub(super) type Scratch = Option<Box<dyn Any + Send>>;

/// The lines of a group, as much memory again, and copies of the lines.
pub(super) struct Memory<V: Vector> {
    pub(super) x: Vec<Pair<V>>,
    pub(super) y: Vec<Pair<V>>,
    pub(super) copies: Copies<V::Scalar>,
}

/// Returns the working memory for lines of `len` elements. The scratch of an engine always has the same type and
/// length.
#[inline(always)]
pub(super) fn memory<V: Vector<Scalar: Real>>(
    token: V::Token,
    len: usize,
    scratch: &mut Scratch,
) -> Option<&mut Memory<V>> {
    let made = scratch.get_or_insert_with(|| {
        let lines = vec![[V::splat(token, V::Scalar::from_f64(0.0)); 2]; len];
        Box::new(Memory { x: lines.clone(), y: lines, copies: Copies::new(2 * len) })
    });
    made.downcast_mut()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::SimdScalar;
    use crate::ops::fft::cpu::passes::{in_passes, root};
    use crate::ops::fft::cpu::planes::Planes;
    use crate::ops::fft::cpu::reals::{RealPlan, Reals};

    /// Returns the spectrum of a line, computed in f64 by the definition.
    fn spectrum(line: &[Complex<f64>]) -> Vec<Complex<f64>> {
        let n = line.len();
        let roots: Vec<Complex<f64>> = (0..n).map(|k| root(k, n)).collect();
        (0..n).map(|k| line.iter().enumerate().map(|(i, z)| z * roots[i * k % n]).sum()).collect()
    }

    fn signal(len: usize) -> Vec<Complex<f32>> {
        let part = |i: usize| ((i * 7919 + 13) % 1013) as f32 / 500.0 - 1.0;
        (0..len).map(|i| Complex::new(part(i), part(3 * i + 1))).collect()
    }

    fn wide(z: &[Complex<f32>]) -> Vec<Complex<f64>> {
        z.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect()
    }

    /// The promise for every transform is a relative error of `4 eps log2 n`.
    fn close(what: &str, n: usize, found: &[Complex<f32>], truth: &[Complex<f64>]) {
        let square = |z: &mut dyn Iterator<Item = Complex<f64>>| z.map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        let off = square(&mut wide(found).into_iter().zip(truth).map(|(a, b)| a - b));
        let allowed = 4.0 * f64::from(f32::EPSILON) * (n as f64).log2().max(1.0) * square(&mut truth.iter().copied());
        assert!(off <= allowed, "{what} of {n}: off by {off:e}, allowed {allowed:e}");
    }

    /// Lengths with every radix in every place, primes of Rader's method, and the largest lengths.
    fn lengths() -> impl Iterator<Item = usize> {
        (1..=130).filter(|&n| in_passes(n)).chain([211, 250, 343, 398, 500, 512, 1009, 1013, 2048, 2520])
    }

    #[test]
    fn complex_lines_forward_and_back() {
        for n in lengths() {
            // The last group of lines does not fill the lanes of any machine.
            let count = if n < 150 { 17 } else { 3 };
            let from = signal(n * count);
            let plan = Arc::new(Plan::new(n));
            let forward = Complexes { plan: Arc::clone(&plan), scale: None };
            let back = Complexes { plan, scale: Some(1.0 / n as f32) };
            let mut to = from.clone();
            for lanes in [1, 8, 16] {
                let lines = ComplexLines { engine: &forward, from: &from, to: &mut to, scratch: &mut None };
                match lanes {
                    1 => f32::in_one_lane(lines),
                    #[cfg(target_arch = "x86_64")]
                    8 => match pulp::x86::V3::try_new() {
                        Some(avx2) => f32::in_lanes_of(avx2, lines),
                        None => continue,
                    },
                    _ => f32::in_lanes(lines),
                }
                for (line, to) in from.chunks(n).zip(to.chunks(n)) {
                    close("a transform", n, to, &spectrum(&wide(line)));
                }
            }
            let mut again = from.clone();
            back.run(&to, &mut again, &mut None);
            for (line, again) in from.chunks(n).zip(again.chunks(n)) {
                close("a transform and its inverse", n, again, &wide(line));
            }
        }
    }

    #[test]
    fn real_lines_with_and_without_a_window() {
        for n in lengths().flat_map(|n| [n, 2 * n]) {
            let count = if n < 150 { 17 } else { 3 };
            let from: Vec<f32> = signal(n * count).iter().map(|z| z.re).collect();
            let window: Vec<f32> = signal(n).iter().map(|z| z.im).collect();
            let plan = Arc::new(RealPlan::new(n));
            for window in [None, Some(&window[..])] {
                let engine = Reals { n, plan: Arc::clone(&plan), window };
                let mut to = vec![Complex::new(f32::NAN, f32::NAN); (n / 2 + 1) * count];
                engine.run(&from, &mut to, &mut None);
                for (line, to) in from.chunks(n).zip(to.chunks(n / 2 + 1)) {
                    let windowed = |(i, x): (usize, &f32)| Complex::new((x * window.map_or(1.0, |w| w[i])).into(), 0.0);
                    let line: Vec<Complex<f64>> = line.iter().enumerate().map(windowed).collect();
                    close("a real transform", n, to, &spectrum(&line)[..n / 2 + 1]);
                }
            }
        }
    }

    /// Matrices in lanes become what their rows and then their columns do, and come back.
    #[test]
    fn small_matrices_forward_and_back() {
        for [rows, cols] in [[1, 1], [1, 5], [7, 1], [2, 3], [5, 5], [13, 7], [8, 16], [34, 9]] {
            let (n, count) = (rows * cols, 19);
            let from = signal(n * count);
            let plans = [rows, cols].map(|side| Arc::new(Plan::new(side)));
            let planes = |scale| {
                let [rows, cols] = plans.clone();
                Planes { rows, cols, scale }
            };
            let mut to = from.clone();
            planes(None).run(&from, &mut to, &mut None);
            for (matrix, to) in from.chunks(n).zip(to.chunks(n)) {
                let mut truth: Vec<_> = wide(matrix).chunks(rows).flat_map(spectrum).collect();
                for row in 0..rows {
                    let across: Vec<_> = truth.iter().skip(row).step_by(rows).copied().collect();
                    truth.iter_mut().skip(row).step_by(rows).zip(spectrum(&across)).for_each(|(to, z)| *to = z);
                }
                close("a matrix", n, to, &truth);
            }
            let mut again = from.clone();
            planes(Some(1.0 / n as f32)).run(&to, &mut again, &mut None);
            close("a matrix and its inverse", n * count, &again, &wide(&from));
        }
    }

    /// A line has the same bits in every lane and beside any other lines.
    #[test]
    fn lines_do_not_mix() {
        for n in [61, 1000] {
            let line = signal(n);
            let mut from = signal(n * 40);
            from[7 * n..8 * n].fill(Complex::new(f32::NAN, f32::INFINITY));
            for place in [0, 9, 22, 39] {
                from[place * n..(place + 1) * n].copy_from_slice(&line);
            }
            let engine = Complexes { plan: Arc::new(Plan::new(n)), scale: None };
            let mut to = from.clone();
            engine.run(&from, &mut to, &mut None);
            for place in [9, 22, 39] {
                assert_eq!(to[place * n..(place + 1) * n], to[..n], "n = {n}, line {place}");
            }
        }
    }
}
