//! Sums of products of columns by tiles that stay in registers.

use crate::array::Real;
use crate::lanes::{Task, Vector};
use crate::parallel;

/// The multiple to which the number of columns is padded. The height and the width of every tile divide this multiple.
pub(super) const COLUMN_PADDING: usize = 12;
/// The number of columns on one side of a tile, which is the block of products of these columns with [`WIDE`] or
/// [`NARROW`] other columns. Vectors of these columns stay in registers while vectors of the other columns are loaded
/// one by one.
const DOWN: usize = 4;
/// The number of columns on the other side of a tile if registers have 64 bytes; a CPU with such registers has 32 of
/// them.
const WIDE: usize = 6;
/// The number of columns on the other side of a tile if registers have fewer than 64 bytes.
const NARROW: usize = 2;
/// The number of columns that stay in the cache while panels of [`DOWN`] columns are multiplied with them, one panel at
/// a time.
const PASSING: usize = 48;
/// The number of multiply-adds that are worth a separate task.
pub(super) const TASK: usize = 1 << 20;

/// Computes the lower triangle of the products of columns by tiles that stay in registers.
pub(super) fn in_tiles<T: Real>(centered: &[T], stride: usize, cols: usize, out: &mut [T]) {
    let panels = (TASK / (DOWN * cols * stride)).max(1);
    parallel::for_each(out.chunks_mut(DOWN * panels * cols), |k, out| {
        T::in_lanes(Panels { centered, stride, cols, first: k * DOWN * panels, out });
    });
}

/// The task that computes the rows of the lower triangle of the products from row `first` on. The length of `out`
/// determines the number of rows.
struct Panels<'a, T> {
    centered: &'a [T],
    stride: usize,
    cols: usize,
    first: usize,
    out: &'a mut [T],
}

impl<T: Real> Task<T> for Panels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) {
        if size_of::<V>() >= 64 {
            self.tiles::<V, WIDE>(token);
        } else {
            self.tiles::<V, NARROW>(token);
        }
    }
}

impl<T: Real> Panels<'_, T> {
    #[inline(always)]
    fn tiles<V: Vector<Scalar = T>, const ACROSS: usize>(self, token: V::Token) {
        let Self { centered, stride, cols, first, out } = self;
        let last = first + out.len() / cols;
        for passing in (0..last).step_by(PASSING) {
            for (panel, rows) in out.chunks_mut(DOWN * cols).enumerate() {
                let i = first + panel * DOWN;
                for j in (passing..(passing + PASSING).min((i + DOWN).min(last))).step_by(ACROSS) {
                    let sums = tile::<V, ACROSS>(token, &centered[i * stride..], &centered[j * stride..], stride);
                    for (own, sums) in rows.chunks_exact_mut(cols).zip(&sums) {
                        let width = ACROSS.min(cols - j);
                        for (to, sum) in own[j..j + width].iter_mut().zip(sums) {
                            *to = sum.sum();
                        }
                    }
                }
            }
        }
    }
}

/// Returns the products of each of [`DOWN`] columns with each of `ACROSS` columns, with one partial sum per lane.
#[inline(always)]
fn tile<V: Vector, const ACROSS: usize>(
    token: V::Token,
    down: &[V::Scalar],
    across: &[V::Scalar],
    stride: usize,
) -> [[V; ACROSS]; DOWN]
where
    V::Scalar: Real,
{
    let zero = V::splat(token, V::Scalar::from_f64(0.0));
    let mut sums = [[zero; ACROSS]; DOWN];
    let down: [&[V::Scalar]; DOWN] = std::array::from_fn(|i| &down[i * stride..(i + 1) * stride]);
    let across: [&[V::Scalar]; ACROSS] = std::array::from_fn(|j| &across[j * stride..(j + 1) * stride]);
    let mut at = 0;
    while at + V::LANES <= stride {
        let own: [V; DOWN] = [
            V::load(token, &down[0][at..at + V::LANES]),
            V::load(token, &down[1][at..at + V::LANES]),
            V::load(token, &down[2][at..at + V::LANES]),
            V::load(token, &down[3][at..at + V::LANES]),
        ];
        for j in 0..ACROSS {
            let other = V::load(token, &across[j][at..at + V::LANES]);
            for i in 0..DOWN {
                sums[i][j] = own[i].mul_add(other, sums[i][j]);
            }
        }
        at += V::LANES;
    }
    sums
}
