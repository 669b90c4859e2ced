//! Products whose result has a few rows or a few columns, from dot products: faer multiplies four columns at a time and
//! packs both factors, and takes 1.3 to 5 times as long (one thread with AVX-512, random shapes, 2026-11-28).
//!
//! Every lane has a partial sum, and the order of the additions depends only on the number of lanes. The result is cut
//! among threads, and sums never are. So an element has the same bits wherever it is, in any batch, for any number of
//! threads.

use super::Working;
use crate::lanes::{Task, Vector};
use crate::parallel;

/// The lines of the larger factor in a tile.
const MANY: usize = 4;
/// The fewest terms of a dot product. The sums over the lanes take as long as 50 to 100 terms.
const TERMS: usize = 128;
/// The fewest elements of the larger factor.
const LARGE: usize = 1 << 14;
/// The number of multiply-adds that are worth a separate task: about 20 us of work for one thread.
const TASK: usize = 1 << 20;

/// A factor as it is stored. Its lines are the rows of the left factor or the columns of the right factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor<'a, T> {
    pub(super) data: &'a [T],
    /// The number of lines.
    pub(super) lines: usize,
    /// The distance between two terms of a line if `by_line`, and between two lines if not.
    pub(super) stride: usize,
    /// Whether adjacent elements belong to adjacent lines. If not, they are adjacent terms of one line.
    pub(super) by_line: bool,
}

impl<T> Factor<'_, T> {
    /// Returns the factor without its first lines. The terms of a line must be adjacent.
    fn without(self, lines: usize) -> Self {
        Self { data: &self.data[lines * self.stride..], lines: self.lines - lines, ..self }
    }
}

/// Returns whether [`product`] is to be used: one factor has a few lines, and the other has many whose terms are
/// adjacent. For vectors, and for 8 to 12 rows of f64, faer is as fast.
pub(super) fn serves<T>(left: &Factor<'_, T>, right: &Factor<'_, T>, k: usize) -> bool {
    let (rows, cols) = (left.lines, right.lines);
    let many = |few: usize, many: usize| k >= TERMS && many >= 8 * few && k * many >= LARGE;
    (2..=40 / size_of::<T>()).contains(&rows) && !right.by_line && many(rows, cols)
        || (2..=8).contains(&cols) && !left.by_line && many(cols, rows)
}

/// Computes `out = alpha left right` with `k` terms, in column-major order.
pub(super) fn product<T: Working>([left, right]: [Factor<'_, T>; 2], k: usize, alpha: T, out: &mut [T]) {
    let few_rows = left.lines < right.lines;
    let (few, many) = if few_rows { (left, right) } else { (right, left) };
    let at_once = (TASK / (few.lines * k)).max(64).next_multiple_of(MANY);
    let rows = left.lines;
    // Each part has some lines of the larger factor: all rows of some columns, or some rows of all columns.
    let mut parts: Vec<Part<'_, T>> = (0..many.lines)
        .step_by(at_once)
        .map(|line| Part { few_rows, k, few, many: many.without(line), alpha, out: Vec::new() })
        .collect();
    if few_rows {
        let pieces = out.chunks_mut(at_once * rows).zip(&mut parts);
        pieces.for_each(|(piece, part)| part.out.extend(piece.chunks_mut(rows)));
    } else {
        for column in out.chunks_mut(rows) {
            column.chunks_mut(at_once).zip(&mut parts).for_each(|(piece, part)| part.out.push(piece));
        }
    }
    parallel::for_each(parts, |_, part| T::in_lanes(part));
}

/// A part of a result.
struct Part<'a, T> {
    few_rows: bool,
    k: usize,
    few: Factor<'a, T>,
    many: Factor<'a, T>,
    alpha: T,
    /// The columns.
    out: Vec<&'a mut [T]>,
}

impl<T: Working> Task<T> for Part<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        if self.few_rows { self.dots::<V, true>(token) } else { self.dots::<V, false>(token) }
    }
}

/// Returns the most lines of the smaller factor in a tile. More accumulators or addresses do not fit into registers:
/// with six lines, products take up to twice as long (2026-11-28).
#[inline(always)]
const fn most_few<V>() -> usize {
    if size_of::<V>() == 64 { 5 } else { 3 }
}

impl<T: Working> Part<'_, T> {
    /// Computes the dot products. The few lines are the rows of the result if `FEW_ROWS`, and its columns if not.
    #[inline(always)]
    fn dots<V: Vector<Scalar = T>, const FEW_ROWS: bool>(self, token: V::Token) {
        let Self { k, few, many, alpha, mut out, .. } = self;
        let (count, len) = (few.lines, if FEW_ROWS { out.len() } else { out[0].len() });
        let zero = V::splat(token, T::from_f64(0.0));
        let (whole, steps) = (k / V::LANES * V::LANES, k.div_ceil(V::LANES));
        // Behind the last term are zeros, in both factors.
        let mut packed = vec![zero; count * steps];
        for (i, line) in packed.chunks_exact_mut(steps).enumerate() {
            for (s, to) in line.iter_mut().enumerate() {
                let first = s * V::LANES;
                for (p, to) in (first..k).zip(to.as_mut_slice()) {
                    *to = few.data[if few.by_line { p * few.stride + i } else { i * few.stride + p }];
                }
            }
        }
        let parts = count.div_ceil(most_few::<V>());
        let mut ends = [zero; MANY];
        let mut at = 0;
        while at < len {
            let width = if len - at >= MANY { MANY } else { 1 };
            let lines = many.without(at);
            if whole < k {
                for (c, end) in ends.iter_mut().enumerate().take(width) {
                    let mut some = zero;
                    some.as_mut_slice()[..k - whole].copy_from_slice(&lines.data[c * many.stride..][whole..k]);
                    *end = some;
                }
            }
            let mut first = 0;
            for part in 0..parts {
                let height = (count - first) / (parts - part);
                let few = &packed[first * steps..][..height * steps];
                macro_rules! tile {
                    ($r:literal, $c:literal) => {
                        for (c, sums) in tile::<T, V, $r, $c>(token, whole, few, lines, &ends).into_iter().enumerate() {
                            for (r, sum) in sums.into_iter().enumerate() {
                                let (i, j) = if FEW_ROWS { (first + r, at + c) } else { (at + c, first + r) };
                                out[j][i] = sum.sum() * alpha;
                            }
                        }
                    };
                }
                match (height, width) {
                    (1, MANY) => tile!(1, 4),
                    (2, MANY) => tile!(2, 4),
                    (3, MANY) => tile!(3, 4),
                    (4, MANY) => tile!(4, 4),
                    (_, MANY) => tile!(5, 4),
                    (1, _) => tile!(1, 1),
                    (2, _) => tile!(2, 1),
                    (3, _) => tile!(3, 1),
                    (4, _) => tile!(4, 1),
                    _ => tile!(5, 1),
                }
                first += height;
            }
            at += width;
        }
    }
}

/// Returns the sums of `R` of the few lines times `C` of the many lines, in lanes.
#[inline(always)]
fn tile<T: Working, V: Vector<Scalar = T>, const R: usize, const C: usize>(
    token: V::Token,
    whole: usize,
    few: &[V],
    many: Factor<'_, T>,
    ends: &[V; MANY],
) -> [[V; R]; C] {
    let mut sums = [[V::splat(token, T::from_f64(0.0)); R]; C];
    if R > most_few::<V>() {
        return sums; // never reached, and not compiled
    }
    let (steps, full) = (few.len() / R, whole / V::LANES);
    let mut rows: [&[V]; R] = [&[]; R];
    for (r, row) in rows.iter_mut().enumerate() {
        *row = &few[r * steps..][..full];
    }
    let mut columns: [&[T]; C] = [&[]; C];
    for (c, column) in columns.iter_mut().enumerate() {
        *column = &many.data[c * many.stride..][..full * V::LANES];
    }
    for s in 0..full {
        let mut y = [ends[0]; C];
        for c in 0..C {
            y[c] = V::load(token, &columns[c][s * V::LANES..][..V::LANES]);
        }
        for r in 0..R {
            let x = rows[r][s];
            for c in 0..C {
                sums[c][r] = x.mul_add(y[c], sums[c][r]);
            }
        }
    }
    if full < steps {
        for r in 0..R {
            let x = few[r * steps + full];
            for c in 0..C {
                sums[c][r] = x.mul_add(ends[c], sums[c][r]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::Working;
    use super::{Factor, product, serves};

    fn numbers<T: Working>(len: usize, seed: f64) -> Vec<T> {
        (0..len).map(|i| T::from_f64((i as f64 * 0.7310 + seed).sin())).collect()
    }

    /// A few lines and many lines, as factors of both orders. The terms of the few lines are adjacent, or are not.
    fn factors<'a, T: Working>(
        (few, many): (&'a [T], &'a [T]),
        (count, len, k): (usize, usize, usize),
        few_rows: bool,
        by_line: bool,
    ) -> [Factor<'a, T>; 2] {
        let stride = if by_line { count } else { k };
        let few = Factor { data: few, lines: count, stride, by_line };
        let many = Factor { data: many, lines: len, stride: k, by_line: false };
        if few_rows { [few, many] } else { [many, few] }
    }

    /// Every number of few lines, ragged in every direction, with one and several parts.
    fn shapes() -> impl Iterator<Item = ((usize, usize, usize), bool, bool)> {
        let sizes =
            [(2, 131, 130), (3, 200, 131), (4, 350, 129), (5, 1001, 133), (6, 5000, 200), (7, 90, 190), (8, 70, 300)];
        sizes
            .into_iter()
            .flat_map(|sizes| [(sizes, true, true), (sizes, true, false), (sizes, false, true), (sizes, false, false)])
    }

    fn agree<T: Working>(eps: f64) {
        for ((count, len, k), few_rows, by_line) in shapes() {
            let (few, many) = (numbers::<T>(count * k, 0.1), numbers::<T>(len * k, 0.4));
            let both = factors((&few, &many), (count, len, k), few_rows, by_line);
            let too_many = size_of::<T>() == 8 && few_rows && count > 5;
            assert_eq!(serves(&both[0], &both[1], k), !too_many, "{count}, {len}, {k}");
            let made = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                let mut out = vec![T::from_f64(f64::NAN); count * len];
                pool.install(|| product(both, k, T::from_f64(0.5), &mut out));
                out
            };
            let out = made(1);
            assert!(out == made(3), "the bits depend on the threads");
            for i in 0..count {
                for j in 0..len {
                    let term = |p: usize| {
                        few[if by_line { p * count + i } else { i * k + p }].to_f64() * many[j * k + p].to_f64()
                    };
                    let (sum, most) = (0..k).map(term).fold((0.0, 0.0), |(s, m), t| (s + t, m + t.abs()));
                    let found = out[if few_rows { i + j * count } else { j + i * len }].to_f64();
                    // The error of a sum of k terms is about that of a random walk.
                    let bound = 4.0 * eps * (k as f64).sqrt() * most;
                    assert!((found - 0.5 * sum).abs() <= bound, "{count}, {len}, {k}: {i}, {j}: {found}, {sum}");
                }
            }
        }
    }

    #[test]
    fn products_agree_with_sums_on_any_number_of_threads() {
        agree::<f32>(f64::from(f32::EPSILON));
        agree::<f64>(f64::EPSILON);
    }

    /// Equal lines make equal elements, wherever they are. NaN and infinities reach their line, and nothing else.
    #[test]
    fn places_and_numbers_that_are_not_finite() {
        for (sizes, few_rows, by_line) in shapes() {
            let (count, len, k) = sizes;
            let line = numbers::<f64>(k, 0.6);
            let few: Vec<f64> = if by_line {
                line.iter().flat_map(|&x| std::iter::repeat_n(x, count)).collect()
            } else {
                line.repeat(count)
            };
            let mut many = line.repeat(len);
            let mut out = vec![0.0; count * len];
            product(factors((&few, &many), sizes, few_rows, by_line), k, 1.0, &mut out);
            assert!(out.iter().all(|x| x.to_bits() == out[0].to_bits()), "{sizes:?}");
            many[k - 1] = f64::NAN;
            many[2 * k - 1] = f64::INFINITY;
            product(factors((&few, &many), sizes, few_rows, by_line), k, 1.0, &mut out);
            for (at, x) in out.iter().enumerate() {
                let line = if few_rows { at / count } else { at % len };
                let right = match line {
                    0 => x.is_nan(),
                    1 => x.is_infinite(),
                    _ => x.is_finite(),
                };
                assert!(right, "{sizes:?}, element {at}: {x}");
            }
        }
    }
}
