//! Moments on the CPU, leaf by leaf in f64. Both passes over a leaf run while the leaf is in the cache.

use super::moments::{Moments, as_f64};
use super::tree::{reduce, subtrees};
use super::{LEAF, Nan, View};
use crate::array::Real;
use crate::lanes::{SimdScalar, Task, Vector};
use crate::parallel;
use std::convert::Infallible;
use std::ops::Range;

/// The number of partial sums into which a leaf is summed. The number is fixed, so that results do not depend on the
/// width of the machine's vectors.
const SIDE: usize = 16;
/// The number of neighboring series that are gathered together if a series is not contiguous: a cache line of f32.
const TOGETHER: usize = 16;
/// The number of neighboring series from which on each has a lane. Fewer are gathered first.
const FEW: usize = 6;
/// The number of elements that are worth a separate task.
const TASK: usize = 1 << 14;

/// Returns the moments of `numbers`, computed by a tree reduction.
pub(super) fn moments<T: Real>(numbers: &[T], omit: bool) -> Moments {
    let view = View { outer: 1, len: numbers.len(), inner: 1 };
    describe(numbers, view, if omit { Nan::Omit } else { Nan::Propagate }).pop().unwrap_or_default()
}

/// Returns the moments of every series of `x`.
pub(super) fn describe<T: Real>(x: &[T], view: View, nan: Nan) -> Vec<Moments> {
    if T::ON_DEVICE {
        describe_f32(bytemuck::cast_slice(x), view, nan)
    } else {
        describe_f64(bytemuck::cast_slice(x), view, nan)
    }
}

/// Instantiates [`every`] here, once, instead of in every crate that calls it.
fn describe_f32(x: &[f32], view: View, nan: Nan) -> Vec<Moments> {
    every(x, view, nan)
}

fn describe_f64(x: &[f64], view: View, nan: Nan) -> Vec<Moments> {
    every(x, view, nan)
}

fn every<T: Real>(x: &[T], view: View, nan: Nan) -> Vec<Moments> {
    let View { outer, len, inner } = view;
    let groups = inner.div_ceil(TOGETHER);
    let leaves = len.div_ceil(LEAF) as u64;
    let group = |unit: usize| {
        let (slice, first) = (unit / groups, unit % groups * TOGETHER);
        let columns = first..(first + TOGETHER).min(inner);
        let own = &x[slice * len * inner..(slice + 1) * len * inner];
        all(leaves, &|leaf| leaf_of(own, inner, columns.clone(), rows_of(leaf, len), nan), &merge)
            .unwrap_or_else(|| vec![Moments::default(); columns.len()])
    };
    let together = (TASK / (len * inner.min(TOGETHER)).max(1)).max(1);
    let runs = (0..outer * groups).step_by(together);
    let of_run = |first: usize| (first..(first + together).min(outer * groups)).flat_map(group).collect::<Vec<_>>();
    parallel::map(runs, |_, first| of_run(first)).into_iter().flatten().collect()
}

/// Returns the rows of leaf `leaf` in a series of `len` elements.
pub(super) fn rows_of(leaf: u64, len: usize) -> Range<usize> {
    let begin = usize::try_from(leaf).unwrap_or(usize::MAX).saturating_mul(LEAF);
    begin..begin.saturating_add(LEAF).min(len)
}

/// Returns the root of the tree of `leaves` leaves; `None` if there are none.
pub(super) fn all<N: Send + Clone>(
    leaves: u64,
    leaf: &(impl Fn(u64) -> N + Sync),
    merge: &(impl Fn(N, N) -> N + Sync),
) -> Option<N> {
    let mut tree = super::tree::Tree::default();
    for (level, first) in subtrees(0..leaves, u64::BITS) {
        let node = reduce(level, first, leaf, merge);
        let Ok(()) = tree.push(level, node, |a, b| Ok::<_, Infallible>(merge(a, b)));
    }
    let Ok(root) = tree.root(None, |a, b| Ok::<_, Infallible>(merge(a, b)));
    root
}

/// Merges two nodes that each hold several neighboring series, series by series.
pub(super) fn merge(a: Vec<Moments>, b: Vec<Moments>) -> Vec<Moments> {
    a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect()
}

/// Returns the moments of the same leaf in several neighboring series. Element `row` of series `column` is at index
/// `row * inner + column` of `x`. `columns` selects the series, and `rows` selects the elements of the leaf.
fn leaf_of<T: Real>(x: &[T], inner: usize, columns: Range<usize>, rows: Range<usize>, nan: Nan) -> Vec<Moments> {
    if inner == 1 {
        return vec![one(&x[rows], nan)];
    }
    let (width, count) = (columns.len(), rows.len());
    let in_rows = rows.clone().map(|row| &x[row * inner..][columns.clone()]);
    let has_nan = || in_rows.clone().flatten().any(|x| x.to_f64().is_nan());
    if width >= FEW && (nan == Nan::Propagate || !has_nan()) {
        return f64::in_lanes(Columns { x, inner, first: columns.start, width, rows });
    }
    let mut own = vec![T::from_f64(0.0); width * count];
    for (t, row) in rows.enumerate() {
        for (j, &number) in x[row * inner..][columns.clone()].iter().enumerate() {
            own[j * count + t] = number;
        }
    }
    own.chunks_exact(count.max(1)).map(|series| one(series, nan)).collect()
}

/// Returns the moments of the elements of one leaf.
pub(super) fn leaf<T: Real>(numbers: &[T], nan: Nan) -> Moments {
    if T::ON_DEVICE {
        leaf_f32(bytemuck::cast_slice(numbers), nan)
    } else {
        leaf_f64(bytemuck::cast_slice(numbers), nan)
    }
}

fn leaf_f32(numbers: &[f32], nan: Nan) -> Moments {
    one(numbers, nan)
}

fn leaf_f64(numbers: &[f64], nan: Nan) -> Moments {
    one(numbers, nan)
}

fn one<T: Real>(numbers: &[T], nan: Nan) -> Moments {
    let is_nan = |x: &T| x.to_f64().is_nan();
    match nan {
        Nan::Omit if numbers.iter().any(is_nan) => {
            let kept: Vec<T> = numbers.iter().copied().filter(|x| !is_nan(x)).collect();
            T::in_lanes(Leaf(&kept))
        }
        _ => T::in_lanes(Leaf(numbers)),
    }
}

struct Leaf<'a, T>(&'a [T]);

impl<T: Real> Task<T> for Leaf<'_, T> {
    type Output = Moments;

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, _: V::Token) -> Moments {
        two_passes(self.0)
    }
}

/// The same leaf in at most [`TOGETHER`] neighboring series, one series per lane. The sums are computed in the same
/// order as for one series.
struct Columns<'a, T> {
    x: &'a [T],
    inner: usize,
    first: usize,
    width: usize,
    rows: Range<usize>,
}

impl<T: Real> Task<f64> for Columns<'_, T> {
    type Output = Vec<Moments>;

    #[inline(always)]
    fn run<V: Vector<Scalar = f64>>(self, token: V::Token) -> Vec<Moments> {
        let Self { x, inner, first, width, rows } = self;
        let mut all = Vec::with_capacity(width);
        for first in (first..first + width).step_by(V::LANES) {
            let lanes = V::LANES.min(width - all.len());
            let begin = rows.start * inner + first;
            let found = V::with_instructions(
                token,
                #[inline(always)]
                || {
                    if lanes == V::LANES {
                        // The number of lanes is known here, so that a row is one load.
                        in_lanes::<V>(token, rows.len(), |t| load::<T, V>(token, &x[begin + t * inner..][..V::LANES]))
                    } else {
                        in_lanes::<V>(token, rows.len(), |t| load::<T, V>(token, &x[begin + t * inner..][..lanes]))
                    }
                },
            );
            all.extend_from_slice(&found[..lanes]);
        }
        all
    }
}

/// Returns a vector of numbers, and of zeros if there are fewer numbers than lanes.
#[inline(always)]
fn load<T: Real, V: Vector<Scalar = f64>>(token: V::Token, from: &[T]) -> V {
    let mut numbers = V::splat(token, 0.0);
    numbers.as_mut_slice().iter_mut().zip(from).for_each(|(to, x)| *to = x.to_f64());
    numbers
}

/// Does what [`two_passes`] does, for `count` vectors.
#[inline(always)]
fn in_lanes<V: Vector<Scalar = f64>>(token: V::Token, count: usize, row: impl Fn(usize) -> V) -> [Moments; TOGETHER] {
    let mut moments = [Moments::default(); TOGETHER];
    if count == 0 {
        return moments;
    }
    let splat = |x| V::splat(token, x);
    let mut shift = row(0);
    shift.as_mut_slice().iter_mut().for_each(|x| *x = if x.is_finite() { *x } else { 0.0 });
    let mut sums = [splat(0.0); SIDE];
    let (mut least, mut most) = (splat(f64::INFINITY), splat(f64::NEG_INFINITY));
    for t in 0..count {
        let x = row(t);
        sums[t % SIDE] += x - shift;
        least = V::select(x.lt(least), x, least);
        most = V::select(most.lt(x), x, most);
    }
    let sum = total(sums, |a, b| a + b);
    let mean = shift + sum / splat(as_f64(count as u64));
    let mut powers = [[splat(0.0); 4]; SIDE];
    for t in 0..count {
        let away = row(t) - mean;
        let square = away * away;
        let [first, second, third, fourth] = &mut powers[t % SIDE];
        *first += away;
        *second += square;
        *third += square * away;
        *fourth += square * square;
    }
    let powers = total(powers, |a, b| std::array::from_fn(|k| a[k] + b[k]));
    for (lane, moments) in moments.iter_mut().enumerate().take(V::LANES) {
        let of = |x: &V| x.as_slice()[lane];
        let has_nan = of(&sum).is_nan() && (0..count).any(|t| of(&row(t)).is_nan());
        let extremes = if has_nan { [f64::NAN; 2] } else { [of(&least), of(&most)] };
        *moments = about_the_mean(count, of(&mean), powers.each_ref().map(of), extremes);
    }
    moments
}

/// Calls `f` for every element, with the index of a partial sum (below [`SIDE`]) and the element. The function is
/// inlined, so that it is compiled for the instruction set of the caller.
#[inline(always)]
fn side_by_side<T: Real>(numbers: &[T], mut f: impl FnMut(usize, f64)) {
    let (whole, rest) = numbers.as_chunks::<SIDE>();
    for some in whole {
        for (place, &x) in some.iter().enumerate() {
            f(place, x.to_f64());
        }
    }
    for (place, &x) in rest.iter().enumerate() {
        f(place, x.to_f64());
    }
}

/// Combines the partial sums with `add`; every step halves the number of partial sums.
#[inline(always)]
fn total<N: Copy>(mut sums: [N; SIDE], add: impl Fn(N, N) -> N) -> N {
    let mut half = SIDE / 2;
    while half > 0 {
        for place in 0..half {
            sums[place] = add(sums[place], sums[place + half]);
        }
        half /= 2;
    }
    sums[0]
}

#[inline(always)]
fn two_passes<T: Real>(numbers: &[T]) -> Moments {
    let Some(&first) = numbers.first() else { return Moments::default() };
    // Distances from one of the elements lose no digits, however far the elements are from 0. If all elements are
    // equal, the distances are 0.
    let shift = if first.to_f64().is_finite() { first.to_f64() } else { 0.0 };
    let (mut sums, mut least, mut most) = ([0.0; SIDE], [f64::INFINITY; SIDE], [f64::NEG_INFINITY; SIDE]);
    side_by_side(numbers, |place, x| {
        sums[place] += x - shift;
        least[place] = if x < least[place] { x } else { least[place] };
        most[place] = if x > most[place] { x } else { most[place] };
    });
    let n = as_f64(numbers.len() as u64);
    let sum = total(sums, |a, b| a + b);
    let mean = shift + sum / n;
    let mut least = total(least, |a, b| if b < a { b } else { a });
    let mut most = total(most, |a, b| if b > a { b } else { a });
    if sum.is_nan() && numbers.iter().any(|x| x.to_f64().is_nan()) {
        (least, most) = (f64::NAN, f64::NAN);
    }
    let mut powers = [[0.0; SIDE]; 4];
    side_by_side(numbers, |place, x| {
        let away = x - mean;
        let square = away * away;
        powers[0][place] += away;
        powers[1][place] += square;
        powers[2][place] += square * away;
        powers[3][place] += square * square;
    });
    about_the_mean(numbers.len(), mean, powers.map(|sums| total(sums, |a, b| a + b)), [least, most])
}

/// Returns the moments of `count` elements from the sums of the first four powers of their distances from the rounded
/// mean.
#[inline(always)]
fn about_the_mean(
    count: usize,
    mean: f64,
    [first, second, third, fourth]: [f64; 4],
    [least, most]: [f64; 2],
) -> Moments {
    // The mean was rounded, so the moments about the rounded mean are converted to moments about the exact mean.
    let off = first / as_f64(count as u64);
    Moments {
        count: count as u64,
        mean: if off.is_finite() { mean + off } else { mean },
        powers: [
            second - off * first,
            third - 3.0 * off * second + 2.0 * off * off * first,
            fourth - 4.0 * off * third + 6.0 * off * off * second - 3.0 * off * off * off * first,
        ],
        least,
        most,
    }
}

/// Returns the mean of a leaf, in f64.
pub(super) fn mean_of<T: Real>(numbers: &[T]) -> f64 {
    T::in_lanes(Mean(numbers))
}

struct Mean<'a, T>(&'a [T]);

impl<T: Real> Task<T> for Mean<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, _: V::Token) -> f64 {
        let Some(first) = self.0.first().map(|x| x.to_f64()) else { return 0.0 };
        let shift = if first.is_finite() { first } else { 0.0 };
        let mut sums = [0.0; SIDE];
        side_by_side(self.0, |place, x| sums[place] += x - shift);
        shift + total(sums, |a, b| a + b) / as_f64(self.0.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAF, Moments, moments};

    fn close(got: f64, want: f64, relative: f64) {
        assert!((got - want).abs() <= relative * want.abs(), "{got} is not {want}");
    }

    /// The numbers 0, 1, ..., n - 1 plus an offset have the variance (n^2 - 1) / 12, the skewness 0 and the kurtosis
    /// -6/5 (n^2 + 1) / (n^2 - 1).
    #[test]
    fn a_ramp_has_its_closed_forms() {
        for n in [2_u32, 3, 17, 4096, 4097, 20_000] {
            let ramp: Vec<f64> = (0..n).map(|i| 1e9 + f64::from(i)).collect();
            let m = moments(&ramp, false);
            let n = f64::from(n);
            close(m.mean(), 1e9 + (n - 1.0) / 2.0, 1e-15);
            close(m.variance(0), (n * n - 1.0) / 12.0, 1e-13);
            close(m.variance(1), n * (n + 1.0) / 12.0, 1e-13);
            assert!(m.skewness().abs() < 1e-12, "{}", m.skewness());
            close(m.kurtosis(), -1.2 * (n * n + 1.0) / (n * n - 1.0), 1e-12);
            assert_eq!((m.min(), m.max()), (1e9, 1e9 + n - 1.0));
        }
    }

    #[test]
    fn equal_numbers_have_no_variance_at_all() {
        for n in [1, 2, 5, LEAF, 3 * LEAF + 7] {
            let m = moments(&vec![0.1_f32; n], false);
            assert_eq!((m.mean(), m.variance(0)), (f64::from(0.1_f32), 0.0));
            assert!(m.skewness().is_nan() && m.kurtosis().is_nan());
            assert_eq!(m.variance(1).is_nan(), n == 1);
        }
    }

    #[test]
    fn what_is_no_number_and_what_is_not_finite() {
        let none = Moments::of::<f32>(&[]);
        assert!(none.count() == 0 && none.mean().is_nan() && none.min().is_nan() && none.max().is_nan());
        let inf = f64::INFINITY;
        for place in [0, 1, 5000] {
            let mut x = vec![1.0; 9000];
            x[place] = inf;
            let m = moments(&x, false);
            assert!(m.mean() == inf && m.variance(0).is_nan() && m.min() == 1.0 && m.max() == inf, "{m:?}");
            x[place + 1] = -inf;
            assert!(moments(&x, false).mean().is_nan());
            x[place] = f64::NAN;
            let m = moments(&x, false);
            assert!(m.mean().is_nan() && m.min().is_nan() && m.max().is_nan() && m.count() == 9000, "{m:?}");
            let m = moments(&x, true);
            assert!(m.mean() == -inf && m.min() == -inf && m.max() == 1.0 && m.count() == 8999, "{m:?}");
        }
    }
}
